"""What `reorderer run`, `generate` and `topics` say when they cannot work: one clear message, and an exit code."""

from __future__ import annotations

import socket
import time
import uuid
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.integration.service_tools import START_MS, run_cli
from tests.kafka_tools import Kafka, Outgoing, create_topic, produce, read_topic

pytestmark = pytest.mark.broker


def refused(*arguments: str, code: int = 1) -> str:
    """Return the one line that a failing command prints."""
    done = run_cli(*arguments)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.startswith("reorderer: ")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("reorderer: ").rstrip("\n")


@pytest.fixture
def nobody() -> str:
    """Return an address at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.parametrize(
    "command",
    [("run", "--topic", "t", "--slack", "1s"), ("generate", "body", "--topic", "t")],
    ids=lambda command: command[0],
)
def test_an_unreachable_broker_is_named_within_seconds(nobody: str, command: tuple[str, ...]) -> None:
    began_s = time.monotonic()
    message = refused(*command, "--bootstrap-servers", nobody)
    assert message.startswith(f"no Kafka broker answers at '{nobody}'")
    assert time.monotonic() - began_s < 20


def test_a_missing_topic_is_named_with_the_command_that_creates_it(kafka: Kafka) -> None:
    message = refused("run", "--topic", "nowhere", "--slack", "1s", "--bootstrap-servers", kafka.bootstrap)
    assert message == (
        "there is no topic 'nowhere'; create the topics with `reorderer topics create nowhere --partitions N`"
    )


def test_generate_does_not_write_to_a_missing_topic(kafka: Kafka) -> None:
    message = refused("generate", "body", "--topic", "nowhere", "--bootstrap-servers", kafka.bootstrap)
    assert message == "there is no topic 'nowhere'; create it with --create-topic --partitions N"


def named(kafka: Kafka, raw: dict[str, str] | None = None, clean: dict[str, str] | None = None, **counts: int) -> str:
    """Create the four topics by hand, with these settings and partition counts, and return the raw one's name."""
    name = f"stream-{uuid.uuid4().hex[:8]}"
    room = {"max.message.bytes": "2000000"}
    create_topic(kafka.bootstrap, name, 2, {"message.timestamp.type": "LogAppendTime"} | (raw or {}))
    for output in ("clean", "late", "dead"):
        settings = room | ((clean or {}) if output == "clean" else {})
        create_topic(kafka.bootstrap, f"{name}.{output}", counts.get(output, 2), settings)
    return name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda kafka: named(kafka, late=3), "'{0}.late' has 3 partitions and '{0}' has 2"),
        (lambda kafka: named(kafka, {"cleanup.policy": "compact"}), "'{0}' is compacted"),
        (lambda kafka: named(kafka, {"retention.ms": "60000"}), "'{0}' keeps records for 60000 ms"),
        (
            lambda kafka: named(kafka, {"message.timestamp.type": "CreateTime"}),
            "'{0}' is not stamped by the broker (message.timestamp.type is CreateTime)",
        ),
        (
            lambda kafka: named(kafka, clean={"max.message.bytes": "1000000"}),
            "'{0}.clean' takes messages of 1000000 bytes",
        ),
    ],
    ids=["partition counts", "compaction", "retention", "create time", "message size"],
)
def test_topics_that_would_lose_tuples_are_refused(kafka: Kafka, make: Callable[[Kafka], str], message: str) -> None:
    topic = make(kafka)
    said = refused("run", "--topic", topic, "--slack", "1s", "--bootstrap-servers", kafka.bootstrap)
    assert said.startswith(message.format(topic))


def test_topics_create_twice_is_fine_and_with_another_count_is_not(kafka: Kafka) -> None:
    name = f"stream-{uuid.uuid4().hex[:8]}"
    create = ("topics", "create", name, "--bootstrap-servers", kafka.bootstrap, "--partitions")
    assert "created" in run_cli(*create, "2").stdout
    assert run_cli(*create, "2").stdout.count("was there") == 4
    assert refused(*create, "3").startswith(f"topic '{name}' exists with 2 partitions, not 3")


def test_an_offset_of_another_program_is_refused(kafka: Kafka) -> None:
    topic = named(kafka)
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": f"reorderer-{topic}"})
    consumer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
    consumer.close()
    message = refused("run", "--topic", topic, "--slack", "1s", "--bootstrap-servers", kafka.bootstrap)
    assert message.startswith("the committed offset carries no state of ours but ''")


def test_generate_writes_keyed_tuples_to_a_topic_stamped_with_their_arrival(kafka: Kafka) -> None:
    name = f"body-{uuid.uuid4().hex[:8]}"
    options = ("--animals", "20", "--count", "500", "--start", "1700000000000", "--delay", "exponential:700")
    done = run_cli(
        *("generate", "body", "--topic", name, "--bootstrap-servers", kafka.bootstrap, "--no-pace", *options),
        *("--create-topic", "--create-time", "--partitions", "3"),
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    file = run_cli("generate", "body", "--out", "-", *options)
    records = read_topic(kafka.bootstrap, name)
    assert {record.partition for record in records} == {0, 1, 2}
    assert sorted(record.value or b"" for record in records) == sorted(file.stdout.encode().splitlines())
    by_key: dict[bytes | None, set[int]] = {}
    for record in records:
        by_key.setdefault(record.key, set()).add(record.partition)
    assert len(by_key) == 20
    assert all(len(partitions) == 1 for partitions in by_key.values())
    for partition in range(3):
        arrivals = [record.timestamp_ms for record in records if record.partition == partition]
        assert arrivals == sorted(arrivals)


def test_raw_records_deleted_while_their_tuples_are_held_stop_the_service(kafka: Kafka) -> None:
    topic = named(kafka, {"message.timestamp.type": "CreateTime"})
    options = ("--topic", topic, "--slack", "1min", "--arrival", "record", "--bootstrap-servers", kafka.bootstrap)
    tuples = [Outgoing(b'{"ts": %d}' % (START_MS + i), None, i % 2, START_MS + i) for i in range(50)]
    produce(kafka.bootstrap, topic, tuples)
    assert run_cli("run", *options, "--until-idle", "1").returncode == 0
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    for future in admin.delete_records([TopicPartition(topic, p, 5) for p in (0, 1)]).values():
        future.result()
    message = refused("run", *options)
    assert "records that are still needed are gone" in message
