"""The raw topic as batches per partition: assignment, positions, and where each partition ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from confluent_kafka import OFFSET_BEGINNING, OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicPartition

from reorderer.config import RunConfig
from reorderer.errors import ClusterError
from reorderer.kafka import settings
from reorderer.kafka.codec import RawMessage
from reorderer.kafka.errors import SessionLost, error_of, explained, raise_for

_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Committed:
    """An offset and the metadata committed with it, from one answer of the coordinator."""

    offset: int
    metadata: str


class Listener(Protocol):
    """Is told which partitions come and go."""

    def assigned(self, committed: Mapping[int, Committed | None]) -> Mapping[int, int]:
        """Take these partitions over; return the offset at which to read each."""

    def revoked(self, partitions: list[int]) -> None:
        """Finish what is open for them: another instance reads them next."""

    def lost(self, partitions: list[int]) -> None:
        """Drop them: another instance may read them already."""


class Source:
    """Reads the partitions that the group gives to this instance, from the offsets that the listener names."""

    def __init__(self, config: RunConfig, listener: Listener) -> None:
        self._config = config
        self._topic = config.topics.raw
        self._listener = listener
        self._closing = False
        self._assigned: set[int] = set()
        self.ends: dict[int, int] = {}
        """The partitions that are read to their end, and the offset there."""
        self._consumer = Consumer(settings.raw_consumer(config))
        self._consumer.subscribe(
            [self._topic], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )

    def poll(self, timeout_s: float) -> dict[int, list[RawMessage]]:
        """Return the next messages of each partition, in offset order; after it `ends` is true."""
        try:
            messages = self._consumer.consume(self._config.batch_records, timeout_s)
        except KafkaException as exception:
            raise_for(error_of(exception), f"reading {self._topic!r}")
        batches: dict[int, list[RawMessage]] = {}
        for message in messages:
            raw, error = cast("RawMessage", message), message.error()
            partition = raw.partition()
            if error is None:
                try:
                    batches[partition].append(raw)
                except KeyError:
                    batches[partition] = [raw]
                    self.ends.pop(partition, None)
            elif partition not in self._assigned:
                continue  # the news of a partition that this very poll took away
            elif error.code() == KafkaError._PARTITION_EOF:
                self.ends[partition] = raw.offset()
            elif not error.retriable():
                raise_for(error, f"reading {self._topic!r}")
        return {number: batch for number, batch in batches.items() if number in self._assigned}

    def group_metadata(self) -> object:
        """Return this member's identity and generation, to be taken before the first record of a transaction."""
        metadata = self._consumer.consumer_group_metadata()
        # A member that was thrown out has no id until it has been told so by the next poll, and offsets sent without an
        # id are not checked against the generation.
        if not self._consumer.memberid():
            raise SessionLost("the group has given this instance's partitions away")
        return metadata

    def restart(self, partitions: Iterable[int]) -> None:
        """Hand these partitions, which this instance has, to the listener anew; messages on their way are dropped."""
        parts = [TopicPartition(self._topic, number) for number in partitions]
        if parts:
            self._forget(parts)
            self._consumer.incremental_unassign(parts)
            self._assign(parts)

    def bounds(self, partition: int) -> tuple[int, int]:
        """Return the first offset of a partition and the one after its last."""
        try:
            low, high = self._consumer.get_watermark_offsets(TopicPartition(self._topic, partition), _TIMEOUT_S)
        except KafkaException as exception:
            raise_for(error_of(exception), f"asking for the ends of {self._topic!r}")
        return low, high

    def close(self) -> None:
        """Leave the group; the listener is not told."""
        self._closing = True
        self._consumer.close()

    def _assign(self, partitions: list[TopicPartition]) -> None:
        try:
            answer = self._consumer.committed(partitions, timeout=_TIMEOUT_S)
        except KafkaException as exception:
            raise_for(error_of(exception), "asking for the committed offsets")
        committed = {
            part.partition: None if part.offset == OFFSET_INVALID else Committed(part.offset, part.metadata or "")
            for part in answer
        }
        starts = self._listener.assigned(committed)
        parts = [TopicPartition(self._topic, number, offset) for number, offset in starts.items()]
        self._consumer.incremental_assign(parts)
        self._assigned |= starts.keys()

    def _on_assign(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        if self._closing or not partitions:
            return
        try:
            self._assign(partitions)
        except SessionLost as lost:
            raise ClusterError(f"cannot take over partitions of {self._topic!r}: {lost}") from lost

    def _on_revoke(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        numbers = self._forget(partitions)
        if not self._closing:
            self._listener.revoked(numbers)
        consumer.incremental_unassign(partitions)

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        numbers = self._forget(partitions)
        if not self._closing:
            self._listener.lost(numbers)
        consumer.incremental_unassign(partitions)

    def _forget(self, partitions: list[TopicPartition]) -> list[int]:
        numbers = [part.partition for part in partitions]
        for number in numbers:
            self._assigned.discard(number)
            self.ends.pop(number, None)
        return numbers


def has_committed_records(bootstrap_servers: str, topic: str, partition: int) -> bool:
    """Return whether a reader of committed records finds any in this partition (aborted ones do not count)."""
    # The group is a form that librdkafka asks for: with partitions assigned by hand it is never joined.
    config = {"group.id": "reorderer-look", "isolation.level": "read_committed", "enable.partition.eof": True}
    consumer = Consumer(settings.client(bootstrap_servers) | config | {"enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING)])
        message = consumer.poll(_TIMEOUT_S)
    finally:
        consumer.close()
    if message is None:
        raise ClusterError(f"topic {topic!r} partition {partition} does not answer")
    error = message.error()
    if error is not None and error.code() != KafkaError._PARTITION_EOF:
        raise ClusterError(f"cannot read topic {topic!r}: {explained(error)}")
    return error is None
