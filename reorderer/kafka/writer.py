"""A plain producer that plays the sensors of a raw topic."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType

from confluent_kafka import KafkaError, Message, Producer

from reorderer.delays import Slice
from reorderer.errors import ClusterError
from reorderer.kafka import settings
from reorderer.kafka.errors import explained
from reorderer.playback import Values


class TopicWriter:
    """Writes tuples keyed by device; the record timestamp is the arrival (a `LogAppendTime` topic puts its own)."""

    def __init__(self, bootstrap_servers: str, topic: str, values: Values) -> None:
        self._topic = topic
        self._values = values
        self._failed: KafkaError | None = None
        self._producer = Producer(settings.raw_writer(bootstrap_servers) | {"on_delivery": self._on_delivery})
        # Connect now, so that the first tuples are not late by it.
        self._producer.list_topics(topic, timeout=settings.CONNECT_TIMEOUT_S)

    def __enter__(self) -> TopicWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._producer.flush(5.0)
            return
        while self._producer.flush(1.0):
            self._check()
        self._check()

    def write(self, tuples: Slice) -> None:
        """Hand the tuples to the client, waiting where its queue is full."""
        produce, topic = self._producer.produce, self._topic
        devices, arrivals = tuples.device.tolist(), tuples.arrival_ms.tolist()
        for value, device, arrival_ms in zip(self._values(tuples), devices, arrivals, strict=True):
            while True:
                try:
                    produce(topic, value, b"%d" % device, timestamp=arrival_ms)
                    break
                except BufferError:
                    self._producer.poll(0.05)
                    self._check()
        self._producer.poll(0)
        self._check()

    def _on_delivery(self, error: KafkaError | None, _message: Message) -> None:
        self._failed = self._failed or error

    def _check(self) -> None:
        if self._failed is not None:
            raise ClusterError(f"cannot write to topic {self._topic!r}: {explained(self._failed)}")


def write_values(bootstrap_servers: str, topic: str, values: Iterable[bytes]) -> None:
    """Write values as they are, without keys; all are acknowledged on return."""
    producer = Producer(settings.raw_writer(bootstrap_servers))
    for value in values:
        producer.produce(topic, value)
    if producer.flush(30.0):
        raise ClusterError(f"topic {topic!r} does not take records")
