"""The reorder buffer: a circular array indexed by timestamp (paper 002, 3.3) under a 2-level index (003, section 3).

Level 1, the *i-node*, is a circular array of 8 to 32 p-nodes. Level 2, the *p-node*, has 128 slots. A tuple finds its
place by arithmetic alone (003, figure 3, insertTuple)::

    i-index = (ts - start) / 128     p-index = (ts - start) mod 128

The papers handle one tuple at a time; here they come in batches. So a p-node holds sorted runs in place of 128 list
heads, and the list of a timestamp is a slice of a run. A batch is sorted once, cut at the borders of the p-nodes, and
each piece is appended to its p-node; what leaves is the p-nodes at the head, joined. Work per tuple is one sort of
the batch and one of what is released, never of what is held.

The range follows the disorder. The i-node grows and shrinks by array copies, as in 003. Where 32 p-nodes are too few,
a slot becomes 2, 4, 8... milliseconds wide, so a batch is never cut into more than some dozens of pieces, however
long the disorder. A tuple far ahead of the others (one tuple an hour, a clock minutes ahead) waits in a SortedDict of
p-nodes until the frontier comes near, so gaps cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic

import numpy as np
from sortedcontainers import SortedDict

from reorderer.core.digest import MASK_64, digest
from reorderer.core.events import Ints, M
from reorderer.core.pnode import OFFSET, SHIFT, SIZE, TS, PNode, Run, join, sequence_order

LEAST_NODES = 8
"""The smallest i-node (003: n >= 8)."""
MOST_NODES = 32
_SPARSENESS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Leaving(Generic[M]):
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
        self._shift = SHIFT  # a p-node covers 2^shift milliseconds
        self._ring: list[PNode | None] = [None] * LEAST_NODES
        self._start = 0  # number (ts >> shift) of the first p-node the ring covers
        self._head = 0  # its place in the ring
        self._used = 0  # p-nodes in the ring
        self._last = 0  # number of the last p-node in the ring, if any
        self._far: SortedDict = SortedDict()
        self.held = 0
        self.held_bytes = 0
        self.held_hash = 0

    @property
    def least_offset(self) -> int | None:
        """The smallest offset held, or None. O(p-nodes)."""
        return min((node.least_offset for _, node in self._nodes()), default=None)

    @property
    def last_ts_ms(self) -> int | None:
        """The greatest timestamp held, or None. O(p-nodes)."""
        nodes = list(self._nodes())
        return max(int(run.rows[-1, TS]) for run in nodes[-1][1].runs) if nodes else None

    def insert(self, ts_ms: Ints, offset: Ints, messages: Sequence[M], size: Ints | None = None) -> None:
        """Hold the tuples; their offsets increase and exceed all those inserted before. O(1) amortised per tuple."""
        if not len(ts_ms):
            return
        order = sequence_order(ts_ms)
        sizes = np.zeros(len(ts_ms), np.int64) if size is None else size
        rows = np.stack([ts_ms, offset, sizes], axis=1).take(order, axis=0)
        # fromiter, not asarray: a message that is itself a sequence must stay one object.
        run = Run(rows, np.fromiter(messages, dtype=object, count=len(ts_ms))[order])
        self._place_run(run)
        self.held += len(ts_ms)
        self.held_bytes += int(sizes.sum())
        self.held_hash = (self.held_hash + digest(offset)) & MASK_64

    def release(self, ts_ms: int, offset: int = 0) -> Leaving[M]:
        """Remove and return every tuple below the point (ts, offset). O(1) amortised per tuple released."""
        runs: list[Run] = []
        border = ts_ms >> self._shift
        for number, node in self._nodes_to(border):
            if number < border:
                runs += node.runs
                self._drop(number)
            else:
                runs += node.take_below(ts_ms, offset)
                if not node.runs:
                    self._drop(number)
        self._settle()
        if not runs:
            empty = np.empty(0, np.int64)
            return Leaving(empty, empty, [])
        run = join(runs)
        left_ts_ms, left_offset, size = np.ascontiguousarray(run.rows.T)
        self.held -= len(size)
        self.held_bytes -= int(size.sum())
        self.held_hash = (self.held_hash - digest(left_offset)) & MASK_64
        return Leaving(left_ts_ms, left_offset, run.messages.tolist())

    def oldest(self) -> Iterator[tuple[list[int], list[int], list[int]]]:
        """Yield (ts, offset, size) of the held tuples in sequence order, 512 at a time; the buffer must not change."""
        for _, node in self._nodes():
            rows = node.joined().rows
            for begin in range(0, len(rows), 512):
                part = rows[begin : begin + 512]
                yield part[:, TS].tolist(), part[:, OFFSET].tolist(), part[:, SIZE].tolist()

    # --- the 2-level index -----------------------------------------------------------------------------------------

    def _place_run(self, run: Run) -> None:
        """Cut the run at the borders of the p-nodes and append each piece to its own. O(pieces + tuples)."""
        shift = self._shift
        numbers, bounds = _pieces(run, shift)
        self._reach(numbers)
        if self._shift != shift:
            numbers, bounds = _pieces(run, self._shift)
        for number, (begin, end) in zip(numbers.tolist(), pairwise(bounds), strict=True):
            # A copy: a view would keep the whole batch alive for its longest-waiting tuple.
            self._node(number).runs.append(run.part(begin, end).copy())

    def _place(self, number: int) -> int:
        return (self._head + number - self._start) % len(self._ring)

    def _covers(self, number: int) -> bool:
        return 0 <= number - self._start < len(self._ring)

    def _nodes(self) -> Iterator[tuple[int, PNode]]:
        """Yield the p-nodes in order. O(p-nodes)."""
        yield from self._nodes_to(self._far.peekitem(-1)[0] if self._far else self._last)

    def _nodes_to(self, number: int) -> list[tuple[int, PNode]]:
        """Return the p-nodes up to the number, in order. O(p-nodes passed)."""
        found: list[tuple[int, PNode]] = []
        if self._used:
            for candidate in range(self._start, min(self._last, number) + 1):
                node = self._ring[self._place(candidate)]
                if node is not None:
                    found.append((candidate, node))
        if self._far:
            found += [(key, self._far[key]) for key in self._far.irange(maximum=number)]
        return found

    def _drop(self, number: int) -> None:
        if not self._covers(number):
            del self._far[number]
            return
        self._ring[self._place(number)] = None
        self._used -= 1

    def _node(self, number: int) -> PNode:
        """Return the p-node of that number, made if need be. O(1) in the ring, O(log n) far ahead."""
        if not self._covers(number):
            far: PNode = self._far.setdefault(number, PNode())
            return far
        place = self._place(number)
        node = self._ring[place]
        if node is None:
            node = self._ring[place] = PNode()
            self._last = max(self._last, number) if self._used else number
            self._used += 1
        return node

    def _reach(self, numbers: Ints) -> None:
        """Make the ring cover the numbers (rising), growing it or its slots, as far as it is not too sparse then.

        It covers the first of them in any case. O(p-nodes) where the ring changes, else O(1).
        """
        low, high = int(numbers[0]), int(numbers[-1])
        if self._covers(low) and self._covers(high):
            return
        first = min(low, self._start) if self._used else low
        last = np.maximum(numbers, self._last) if self._used else numbers
        nodes = self._used + len(self._far) + 1 + np.arange(len(numbers))
        dense = np.flatnonzero(last - first < np.maximum(MOST_NODES, _SPARSENESS * nodes))
        if len(dense):
            span = int(last[dense[-1]]) - first + 1
            wider = ((span - 1) // MOST_NODES).bit_length()
            self._lay_out(self._shift + wider, first >> wider, (span >> wider) + 2 if wider else span)
        elif low < self._start or not self._used:
            self._lay_out(self._shift, low, 1)

    def _lay_out(self, shift: int, start: int, span: int) -> None:
        """Copy the i-node to one that begins at `start`; p-nodes beyond its range lie far ahead. O(p-nodes)."""
        nodes = _regroup(list(self._nodes()), self._shift, shift)
        self._ring = [None] * max(LEAST_NODES, 1 << (span - 1).bit_length())
        self._shift, self._start, self._head, self._used = shift, start, 0, 0
        self._far = SortedDict(nodes)
        self._draw_near()

    def _draw_near(self) -> None:
        """Move the p-nodes that the ring covers by now from the SortedDict into it. O(log n) a p-node, once."""
        while self._far and self._covers(self._far.peekitem(0)[0]):
            number, node = self._far.popitem(0)
            self._ring[self._place(number)] = node
            self._last = number
            self._used += 1

    def _settle(self) -> None:
        """Begin the ring at its oldest p-node; halve it, or its slots, while it is mostly unused. O(p-nodes passed)."""
        if not self._used:
            if not self._far:
                self._shift = SHIFT
            else:
                self._lay_out(self._shift, self._far.peekitem(0)[0], 1)
        while self._used and self._ring[self._head] is None:
            self._head = (self._head + 1) % len(self._ring)
            self._start += 1
        if self._far:
            self._draw_near()
        if not self._used:
            return
        span = self._last - self._start + 1
        if self._shift > SHIFT and 8 * span <= MOST_NODES:
            self._lay_out(self._shift - 1, self._start << 1, 2 * span)
        elif 4 * span <= len(self._ring) > LEAST_NODES:
            self._lay_out(self._shift, self._start, 2 * span)

    def _check(self) -> None:
        """Assert every invariant of the structure. O(n log n); for tests."""
        ring = [(i, node) for i, node in enumerate(self._ring) if node is not None]
        assert LEAST_NODES <= len(self._ring) <= 2 * MOST_NODES
        assert len(self._ring).bit_count() == 1
        assert self._used == len(ring)
        numbers = [self._start + (i - self._head) % len(self._ring) for i, _ in ring]
        assert not ring or max(numbers) == self._last
        assert all(key >= self._start + len(self._ring) for key in self._far)
        nodes = list(self._nodes())
        assert [number for number, _ in nodes] == sorted([*numbers, *self._far])
        held: list[list[int]] = []
        for number, node in nodes:
            assert node.runs
            assert all(len(run.rows) == len(run.messages) > 0 for run in node.runs)
            for run in [*node.runs, join(node.runs)]:
                rows = run.rows.tolist()
                assert all(row[TS] >> self._shift == number for row in rows)
                assert all(before[:2] < after[:2] for before, after in pairwise(rows))
            held += rows
        assert len(held) == self.held == len({row[OFFSET] for row in held})
        assert self.held_bytes == sum(row[SIZE] for row in held)
        assert self.held_hash == digest(np.array([row[OFFSET] for row in held], np.int64))


def _pieces(run: Run, shift: int) -> tuple[Ints, list[int]]:
    """Return the numbers of the p-nodes the run meets, rising, and the bounds of its pieces."""
    numbers = run.rows[:, TS] >> shift
    cuts = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    return numbers[[0, *cuts]], [0, *cuts.tolist(), len(numbers)]


def _regroup(nodes: list[tuple[int, PNode]], old_shift: int, shift: int) -> dict[int, PNode]:
    """Return the p-nodes by their numbers under another width: neighbours merged, or each cut in halves."""
    if shift == old_shift:
        return dict(nodes)
    grouped: dict[int, PNode] = {}
    for number, node in nodes:
        if shift > old_shift:
            grouped.setdefault(number >> (shift - old_shift), PNode()).runs += node.runs
            continue
        below = node.take_below((2 * number + 1) << shift, 0)
        for half, runs in ((2 * number, below), (2 * number + 1, node.runs)):
            if runs:
                grouped.setdefault(half, PNode()).runs += [run.copy() for run in runs]
    return grouped
