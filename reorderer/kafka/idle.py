"""Is a partition that was read to its end still at its end? The broker is asked; the consumer cannot know."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec

from reorderer.kafka import settings

_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # it has no annotations


class IdleWatch:
    """Asks, without waiting, where partitions end.

    A slow or stopped consumer does not notice what came since it reached an end. The broker's answer holds for the
    moment before the question was sent. It is the end for readers of uncommitted records, so that an open upstream
    transaction, which hides what follows it, counts as something to come.
    """

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        self._topic = topic
        self._admin = AdminClient(settings.client(bootstrap_servers))
        self._asked_ms = 0
        self._ends: dict[int, int] = {}
        self._answers: dict[TopicPartition, Future[Any]] = {}

    def ask(self, ends: Mapping[int, int], now_ms: int) -> None:
        """Send the question for these partitions, read to these ends, unless one is still open."""
        if self._answers or not ends:
            return
        self._asked_ms, self._ends = now_ms, dict(ends)
        question = {TopicPartition(self._topic, number): _LATEST for number in ends}
        self._answers = self._admin.list_offsets(
            question, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=5.0
        )

    def silent(self, ends: Mapping[int, int]) -> tuple[int, list[int]]:
        """Return when the question was sent and which partitions had nothing more then; none while it is open."""
        if not self._answers or not all(answer.done() for answer in self._answers.values()):
            return 0, []
        answers, self._answers = self._answers, {}
        silent = [
            part.partition
            for part, answer in answers.items()
            if answer.exception() is None
            and answer.result().offset == self._ends[part.partition] == ends.get(part.partition)
        ]
        return self._asked_ms, silent
