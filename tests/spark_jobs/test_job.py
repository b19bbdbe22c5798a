"""What keeps a job from starting: one clear message each, before any JVM is started."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from spark_jobs.csql.program import load
from spark_jobs.errors import SetupError
from spark_jobs.job import Job, JobConfig, check_output
from spark_jobs.records import SnapshotRow
from spark_jobs.spark.checkpoint import open_checkpoint
from spark_jobs.spark.compile import Query, compile_query
from spark_jobs.spark.sink import Sink
from tests.kafka_tools import Kafka, read_topic

pytestmark = pytest.mark.broker


def a_query(topic: str) -> Query:
    text = f"""
    CREATE STREAM S (k STRING, ts TIMESTAMP) WITH (clean = '{topic}');
    SELECT k FROM S [RANGE 10 Seconds, FREQUENCY 5 Seconds];"""
    return compile_query(load(text).queries[0])


def refusal(topic: str, bootstrap: str, checkpoint: Path, output: str = "out") -> str:
    """Return why the job does not start."""
    config = JobConfig(bootstrap, checkpoint, output)
    with pytest.raises(SetupError) as caught:
        Job(a_query(topic), config, tell=lambda _: None, report=lambda _: None).run()
    return str(caught.value)


def test_a_missing_topic_is_named_with_its_stream(kafka: Kafka, tmp_path: Path) -> None:
    told = refusal("nowhere.clean", kafka.bootstrap, tmp_path)
    assert told.startswith("topic 'nowhere.clean' of stream 'S' does not exist; start the reorderer first")


def test_a_topic_of_append_times_is_refused(kafka: Kafka, make_topic: Callable[..., str], tmp_path: Path) -> None:
    topic = make_topic("clean", 1, {"message.timestamp.type": "LogAppendTime"})
    assert "has message.timestamp.type=LogAppendTime" in refusal(topic, kafka.bootstrap, tmp_path)


def test_a_changed_query_on_an_old_checkpoint_is_refused(
    kafka: Kafka, make_topic: Callable[..., str], tmp_path: Path
) -> None:
    topic = make_topic("clean", 2)
    open_checkpoint(tmp_path, "another plan", {topic: 2}).close()
    assert "belongs to another query" in refusal(topic, kafka.bootstrap, tmp_path)


def test_a_topic_that_has_grown_since_the_checkpoint_is_refused(
    kafka: Kafka, make_topic: Callable[..., str], tmp_path: Path
) -> None:
    topic = make_topic("clean", 3)
    open_checkpoint(tmp_path, a_query(topic).plan, {topic: 2}).close()
    assert f"topic '{topic}' has 3 partitions" in refusal(topic, kafka.bootstrap, tmp_path)


def test_an_output_topic_of_another_checkpoint_is_refused_and_a_rebuild_leaves_out_what_it_has(
    kafka: Kafka, make_topic: Callable[..., str], tmp_path: Path
) -> None:
    topic, output = make_topic("clean", 1), make_topic("out", 1, {"retention.ms": "-1"})
    with closing(Sink(kafka.bootstrap, output, 1)) as sink:
        sink.write("first checkpoint", 3, [SnapshotRow(5, (), {}), SnapshotRow(7, (), {})], 8)
    assert "holds results of another checkpoint" in refusal(topic, kafka.bootstrap, tmp_path, output)
    with (
        closing(open_checkpoint(tmp_path, "plan", {topic: 1}, rebuild=True)) as checkpoint,
        closing(Sink(kafka.bootstrap, output, 1)) as sink,
    ):
        check_output(sink, checkpoint)
        sink.write(checkpoint.identity, 0, [SnapshotRow(5, (), {})], 6)
        sink.write(checkpoint.identity, 1, [SnapshotRow(7, (), {}), SnapshotRow(9, (), {})], 10)
        sink.write(checkpoint.identity, 1, [SnapshotRow(7, (), {}), SnapshotRow(9, (), {})], 10)  # repeated
    records = read_topic(kafka.bootstrap, output)
    assert [record.timestamp_ms for record in records if record.key] == [5, 7, 9]
    assert [record.timestamp_ms for record in records if not record.key] == [8, 8, 10]


def test_an_output_topic_that_no_longer_tells_its_batch_is_refused_where_that_batch_may_be_in_it(
    kafka: Kafka, make_topic: Callable[..., str], tmp_path: Path
) -> None:
    with (
        closing(open_checkpoint(tmp_path, "plan", {"t": 1})) as checkpoint,
        closing(Sink(kafka.bootstrap, make_topic("out"), 1)) as sink,
    ):
        for log, newest in (("offsets", 5), ("commits", 5)):
            (checkpoint.spark / log).mkdir(parents=True)
            (checkpoint.spark / log / str(newest)).write_text('v1\n{"batchWatermarkMs":7}')
        check_output(sink, checkpoint)  # nothing was under way: nothing can be double
        (checkpoint.spark / "offsets" / "6").write_text('v1\n{"batchWatermarkMs":8}')
        with pytest.raises(SetupError, match="no longer tells which batch it holds, and batch 6"):
            check_output(sink, checkpoint)


def test_a_second_sink_of_the_topic_fences_the_first(kafka: Kafka, make_topic: Callable[..., str]) -> None:
    output = make_topic("out", 1, {"retention.ms": "-1"})
    with closing(Sink(kafka.bootstrap, output, 1)) as old, closing(Sink(kafka.bootstrap, output, 1)) as new:
        with pytest.raises(SetupError, match="batch 0 could not be written"):
            old.write("checkpoint", 0, [SnapshotRow(5, (), {})], 6)
        new.write("checkpoint", 0, [SnapshotRow(5, (), {})], 6)
    assert [record.timestamp_ms for record in read_topic(kafka.bootstrap, output)] == [5, 6]
