"""`reorderer run` as a process of its own, judged by what lies in the topics."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial

import pytest

import schemas
from reorderer.records import Topics
from tests.integration.service_tools import (
    START_MS,
    ServiceProcess,
    SteadyWriter,
    broken_promises,
    clean_tuples,
    disordered,
    is_punctuation,
    judge,
    late_tuples,
    punctuation,
    run_cli,
    set_config,
)
from tests.kafka_tools import Kafka, Outgoing, Record, produce, read_topic, read_until

pytestmark = pytest.mark.broker

MakeStream = Callable[..., Topics]


@pytest.fixture
def make_stream(kafka: Kafka) -> MakeStream:
    """Return a function that creates the four topics of a stream with `reorderer topics create`."""

    def make(partitions: int = 1, *options: str) -> Topics:
        name = f"stream-{uuid.uuid4().hex[:8]}"
        arguments = ("topics", "create", name, "--partitions", str(partitions), "--bootstrap-servers", kafka.bootstrap)
        done = run_cli(*arguments, *options)
        assert done.returncode == 0, done.stderr
        return Topics.of(name)

    return make


def check_output(kafka: Kafka, topics: Topics, slack_ms: int, partitions: int) -> dict[str, int]:
    """Compare clean and late with what must be there; return how many tuples are where."""
    raw = read_topic(kafka.bootstrap, topics.raw)
    clean, late = read_topic(kafka.bootstrap, topics.clean), read_topic(kafka.bootstrap, topics.late)
    expected = judge(raw, slack_ms)
    for partition in range(partitions):
        assert clean_tuples(clean, partition) == expected[partition].clean
        assert late_tuples(late, partition) == expected[partition].late
    assert broken_promises(clean) == []
    return {
        "in": len(raw),
        "clean": sum(len(judged.clean) for judged in expected.values()),
        "late": len(late),
        "dead": len(read_topic(kafka.bootstrap, topics.dead)),
        "held": sum(judged.held for judged in expected.values()),
    }


def schema_problems(name: str, records: Sequence[Record]) -> list[str]:
    described = (schemas.describe(r.key, r.value, r.timestamp_ms, r.headers) for r in records)
    return [problem for record in described for problem in schemas.problems(name, record)]


def test_clean_is_in_order_byte_for_byte_and_the_books_balance(kafka: Kafka, make_stream: MakeStream) -> None:
    topics = make_stream(3, "--create-time")
    produce(kafka.bootstrap, topics.raw, disordered(9_000, partitions=3, seed=11))
    with ServiceProcess(
        kafka.bootstrap, topics.raw, "--slack", "1s", "--arrival", "record", "--until-idle", "1"
    ) as service:
        total = service.wait()["total"]
    books = check_output(kafka, topics, 1_000, 3)
    assert {name: total[name] for name in books} == books
    assert books["late"] > 0
    assert books["held"] > 0
    assert books["in"] == books["clean"] + books["late"] + books["dead"] + books["held"] == 9_000


def test_punctuations_are_numbered_come_every_100_ms_of_event_time_and_fit_the_schema(
    kafka: Kafka, make_stream: MakeStream
) -> None:
    topics = make_stream(1, "--create-time")
    produce(kafka.bootstrap, topics.raw, disordered(3_000, partitions=1, seed=12))
    with ServiceProcess(
        kafka.bootstrap, topics.raw, "--slack", "500ms", "--arrival", "record", "--until-idle", "1"
    ) as service:
        service.wait()
    clean = read_topic(kafka.bootstrap, topics.clean)
    promises = [record for record in clean if is_punctuation(record)]
    numbered = [punctuation(record) for record in promises if not punctuation(record)["idle"]]
    assert [promise["seq"] for promise in numbered] == list(range(len(numbered)))
    assert all(promise["until"] % 100 == 0 for promise in numbered)
    assert len(numbered) >= 3_000 * 2 / 100 * 0.8
    assert schema_problems("punctuation", promises) == []
    assert schema_problems("clean", [record for record in clean if not is_punctuation(record)]) == []


def test_what_cannot_be_read_is_dead_with_its_reason_and_stops_nothing(kafka: Kafka, make_stream: MakeStream) -> None:
    topics = make_stream(1, "--create-time")
    good = b'{"ts": %d}' % (START_MS + 5)
    corpus = [
        (b"\xff", (), b"malformed"),
        (b'{"ts"', (), b"malformed"),
        (None, (), b"no_timestamp"),
        (b'{"ts": "now"}', (("trace", b"1"),), b"no_timestamp"),
        (b'{"ts": %d}' % (START_MS + 3_600_000), (), b"future"),
        (good, (("reorderer.kind", b"punctuation"),), b"reserved"),
        (b'{"__punctuation__": {"until": 1}, "ts": %d}' % START_MS, (), b"reserved"),
        (b'{"ts": %d, "x": "%s"}' % (START_MS, b"y" * 3_000), (), b"oversize"),
    ]
    records = [Outgoing(value, b"k", 0, START_MS + i, headers) for i, (value, headers, _) in enumerate(corpus)]
    produce(kafka.bootstrap, topics.raw, [*records, Outgoing(good, b"k", 0, START_MS + 100_000)])
    options = ("--slack", "1s", "--arrival", "record", "--max-value-bytes", "2000", "--until-idle", "1")
    with ServiceProcess(kafka.bootstrap, topics.raw, *options) as service:
        total = service.wait()["total"]
    dead = read_topic(kafka.bootstrap, topics.dead)
    assert [(r.value, dict(r.headers)["reorderer.disposition"], r.timestamp_ms) for r in dead] == [
        (value, disposition, START_MS + i) for i, (value, _, disposition) in enumerate(corpus)
    ]
    assert [record.headers[: len(headers)] for record, (_, headers, _) in zip(dead, corpus, strict=True)] == [
        headers for _, headers, _ in corpus
    ]
    assert schema_problems("dead", dead) == []
    assert (total["in"], total["dead"], total["late"]) == (9, 8, 1)


def test_a_late_tuple_says_how_late_it_was(kafka: Kafka, make_stream: MakeStream) -> None:
    topics = make_stream(1, "--create-time")
    tuples = [(START_MS + 5_000, START_MS + 5_000), (START_MS + 3_650, START_MS + 5_100)]
    produce(kafka.bootstrap, topics.raw, [Outgoing(b'{"ts": %d}' % ts, b"k", 0, at) for ts, at in tuples])
    with ServiceProcess(
        kafka.bootstrap, topics.raw, "--slack", "1s", "--arrival", "record", "--until-idle", "1"
    ) as service:
        service.wait()
    (late,) = read_topic(kafka.bootstrap, topics.late)
    assert schema_problems("late", [late]) == []
    assert late.timestamp_ms == START_MS + 5_100
    assert {name: content for name, content in late.headers if name.startswith("reorderer.")} == {
        "reorderer.disposition": b"late",
        "reorderer.event_ms": b"%d" % (START_MS + 3_650),
        "reorderer.lateness_ms": b"450",
        "reorderer.frontier_ms": b"%d" % (START_MS + 4_100),
    }


def has_more_than(count: int, records: list[Record]) -> bool:
    return len(records) > count


def test_killed_in_the_middle_it_goes_on_without_loss_or_duplicate(kafka: Kafka, make_stream: MakeStream) -> None:
    topics = make_stream(2, "--create-time")
    writer = SteadyWriter(kafka.bootstrap, topics.raw, disordered(20_000, partitions=2, seed=13), a_second=2_000)
    options = ("--slack", "1s", "--arrival", "record", "--transaction", "50ms", "--instance-id", "only")
    writer.start()
    seen = 0
    for _ in range(3):
        with ServiceProcess(kafka.bootstrap, topics.raw, *options) as service:
            seen += 500
            read_until(kafka.bootstrap, topics.clean, partial(has_more_than, seen))
            service.kill()
    assert writer.is_alive(), "every kill must come while tuples do"
    writer.join()
    with ServiceProcess(kafka.bootstrap, topics.raw, *options, "--until-idle", "1") as service:
        total = service.wait()["total"]
    books = check_output(kafka, topics, 1_000, 2)
    assert {name: total[name] for name in books} == books
    assert books["in"] == 20_000


def test_a_partition_without_a_tuple_gets_punctuations_too(kafka: Kafka, make_stream: MakeStream) -> None:
    topics = make_stream(2)
    now_ms = time.time_ns() // 1_000_000
    produce(kafka.bootstrap, topics.raw, [Outgoing(b'{"ts": %d}' % now_ms, b"k", 0)])

    def closed(records: list[Record]) -> bool:
        promised = {record.partition for record in records if is_punctuation(record) and record.timestamp_ms > now_ms}
        return promised == {0, 1}

    with ServiceProcess(kafka.bootstrap, topics.raw, "--slack", "1s"):
        clean = read_until(kafka.bootstrap, topics.clean, closed)
    assert [record.value for record in clean if not is_punctuation(record)] == [b'{"ts": %d}' % now_ms]
    assert all(punctuation(record)["idle"] for record in clean if record.partition == 1)
    assert broken_promises(clean) == []


def test_a_silent_partition_repeats_its_last_punctuation(kafka: Kafka, make_stream: MakeStream) -> None:
    topics = make_stream(1, "--create-time")
    tuples = [Outgoing(b'{"ts": %d}' % (START_MS + i), b"k", 0, START_MS + i) for i in (0, 5_000)]
    produce(kafka.bootstrap, topics.raw, tuples)

    def heartbeats(records: list[Record]) -> list[int]:
        promises = [punctuation(record) for record in records if is_punctuation(record)]
        return [promise["until"] for promise in promises if promise["idle"]]

    with ServiceProcess(kafka.bootstrap, topics.raw, "--slack", "1s", "--arrival", "record"):
        clean = read_until(kafka.bootstrap, topics.clean, lambda records: len(heartbeats(records)) >= 3)
    promised_ms = max(record.timestamp_ms for record in clean if is_punctuation(record))
    assert heartbeats(clean) == [promised_ms] * len(heartbeats(clean))


def test_two_instances_share_the_partitions_and_one_takes_over_from_the_other(
    kafka: Kafka, make_stream: MakeStream
) -> None:
    topics = make_stream(2, "--create-time")
    writer = SteadyWriter(kafka.bootstrap, topics.raw, disordered(20_000, partitions=2, seed=14), a_second=800)
    options = ("--slack", "1s", "--arrival", "record", "--transaction", "50ms")
    writer.start()
    with ServiceProcess(kafka.bootstrap, topics.raw, *options) as first:
        first.await_stats(lambda numbers: len(numbers["partitions"]) == 2 and numbers["total"]["clean"] > 0)
        with ServiceProcess(kafka.bootstrap, topics.raw, *options) as second:
            second.await_stats(lambda numbers: numbers["partitions"] and numbers["total"]["clean"] > 0)
            assert second.stop()["partitions"] != []
        assert writer.is_alive(), "both hand-overs must come while tuples do"
        writer.join()
        first.await_stats(lambda numbers: numbers["total"]["in"] == 20_000)
        total = first.stop()["total"]
    books = check_output(kafka, topics, 1_000, 2)
    assert {name: total[name] for name in books} == books


def test_a_record_that_the_broker_refuses_is_dead_and_stops_nothing(kafka: Kafka, make_stream: MakeStream) -> None:
    topics = make_stream(1, "--create-time")
    values = [b'{"ts": %d, "x": "%s"}' % (START_MS + i, b"y" * size) for i, size in enumerate((1, 900_000, 2, 3))]
    tuples = [Outgoing(value, b"k", 0, START_MS + i) for i, value in enumerate(values)]
    last = Outgoing(b'{"ts": %d}' % (START_MS + 9_000), b"k", 0, START_MS + 9_000)
    with ServiceProcess(kafka.bootstrap, topics.raw, "--slack", "1s", "--arrival", "record") as service:
        service.await_stats(lambda numbers: numbers["partitions"])
        set_config(kafka.bootstrap, topics.clean, "max.message.bytes", "500000")
        produce(kafka.bootstrap, topics.raw, [*tuples, last])
        service.await_stats(lambda numbers: numbers["total"]["dead"])
        total = service.stop()["total"]
    clean = read_topic(kafka.bootstrap, topics.clean)
    (dead,) = read_topic(kafka.bootstrap, topics.dead)
    assert [value for _, value, *_ in clean_tuples(clean, 0)] == [values[0], values[2], values[3]]
    assert (dead.value, dict(dead.headers)["reorderer.disposition"]) == (values[1], b"unwritable")
    assert schema_problems("dead", [dead]) == []
    assert [total[name] for name in ("in", "clean", "late", "dead", "held")] == [5, 3, 0, 1, 1]
    assert broken_promises(clean) == []


def test_an_instance_whose_name_is_taken_stops_and_the_next_goes_on(kafka: Kafka, make_stream: MakeStream) -> None:
    topics = make_stream(1, "--create-time")
    writer = SteadyWriter(kafka.bootstrap, topics.raw, disordered(10_000, partitions=1, seed=17), a_second=400)
    options = ("--slack", "1s", "--arrival", "record", "--transaction", "50ms", "--instance-id", "same")
    writer.start()
    with ServiceProcess(kafka.bootstrap, topics.raw, *options) as first:
        first.await_stats(lambda numbers: numbers["total"]["clean"] > 0)
        with ServiceProcess(kafka.bootstrap, topics.raw, *options, "--until-idle", "8") as second:
            *_, last_line = first.wait_for_failure().splitlines()
            assert last_line.startswith("reorderer: another instance took over")
            writer.join()
            total = second.wait()["total"]
    books = check_output(kafka, topics, 1_000, 1)
    assert {name: total[name] for name in books} == books


def test_a_restart_with_a_changed_timestamp_is_refused(kafka: Kafka, make_stream: MakeStream) -> None:
    topics = make_stream(1, "--create-time")
    produce(kafka.bootstrap, topics.raw, disordered(100, partitions=1, seed=15))
    options = ("--slack", "1s", "--arrival", "record", "--until-idle", "1")
    with ServiceProcess(kafka.bootstrap, topics.raw, *options) as service:
        service.wait()
    done = run_cli(
        "run", "--bootstrap-servers", kafka.bootstrap, "--topic", topics.raw, *options, "--timestamp", "header:at"
    )
    assert done.returncode == 1
    assert "timestamp was 'field:ts' and is now 'header:at'" in done.stderr


def test_another_group_does_not_write_a_second_time_to_the_same_clean_topic(
    kafka: Kafka, make_stream: MakeStream
) -> None:
    topics = make_stream(1, "--create-time")
    produce(kafka.bootstrap, topics.raw, disordered(1_000, partitions=1, seed=16))
    options = ("--slack", "1s", "--arrival", "record", "--until-idle", "1")
    with ServiceProcess(kafka.bootstrap, topics.raw, *options) as service:
        service.wait()
    done = run_cli("run", "--bootstrap-servers", kafka.bootstrap, "--topic", topics.raw, *options, "--group", "other")
    assert done.returncode == 1
    assert f"group 'other' has no offset for partition 0, but '{topics.clean}' has records there" in done.stderr
    check_output(kafka, topics, 1_000, 1)
