"""What tests do with a real broker: make topics, write lists, read whole topics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

Header = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Kafka:
    """A running cluster to test against."""

    bootstrap: str


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A record to write. Without a timestamp the client's clock sets it; without a partition, the key."""

    value: bytes | None
    key: bytes | None = None
    partition: int = -1
    timestamp_ms: int = 0
    headers: Sequence[Header] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it lies in a topic."""

    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]


def create_topic(
    bootstrap: str, name: str, partitions: int = 1, config: Mapping[str, str] | None = None, replication: int = -1
) -> str:
    """Create a topic of exactly this name and return the name once the cluster has it."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topic = NewTopic(name, num_partitions=partitions, replication_factor=replication, config=dict(config or {}))
    admin.create_topics([topic], operation_timeout=30)[name].result()
    return name


def produce(bootstrap: str, topic: str, records: Iterable[Outgoing | bytes], **settings: str | int | bool) -> None:
    """Write the records in their order; all are acknowledged by every replica in sync on return."""
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True, **settings})
    for record in records:
        out = Outgoing(record) if isinstance(record, bytes) else record
        producer.produce(
            topic,
            value=out.value,
            key=out.key,
            partition=out.partition,
            timestamp=out.timestamp_ms,
            headers=list(out.headers),
            on_delivery=delivered,
        )
        producer.poll(0)
    left = producer.flush(60)
    assert not failures, f"not delivered: {failures[0]}"
    assert left == 0, f"{left} records without an answer after 60 s"


def read_topic(
    bootstrap: str, topic: str, isolation: str = "read_committed", timeout_s: float = 60, **settings: str | int | bool
) -> list[Record]:
    """Return all that is in the topic now, by partition and offset; `read_committed` stops at open transactions."""
    records = read_until(bootstrap, topic, None, isolation, timeout_s, **settings)
    return sorted(records, key=lambda record: (record.partition, record.offset))


def read_until(
    bootstrap: str,
    topic: str,
    enough: Callable[[list[Record]], bool] | None,
    isolation: str = "read_committed",
    timeout_s: float = 60,
    **settings: str | int | bool,
) -> list[Record]:
    """Return the topic's records as they came once `enough` of them are there; None: at the end of each partition."""
    config: dict[str, str | int | float | bool] = {
        "bootstrap.servers": bootstrap,
        "group.id": "kafka-tools",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": isolation,
        **settings,
    }
    consumer = Consumer(config)
    try:
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions])
        return _collect(consumer, set(partitions), enough, time.monotonic() + timeout_s)
    finally:
        consumer.close()


def _collect(
    consumer: Consumer, unread: set[int], enough: Callable[[list[Record]], bool] | None, deadline: float
) -> list[Record]:
    records: list[Record] = []
    while unread if enough is None else not enough(records):
        assert time.monotonic() < deadline, f"{len(records)} records, and not enough: {records[-3:]}"
        for message in consumer.consume(1000, timeout=0.2):
            error, partition = message.error(), message.partition()
            assert partition is not None
            if error is None:
                records.append(_record(message, partition))
            elif error.code() == KafkaError._PARTITION_EOF:
                unread.discard(partition)
            else:
                raise AssertionError(str(error))
    return records


def _record(message: Message, partition: int) -> Record:
    offset, key, value = message.offset(), message.key(), message.value()
    headers = cast("list[Header] | None", message.headers())  # read from a broker they are always pairs
    assert offset is not None
    return Record(
        partition=partition,
        offset=offset,
        timestamp_ms=message.timestamp()[1],
        key=key.encode() if isinstance(key, str) else key,
        value=value.encode() if isinstance(value, str) else value,
        headers=tuple(headers or ()),
    )
