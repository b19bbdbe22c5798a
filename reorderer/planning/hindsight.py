"""A constant slack, chosen with the whole stream known.

With slack K the frontier is the arrival clock - K, so a tuple is late exactly if its delay exceeds K: drops against
slack are the sorted delays. A tuple that is not late leaves with the first arrival beyond ts + K.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reorderer.core.replay import hindsight_slack_ms
from reorderer.core.trace import Trace
from reorderer.planning.fate import LATE, Fate


def pooled(traces: Sequence[Trace]) -> Trace:
    """Return the tuples of all partitions, one partition after the other: one slack serves them all."""
    return Trace(np.concatenate([t.ts_ms for t in traces]), np.concatenate([t.arrival_ms for t in traces]))


def fate_with(trace: Trace, slack_ms: int) -> Fate:
    """Return what a constant slack does to each tuple."""
    leaves = np.searchsorted(trace.arrival_ms, trace.ts_ms + slack_ms, "right")
    return Fate(trace, np.where(trace.arrival_ms - trace.ts_ms > slack_ms, LATE, leaves))


def slacks(trace: Trace, points: int) -> list[int]:
    """Return slacks, smallest first, that spread the drop ratios evenly in the logarithm, from half of all to none.

    >>> slacks(Trace(np.zeros(1000, np.int64), np.arange(1000)), 4)
    [499, 977, 998, 999]
    """
    ratios = np.geomspace(0.5, 1 / max(2, len(trace)), points - 1)
    return sorted({hindsight_slack_ms(trace, ratio) for ratio in [*ratios.tolist(), 0.0]})
