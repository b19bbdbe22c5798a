"""`sampled`: the periodical estimation of paper 002, algorithm 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean, pstdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reorderer.core.estimators.normal import LEAST_TUPLES, critical_point, exact_size, simple_size
from reorderer.core.estimators.protocol import JSON, Policy
from reorderer.errors import UsageError

_HIGH_RATE = 100  # tuples per second (002, below eqn 11)
_SECOND_MS = 1_000


class Sampled:
    """K = μ + n θ, with n from a sample of the delays, estimated now and then (002, algorithm 1).

    ::

        n = (C + sqrt(C² + 8 C σ²/θ²)) / 2, at least 30,  C = z(D)²     (11)
        n = sqrt(2) z(D) σ λ,                             λ = 1/θ > 100/s  (12)

    Every `ps`-th tuple is sampled and the latest `m` samples are kept; every `pe` tuples, or once a second of arrival
    time at lower rates, σ, μ and θ are estimated from them. The paper prints none of the three and asks for m >=
    pe/ps; chosen here: ps 16, pe 1,024 (the core's decision points) and m 64, so an estimate rests on the latest
    1,024 tuples. The paper keeps the latest n tuples; in time that is n θ behind the latest timestamp, arrival - μ
    (000, eqn 8). No warm-up, as in the paper: before the first estimate, of two samples at least, the frontier stands
    still.

    >>> sampled = Sampled(0.25, ps=1, pe=4, m=4)  # z = 0.6745
    >>> arrival_ms = np.array([1000, 1001, 1002, 1003])
    >>> sampled.update(arrival_ms - [10, 30, 10, 30], arrival_ms, arrival_ms < 0)  # μ = 20, σ = 10, θ = 1: n = 9.54
    >>> sampled.policy()
    Policy(slack_ms=30, may_drop=None, until_ms=None)

    Reference: paper 002, sections 3.2 and 3.3.
    """

    def __init__(
        self, bound: float, *, state: Mapping[str, Any] | None = None, ps: int = 16, pe: int = 1_024, m: int = 64
    ) -> None:
        if ps < 1 or pe < 1 or m < 2 or m * ps < pe:
            raise UsageError(f"ps {ps}, pe {pe}, m {m} do not fit", hint="m >= 2 samples span pe tuples: m * ps >= pe")
        self._z = critical_point(bound, "sampled")
        self._ps, self._pe, self._m = int(ps), int(pe), int(m)
        count, estimated, estimated_ms, last_ms = state["at"] if state else (0, 0, None, 0)
        self._count: int = count
        self._last_ms: int = last_ms
        self._estimated: int = estimated
        self._estimated_ms: int | None = estimated_ms
        self._slack_ms: int | None = state["slack"] if state else None
        self._delays_ms: list[int] = list(state["delays"]) if state else []
        self._arrivals_ms: list[int] = np.cumsum(state["arrivals"], dtype=np.int64).tolist() if state else []

    def update(self, ts_ms: NDArray[np.int64], arrival_ms: NDArray[np.int64], late: NDArray[np.bool_]) -> None:
        """Sample every ps-th tuple of the stream."""
        if self._estimated_ms is None:
            self._estimated_ms = int(arrival_ms[0])
        chosen = slice(-self._count % self._ps, None, self._ps)
        self._arrivals_ms = (self._arrivals_ms + arrival_ms[chosen].tolist())[-self._m :]
        self._delays_ms = (self._delays_ms + (arrival_ms[chosen] - ts_ms[chosen]).tolist())[-self._m :]
        self._count += len(ts_ms)
        self._last_ms = int(arrival_ms[-1])

    def policy(self) -> Policy:
        """Estimate anew if pe tuples or a second have passed; else keep K."""
        due = self._count - self._estimated >= self._pe
        due = due or (self._estimated_ms is not None and self._last_ms - self._estimated_ms >= _SECOND_MS)
        if due and len(self._delays_ms) >= 2:
            self._estimated, self._estimated_ms = self._count, self._last_ms
            self._slack_ms = math.ceil(self._estimate_ms())
        return Policy(self._slack_ms)

    def _estimate_ms(self) -> float:
        mean_ms, sigma_ms = fmean(self._delays_ms), pstdev(self._delays_ms)
        theta_ms = (self._arrivals_ms[-1] - self._arrivals_ms[0]) / ((len(self._arrivals_ms) - 1) * self._ps)
        if theta_ms * _HIGH_RATE < _SECOND_MS:
            # n θ = sqrt(2) z σ whatever θ is, so a sample within one millisecond (θ = 0) needs no case of its own.
            return mean_ms + simple_size(self._z, sigma_ms, 1.0)
        return mean_ms + max(LEAST_TUPLES, exact_size(self._z, sigma_ms, theta_ms)) * theta_ms

    def state(self) -> Mapping[str, JSON]:
        """Return the samples, the estimate and when it was made."""
        arrivals = [b - a for a, b in zip([0, *self._arrivals_ms], self._arrivals_ms, strict=False)]
        return {
            "at": [self._count, self._estimated, self._estimated_ms, self._last_ms],
            "slack": self._slack_ms,
            "delays": list(self._delays_ms),
            "arrivals": list(arrivals),
        }
