"""The delays of the last moments: two histograms, the older dropped whenever the newer is full."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reorderer.core.estimators import delays
from reorderer.core.estimators.protocol import JSON
from reorderer.core.events import Ints


class Recent:
    """Counts the delays of the last `width_ms` to twice that of arrival time."""

    def __init__(self, width_ms: int, begin_ms: int) -> None:
        self._width_ms = width_ms
        self._begins_ms = [begin_ms, begin_ms]
        self._older: Ints = np.zeros(delays.BUCKETS, np.int64)
        self._newer: Ints = np.zeros(delays.BUCKETS, np.int64)

    @property
    def counts(self) -> Ints:
        """The delays in the window, by bucket."""
        return self._older + self._newer

    def span_ms(self, clock_ms: int) -> float:
        """Return how long the window reaches back."""
        return max(clock_ms - self._begins_ms[0], self._width_ms / 2)

    def add(self, counts: Ints, clock_ms: int) -> None:
        """Take in the delays that came up to the clock; a new half begins with them if the newer is full."""
        if clock_ms - self._begins_ms[1] >= self._width_ms:
            self._begins_ms = [self._begins_ms[1], clock_ms]
            self._older, self._newer = self._newer, np.zeros(delays.BUCKETS, np.int64)
        self._newer += counts

    def in_flight(self, clock_ms: int) -> delays.Floats:
        """Return for each edge x how many tuples are under way for longer than x, if all goes on like this."""
        return delays.in_flight(self.counts, self.span_ms(clock_ms))

    def state(self) -> JSON:
        """Return everything, as JSON values."""
        halves = np.concatenate((self._older, self._newer))
        return {"width_ms": self._width_ms, "begins_ms": [*self._begins_ms], "halves": delays.pack(halves)}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Recent:
        """Return the counts whose `state` this was."""
        recent = cls(state["width_ms"], 0)
        recent._begins_ms = list(state["begins_ms"])
        halves = delays.unpack(state["halves"])
        recent._older, recent._newer = halves[: delays.BUCKETS], halves[delays.BUCKETS :]
        return recent
