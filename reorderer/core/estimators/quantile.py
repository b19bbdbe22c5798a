"""`quantile`: lateness against the greatest event time, as Flink users know it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reorderer.core.estimators.protocol import JSON, Policy
from reorderer.core.events import Ints

_STEPS = 8
_BUCKETS = _STEPS * 54
_LEAST = 30


class Quantile:
    """Frontier = greatest event time - B, with B the (1 - D) quantile of the lateness max(ts before) - ts, at least 0.

    The quantile comes from a histogram whose buckets grow by an eighth of an octave, read at a bucket's upper edge;
    its counts are halved whenever they exceed `memory` tuples. At a decision point B becomes K = arrival + B -
    greatest event time. D = 0 % takes the largest lateness in memory, D = 100 % none. Before 30 tuples the frontier
    stands still.

    >>> quantile = Quantile(0.1)
    >>> arrival_ms = np.arange(1000, 1040)
    >>> ts_ms = arrival_ms - np.tile([5, 5, 5, 8], 10)  # every fourth tuple 2 ms behind the one before it
    >>> quantile.update(ts_ms, arrival_ms, arrival_ms < 0)
    >>> quantile.policy()  # B = 2; the latest arrival is 1039, the greatest event time 1033
    Policy(slack_ms=8, may_drop=None, until_ms=None)

    Reference: Flink's bounded-out-of-orderness watermarks, with the bound measured instead of declared.
    """

    def __init__(self, bound: float, *, state: Mapping[str, Any] | None = None, memory: int = 100_000) -> None:
        self._bound = bound
        self._memory = int(memory)
        self._counts: Ints = np.zeros(_BUCKETS, np.int64)
        self._newest_ms: int | None = state["newest"] if state else None
        self._last_ms: int = state["last"] if state else 0
        for bucket, count in state["counts"] if state else ():
            self._counts[bucket] = count

    def update(self, ts_ms: NDArray[np.int64], arrival_ms: NDArray[np.int64], late: NDArray[np.bool_]) -> None:
        """Count the lateness of each tuple against the greatest event time before it."""
        newest_ms = np.maximum.accumulate(ts_ms)
        if self._newest_ms is not None:
            newest_ms = np.maximum(newest_ms, self._newest_ms)
        self._counts += np.bincount(_bucket(newest_ms - ts_ms), minlength=_BUCKETS)
        self._newest_ms, self._last_ms = int(newest_ms[-1]), int(arrival_ms[-1])

    def policy(self) -> Policy:
        """Read the quantile, then halve the counts if they are too many."""
        total = int(self._counts.sum())
        if total < _LEAST or self._newest_ms is None:
            return Policy(None)
        above = np.cumsum(self._counts[::-1])[::-1]
        bucket = int(np.searchsorted(-above, -self._bound * total)) - 1
        lateness_ms = _upper_edge_ms(bucket) if bucket >= 0 else 0
        if total > self._memory:
            self._counts //= 2
        return Policy(self._last_ms + lateness_ms - self._newest_ms)

    def state(self) -> Mapping[str, JSON]:
        """Return the buckets in use, the greatest event time and the last arrival."""
        used = np.flatnonzero(self._counts)
        counts: list[JSON] = [list(pair) for pair in zip(used.tolist(), self._counts[used].tolist(), strict=True)]
        return {"newest": self._newest_ms, "last": self._last_ms, "counts": counts}


def _bucket(lateness_ms: Ints) -> Ints:
    """Return the bucket: 0 for none, then eight to the octave. Exact, as integers below 2^53 are exact floats."""
    mantissa, exponent = np.frexp(lateness_ms.astype(np.float64))
    bucket = (exponent - 1) * _STEPS + ((2 * mantissa - 1) * _STEPS).astype(np.int64) + 1
    found: Ints = np.where(lateness_ms > 0, bucket, 0)
    return found


def _upper_edge_ms(bucket: int) -> int:
    """Return the largest lateness in the bucket.

    >>> [_upper_edge_ms(int(_bucket(np.array([x]))[0])) for x in (0, 1, 2, 3, 15, 16, 17, 18, 1000)]
    [0, 1, 2, 3, 15, 17, 17, 19, 1023]
    """
    if bucket == 0:
        return 0
    exponent, step = divmod(bucket - 1, _STEPS)
    upper = (1 << exponent) * (_STEPS + step + 1)
    return max(1 << exponent, -(-upper // _STEPS) - 1)
