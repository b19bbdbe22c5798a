"""What the core asks of an estimator: learn from every tuple, say the slack at each decision point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

JSON: TypeAlias = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None


@dataclass(frozen=True, slots=True)
class Policy:
    """What the frontier does until the next decision point.

    `slack_ms` is K: the frontier follows the arrival clock at that distance (negative if events carry times ahead of
    their arrival). None: it stands still. `may_drop` is a brake: after that many late tuples the frontier stands
    still until the next decision point; None: no brake. `until_ms` is a fence: the frontier does not pass it before
    the next decision point, however far the clock jumps; None: no fence. SLACK and `max_slack` cap all three ways of
    standing still.
    """

    slack_ms: int | None
    may_drop: int | None = None
    until_ms: int | None = None


class Estimator(Protocol):
    """Learns the disorder of one partition; one file a method, made by `estimators.make`.

    Two rules make the core independent of batch cuts:

    - `update` sees every judged tuple once, in arrival order, **cut anywhere**: `update(a + b)` leaves the same state
      as `update(a)` followed by `update(b)`, bit for bit (sum in integers, not in floats). A call never spans a
      decision point.
    - `policy` is called at decision points only, once each (before a tuple whose arrival enters a new 100 ms slot,
      and after every 1,024th tuple), with all tuples before it seen. It may change the state (age a histogram, resize
      a window).

    The constructor takes `(bound, *, state=None, **options)`: the drop ratio as a fraction, what `state()` returned
    earlier (by way of JSON), and the options as keywords with defaults. `state` is lossless: the restored estimator
    continues exactly.
    """

    def update(self, ts_ms: NDArray[np.int64], arrival_ms: NDArray[np.int64], late: NDArray[np.bool_]) -> None:
        """Learn from consecutive tuples: event time, arrival (the running maximum), and whether each was late."""

    def policy(self) -> Policy:
        """Return what holds until the next decision point."""

    def state(self) -> Mapping[str, JSON]:
        """Return everything needed to continue, JSON-able, under 2 KiB."""
