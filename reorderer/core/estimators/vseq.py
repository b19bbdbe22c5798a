"""`vseq`: the adaptive measure of papers 000 and 003 over the circular list VSeq."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reorderer.core.estimators.normal import LEAST_TUPLES, critical_point, exact_size
from reorderer.core.estimators.protocol import JSON, Policy
from reorderer.core.estimators.window import Window, mean_and_deviation, merge_moments, moments


class VSeq:
    """K = μ + n_p θ over the latest n_p tuples, n_p the solution of (7), at least 30 (000 figure 3, Adaptive).

    ::

        θ   = (T_n - T_1) / n                                    (4)   T: arrivals in VSeq
        μ, σ                                                           mean and deviation of the delays in VSeq
        n_p = max n with n² - c n - 2 c σ²/θ² < 0, c = z(D)²     (7)   floor of the root, as in 003, 5.3
        τ_p = T_n - μ - n_p θ                                    (8)

    While VSeq fills up to a greater n_p the last punctuation holds: the frontier stands still. Estimated at decision
    points rather than at each tuple. VSeq is a `Window`: exact up to 32 tuples, then up to a sixteenth longer than
    n_p. Where θ is 0 (all in one millisecond), n_p θ is its limit sqrt(2) z σ. Of a longer VSeq than `largest` only
    that many tuples are kept.

    >>> vseq = VSeq(0.01)
    >>> arrival_ms = np.arange(1000, 1300, 10)
    >>> vseq.update(arrival_ms - 100, arrival_ms, arrival_ms < 0)  # σ = 0, θ = 290/30: n_p = 30, K = 100 + 290
    >>> vseq.policy()
    Policy(slack_ms=390, may_drop=None, until_ms=None)

    References: papers 000, eqns 4-8, and 003, eqns 5.4-5.8.
    """

    def __init__(self, bound: float, *, state: Mapping[str, JSON] | None = None, largest: int = 1_000_000) -> None:
        self._z = critical_point(bound, "vseq")
        self._largest = largest
        self._window = Window(LEAST_TUPLES, moments, merge_moments, state["vseq"] if state else None)
        self._last_ms = _int(state["last"]) if state else 0

    def update(self, ts_ms: NDArray[np.int64], arrival_ms: NDArray[np.int64], late: NDArray[np.bool_]) -> None:
        """Put the tuples' delays and arrivals into VSeq."""
        self._window.add(arrival_ms - ts_ms, arrival_ms)
        self._last_ms = int(arrival_ms[-1])

    def policy(self) -> Policy:
        """Estimate if VSeq is filled up, and resize it to n_p."""
        count = self._window.count
        if count < self._window.need:
            return Policy(None)
        whole = self._window.whole()
        mean_ms, sigma_ms = mean_and_deviation(whole)
        theta_ms = (self._last_ms - whole[1]) / count
        if not theta_ms:
            return Policy(math.ceil(mean_ms + math.sqrt(2) * self._z * sigma_ms))
        n_p = max(LEAST_TUPLES, math.floor(exact_size(self._z, sigma_ms, theta_ms)))
        self._window.resize(min(n_p, self._largest))
        return Policy(math.ceil(mean_ms + n_p * theta_ms))

    def state(self) -> Mapping[str, JSON]:
        """Return VSeq and the last arrival."""
        return {"vseq": self._window.state(), "last": self._last_ms}


def _int(value: JSON) -> int:
    assert isinstance(value, int)
    return value
