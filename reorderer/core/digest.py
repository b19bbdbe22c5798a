"""A 64-bit digest of a set of offsets that grows and shrinks with the set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MASK_64 = (1 << 64) - 1


def digest(offsets: NDArray[np.int64]) -> int:
    """Return the sum of splitmix64 over the offsets, modulo 2^64: O(n), free of order, and additive over disjoint sets.

    >>> a, b = np.array([1, 5]), np.array([9])
    >>> digest(np.array([9, 1, 5])) == (digest(a) + digest(b)) & MASK_64
    True
    >>> digest(np.array([], np.int64))
    0
    """
    mixed = offsets.astype(np.uint64)
    mixed += np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return int(mixed.sum(dtype=np.uint64))
