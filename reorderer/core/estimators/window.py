"""The latest n tuples, summarised: what a circular list of tuples tells, in a few dozen blocks of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from reorderer.core.estimators.protocol import JSON
from reorderer.core.events import Ints

Block: TypeAlias = tuple[int, ...]
"""(tuples, arrival of the first, ...): the rest is up to the summary."""

_BLOCKS = 32


class Window:
    """At least the latest `need` tuples of a stream, in at most about 32 blocks of equal size.

    A window of up to 32 is exact; a longer one holds up to one block (a sixteenth) more than asked for, as whole
    blocks leave. All sums are integers, so the result does not depend on how the tuples come in, and the state is
    small and lossless. Adding is O(1) amortised per tuple.
    """

    def __init__(
        self,
        need: int,
        summarise: Callable[[Ints, Ints], Block],
        merge: Callable[[Block, Block], Block],
        state: JSON = None,
    ) -> None:
        self._summarise = summarise
        self._merge = merge
        self._blocks: list[Block] = []
        self.need = need
        self._size = _block_size(need)
        if isinstance(state, dict):
            self.need, self._size = _ints(state["need"])
            columns = [_ints(column) for column in _list(state["blocks"])]
            columns[1:] = [_integrate(column) for column in columns[1:]]
            self._blocks = list(zip(*columns, strict=True))

    @property
    def count(self) -> int:
        """How many tuples the window holds."""
        return sum(block[0] for block in self._blocks)

    @property
    def blocks(self) -> list[Block]:
        """The blocks, oldest first."""
        return self._blocks

    def whole(self) -> Block:
        """Return the summary of the whole window, which must not be empty."""
        total = self._blocks[0]
        for block in self._blocks[1:]:
            total = self._merge(total, block)
        return total

    def add(self, values: Ints, arrival_ms: Ints) -> None:
        """Append the tuples and let the oldest blocks go that are no longer needed."""
        begin, total = 0, len(values)
        if self._blocks and self._blocks[-1][0] < self._size:
            begin = min(self._size - self._blocks[-1][0], total)
            if begin:
                self._blocks[-1] = self._merge(self._blocks[-1], self._summarise(values[:begin], arrival_ms[:begin]))
        # Whole blocks that would leave at once are not made.
        begin += max(0, total - begin - self.need - self._size) // self._size * self._size
        for first in range(begin, total, self._size):
            part = slice(first, first + self._size)
            self._blocks.append(self._summarise(values[part], arrival_ms[part]))
        self._forget()

    def resize(self, need: int) -> None:
        """Hold `need` tuples from now on; a longer window fills up with those to come."""
        self.need, self._size = need, _block_size(need)
        merged: list[Block] = []
        for block in self._blocks:
            if merged and merged[-1][0] + block[0] <= self._size:
                merged[-1] = self._merge(merged[-1], block)
            else:
                merged.append(block)
        self._blocks = merged
        self._forget()

    def _forget(self) -> None:
        surplus = self.count - self.need
        leaving = 0
        while leaving < len(self._blocks) - 1 and self._blocks[leaving][0] <= surplus:
            surplus -= self._blocks[leaving][0]
            leaving += 1
        del self._blocks[:leaving]

    def state(self) -> JSON:
        """Return the blocks column by column; all but the counts as differences, to be short."""
        columns = [list(column) for column in zip(*self._blocks, strict=True)] or [[], []]
        differences: list[JSON] = [list(_differentiate(column)) for column in columns[1:]]
        return {"need": [self.need, self._size], "blocks": [list(columns[0]), *differences]}


def moments(values: Ints, arrival_ms: Ints) -> Block:
    """Summarise as (n, arrival of the first, v, sum of x, sum of x^2) with x = value - v and v the first value.

    >>> import numpy as np
    >>> moments(np.array([5, 7, 4]), np.array([10, 11, 12]))
    (3, 10, 5, 1, 5)
    """
    origin = int(values[0])
    offsets = values - origin
    return len(values), int(arrival_ms[0]), origin, int(offsets.sum()), _square_sum(offsets)


def merge_moments(left: Block, right: Block) -> Block:
    """Join two summaries of neighbours.

    >>> merge_moments((2, 10, 5, 2, 4), (1, 12, 4, 0, 0))
    (3, 10, 5, 1, 5)
    """
    shift = right[2] - left[2]
    total = right[3] + shift * right[0]
    squares = right[4] + 2 * shift * right[3] + shift * shift * right[0]
    return left[0] + right[0], left[1], left[2], left[3] + total, left[4] + squares


def mean_and_deviation(block: Block) -> tuple[float, float]:
    """Return the mean and the standard deviation (of the population) of a summary.

    >>> mean_and_deviation((4, 0, 100, 20, 140))
    (105.0, 3.1622776601683795)
    """
    count, _, origin, total, squares = block
    return origin + total / count, ((count * squares - total * total) / (count * count)) ** 0.5


def _square_sum(offsets: Ints) -> int:
    # 2^26 ms are 18 hours; beyond, squares of a block could exceed 64 bits.
    if -int(offsets.min()) < 1 << 26 and int(offsets.max()) < 1 << 26 and len(offsets) < 1 << 11:
        return int((offsets * offsets).sum())
    return sum(offset * offset for offset in offsets.tolist())


def _block_size(need: int) -> int:
    return 1 << max(0, (-(-need // _BLOCKS) - 1).bit_length())


def _differentiate(column: list[int]) -> list[int]:
    return [value - before for value, before in zip(column, [0, *column], strict=False)]


def _integrate(column: list[int]) -> list[int]:
    total, values = 0, []
    for difference in column:
        total += difference
        values.append(total)
    return values


def _list(value: JSON) -> list[JSON]:
    assert isinstance(value, list)
    return value


def _ints(value: JSON) -> list[int]:
    return [item for item in _list(value) if isinstance(item, int)]
