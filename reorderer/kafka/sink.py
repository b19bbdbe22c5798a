"""Clean, late and dead records and the raw offsets they come from, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer, TopicPartition

from reorderer.config import RunConfig
from reorderer.core.events import Late, Punctuation, Released
from reorderer.kafka import settings
from reorderer.kafka.codec import Dead
from reorderer.kafka.errors import error_of, raise_for
from reorderer.records import (
    OFFSET,
    PUNCTUATION_HEADERS,
    Headers,
    Record,
    dead_headers,
    late_headers,
    punctuation_value,
)

_TIMEOUT_S = settings.TRANSACTION_TIMEOUT_MS / 1_000


class Sink:
    """Writes what the core decided. After any error but those of `begin` the object is of no more use."""

    def __init__(self, config: RunConfig, transactional_id: str) -> None:
        self._topics = config.topics
        self._group_metadata: Any = None
        self.written = 0
        """Records of the open transaction."""
        self._producer = Producer(settings.transactional_producer(config, transactional_id))
        # topic, value, key, partition, two callbacks, timestamp, headers: by position, as it is called for every tuple.
        self._send: Callable[..., None] = self._producer.produce
        try:
            self._producer.init_transactions(30.0)
        except KafkaException as exception:
            raise_for(error_of(exception), "starting a transactional producer")

    @property
    def is_open(self) -> bool:
        """Whether a transaction is open."""
        return self._group_metadata is not None

    def begin(self, group_metadata: object) -> None:
        """Open a transaction for the group's generation of this moment: a partition lost later cannot be committed."""
        self._producer.begin_transaction()
        self._group_metadata = group_metadata
        self.written = 0

    def released(self, partition: int, event: Released[Record]) -> None:
        """Write tuples to clean, each with its event time and its raw offset."""
        produce, topic = self._send, self._topics.clean
        left = zip(event.messages, event.ts_ms.tolist(), event.offset.tolist(), strict=True)
        try:
            for (key, value, headers), ts_ms, offset in left:
                mark = (OFFSET, b"%d" % offset)
                kept: Headers = [mark] if headers is None else [*headers, mark]
                try:
                    produce(topic, value, key, partition, None, None, ts_ms, kept)
                except BufferError:
                    self._produce(topic, partition, (key, value, kept), ts_ms)
        except KafkaException as exception:
            raise_for(error_of(exception), f"writing to {topic!r}")
        self.written += len(event.messages)

    def punctuation(self, partition: int, event: Punctuation) -> None:
        """Write a promise to clean."""
        value = punctuation_value(
            event.until_ms,
            seq=event.seq,
            slack_ms=event.slack_ms,
            drop_ratio=event.drop_ratio,
            bound=event.bound,
            position=event.position,
            idle=event.idle,
        )
        self._produce(self._topics.clean, partition, (None, value, PUNCTUATION_HEADERS), event.until_ms)
        self.written += 1

    def late(self, partition: int, event: Late[Record]) -> None:
        """Write late tuples, each with why."""
        columns = (event.ts_ms, event.offset, event.arrival_ms, event.frontier_ms)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for (key, value, headers), (ts_ms, offset, arrival_ms, frontier_ms) in zip(event.messages, rows, strict=True):
            why = late_headers((self._topics.raw, partition, offset), ts_ms, frontier_ms)
            self._produce(self._topics.late, partition, (key, value, [*(headers or ()), *why]), arrival_ms)
        self.written += len(event.messages)

    def dead(self, partition: int, records: Iterable[Dead]) -> None:
        """Write dead records, each with why."""
        for dead in records:
            key, value, headers = dead.record
            why = dead_headers((self._topics.raw, partition, dead.offset), dead.disposition, dead.reason)
            self._produce(self._topics.dead, partition, (key, value, [*(headers or ()), *why]), dead.arrival_ms)
            self.written += 1

    def commit(self, offsets: Mapping[int, tuple[int, str]]) -> None:
        """Commit what was written together with the offset and metadata of each partition in it."""
        parts = [TopicPartition(self._topics.raw, number, offset, data) for number, (offset, data) in offsets.items()]
        try:
            if parts:
                self._producer.send_offsets_to_transaction(parts, self._group_metadata, _TIMEOUT_S)
            self._producer.commit_transaction(_TIMEOUT_S)
        except KafkaException as exception:
            raise_for(error_of(exception), "committing a transaction")
        self._group_metadata = None

    def abort(self) -> None:
        """Give the open transaction up, if the broker can be told; if not, it times out there."""
        if self.is_open:
            self._group_metadata = None
            try:
                self._producer.abort_transaction(_TIMEOUT_S)
            except KafkaException as exception:
                settings.LOG.info("the transaction is left to time out: %s", error_of(exception))

    def _produce(self, topic: str, partition: int, record: Record, timestamp_ms: int) -> None:
        key, value, headers = record
        while True:
            try:
                self._send(topic, value, key, partition, None, None, timestamp_ms, headers)
            except BufferError:
                self._producer.poll(0.05)
            except KafkaException as exception:
                raise_for(error_of(exception), f"writing to {topic!r}")
            else:
                return
