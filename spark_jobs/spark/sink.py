"""Writes each micro-batch once: results, punctuations and the batch's number in one Kafka transaction.

The number is committed as the offset of a consumer group of the output topic. A batch that Spark repeats after a crash
is evaluated like any other, and only what it would write is left out.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from spark_jobs.errors import SetupError
from spark_jobs.records import Record, SnapshotRow, punctuation

log = logging.getLogger(__name__)

TRANSACTION_TIMEOUT_MS = 10_000
"""A dead job blocks the output's readers for so long."""
ANSWER_WITHIN_S = 30.0
PASSING = frozenset(
    {
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.UNSTABLE_OFFSET_COMMIT,
    }
)
"""A broker that has just started, or a group that moves, answers so for a while."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Written:
    """What the output topic holds: everything up to `batch` of a checkpoint, and no row before `until_ms` follows."""

    checkpoint: str
    batch: int
    until_ms: int


class Sink:
    """The one producer of an output topic; a second one with the same topic fences it."""

    def __init__(self, bootstrap_servers: str, topic: str, partitions: int) -> None:
        self.topic = topic
        self._partitions = partitions
        common = {"bootstrap.servers": bootstrap_servers}
        self._group = Consumer(
            {**common, "group.id": f"csql.{topic}", "enable.auto.commit": False, "isolation.level": "read_committed"},
            logger=log,
        )
        self._producer = Producer(
            {
                **common,
                "transactional.id": f"csql.{topic}",
                "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
                "linger.ms": 5,
            },
            logger=log,
        )
        try:
            _patiently(self._producer.init_transactions)
            self.written = self._read()
        except KafkaException as error:
            self.close()
            raise SetupError(f"output topic '{topic}' cannot be written: {error.args[0].str()}") from error

    def write(self, checkpoint: str, batch: int, rows: Sequence[SnapshotRow], until_ms: int) -> None:
        """Return with the rows, in their order, and a punctuation on every partition committed; raise if unknown.

        A batch that is committed already, and rows that an earlier punctuation covers, are left out.
        """
        before = self.written
        if before is not None and before.checkpoint == checkpoint and batch <= before.batch:
            return
        from_ms = 0 if before is None else before.until_ms
        now = Written(checkpoint, batch, max(until_ms, from_ms))
        if now.until_ms < 1:
            return
        try:
            self._producer.begin_transaction()
            for partition, record in self._records([row for row in rows if row.at_ms >= from_ms], now.until_ms):
                self._produce(partition, record)
            self._commit(now)
        except KafkaException as error:
            raise SetupError(
                f"batch {batch} could not be written to '{self.topic}': {error.args[0].str()}",
                hint="start the query again: it goes on where it was",
            ) from error
        self.written = now

    def close(self) -> None:
        """Let go of the connections; an unfinished transaction is aborted by the next start, or by its time-out."""
        self._producer.purge()
        self._producer.flush(0)
        self._group.close()

    def _records(self, rows: Iterable[SnapshotRow], until_ms: int) -> Iterable[tuple[int, Record]]:
        for _, together in groupby(rows, key=lambda row: row.at_ms):
            for ordinal, row in enumerate(together):
                yield row.partition(self._partitions), row.record(ordinal)
        for partition in range(self._partitions):
            yield partition, punctuation(until_ms)

    def _produce(self, partition: int, record: Record) -> None:
        while True:
            try:
                self._producer.produce(
                    self.topic,
                    record.value,
                    record.key,
                    partition,
                    timestamp=record.timestamp_ms,
                    headers=list(record.headers),
                )
            except BufferError:
                self._producer.poll(0.1)
            else:
                return

    def _commit(self, now: Written) -> None:
        offset = TopicPartition(self.topic, 0, now.batch + 1, metadata=json.dumps(asdict(now)))
        group = self._group.consumer_group_metadata()
        _patiently(lambda within_s: self._producer.send_offsets_to_transaction([offset], group, within_s))
        _patiently(self._producer.commit_transaction)

    def _read(self) -> Written | None:
        place = TopicPartition(self.topic, 0)
        (found,) = _patiently(lambda within_s: self._group.committed([place], timeout=within_s))
        if found.offset < 0 or found.metadata is None:
            return None
        try:
            return Written(**json.loads(found.metadata))
        except (TypeError, ValueError) as error:
            raise SetupError(
                f"group 'csql.{self.topic}' was committed by another program",
                hint="choose another --output-topic, or delete the group",
            ) from error


def _patiently(call: Callable[[float], T]) -> T:
    """Return the answer of a call that takes a time limit, repeated while the error is one that passes."""
    deadline = time.monotonic() + ANSWER_WITHIN_S
    while True:
        left_s = deadline - time.monotonic()
        try:
            return call(max(1.0, left_s))
        except KafkaException as error:
            cause = error.args[0]
            if left_s < 0 or not (cause.retriable() or cause.code() in PASSING):
                raise
            time.sleep(0.1)
