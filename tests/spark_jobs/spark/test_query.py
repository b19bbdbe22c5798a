"""Queries as they run: punctuations drive the watermark, and each batch is written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemas import describe, problems
from spark_jobs.csql.program import load
from spark_jobs.spark.checkpoint import open_checkpoint
from spark_jobs.spark.compile import compile_query
from spark_jobs.spark.sink import Sink
from tests.clean_topic import (
    FOR_EVER,
    START_MS,
    Tuple,
    Until,
    body_condition,
    count_and_average,
    results,
    snapshots,
    write_clean,
)
from tests.kafka_tools import Kafka, read_topic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_jobs.spark.query import RunningQuery

pytestmark = [pytest.mark.spark, pytest.mark.broker]

QUERY = """
CREATE STREAM BodyCondition (Id INT, Species STRING, BTemp DOUBLE, ts TIMESTAMP) WITH (clean = '{topic}');
SELECT Species, COUNT(*), AVG(BTemp) FROM BodyCondition [RANGE 10 Seconds, FREQUENCY 5 Seconds] GROUP BY Species;
"""


class Bench:
    """A clean topic, an output topic, and the query between them in the tests' own session."""

    def __init__(self, spark: SparkSession, bootstrap: str, topic: str, output: str, folder: Path) -> None:
        self.spark, self.bootstrap, self.topic, self.output, self.folder = spark, bootstrap, topic, output, folder

    @contextmanager
    def running(self, *, partitions: int, options: dict[str, str] | None = None) -> Iterator[RunningQuery]:
        from spark_jobs.spark import snapshot, source
        from spark_jobs.spark.query import RunningQuery

        query = compile_query(load(QUERY.format(topic=self.topic)).queries[0])
        checkpoint = open_checkpoint(self.folder / "checkpoint", query.plan, {self.topic: partitions})
        sink = Sink(self.bootstrap, self.output, 1)
        tuples = source.read_tuples(self.spark, query.stream, partitions, self.bootstrap, options)
        rows = snapshot.evaluate(tuples, query.snapshot)
        running = RunningQuery(rows, query.names, checkpoint, sink, trigger_ms=50, log=self.folder / "spark.log")
        try:
            yield running
        finally:
            running.close()
            sink.close()
            checkpoint.close()

    def write(self, *events: Tuple | Until) -> None:
        write_clean(self.bootstrap, self.topic, events)

    def drain(self) -> None:
        """Return when everything that is in the topic now has gone through the query."""
        self.spark.streams.active[0].processAllAvailable()

    def results(self) -> list[dict[str, Any]]:
        return results(read_topic(self.bootstrap, self.output))


@pytest.fixture
def bench(spark: SparkSession, kafka: Kafka, make_topic: Callable[..., str], tmp_path: Path) -> Bench:
    return Bench(spark, kafka.bootstrap, make_topic("clean", 3, FOR_EVER), make_topic("output", 1, FOR_EVER), tmp_path)


def test_a_partition_that_only_carries_punctuations_does_not_stop_windows(bench: Bench) -> None:
    events = [Tuple(START_MS + n * 700, n % 2, {"Species": "cow", "BTemp": 38.0 + n}) for n in range(1, 40)]
    bench.write(*events, *(Until(START_MS + 20_000, partition) for partition in range(3)))
    with bench.running(partitions=3) as query:
        bench.drain()
        assert query.progress().until_ms == START_MS + 20_000
    assert bench.results() == snapshots(events, 10_000, 5_000, count_and_average, before_ms=START_MS + 20_000)


def test_windows_close_up_to_the_smallest_punctuation_and_no_further(bench: Bench) -> None:
    events = [Tuple(START_MS + n * 700, n % 3, {"Species": "pig", "BTemp": 38.0 + n}) for n in range(1, 40)]
    with bench.running(partitions=3) as query:
        bench.write(*events, Until(START_MS + 20_000, 0), Until(START_MS + 25_000, 1))
        bench.drain()
        assert query.progress().until_ms == 0  # partition 2 has not spoken
        bench.write(Until(START_MS + 10_000, 2))
        bench.drain()
        assert query.progress().until_ms == START_MS + 10_000
        # A snapshot at t is complete when the punctuation is above t: the one at 10 s is not.
        assert bench.results() == snapshots(events, 10_000, 5_000, count_and_average, before_ms=START_MS + 10_000)
        bench.write(Until(START_MS + 10_001, 2))
        bench.drain()
        assert bench.results() == snapshots(events, 10_000, 5_000, count_and_average, before_ms=START_MS + 10_001)


def test_results_and_punctuations_fit_their_schemas_and_nothing_older_follows_a_punctuation(bench: Bench) -> None:
    events = body_condition(seed=1, count=400, partitions=3, spread_ms=40_000)
    bench.write(*events)
    with bench.running(partitions=3, options={"maxOffsetsPerTrigger": "90"}):
        bench.drain()
    until_ms = 0
    for record in read_topic(bench.bootstrap, bench.output):
        kind = "output" if record.key else "punctuation"
        described = describe(record.key, record.value, record.timestamp_ms, record.headers)
        assert problems(kind, described) == []
        assert record.timestamp_ms >= until_ms
        if kind == "punctuation":
            until_ms = described["value"]["__punctuation__"]["until"]
    assert until_ms == START_MS + 100_000
    assert bench.results() == snapshots(events, 10_000, 5_000, count_and_average)


def test_a_batch_that_spark_repeats_is_written_once(bench: Bench) -> None:
    events = body_condition(seed=2, count=200, partitions=3, spread_ms=30_000)
    bench.write(*events)
    with bench.running(partitions=3):
        bench.drain()
    before = read_topic(bench.bootstrap, bench.output)
    # As if the driver had died after the sink's commit and before Spark's.
    commits = bench.folder / "checkpoint" / "spark" / "commits"
    newest = max(int(path.name) for path in commits.glob("[0-9]*"))
    for name in (str(newest), f".{newest}.crc"):
        (commits / name).unlink(missing_ok=True)
    with bench.running(partitions=3) as query:
        bench.drain()
        assert query.progress().batches >= 1
        after = read_topic(bench.bootstrap, bench.output)
        assert results(after) == results(before) == snapshots(events, 10_000, 5_000, count_and_average)
        bench.write(*(Until(START_MS + 200_000, partition) for partition in range(3)))
        bench.drain()
        assert query.progress().until_ms == START_MS + 200_000
