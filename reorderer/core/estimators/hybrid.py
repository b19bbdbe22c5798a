"""`hybrid`: paper 002 as a whole: `sampled`, but `maxdelay` for very small bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reorderer.core.estimators.maxdelay import MaxDelay
from reorderer.core.estimators.protocol import JSON, Estimator, Policy
from reorderer.core.estimators.sampled import Sampled


class Hybrid:
    """`sampled` where D > 0.1 %, else `maxdelay` with W of at least a second of tuples: z(D) grows without limit.

    >>> Hybrid(0.01).method, Hybrid(0.001).method, Hybrid(0).method
    ('sampled', 'maxdelay', 'maxdelay')

    Reference: paper 002, section 3.2 (end) and 3.3 (W >= λ).
    """

    def __init__(
        self,
        bound: float,
        *,
        state: Mapping[str, Any] | None = None,
        ps: int = 16,
        pe: int = 1_024,
        m: int = 64,
        w: int = 1_000,
        switch: float = 0.001,
    ) -> None:
        self.method = "sampled" if bound > switch else "maxdelay"
        self._inner: Estimator = (
            Sampled(bound, state=state, ps=ps, pe=pe, m=m)
            if bound > switch
            else MaxDelay(bound, state=state, w=w, of_a_second=True)
        )

    def update(self, ts_ms: NDArray[np.int64], arrival_ms: NDArray[np.int64], late: NDArray[np.bool_]) -> None:
        """Pass the tuples on to the method in use."""
        self._inner.update(ts_ms, arrival_ms, late)

    def policy(self) -> Policy:
        """Return the policy of the method in use."""
        return self._inner.policy()

    def state(self) -> Mapping[str, JSON]:
        """Return the state of the method in use."""
        return self._inner.state()
