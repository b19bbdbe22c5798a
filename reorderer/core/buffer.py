"""The reorder buffer: a circular array indexed by timestamp (paper 002, 3.3) under a 2-level index (003, section 3).

Level 1, the *i-node*, is a circular array of p-nodes, of variable size and at least 8. Level 2, the *p-node*, covers
128 milliseconds. A tuple finds its place by arithmetic alone (003, figure 3, insertTuple)::

    i-index = (ts - start) / 128     p-index = (ts - start) mod 128

The papers handle one tuple at a time. Here tuples come in batches, so a p-node holds runs in place of 128 list heads:
a batch is sorted once, cut at the borders of the p-nodes, and each piece is appended to its p-node; what leaves is
the head p-nodes, merged. Work per tuple is one sort of the batch and one of what is released, never of what is held.

The i-node stays in proportion to the p-nodes in use. A tuple too far ahead for that (one tuple an hour, a clock minutes
ahead) waits in a SortedDict of p-nodes, and enters the ring when the frontier comes near, so gaps cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np
from sortedcontainers import SortedDict

from reorderer.core.digest import MASK_64, digest
from reorderer.core.events import Ints, M
from reorderer.core.pnode import OFFSET, PLACE, SHIFT, TS, PNode, sequence_order
from reorderer.core.slab import Slab

LEAST_NODES = 8
"""The smallest i-node (003: n >= 8)."""
_SPARSENESS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Run(Generic[M]):
    """Tuples that left the buffer, in sequence order."""

    ts_ms: Ints
    offset: Ints
    messages: list[M]


class Buffer(Generic[M]):
    """Held tuples in sequence order (ts, offset).

    >>> buffer = Buffer[str]()
    >>> buffer.insert(np.array([30, 10, 30]), np.array([0, 1, 2]), ["a", "b", "c"])
    >>> buffer.release(30, 2).messages, buffer.held, buffer.least_offset
    (['b', 'a'], 1, 2)
    """

    def __init__(self) -> None:
        self._ring: list[PNode | None] = [None] * LEAST_NODES
        self._start = 0  # number (ts // 128) of the first p-node the ring covers
        self._head = 0  # its place in the ring
        self._used = 0  # p-nodes in the ring
        self._last = 0  # number of the last p-node in the ring, if any
        self._far: SortedDict = SortedDict()
        self._slab = Slab[M]()
        self.held_bytes = 0
        self.held_hash = 0

    @property
    def held(self) -> int:
        """The number of tuples held. O(1)."""
        return len(self._slab)

    @property
    def least_offset(self) -> int | None:
        """The smallest offset held, or None. O(p-nodes)."""
        return min((node.least_offset for _, node in self._nodes()), default=None)

    def insert(self, ts_ms: Ints, offset: Ints, messages: Sequence[M], size: Ints | None = None) -> None:
        """Hold the tuples; their offsets increase and exceed all those inserted before. O(1) amortised per tuple."""
        if not len(ts_ms):
            return
        order = sequence_order(ts_ms)
        places = self._slab.put(messages, size)
        rows = np.stack([ts_ms, offset, places])[:, order]
        numbers = rows[TS] >> SHIFT
        cuts = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
        begins, ends = [0, *cuts.tolist()], [*cuts.tolist(), len(numbers)]
        for number, begin, end in zip(numbers[begins].tolist(), begins, ends, strict=True):
            # A copy: a view would keep the whole batch's rows alive for its longest-waiting tuple.
            self._node(number).append(rows[:, begin:end].copy())
        self.held_bytes += 0 if size is None else int(size.sum())
        self.held_hash = (self.held_hash + digest(offset)) & MASK_64

    def release(self, ts_ms: int, offset: int = 0) -> Run[M]:
        """Remove and return every tuple below the point (ts, offset). O(1) amortised per tuple released."""
        runs: list[Ints] = []
        for number, node in self._nodes_to(ts_ms >> SHIFT):
            if number < ts_ms >> SHIFT:
                runs += node.runs
                self._drop(number)
            else:
                runs += node.take_below(ts_ms, offset)
                if not node.count:
                    self._drop(number)
        self._settle()
        return self._hand_over(runs)

    def oldest(self) -> Iterator[tuple[list[int], list[int], list[int]]]:
        """Yield (ts, offset, size) of the held tuples in sequence order, 512 at a time; the buffer must not change."""
        for _, node in self._nodes():
            run = node.sorted()
            for begin in range(0, run.shape[1], 512):
                part = run[:, begin : begin + 512]
                yield part[TS].tolist(), part[OFFSET].tolist(), self._slab.sizes(part[PLACE]).tolist()

    def last_ts_ms(self) -> int | None:
        """Return the greatest timestamp held, or None. O(tuples of the last p-node)."""
        node = self._far.peekitem(-1)[1] if self._far else self._ring[self._place(self._last)] if self._used else None
        return None if node is None else max(int(run[TS, -1]) for run in node.runs)

    def _hand_over(self, runs: list[Ints]) -> Run[M]:
        if not runs:
            empty = np.empty(0, np.int64)
            return Run(empty, empty, [])
        rows = np.concatenate(runs, axis=1)
        if len(runs) > 1:
            rows = rows[:, sequence_order(rows[TS])]
        messages, size = self._slab.take(rows[PLACE])
        self.held_bytes -= size
        self.held_hash = (self.held_hash - digest(rows[OFFSET])) & MASK_64
        return Run(rows[TS], rows[OFFSET], messages)

    # --- the 2-level index -----------------------------------------------------------------------------------------

    def _place(self, number: int) -> int:
        return (self._head + number - self._start) % len(self._ring)

    def _nodes(self) -> Iterator[tuple[int, PNode]]:
        """Yield the p-nodes in order. O(i-node)."""
        if self._used:
            for number in range(self._start, self._last + 1):
                node = self._ring[self._place(number)]
                if node is not None:
                    yield number, node
        yield from self._far.items()

    def _nodes_to(self, number: int) -> list[tuple[int, PNode]]:
        """Return the p-nodes up to the number, in order. O(p-nodes passed)."""
        found: list[tuple[int, PNode]] = []
        if self._used:
            for candidate in range(self._start, min(self._last, number) + 1):
                node = self._ring[self._place(candidate)]
                if node is not None:
                    found.append((candidate, node))
        found += [(key, self._far[key]) for key in self._far.irange(maximum=number)]
        return found

    def _drop(self, number: int) -> None:
        if number in self._far:
            del self._far[number]
            return
        self._ring[self._place(number)] = None
        self._used -= 1

    def _node(self, number: int) -> PNode:
        """Return the p-node of that number, made if need be. O(1) amortised in the ring, O(log n) far ahead."""
        if not self._used and not self._far:
            self._start, self._last = number, number
        index = number - self._start
        if not 0 <= index < len(self._ring) and not self._stretch(number):
            far: PNode = self._far.setdefault(number, PNode())
            return far
        place = self._place(number)
        node = self._ring[place]
        if node is None:
            node = self._ring[place] = PNode()
            self._last = max(self._last, number) if self._used else number
            self._used += 1
        return node

    def _stretch(self, number: int) -> bool:
        """Make the ring reach the number; False if it would be too sparse, and the tuple has to wait far ahead."""
        first = min(number, self._start)
        span = max(number, self._last if self._used else number) - first + 1
        if span <= max(64, _SPARSENESS * (self._used + 1)):
            self._rebuild(first, span)
            return True
        if number > self._start:
            return False
        for old, node in [pair for pair in self._nodes() if pair[0] not in self._far]:
            self._far[old] = node
        self._used = 0
        self._rebuild(number, LEAST_NODES)
        return True

    def _rebuild(self, first: int, span: int) -> None:
        """Copy the i-node to one that starts at `first` and covers the span; p-nodes within come in from far ahead."""
        nodes = [pair for pair in self._nodes() if pair[0] not in self._far]
        self._ring = [None] * max(LEAST_NODES, 1 << (span - 1).bit_length())
        self._start, self._head = first, 0
        for number, node in nodes:
            self._ring[number - first] = node
        self._draw_near()

    def _draw_near(self) -> None:
        """Move the p-nodes that the ring covers by now from the SortedDict into it. O(log n) a p-node, once."""
        while self._far and self._far.peekitem(0)[0] < self._start + len(self._ring):
            number, node = self._far.popitem(0)
            self._ring[self._place(number)] = node
            self._last = max(self._last, number) if self._used else number
            self._used += 1

    def _settle(self) -> None:
        """Begin the ring at its oldest p-node; halve it while it is mostly unused. O(p-nodes passed)."""
        if not self._used and self._far:
            self._start, self._head = self._far.peekitem(0)[0], 0
        elif self._used:
            while self._ring[self._head] is None:
                self._head = (self._head + 1) % len(self._ring)
                self._start += 1
        self._draw_near()
        span = self._last - self._start + 1 if self._used else 1
        if len(self._ring) > LEAST_NODES and 4 * span <= len(self._ring):
            self._rebuild(self._start, 2 * span)

    def _check(self) -> None:
        """Assert every invariant of the structure. O(n log n); for tests."""
        ring = [(i, node) for i, node in enumerate(self._ring) if node is not None]
        assert len(self._ring) >= LEAST_NODES
        assert len(self._ring).bit_count() == 1
        assert self._used == len(ring)
        numbers = [self._start + (i - self._head) % len(self._ring) for i, _ in ring]
        assert not ring or max(numbers) == self._last
        assert all(key >= self._start + len(self._ring) for key in self._far)
        nodes = list(self._nodes())
        assert [number for number, _ in nodes] == sorted([*numbers, *self._far])
        for number, node in nodes:
            assert node.count == sum(run.shape[1] for run in node.runs) > 0
            for run in node.runs:
                assert (run[TS] >> SHIFT == number).all()
                assert run.shape[1] == 1 or ((np.diff(run[TS]) > 0) | (np.diff(run[OFFSET]) > 0)).all()
                assert (np.diff(run[TS]) >= 0).all()
        runs = [run for _, node in nodes for run in node.runs]
        rows = np.concatenate(runs, axis=1) if runs else np.empty((3, 0), np.int64)
        assert rows.shape[1] == self.held == len(np.unique(rows[PLACE])) == len(np.unique(rows[OFFSET]))
        assert self.held_bytes == int(self._slab.sizes(rows[PLACE]).sum())
        assert self.held_hash == digest(rows[OFFSET])
        self._slab.check()
