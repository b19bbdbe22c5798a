"""The papers' equations for normally distributed delays: critical point, buffer size in tuples."""

from __future__ import annotations

import math
from statistics import NormalDist

from reorderer.errors import UsageError

LEAST_TUPLES = 30
"""Below this the central limit theorem does not hold (000, 5.1; 002, eqn 11; 003, 5.1)."""


def critical_point(bound: float, name: str) -> float:
    """Return z(D), exceeded by a standard normal variable with probability D; 0 from D = 50 % on.

    >>> round(critical_point(0.01, "vseq"), 2), round(critical_point(0.05, "vseq"), 2), critical_point(1, "vseq")
    (2.33, 1.64, 0.0)
    """
    if bound <= 0:
        raise UsageError(f"the estimator {name!r} has no slack for a drop ratio of 0", hint="use maxdelay or budget")
    return 0.0 if bound >= 0.5 else NormalDist().inv_cdf(1 - bound)


def exact_size(z: float, sigma_ms: float, theta_ms: float) -> float:
    """Solve (n θ)² = z² (2 σ² + n θ²) for n: 000 eqn 7, 002 eqn 11, 003 eqn 5.7 with an equals sign.

    n = (C + sqrt(C² + 8 C σ²/θ²)) / 2 with C = z². By hand, z = 2, σ = 3 θ: C = 4, n = (4 + sqrt(16 + 288)) / 2.

    >>> round(exact_size(2, 3, 1), 4)
    10.7178
    """
    c = z * z
    return (c + math.sqrt(c * c + 8 * c * (sigma_ms / theta_ms) ** 2)) / 2


def simple_size(z: float, sigma_ms: float, theta_ms: float) -> float:
    """Return sqrt(2) z σ λ with λ = 1/θ: 002 eqn 12, for high rates.

    >>> round(simple_size(2, 3, 1), 4)
    8.4853
    """
    return math.sqrt(2) * z * sigma_ms / theta_ms
