"""BSIZE, the byte limit and SLACK in tuples: a full buffer forces out its oldest tuples, decided tuple by tuple."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any

import numpy as np

from reorderer.core.buffer import Buffer
from reorderer.core.config import CoreConfig
from reorderer.core.events import Ints
from reorderer.core.frontier import Frontier, Piece
from reorderer.core.state import Counters

_NEAR = 64
_STEPS = 512
_NONE = 1 << 62
_LAST = (_NONE, 0, 0)


class Limits:
    """Tells how far the arrays may run without a limit in reach, and walks tuple by tuple where one is.

    The tuple that fills the buffer is inserted first; then the oldest leave, perhaps itself, until the limits hold.
    The frontier follows to just behind the last that left. BSIZE and bytes stand above SLACK, SLACK above DRATIO
    (papers 000 and 003).
    """

    def __init__(self, config: CoreConfig, frontier: Frontier, buffer: Buffer[Any]) -> None:
        self.bsize = _NONE if config.bsize is None or config.unsorted else config.bsize
        self.max_bytes = _NONE if config.max_bytes is None or config.unsorted else config.max_bytes
        slack_tuples = _NONE if config.slack_tuples is None or config.unsorted else config.slack_tuples
        self.most = min(self.bsize, slack_tuples)
        self.frontier = frontier
        self.buffer = buffer

    def reach(self, begin: int, size: Ints | None, total: int) -> tuple[int, bool]:
        """Return the end of the next piece, and whether it must be walked. O(1), O(n) with a byte limit."""
        room = min(self.most - self.buffer.held, total - begin)
        if self.max_bytes != _NONE and size is not None:
            filled = np.cumsum(size[begin : begin + room])
            room = int(np.searchsorted(filled, self.max_bytes - self.buffer.held_bytes, "right"))
        if begin + room == total or room >= _NEAR:
            return begin + room, False
        return min(begin + _STEPS, total), True

    def walk(self, piece: Piece, counters: Counters) -> Walk:
        """Return what judges the stretches of the piece one tuple after the other. A few microseconds a tuple."""
        piece.after = np.empty_like(piece.before)
        piece.release_steps = []
        return Walk(self, piece, counters)


class Walk:
    """Judges tuples one by one against the limits, over the held tuples in order and a heap of the new ones."""

    def __init__(self, limits: Limits, piece: Piece, counters: Counters) -> None:
        self._limits = limits
        self._counters = counters
        self._held = limits.buffer.held
        self._bytes = limits.buffer.held_bytes
        self._old = self._held_tuples()
        self._next_old = next(self._old, _LAST)
        self._new: list[tuple[int, int, int]] = []
        self._ts_ms = piece.ts_ms.tolist()
        self._clock_ms = piece.clock_ms.tolist()
        self._offset = piece.offset.tolist()
        self._size = [0] * len(piece) if piece.size is None else piece.size.tolist()

    def _held_tuples(self) -> Iterator[tuple[int, int, int]]:
        for ts_ms, offset, size in self._limits.buffer.oldest():
            yield from zip(ts_ms, offset, size, strict=True)

    def __call__(self, piece: Piece, begin: int, end: int) -> None:
        """Judge the stretch; afterwards the frontier stands behind its last tuple."""
        frontier, steps, limits = self._limits.frontier, piece.release_steps, self._limits
        assert steps is not None
        before: list[int] = []
        after: list[int] = []
        late: list[bool] = []
        slack_ms, fenced = frontier.slack_ms, frontier.policy.until_ms is not None
        for i in range(begin, end):
            ts_ms = self._ts_ms[i]
            moved_ms = frontier.reach(self._clock_ms[i]) if fenced else self._clock_ms[i] - slack_ms
            if moved_ms > frontier.ts_ms:
                frontier.ts_ms, frontier.offset = moved_ms, 0
            while self._next_old[0] < frontier.ts_ms or (self._new and self._new[0][0] < frontier.ts_ms):
                self._pop()
                steps.append(i)
            before.append(frontier.ts_ms)
            late.append(ts_ms < frontier.ts_ms)
            if ts_ms < frontier.ts_ms:
                frontier.late_since_decision += 1
                slack_ms = frontier.slack_ms
            else:
                heappush(self._new, (ts_ms, self._offset[i], self._size[i]))
                self._held += 1
                self._bytes += self._size[i]
                if self._held > limits.most or self._bytes > limits.max_bytes:
                    self._force(i, steps)
            after.append(frontier.ts_ms)
        piece.before[begin:end], piece.after[begin:end], piece.late[begin:end] = before, after, late

    def _force(self, step: int, steps: list[int]) -> None:
        """Let the oldest leave until the limits hold; the frontier follows."""
        limits = self._limits
        while True:
            full = self._held > limits.bsize or self._bytes > limits.max_bytes
            if not full and self._held <= limits.most:
                return
            if full:
                self._counters.forced += 1
            else:
                self._counters.capped += 1
            ts_ms, offset, _ = self._pop()
            steps.append(step)
            limits.frontier.move_to(ts_ms, offset + 1)

    def _pop(self) -> tuple[int, int, int]:
        """Remove the least tuple in sequence order."""
        if self._new and self._new[0] < self._next_old:
            least = heappop(self._new)
        else:
            least = self._next_old
            self._next_old = next(self._old, _LAST)
        self._held -= 1
        self._bytes -= least[2]
        return least
