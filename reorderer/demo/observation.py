"""What an outsider learns about the pipeline by reading its topics: no process is asked, the records say it all."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from reorderer.records import PUNCTUATION_HEADERS, RESERVED_FIELD, Topics

Headers = Sequence[tuple[str, bytes | None]]


@dataclass(slots=True)
class PartitionView:
    """Tuples seen of one partition on each side, and what its newest punctuation said."""

    raw: int = 0
    clean: int = 0
    late: int = 0
    dead: int = 0
    punctuation: dict[str, Any] | None = None

    @property
    def in_flight(self) -> int:
        """Tuples read on the raw side and not yet seen on another."""
        return self.raw - self.clean - self.late - self.dead


@dataclass(slots=True)
class Observation:
    """Counts and newest values over all topics of the demonstration.

    >>> seen = Observation(Topics.of("body"), "vitals", partitions=1)
    >>> seen.see("body", 0, b'{"ts": 5}', [])
    >>> seen.see("body.clean", 0, b'{"__punctuation__": {"until": 9}}', [("reorderer.kind", b"punctuation")])
    >>> seen.see("vitals", 0, b'{"at": 5, "COUNT": 1}', [])
    >>> seen.totals.raw, seen.clean_until_ms, seen.results[-1], seen.output_until_ms
    (1, 9, {'at': 5, 'COUNT': 1}, None)
    """

    topics: Topics
    output: str
    partitions: int
    views: list[PartitionView] = field(init=False)
    results: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=8))
    result_count: int = 0
    _output_until: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.views = [PartitionView() for _ in range(self.partitions)]

    def see(self, topic: str, partition: int, value: bytes | None, headers: Headers) -> None:
        """Take one record of any of the topics into account."""
        if topic == self.output:
            self._see_output(partition, value, headers)
            return
        view = self.views[partition]
        if topic == self.topics.raw:
            view.raw += 1
        elif topic == self.topics.late:
            view.late += 1
        elif topic == self.topics.dead:
            view.dead += 1
        elif (punctuation := _punctuation(value, headers)) is not None:
            view.punctuation = punctuation
        else:
            view.clean += 1

    def _see_output(self, partition: int, value: bytes | None, headers: Headers) -> None:
        punctuation = _punctuation(value, headers)
        if punctuation is not None:
            self._output_until[partition] = punctuation["until"]
        elif value is not None:
            self.result_count += 1
            self.results.append(orjson.loads(value))

    @property
    def totals(self) -> PartitionView:
        """The sums over all partitions."""
        return PartitionView(
            *(sum(getattr(view, side) for view in self.views) for side in ("raw", "clean", "late", "dead"))
        )

    @property
    def clean_until_ms(self) -> int | None:
        """The smallest punctuation over the clean partitions, once all have spoken."""
        untils = [view.punctuation["until"] for view in self.views if view.punctuation is not None]
        return min(untils) if len(untils) == self.partitions else None

    @property
    def output_until_ms(self) -> int | None:
        """The smallest punctuation over the output partitions that have spoken."""
        return min(self._output_until.values(), default=None)

    @property
    def drop_ratio(self) -> float:
        """Late tuples over all tuples judged so far."""
        totals = self.totals
        judged = totals.clean + totals.late
        return totals.late / judged if judged else 0.0


def _punctuation(value: bytes | None, headers: Headers) -> dict[str, Any] | None:
    if value is None or PUNCTUATION_HEADERS[0] not in headers:
        return None
    content: dict[str, Any] = orjson.loads(value)[RESERVED_FIELD]
    return content
