"""Where the held messages lie: one object array with a stack of free places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from reorderer.core.events import Ints, M


class Slab(Generic[M]):
    """Messages and their sizes, each at a place of its own; the index arrays of the buffer refer to the places.

    `put` and `take` are O(1) amortised per message; the slab doubles when it is full and halves when mostly free.
    """

    __slots__ = ("_free", "_messages", "_sizes", "_used")

    _least = 1024

    def __init__(self) -> None:
        self._resize(self._least)
        self._used = 0

    def _resize(self, capacity: int) -> None:
        self._messages: NDArray[np.object_] = np.empty(capacity, object)
        self._sizes: Ints = np.zeros(capacity, np.int64)
        self._free: Ints = np.arange(capacity - 1, -1, -1, dtype=np.int64)

    def __len__(self) -> int:
        return self._used

    def put(self, messages: Sequence[M], sizes: Ints | None) -> Ints:
        """Store the messages and return their places, in order."""
        count = len(messages)
        if self._used + count > len(self._free):
            self._grow(self._used + count)
        top = len(self._free) - self._used
        places = self._free[top - count : top].copy()
        # fromiter, not asarray: a message that is itself a sequence must stay one object.
        self._messages[places] = np.fromiter(messages, dtype=object, count=count)
        if sizes is not None:
            self._sizes[places] = sizes
        self._used += count
        return places

    def sizes(self, places: Ints) -> Ints:
        """Return the sizes of the messages at the places."""
        return self._sizes[places]

    def take(self, places: Ints) -> tuple[list[M], int]:
        """Remove the messages at the places; return them in order, and their size in total."""
        messages: list[M] = self._messages[places].tolist()
        total = int(self._sizes[places].sum())
        self._messages[places] = None
        self._sizes[places] = 0
        bottom = len(self._free) - self._used
        self._free[bottom : bottom + len(places)] = places
        self._used -= len(places)
        if not self._used and len(self._free) > self._least:
            self._resize(self._least)
        return messages, total

    def _grow(self, needed: int) -> None:
        old = len(self._free)
        capacity = max(2 * old, 1 << (needed - 1).bit_length())
        messages, sizes, free = self._messages, self._sizes, self._free[: old - self._used]
        self._resize(capacity)
        self._messages[:old] = messages
        self._sizes[:old] = sizes
        # The new places lie below the free ones of before, so those are used first.
        self._free = np.concatenate([np.arange(capacity - 1, old - 1, -1, dtype=np.int64), free, self._free[:0]])
        self._free = np.concatenate([self._free, np.zeros(capacity - len(self._free), np.int64)])

    def check(self) -> None:
        """Assert that each place is either free, once, or in use."""
        free = self._free[: len(self._free) - self._used]
        assert len(np.unique(free)) == len(free)
        assert len(self._free) == len(self._messages) == len(self._sizes)
        assert not self._sizes[free].any()
        assert all(message is None for message in self._messages[free])
