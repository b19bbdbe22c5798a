"""The last minutes of a raw topic, read as an onlooker: no group, no commits, committed records only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

from confluent_kafka import OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from reorderer.config import RunConfig
from reorderer.errors import ClusterError
from reorderer.kafka import settings
from reorderer.kafka.codec import Codec, RawMessage
from reorderer.kafka.errors import error_of, explained


@dataclass(slots=True)
class Times:
    """The two times of the tuples of one partition, in offset order, and how many records were no tuples."""

    ts_ms: list[int] = field(default_factory=list)
    arrival_ms: list[int] = field(default_factory=list)
    dead: int = 0


def read_since(
    config: RunConfig, partitions: int, since_ms: int, progress: Callable[[int], None] = lambda _: None
) -> dict[int, Times]:
    """Return what arrived from `since_ms` until now, by partition; those where nothing did are left out."""
    topic = config.topics.raw
    consumer = Consumer(
        settings.client(config.bootstrap_servers)
        | {
            "group.id": "onlooker",  # the client demands a name; assign() without commits makes no group
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "fetch.queue.backoff.ms": 1,
        }
    )
    try:
        wanted = [TopicPartition(topic, number, since_ms) for number in range(partitions)]
        found = consumer.offsets_for_times(wanted, timeout=settings.CONNECT_TIMEOUT_S)
        starts = [start for start in found if start.offset != OFFSET_END]
        return _read(consumer, config, starts, progress) if starts else {}
    except KafkaException as error:
        raise ClusterError(f"cannot read topic {topic!r}: {explained(error_of(error))}") from error
    finally:
        consumer.close()


def _read(
    consumer: Consumer, config: RunConfig, starts: list[TopicPartition], progress: Callable[[int], None]
) -> dict[int, Times]:
    ends = {start.partition: consumer.get_watermark_offsets(start)[1] for start in starts}
    consumer.assign(starts)
    times = {start.partition: Times() for start in starts}
    codec = Codec(config)
    for number, messages in _runs(consumer, ends):
        decoded = codec.decode(messages, now_ms=0)
        times[number].ts_ms += decoded.ts_ms
        times[number].arrival_ms += decoded.arrival_ms
        times[number].dead += len(decoded.dead)
        progress(len(messages))
    return {number: found for number, found in times.items() if found.ts_ms or found.dead}


def _runs(consumer: Consumer, ends: dict[int, int]) -> Iterator[tuple[int, list[RawMessage]]]:
    """Yield messages by partition until each has been read to the end it had when the reading began."""
    unread = set(ends)
    while unread:
        runs: dict[int, list[RawMessage]] = {}
        for message in consumer.consume(10_000, 0.2):
            number, error = cast("int", message.partition()), message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                unread.discard(number)
            elif error is not None and not error.retriable():
                raise KafkaException(error)
            elif error is None and cast("int", message.offset()) < ends[number]:
                runs.setdefault(number, []).append(cast("RawMessage", message))
                if message.offset() == ends[number] - 1:
                    unread.discard(number)
            elif error is None:
                unread.discard(number)
        yield from runs.items()
