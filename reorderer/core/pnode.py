"""A p-node of the 2-level index (paper 003, section 3): the tuples of 128 consecutive milliseconds."""

from __future__ import annotations

import numpy as np

from reorderer.core.events import Ints

SLOTS = 128
"""Timestamps a p-node covers (003: n = 128)."""
SHIFT = 7
_MOST_RUNS = 8

TS, OFFSET, PLACE = 0, 1, 2
"""Rows of a run: timestamp, offset, place of the message in the slab."""


def sequence_order(ts_ms: Ints) -> Ints:
    """Return the order that sorts by timestamp, ties as they stand. O(n log n) on one array, a few ns a tuple.

    >>> sequence_order(np.array([30, 10, 30, 20])).tolist()
    [1, 3, 0, 2]
    """
    count = len(ts_ms)
    if count < 2:
        return np.zeros(count, np.int64)
    least = int(ts_ms.min())
    bits = count.bit_length()
    if (int(ts_ms.max()) - least).bit_length() + bits > 62:
        return np.argsort(ts_ms, kind="stable")
    # Timestamp and index in one integer: numpy's vectorised sort of int64 is several times faster than a stable
    # argsort.
    keys = ((ts_ms - least) << bits) | np.arange(count)
    keys.sort()
    keys &= (1 << bits) - 1
    return keys


class PNode:
    """The tuples of one p-node, as runs: int64 arrays of shape (3, n), each in sequence order.

    The list per timestamp of 002, 3.3 is a slice of a run. A later run has the greater offsets, so joining the runs and
    sorting them by timestamp alone, ties as they stand, gives sequence order.
    """

    __slots__ = ("_least_offset", "count", "runs")

    def __init__(self) -> None:
        self.runs: list[Ints] = []
        self.count = 0
        self._least_offset: int | None = None

    def append(self, run: Ints) -> None:
        """Add a run whose offsets are all greater than those before. O(1)."""
        self.runs.append(run)
        self.count += run.shape[1]
        self._least_offset = None

    def sorted(self) -> Ints:
        """Return all tuples as one run, and keep it as such. O(n) amortised over eight appended runs or a release."""
        if len(self.runs) > 1:
            joined = np.concatenate(self.runs, axis=1)
            self.runs = [joined[:, sequence_order(joined[TS])]]
        return self.runs[0]

    def take_below(self, ts_ms: int, offset: int) -> list[Ints]:
        """Remove the tuples with (ts, offset) below the point; return them as runs. O(runs + tuples taken)."""
        if len(self.runs) > _MOST_RUNS:
            self.sorted()
        taken, kept = [], []
        for run in self.runs:
            split = count_below(run, ts_ms, offset)
            if split:
                taken.append(run[:, :split])
            if split < run.shape[1]:
                kept.append(run[:, split:] if split else run)
        if taken:
            self.runs = kept
            self.count -= sum(run.shape[1] for run in taken)
            self._least_offset = None
        return taken

    @property
    def least_offset(self) -> int:
        """The smallest offset in the node. O(1), O(n) once after a change."""
        if self._least_offset is None:
            self._least_offset = min(int(run[OFFSET].min()) for run in self.runs)
        return self._least_offset


def count_below(run: Ints, ts_ms: int, offset: int) -> int:
    """Return how many tuples of a sorted run lie below (ts, offset) in sequence order. O(log n)."""
    split = int(np.searchsorted(run[TS], ts_ms))
    if offset:
        end = int(np.searchsorted(run[TS], ts_ms, "right"))
        split += int(np.searchsorted(run[OFFSET, split:end], offset))
    return split
