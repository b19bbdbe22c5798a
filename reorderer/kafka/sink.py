"""Clean, late and dead records and the raw offsets they come from, in one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, cast

import numpy as np
from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition

from reorderer.config import RunConfig
from reorderer.core.events import Late, Punctuation, Released
from reorderer.kafka import settings
from reorderer.kafka.codec import Dead
from reorderer.kafka.errors import UNWRITABLE, error_of, is_fenced, raise_for
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

Refused: TypeAlias = set[tuple[int, bytes | None, bytes | None]]
"""Partition, key and value of the tuples that clean's broker would not take: they go to dead instead."""


class Sink:
    """Writes what the core decided. After any error but those of `begin` the object is of no more use."""

    def __init__(self, config: RunConfig, transactional_id: str, refused: Refused, *, singly: bool = False) -> None:
        self._topics = config.topics
        self._refused = refused
        self.singly = singly
        """Whether each record is a batch of its own: a broker refuses batches, and this tells which record it meant."""
        self._failure: KafkaError | None = None
        self._group_metadata: Any = None
        self.written = 0
        """Records of the open transaction."""
        settled = settings.transactional_producer(config, transactional_id, singly=singly)
        self._producer = Producer(settled | {"on_delivery": self._on_failure})
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

    @property
    def refused_batch(self) -> bool:
        """Whether the broker has refused a batch for what is in it."""
        return self._failure is not None and self._failure.code() in UNWRITABLE

    def begin(self, group_metadata: object) -> None:
        """Open a transaction for the group's generation of this moment: a partition lost later cannot be committed."""
        try:
            self._producer.begin_transaction()
        except KafkaException as exception:
            raise_for(error_of(exception), "beginning a transaction")
        self._group_metadata = group_metadata
        self.written = 0

    def released(self, partition: int, event: Released[Record]) -> int:
        """Write tuples to clean, each with its event time and its raw offset; return how many went to dead instead."""
        unwritable = 0
        if self._refused:
            event, dead = self._divided(partition, event)
            self.dead(partition, dead)
            unwritable = len(dead)
        self._clean(partition, event)
        return unwritable

    def _clean(self, partition: int, event: Released[Record]) -> None:
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
            self._deliver()
            if parts:
                self._producer.send_offsets_to_transaction(parts, self._group_metadata, _TIMEOUT_S)
            self._producer.commit_transaction(_TIMEOUT_S)
        except KafkaException as exception:
            raise_for(error_of(exception), "committing a transaction")
        self._group_metadata = None

    def abort(self) -> None:
        """Give the open transaction up, if the broker can be told; if not, it times out there.

        Raises ClusterError if another instance took over: a new producer would only drive that one out again.
        """
        if self.is_open:
            self._group_metadata = None
            try:
                self._producer.abort_transaction(_TIMEOUT_S)
            except KafkaException as exception:
                if is_fenced(error_of(exception)):
                    raise_for(error_of(exception), "giving a transaction up")
                settings.LOG.info("the transaction is left to time out: %s", error_of(exception))

    def _deliver(self) -> None:
        """Return when the broker has every record, or as soon as it has refused one."""
        deadline_s = time.monotonic() + _TIMEOUT_S
        while self._producer.flush(0.1) and self._failure is None and time.monotonic() < deadline_s:
            pass
        if self._failure is not None:
            raise_for(self._failure, "writing a transaction")

    def _on_failure(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            return
        self._failure = self._failure or error
        if self.singly and error.code() in UNWRITABLE and message.topic() == self._topics.clean:
            self._refused.add(cast("tuple[int, bytes, bytes]", (message.partition(), message.key(), message.value())))

    def _divided(self, partition: int, event: Released[Record]) -> tuple[Released[Record], list[Dead]]:
        """Return the tuples without those refused before, and those."""
        refused = np.array([(partition, key, value) in self._refused for key, value, _ in event.messages], dtype=bool)
        dead = [
            Dead(event.messages[i], int(event.offset[i]), int(event.at_ms[i]), "unwritable", "the broker refused it")
            for i in np.flatnonzero(refused).tolist()
        ]
        kept = [event.messages[i] for i in np.flatnonzero(~refused).tolist()]
        return Released(kept, event.ts_ms[~refused], event.offset[~refused], event.at_ms[~refused]), dead

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
