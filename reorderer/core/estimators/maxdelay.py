"""`maxdelay`: half way between the largest delay ever and the second largest of late."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reorderer.core.estimators.protocol import JSON, Policy
from reorderer.core.estimators.window import Block, Window
from reorderer.core.events import Ints
from reorderer.errors import UsageError

_NONE = -(1 << 53)


class MaxDelay:
    """K = (m1 + m2) / 2: m1 the largest delay so far, m2 the second largest within the last `w` tuples.

    It knows no bound; a drop ratio of 0 % is as good as any. With `of_a_second` W is at least the tuples of one
    second, at the rate seen in the window. W is kept in blocks, so it is up to a sixteenth longer. Before the second
    tuple the frontier stands still.

    >>> delays = MaxDelay(0.01, w=3)
    >>> arrival_ms = np.array([1000, 1001, 1002, 1003])
    >>> delays.update(arrival_ms - [90, 10, 40, 20], arrival_ms, arrival_ms < 0)  # m1 = 90, m2 = 20 of (10, 40, 20)
    >>> delays.policy()
    Policy(slack_ms=55, may_drop=None, until_ms=None)

    Reference: Srivastava and Widom, PODS 2004, as paper 002 describes it (section 2, figure 1).
    """

    def __init__(
        self, bound: float, *, state: Mapping[str, Any] | None = None, w: int = 1_000, of_a_second: bool = False
    ) -> None:
        if w < 2:
            raise UsageError(f"w {w!r} holds no second largest delay", hint="w is at least 2 tuples")
        self._bound = bound
        self._least = int(w)
        self._of_a_second = bool(of_a_second)
        self._largest_ms: int = state["largest"] if state else _NONE
        self._last_ms: int = state["last"] if state else 0
        self._window = Window(self._least, _two_largest, _merge, state["window"] if state else None)

    def update(self, ts_ms: NDArray[np.int64], arrival_ms: NDArray[np.int64], late: NDArray[np.bool_]) -> None:
        """Note the largest delays."""
        delays_ms = arrival_ms - ts_ms
        self._largest_ms = max(self._largest_ms, int(delays_ms.max()))
        self._last_ms = int(arrival_ms[-1])
        self._window.add(delays_ms, arrival_ms)

    def policy(self) -> Policy:
        """Return the mean of m1 and m2."""
        if self._window.count < 2:
            return Policy(None)
        count, first_ms, _, second_ms = self._window.whole()
        if self._of_a_second:
            lasted_ms = max(1, self._last_ms - first_ms)
            self._window.resize(max(self._least, min(math.ceil(count * 1_000 / lasted_ms), 4 * self._window.need)))
        return Policy(math.ceil((self._largest_ms + second_ms) / 2))

    def state(self) -> Mapping[str, JSON]:
        """Return m1, the window and the last arrival."""
        return {"largest": self._largest_ms, "last": self._last_ms, "window": self._window.state()}


def _two_largest(delays_ms: Ints, arrival_ms: Ints) -> Block:
    if len(delays_ms) == 1:
        return 1, int(arrival_ms[0]), int(delays_ms[0]), _NONE
    second_ms, first_ms = np.partition(delays_ms, -2)[-2:].tolist()
    return len(delays_ms), int(arrival_ms[0]), first_ms, second_ms


def _merge(left: Block, right: Block) -> Block:
    second_ms, first_ms = sorted([*left[2:], *right[2:]])[-2:]
    return left[0] + right[0], left[1], first_ms, second_ms
