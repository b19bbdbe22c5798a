"""The best constant slack, chosen with the whole trace known: what no estimator can beat by a constant.

With slack K the frontier is the arrival clock - K, so tuple i is late exactly if its delay exceeds K: drops against
slack are the sorted delays. A tuple that is not late leaves with the first arrival beyond ts + K.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reorderer.planning.fate import LATE, Fate, allowed
from reorderer.trace import Ints, Trace


def slack_for(delay_ms: Ints, bound: float) -> int:
    """Return the smallest constant slack that keeps the bound; the delays are those of all partitions, sorted.

    >>> [slack_for(np.array([1, 2, 3, 50]), bound) for bound in (0, 0.25, 0.3, 0.5, 1)]
    [50, 3, 3, 2, 1]
    """
    may_drop = allowed(bound, len(delay_ms))
    return int(delay_ms[max(0, len(delay_ms) - 1 - may_drop)])


def fate_with(trace: Trace, slack_ms: int) -> Fate:
    """Return what a constant slack does to each tuple."""
    leaves = np.searchsorted(trace.arrival_ms, trace.ts_ms + slack_ms, "right")
    return Fate(trace, np.where(trace.delay_ms > slack_ms, LATE, leaves))


def sorted_delays(traces: Sequence[Trace]) -> Ints:
    """Return the delays of all partitions, smallest first."""
    return np.sort(np.concatenate([trace.delay_ms for trace in traces]))


def slacks(delay_ms: Ints, points: int) -> list[int]:
    """Return slacks, smallest first, that spread the drop ratios evenly in the logarithm, from half of all to none.

    >>> slacks(np.arange(1000), 4)
    [499, 920, 987, 999]
    """
    ratios = np.geomspace(0.5, 1 / max(2, len(delay_ms)), points - 1)
    return sorted({slack_for(delay_ms, ratio) for ratio in [*ratios.tolist(), 0.0]})
