"""`slack`: a fixed slack, known in advance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reorderer.core.estimators.protocol import JSON, Policy


class Slack:
    """K = the declared SLACK, for ever; with SLACK in tuples K is open and the buffer's limit alone moves the frontier.

    >>> Slack(2000).policy()
    Policy(slack_ms=2000, may_drop=None, until_ms=None)

    Reference: Aurora's slack parameter (Abadi et al., VLDB Journal 12(2), 2003), as paper 000, section 4 declares it.
    """

    def __init__(self, slack_ms: int | None) -> None:
        self._policy = Policy(slack_ms)

    def update(self, ts_ms: NDArray[np.int64], arrival_ms: NDArray[np.int64], late: NDArray[np.bool_]) -> None:
        """Learn nothing."""

    def policy(self) -> Policy:
        """Return the declared slack."""
        return self._policy

    def state(self) -> Mapping[str, JSON]:
        """Return nothing: the configuration has it all."""
        return {}
