"""The embedded broker is a real Kafka, serves from the moment it is there, and never stays behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from tests.kafka_tools import Kafka, Outgoing, produce, read_topic

pytestmark = pytest.mark.broker


def test_what_is_produced_is_read_back_byte_for_byte_in_order(kafka: Kafka, make_topic: Callable[..., str]) -> None:
    topic = make_topic("bytes", partitions=2)
    sent = [
        Outgoing(b"%d" % i, key=b"k", partition=i % 2, timestamp_ms=1_000 + i, headers=[("h", b"\x00\xff")])
        for i in range(10)
    ]
    produce(kafka.bootstrap, topic, sent)
    read = read_topic(kafka.bootstrap, topic)
    assert [(r.partition, r.offset, r.timestamp_ms, r.key, r.value, r.headers) for r in read] == [
        (p, i // 2, 1_000 + i, b"k", b"%d" % i, (("h", b"\x00\xff"),)) for p in (0, 1) for i in range(p, 10, 2)
    ]


def test_read_committed_sees_committed_transactions_only(kafka: Kafka, make_topic: Callable[..., str]) -> None:
    topic = make_topic("transactions")
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    for value, finish in ((b"aborted", producer.abort_transaction), (b"committed", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, value)
        producer.flush(30)
        finish(30)
    assert [r.value for r in read_topic(kafka.bootstrap, topic)] == [b"committed"]
    assert [r.value for r in read_topic(kafka.bootstrap, topic, "read_uncommitted")] == [b"aborted", b"committed"]
