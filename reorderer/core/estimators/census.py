"""How many tuples of each slot of event time have come, and how many are therefore still missing.

A delay is known only when its tuple arrives; that tuples are *missing* is known earlier. A stream that makes some
thousand tuples a second and has shown half of them for the second the frontier is about to pass will lose the other
half. This sees a step in the delay, a stalled link or a calm regime's end before a single late tuple has come.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from reorderer.core.estimators.delays import Floats, pack, unpack
from reorderer.core.estimators.protocol import JSON
from reorderer.core.events import Ints

SLOTS = 96
"""Slots kept at most; they become twice as wide beyond that, and half as wide below FEWEST."""

FEWEST = 4
"""Fewer are too wide to stop at the right place; more are so narrow that empty ones are passed, and learnt as usual."""

TOLERANCES = (0.05, 0.5)
"""The share of a slot that may miss unnoticed: one sees a small loss in the end, the other a large one at once."""

SURE = 6.0
"""A false alarm has probability exp(-SURE) a slot, if arrivals are Poisson: exp(-2 x tolerance x threshold)."""

MEMORY = 32
"""Slots over which the usual count and its variance are averaged, exponentially."""


class Census:
    """Counts tuples by slot of event time; one-sided CUSUMs over the slots in order tell what is missing.

    C(e) = max(0, C(e-1) + (1 - tolerance) x usual x F(age) - count(e)), with F(age) the share that should have come by
    now, is the estimate of the tuples missing up to slot e (E. S. Page, Continuous inspection schemes, Biometrika 41,
    1954). What is missing below the frontier stays in C as a debt until it comes (late) or is forgiven.
    """

    def __init__(self) -> None:
        self.width_ms = 8
        self.first: int | None = None
        self.counts: Ints = np.zeros(0, np.int64)
        self.usual = 0.0
        self.variance = 0.0
        self.closed = 0
        self.debts = [0.0 for _ in TOLERANCES]
        self.late = 0

    def state(self) -> dict[str, JSON]:
        """Return everything, as JSON values."""
        return {**vars(self), "debts": [*self.debts], "counts": pack(self.counts)}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Census:
        """Return the census whose `state` this was."""
        census = cls()
        vars(census).update(state, debts=[*state["debts"]], counts=unpack(state["counts"]))
        return census

    def add(self, ts_ms: Ints, arrival_ms: Ints, late: int) -> None:
        """Count tuples; those ahead of their arrival, or before the first slot, are left out. O(n)."""
        if self.first is None:
            self.first = int(min(ts_ms[0], arrival_ms[0])) // self.width_ms
        self._reach(int(arrival_ms[-1]))
        known = (ts_ms >= self.first * self.width_ms) & (ts_ms <= arrival_ms)
        self.counts += np.bincount(ts_ms[known] // self.width_ms - self.first, minlength=len(self.counts))
        self.late += late

    def close(self, frontier_ms: int) -> None:
        """Drop the slots below the frontier, learning the usual count from them."""
        self.debts = [max(0.0, debt - self.late) for debt in self.debts]
        self.late = 0
        if self.first is None:
            return
        done = min(frontier_ms // self.width_ms - self.first, len(self.counts))
        if done > 0:
            for counted in self.counts[:done][-2 * MEMORY :].tolist():
                self._learn(counted)
            self.counts = self.counts[done:]
            self.first += done
        while self.width_ms > 8 and len(self.counts) < FEWEST:
            self._narrow()

    def shortage(
        self, clock_ms: int, target_ms: int, allowance: float, edges_ms: Floats, share: Floats
    ) -> tuple[int | None, float]:
        """Return how far the frontier may go leaving at most `allowance` behind, and what misses below the target.

        `share` is F, the share of tuples come by the age `edges_ms`. None: nothing is missing.
        """
        slots = 0 if self.first is None else clock_ms // self.width_ms - self.first
        if self.first is None or slots <= 0 or self.closed < 8 or self.usual <= 0:
            return None, 0.0
        age_ms = clock_ms - (self.first + 1 + np.arange(slots)) * self.width_ms
        expected = self.usual * np.interp(age_ms, edges_ms, share)
        target = min(max(target_ms // self.width_ms - self.first - 1, 0), slots - 1)
        first_short, below = slots, 0.0
        for tolerance, debt in zip(TOLERANCES, self.debts, strict=True):
            missing = _cusum((1 - tolerance) * expected - self.counts[:slots], debt)
            threshold = allowance + SURE / (2 * tolerance) * max(self.variance / self.usual, 0.1)
            short = np.flatnonzero(missing > threshold)
            if len(short):
                first_short = min(first_short, int(short[0]))
                below = max(below, float(missing[target]))
        return ((self.first + first_short) * self.width_ms if first_short < slots else None), below

    def forgive(self, target_ms: int) -> None:
        """Believe that what misses up to the target will not come: the stream has become slower."""
        if self.first is not None and len(self.counts):
            slots = max(1, target_ms // self.width_ms - self.first)
            self.usual = float(self.counts[:slots].mean())
            self.variance = max(self.variance, self.usual)
            self.debts = [0.0 for _ in TOLERANCES]

    def _reach(self, clock_ms: int) -> None:
        assert self.first is not None
        while clock_ms // self.width_ms - self.first >= SLOTS:
            self._widen()
        short = clock_ms // self.width_ms - self.first + 1 - len(self.counts)
        self.counts = np.append(self.counts, np.zeros(max(short, 0), np.int64))

    def _widen(self) -> None:
        assert self.first is not None
        counts = self.counts[self.first % 2 :]  # a slot that lost its older half would look short for ever
        self.first = (self.first + 1) // 2
        counts = np.append(counts, np.zeros(len(counts) % 2, np.int64))
        self.counts = counts[::2] + counts[1::2]
        self._scale(2.0)

    def _narrow(self) -> None:
        assert self.first is not None
        self.first *= 2
        self.counts = np.column_stack((self.counts // 2, self.counts - self.counts // 2)).ravel()
        self._scale(0.5)

    def _scale(self, factor: float) -> None:
        self.width_ms = int(self.width_ms * factor)
        self.usual *= factor
        self.variance *= factor

    def _learn(self, counted: int) -> None:
        if self.closed >= 8:
            self.debts = [
                max(0.0, debt + (1 - tolerance) * self.usual - counted)
                for debt, tolerance in zip(self.debts, TOLERANCES, strict=True)
            ]
        self.closed += 1
        weight = max(1 / self.closed, 1 / MEMORY)
        error = counted - self.usual
        if self.closed > MEMORY:
            error = math.copysign(min(abs(error), 3 * math.sqrt(max(self.variance, self.usual))), error)
        self.usual += weight * error
        self.variance += weight * (error * error - self.variance) if self.closed > 1 else 0.0


def _cusum(steps: Floats, begin: float) -> Floats:
    """Return the running sum that never falls below zero, begun at `begin`.

    >>> _cusum(np.array([-3.0, 2.0, 2.0, -1.0]), 1.0).tolist()
    [0.0, 2.0, 4.0, 3.0]
    """
    total = begin + np.cumsum(steps)
    sums: Floats = total - np.minimum(np.minimum.accumulate(total), 0.0)
    return sums
