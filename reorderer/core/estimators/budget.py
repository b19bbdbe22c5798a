"""`budget`: drops stay within the bound, and tuples wait hardly longer than with the best constant slack.

The frontier follows the arrival clock at distance K. The bound D gives a budget of D x n drops after n tuples, of
which r = D x n - late are left. At each decision point K answers three questions:

1. *What rate can be kept up?* K is the delay that a share q of all tuples exceeds, read from a histogram that forgets
   half whenever the stream has doubled in length, with q = D x (target + gain x (target - used)), used the share of the
   budget spent: proportional control, as adaptive conformal inference does it (Gibbs and Candès, NeurIPS 2021).
2. *What is already lost?* Tuples under way below the frontier are lost whatever comes. By Little's law there are
   (sum of (delay - K)+ over the arrivals of a span) / span of them; they must fit in `commit` x r. Asked of the
   histogram and of the last 200 ms, so that a change shows at once.
3. *Where is this going?* While the larger of these answers rises, as at the start of a bad regime, its rise is added
   once more: the tuples seen so far are the fast ones of that regime. (The derivative of conformal PID control,
   Angelopoulos, Candès and Tibshirani, NeurIPS 2023.)

With fewer than `few` drops left, K covers every delay seen; with the budget spent, twice that.

*Missing tuples* (see `census`) stop the frontier before it passes a slot of event time whose tuples have not come as
usual, unless r can pay for them. The stop is believed for `hold_ms`, or as long as such tuples keep coming; if
none came, the stream itself has become slower, and the next stop is believed half as long.

*Cold start*: the first arrivals are those with the smallest delays. A delay v can only have been seen from events
older than v, so after a run of t its count is a share 1 - v/t of what it should be, and is divided by that (inverse
probability weighting of a truncated sample: Horvitz and Thompson, 1952). Nothing is released until the stream has run
`warmup_ms` and `spreads` times the distance from the smallest delay to K, and the budget allows one drop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reorderer.core.estimators import delays
from reorderer.core.estimators.census import Census
from reorderer.core.estimators.delays import Floats
from reorderer.core.estimators.protocol import JSON, Policy
from reorderer.core.estimators.recent import Recent
from reorderer.core.events import BOTTOM_MS, Ints
from reorderer.errors import UsageError

ONE = 64
"""A tuple in the histogram: halved six times before it is forgotten."""

STAND_STILL = Policy(None)


class Budget:
    """The default estimator; the module tells the method.

    `target` is the share of the budget it aims to spend, `gain` how hard it steers there, `commit` the share of
    what is left that may be under way below the frontier.

    >>> budget = Budget(0.01)
    >>> arrival_ms = np.arange(0, 20_000, 2)
    >>> for begin in range(0, 10_000, 50):
    ...     policy = budget.policy()
    ...     part = arrival_ms[begin : begin + 50]
    ...     budget.update(part - 5 - part // 2 % 40, part, np.zeros(50, np.bool_))
    >>> policy.slack_ms
    46
    """

    def __init__(
        self,
        bound: float,
        *,
        state: Mapping[str, JSON] | None = None,
        target: float = 0.6,
        gain: float = 2.0,
        commit: float = 0.5,
        few: float = 10.0,
        warmup_ms: float = 10_000.0,
        spreads: float = 2.0,
        hold_ms: float = 5_000.0,
    ) -> None:
        self.bound = bound
        self.target = _within("target", target, 0.05, 1)
        self.gain = _within("gain", gain, 0, 100)
        self.commit = _within("commit", commit, 0.01, 1)
        self.few = _within("few", few, 0, 1e6)
        self.warmup_ms = _within("warmup_ms", warmup_ms, 0, 1e12)
        self.spreads = _within("spreads", spreads, 1, 100)
        self.hold_ms = _within("hold_ms", hold_ms, 0, 1e12)
        self._census = Census()
        self._recent = Recent(200, 0)
        self._new: Ints = np.zeros(delays.BUCKETS, np.int64)
        self._histogram: Ints = np.zeros(delays.BUCKETS, np.int64)
        self._tuples = 0
        self._late = 0
        self._base_ms = 0
        self._start_ms = 0
        self._clock_ms = 0
        self._decided_ms = 0
        self._passed_ms = 0
        self._span_ms = 0
        self._step_ms = 50.0
        self._next_halving = 512
        self._warm = False
        self._slack_ms: int | None = None
        self._fence_ms = 0
        self._frontier_ms = BOTTOM_MS
        self._lagging: float | None = None
        self._busy_ms = 0
        self._held_since: list[int] | None = None
        self._trust = 1.0
        if state is not None:
            self._restore(state)

    # --- learn -----------------------------------------------------------------------------------------------------

    def update(self, ts_ms: Ints, arrival_ms: Ints, late: NDArray[np.bool_]) -> None:
        """Count the tuples; O(n), integers only, so that it does not matter how they are cut."""
        if not len(ts_ms):
            return
        delay_ms = arrival_ms - ts_ms
        if not self._tuples:
            self._base_ms = int(delay_ms[0])
            self._start_ms = self._decided_ms = int(arrival_ms[0])
            self._recent = Recent(200, self._start_ms)
        dropped = int(np.count_nonzero(late))
        self._new += delays.count(delay_ms - self._base_ms)
        self._census.add(ts_ms, arrival_ms, dropped)
        self._tuples += len(ts_ms)
        self._late += dropped
        self._clock_ms = int(arrival_ms[-1])

    # --- decide ----------------------------------------------------------------------------------------------------

    def policy(self) -> Policy:
        """Take in what came since the last decision point, and return what holds until the next."""
        if not self._tuples:
            return STAND_STILL
        self._settle()
        self._slack_ms = self._decide()
        if self._slack_ms is None:
            return STAND_STILL
        return Policy(self._slack_ms, max(1, int(self._left / 2)), self._fence_ms)

    def _settle(self) -> None:
        """Move windows, histogram, census and the frontier as it must stand now to the present."""
        passed_ms = self._passed_ms = self._clock_ms - self._decided_ms
        self._decided_ms = self._clock_ms
        self._span_ms += passed_ms
        self._busy_ms += min(passed_ms, 100)
        self._step_ms += (min(passed_ms, 10 * self._step_ms + 1_000) - self._step_ms) / 50
        self._histogram += ONE * self._new
        self._recent.add(self._new, self._clock_ms)
        self._new = np.zeros(delays.BUCKETS, np.int64)
        if self._tuples >= self._next_halving:
            self._histogram //= 2
            self._span_ms //= 2
            self._next_halving = min(2 * self._next_halving, self._next_halving + (1 << 20))
        if self._slack_ms is not None:
            self._frontier_ms = max(self._frontier_ms, min(self._clock_ms - self._slack_ms, self._fence_ms))
        self._census.close(self._frontier_ms)

    @property
    def _left(self) -> float:
        return self.bound * self._tuples - self._late

    def _decide(self) -> int | None:
        if self._tuples < 30 or self.bound * self._tuples < 1:
            return None
        seen = np.flatnonzero(self._histogram)
        lowest, highest = float(delays.LOWER[seen[0]]), float(delays.LOWER[seen[-1]] + delays.WIDTH[seen[-1]])
        run_ms = self._clock_ms - self._start_ms
        weighted = self._weighted(lowest, run_ms)
        tail = delays.beyond(weighted)
        slack = self._foresee(self._ask(weighted, tail), lowest)
        if not self._warm:
            if run_ms < max(self.warmup_ms, self.spreads * (slack - lowest)):
                return None
            self._warm = True
        if self._left < self.few:
            slack = max(slack, highest)
        if self._left < max(1.0, 0.05 * self.bound * self._tuples):
            slack = max(slack, 2 * highest - lowest)
        slack_ms = int(np.ceil(slack)) + self._base_ms
        self._fence_ms = int(self._clock_ms - slack_ms + 100 + 2 * self._step_ms)
        self._hold(slack_ms, slack - lowest, tail)
        return slack_ms

    def _weighted(self, lowest: float, run_ms: int) -> Floats:
        """Return the histogram, each delay weighted by how rarely a run so short can show it, at most tenfold."""
        shown = 1 - (delays.MIDDLE - lowest) / max(run_ms, 1)
        weighted: Floats = self._histogram / np.clip(shown, 0.1, 1.0) / ONE
        return weighted

    def _ask(self, weighted: Floats, tail: Floats) -> float:
        """Return the largest slack that the first two questions ask for, measured from the first delay."""
        left = max(self._left, 0.0)
        used = self._late / (self.bound * self._tuples)
        share = self.bound * min(max(self.target + self.gain * (self.target - used), 0.02), 1.0)
        total = float(np.sum(self._histogram)) / ONE
        return max(
            delays.least(tail, share * total),
            delays.least(delays.in_flight(weighted, max(self._span_ms, 1)), self.commit * left),
            delays.least(self._recent.in_flight(self._clock_ms), self.commit * left),
        )

    def _foresee(self, slack: float, lowest: float) -> float:
        """Return the slack plus its rise over the last quarter of its spread."""
        if self._lagging is None:
            self._lagging = slack
        rate = min(1.0, self._passed_ms / max((slack - lowest) / 4, 200.0))
        self._lagging = min(slack, self._lagging + rate * (slack - self._lagging))
        return 2 * slack - self._lagging

    def _hold(self, slack_ms: int, spread: float, tail: Floats) -> None:
        """Draw the fence in where tuples are missing below it, as long as that is to be believed."""
        target_ms = self._clock_ms - slack_ms
        share = 1 - tail / tail[0]
        allowance = max(self._left, 0.0) / 10
        limit_ms, missing = self._census.shortage(
            self._clock_ms, target_ms, allowance, delays.LOWER + self._base_ms, share
        )
        if limit_ms is None or limit_ms >= target_ms:
            if self._held_since is not None:
                self._held_since = None
                self._trust = min(1.0, 2 * self._trust)
            if limit_ms is not None:
                self._fence_ms = min(self._fence_ms, limit_ms)
            return
        if self._held_since is None:
            self._held_since = [self._busy_ms, self._clock_ms]
        busy_ms, since_ms = self._held_since
        young = self._busy_ms - busy_ms < 500 or self._clock_ms - since_ms < max(spread, self.hold_ms) * self._trust
        if young or self._returning(limit_ms) * max(spread, 200.0) > missing / 10:
            self._fence_ms = min(self._fence_ms, limit_ms)
            return
        self._trust = max(0.1, self._trust / 2)
        self._held_since = None
        self._census.forgive(target_ms)

    def _returning(self, limit_ms: int) -> float:
        """Return how many tuples a millisecond come that only the stop has saved, 250 ms of them aside."""
        delay = self._clock_ms - limit_ms - self._base_ms - 250
        saved = self._recent.counts[np.searchsorted(delays.LOWER, delay) :]
        return float(np.sum(saved)) / self._recent.span_ms(self._clock_ms)

    # --- state -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, JSON]:
        """Return everything needed to continue, without loss: well under 2 KiB."""
        arrays = {name: delays.pack(getattr(self, f"_{name}")) for name in _ARRAYS}
        parts = {"census": self._census.state(), "recent": self._recent.state()}
        return {**{name: getattr(self, f"_{name}") for name in _SCALARS}, **arrays, **parts}

    def _restore(self, state: Mapping[str, Any]) -> None:
        for name in _SCALARS:
            setattr(self, f"_{name}", state[name])
        for name in _ARRAYS:
            setattr(self, f"_{name}", delays.unpack(state[name]))
        self._census = Census.restore(state["census"])
        self._recent = Recent.restore(state["recent"])


_ARRAYS = ("new", "histogram")
_SCALARS = (
    "tuples",
    "late",
    "base_ms",
    "start_ms",
    "clock_ms",
    "decided_ms",
    "passed_ms",
    "span_ms",
    "step_ms",
    "next_halving",
    "warm",
    "slack_ms",
    "fence_ms",
    "frontier_ms",
    "lagging",
    "busy_ms",
    "held_since",
    "trust",
)


def _within(name: str, value: float, least: float, most: float) -> float:
    if not least <= value <= most:
        raise UsageError(f"{name} {value!r} is not within {least:g} and {most:g}")
    return value
