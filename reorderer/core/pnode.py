"""A p-node of the 2-level index (paper 003, section 3): the tuples of 128 consecutive milliseconds."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reorderer.core.events import Ints

SHIFT = 7
"""A p-node covers 2^7 = 128 timestamps (003: n = 128)."""
_MOST_RUNS = 64

TS, OFFSET, SIZE = 0, 1, 2
"""The columns of `Run.rows`."""

Objects: TypeAlias = NDArray[np.object_]


class Run(NamedTuple):
    """Tuples in sequence order: an (n, 3) array of timestamp, offset and size, and their messages."""

    rows: Ints
    messages: Objects

    def part(self, begin: int, end: int) -> Run:
        """Return a part of the run, as views."""
        return Run(self.rows[begin:end], self.messages[begin:end])

    def copy(self) -> Run:
        """Return a run that keeps nothing else alive."""
        return Run(self.rows.copy(), self.messages.copy())

    def count_below(self, ts_ms: int, offset: int) -> int:
        """Return how many tuples lie below (ts, offset) in sequence order."""
        split = int(self.rows[:, TS].searchsorted(ts_ms))
        if offset:
            end = int(self.rows[:, TS].searchsorted(ts_ms, "right"))
            split += int(self.rows[split:end, OFFSET].searchsorted(offset))
        return split


def join(runs: list[Run]) -> Run:
    """Return the runs as one, in sequence order; a later run has the greater offsets. O(n log n) in n tuples joined."""
    if len(runs) == 1:
        return runs[0]
    rows = np.concatenate([run.rows for run in runs])
    messages = np.concatenate([run.messages for run in runs])
    order = sequence_order(np.ascontiguousarray(rows[:, TS]))
    return Run(rows.take(order, axis=0), messages[order])


def sequence_order(ts_ms: Ints) -> Ints:
    """Return the order that sorts by timestamp, ties as they stand.

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
    # Timestamp and index in one integer: numpy's sort of int64 is several times faster than its stable argsort.
    keys = ((ts_ms - least) << bits) | np.arange(count)
    keys.sort()
    keys &= (1 << bits) - 1
    return keys


class PNode:
    """The tuples of one p-node, as runs.

    The list per timestamp of 002, 3.3 is a slice of a run. A later run has the greater offsets, so joining the runs and
    sorting them by timestamp alone, ties as they stand, gives sequence order; nor can a new run lower the least offset.
    """

    __slots__ = ("_least_offset", "runs")

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self._least_offset: int | None = None

    def joined(self) -> Run:
        """Return all tuples as one run, and keep them as such. O(1) if they are, else as `join`."""
        self.runs = [join(self.runs)]
        return self.runs[0]

    def take_below(self, ts_ms: int, offset: int) -> list[Run]:
        """Remove the tuples below (ts, offset) and return them. O(n) at worst; amortised O(1) per tuple taken."""
        if len(self.runs) > _MOST_RUNS:
            self.joined()
        taken, kept = [], []
        for run in self.runs:
            split, count = run.count_below(ts_ms, offset), len(run.messages)
            if split:
                taken.append(run.part(0, split))
            if split < count:
                kept.append(_shed(run.part(split, count)) if split else run)
        if taken:
            self.runs = kept
            self._least_offset = None
        return taken

    @property
    def least_offset(self) -> int:
        """The smallest offset in the node. O(1), O(n) once after tuples were taken."""
        if self._least_offset is None:
            self._least_offset = min(int(run.rows[:, OFFSET].min()) for run in self.runs)
        return self._least_offset


def _shed(run: Run) -> Run:
    """Return the run without the arrays it is a view of, once less than half of them is in use."""
    base = run.messages.base
    return run.copy() if isinstance(base, np.ndarray) and 2 * len(run.messages) < len(base) else run
