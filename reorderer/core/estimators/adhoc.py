"""`adhoc`: the intuitive measure that paper 000 compares itself with."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reorderer.core.estimators.normal import LEAST_TUPLES, critical_point
from reorderer.core.estimators.protocol import JSON, Policy
from reorderer.core.estimators.window import Window, mean_and_deviation, merge_moments, moments


class Adhoc:
    """τ_p = μ_t - σ_t + 2 σ_t D over the latest n_p tuples; K = latest arrival - τ_p (000, figure 4).

    μ_t and σ_t are mean and deviation of the *timestamps* in VSeq: τ_p is a timestamp, and no other reading gives
    one. The figure's n_p = N + σ_t z(D) θ adds milliseconds squared to a number of tuples; here n_p = N + σ_t z(D) /
    θ, the tuples that arrive in z(D) deviations. The paper leaves N open: N = 30, its least VSeq. As σ_t itself grows
    with VSeq (a VSeq of n tuples spans n θ, so σ_t >= n θ / sqrt(12)), n_p settles only where z(D) < sqrt(12), that
    is D > 0.03 %; below, it grows to `largest`. The rest is as in `vseq`.

    >>> adhoc = Adhoc(0.25)
    >>> arrival_ms = np.arange(1000, 1300, 10)
    >>> adhoc.update(arrival_ms - 100, arrival_ms, arrival_ms < 0)  # μ_t = 1045, σ_t = 86.6, τ_p = 1045 - 43.3
    >>> adhoc.policy()
    Policy(slack_ms=289, may_drop=None, until_ms=None)

    Reference: paper 000, figure 4.
    """

    def __init__(
        self,
        bound: float,
        *,
        state: Mapping[str, JSON] | None = None,
        n: int = LEAST_TUPLES,
        largest: int = 1_000_000,
    ) -> None:
        self._bound = bound
        self._z = critical_point(bound, "adhoc")
        self._n = max(n, LEAST_TUPLES)
        self._largest = largest
        self._window = Window(self._n, moments, merge_moments, state["vseq"] if state else None)
        last = state["last"] if state else 0
        self._last_ms = last if isinstance(last, int) else 0

    def update(self, ts_ms: NDArray[np.int64], arrival_ms: NDArray[np.int64], late: NDArray[np.bool_]) -> None:
        """Put the tuples' timestamps and arrivals into VSeq."""
        self._window.add(ts_ms, arrival_ms)
        self._last_ms = int(arrival_ms[-1])

    def policy(self) -> Policy:
        """Estimate if VSeq is filled up, and resize it to n_p."""
        count = self._window.count
        if count < self._window.need:
            return Policy(None)
        whole = self._window.whole()
        mean_ms, sigma_ms = mean_and_deviation(whole)
        theta_ms = (self._last_ms - whole[1]) / count
        if theta_ms:
            n_p = self._n + math.floor(sigma_ms * self._z / theta_ms)
            self._window.resize(min(n_p, self._largest))
        return Policy(math.ceil(self._last_ms - (mean_ms - sigma_ms + 2 * sigma_ms * self._bound)))

    def state(self) -> Mapping[str, JSON]:
        """Return VSeq and the last arrival."""
        return {"vseq": self._window.state(), "last": self._last_ms}
