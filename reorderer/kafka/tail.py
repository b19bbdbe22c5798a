"""Follow several topics from their beginning as an onlooker: no group, no commits, committed records only."""

from __future__ import annotations

from types import TracebackType
from typing import NamedTuple, Self, cast

from confluent_kafka import OFFSET_BEGINNING, OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicPartition


class Seen(NamedTuple):
    """A record as an onlooker sees it."""

    topic: str
    partition: int
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


class Tail:
    """A reader of whole topics that goes on as they grow.

    `at_end` is true when the last call of `read` found nothing after what it returned, on any partition.
    """

    def __init__(self, bootstrap_servers: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": "onlooker",  # the client demands a name; assign() without commits makes no group
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
                "fetch.queue.backoff.ms": 1,
            }
        )
        self._assigned: list[TopicPartition] = []
        self._ended: set[tuple[str, int]] = set()

    def follow(self, topic: str, partitions: int) -> None:
        """Read this topic as well, from its beginning."""
        added = [TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)]
        self._consumer.incremental_assign(added)
        self._assigned += added

    def read(self, timeout_s: float = 0.1) -> list[Seen]:
        """Return what has come since the last call, in the order of each partition."""
        seen = []
        for message in self._consumer.consume(10_000, timeout_s):
            topic, partition = cast("str", message.topic()), cast("int", message.partition())
            error = message.error()
            if error is None:
                self._ended.discard((topic, partition))
                headers = cast("list[tuple[str, bytes | None]]", message.headers() or [])
                seen.append(Seen(topic, partition, message.value(), headers))
            elif error.code() == KafkaError._PARTITION_EOF:
                self._ended.add((topic, partition))
            elif not error.retriable():
                raise KafkaException(error)
        return seen

    def read_to_end(self) -> list[Seen]:
        """Return everything up to where each partition ends now; nothing may write to them any more."""
        places = self._consumer.position(self._assigned)
        for place in places:
            place.offset = OFFSET_BEGINNING if place.offset == OFFSET_INVALID else place.offset
        self._consumer.incremental_unassign(self._assigned)  # an end is told once: it is told anew after assigning anew
        self._consumer.incremental_assign(places)
        self._ended.clear()
        seen = []
        while not self.at_end:
            seen += self.read()
        return seen

    @property
    def at_end(self) -> bool:
        """Whether the end of every partition has been reached and nothing came after it."""
        return len(self._ended) == len(self._assigned)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._consumer.close()
