"""What became of each tuple of a trace, and what that amounts to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reorderer.core.events import Ints
from reorderer.core.trace import Trace

LATE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Fate:
    """For each tuple the place in the trace of the one that released it; LATE, or len(trace) if it was held to the end.

    What is held at the end leaves with the last arrival.
    """

    trace: Trace
    leaves: Ints

    @property
    def wait_ms(self) -> Ints:
        """How long each tuple that was not late waited."""
        kept = self.leaves != LATE
        arrival_ms = self.trace.arrival_ms
        waits: Ints = arrival_ms[np.minimum(self.leaves[kept], len(arrival_ms) - 1)] - arrival_ms[kept]
        return waits

    @property
    def late(self) -> int:
        """How many were late."""
        return int(np.count_nonzero(self.leaves == LATE))

    @property
    def held(self) -> Ints:
        """How many were held after each arrival."""
        kept = self.leaves != LATE
        left = np.bincount(self.leaves[kept], minlength=len(self.leaves) + 1)[: len(self.leaves)]
        held: Ints = np.cumsum(kept) - np.cumsum(left)
        return held


@dataclass(frozen=True, slots=True)
class Measures:
    """Drops, waiting time and buffer over all partitions; the most held is that of one partition."""

    tuples: int
    dropped: int
    mean_wait_ms: float
    p99_wait_ms: float
    mean_held: float
    max_held: int

    @property
    def drop_ratio(self) -> float:
        """Late tuples as a share of all."""
        return self.dropped / self.tuples

    def within(self, bound: float) -> bool:
        """Whether no more were late than the bound allows."""
        return self.dropped <= bound * self.tuples + 1e-9


def measure(fates: Sequence[Fate]) -> Measures:
    """Return what the fates of all partitions amount to."""
    wait_ms = np.concatenate([fate.wait_ms for fate in fates])
    held = [fate.held for fate in fates]
    return Measures(
        tuples=sum(len(fate.leaves) for fate in fates),
        dropped=sum(fate.late for fate in fates),
        mean_wait_ms=float(wait_ms.mean()) if len(wait_ms) else 0.0,
        p99_wait_ms=float(np.quantile(wait_ms, 0.99)) if len(wait_ms) else 0.0,
        mean_held=float(sum(one.mean() for one in held) / len(held)),
        max_held=max(int(one.max()) for one in held),
    )
