"""The frontier: where it stands, what moves it, and which tuples are late against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reorderer.core.config import CoreConfig
from reorderer.core.estimators import Estimator, Policy
from reorderer.core.estimators.slack import Slack
from reorderer.core.events import Ints
from reorderer.core.state import CoreState, Counters

DECIDE_EVERY_TUPLES = 1_024
DECIDE_EVERY_MS = 100


@dataclass(frozen=True, slots=True)
class Silence:
    """How far a silence moves the frontier, the slack in force before it, and whether it ends a stall."""

    until_ms: int
    slack_ms: int
    stalled: bool


@dataclass(slots=True, eq=False)
class Piece:
    """Consecutive tuples on their way through the core, and what became of each.

    `before` is the frontier a tuple is judged against, `after` the one it leaves (they differ where a limit forces a
    release). `slacks` lists (first tuple, slack in force); `silences` is keyed by the tuple that ended them.
    """

    ts_ms: Ints
    arrival_ms: Ints
    clock_ms: Ints
    offset: Ints
    size: Ints | None
    late: NDArray[np.bool_] = field(init=False)
    before: Ints = field(init=False)
    after: Ints = field(init=False)
    slacks: list[tuple[int, int]] = field(default_factory=list)
    silences: dict[int, Silence] = field(default_factory=dict)
    release_steps: list[int] | None = None

    def __post_init__(self) -> None:
        self.late = np.empty(len(self.ts_ms), np.bool_)
        self.before = np.empty(len(self.ts_ms), np.int64)
        self.after = self.before

    def __len__(self) -> int:
        return len(self.ts_ms)


class Frontier:
    """The point (f, o) in sequence order below which all is done; it never goes back (spec, section 2).

    Between two decision points tuple i is judged against max(f, arrival_i - K), so a stretch of tuples is a few array
    operations.
    """

    def __init__(self, config: CoreConfig, estimator: Estimator, state: CoreState) -> None:
        self._config = config
        self._estimator = estimator
        self._cap_ms = config.cap_ms
        self.ts_ms = state.frontier_ms
        self.offset = state.frontier_offset
        self.clock_ms = state.clock_ms
        self._fixed = isinstance(estimator, Slack)  # it has decided once and for all
        self.policy = estimator.policy() if self._fixed else state.policy
        self.late_since_decision = state.late_since_decision
        self.last_slack_ms = state.last_slack_ms

    @property
    def slack_ms(self) -> int:
        """The slack in force: K, or the cap where the frontier stands still."""
        slack_ms = self._moving_slack_ms()
        return self._cap_ms if slack_ms is None else min(slack_ms, self._cap_ms)

    @property
    def decided_slack_ms(self) -> int:
        """The slack of the last decision, which punctuations tell: K, or the cap for none; the brake does not show."""
        slack_ms = self.policy.slack_ms
        return self._cap_ms if slack_ms is None else min(slack_ms, self._cap_ms)

    def reach(self, clock_ms: int) -> int:
        """Return how far the policy lets the frontier go at that time of the clock."""
        until_ms = clock_ms - self.slack_ms
        if self.policy.until_ms is not None:
            until_ms = max(min(until_ms, self.policy.until_ms), clock_ms - self._cap_ms)
        return until_ms

    def move_to(self, ts_ms: int, offset: int = 0) -> None:
        """Move to the point if it lies ahead."""
        if (ts_ms, offset) > (self.ts_ms, self.offset):
            self.ts_ms, self.offset = ts_ms, offset

    def forget_policy(self) -> None:
        """Stand still until the next decision point: the estimator is a new one."""
        self.late_since_decision = 0
        if not self._fixed:
            self.policy = Policy(None)

    def silence(self, now_ms: int) -> Silence | None:
        """Return how far the frontier may go if nothing arrived until now, or None while that is no silence.

        A tuple that arrives later ends the same silence and moves the frontier at least as far: heartbeats announce
        early, they do not change what is late.
        """
        if self.clock_ms is None:
            slack_ms = self._config.first_slack_ms
            return Silence(now_ms - slack_ms, slack_ms, stalled=False)
        gap_ms = now_ms - self.clock_ms
        if gap_ms <= self._config.idle_after_ms:
            return None
        until_ms = self.reach(now_ms)
        stands_still = self._moving_slack_ms() is None or until_ms < now_ms - self.slack_ms
        if not stands_still or gap_ms <= self._config.max_stall_ms:
            return Silence(until_ms, self.decided_slack_ms, stalled=False)
        stall_ms = self._config.initial_slack_ms if self.last_slack_ms is None else self.last_slack_ms
        return Silence(now_ms - min(stall_ms, self._cap_ms), self.decided_slack_ms, stalled=True)

    def judge(self, piece: Piece, counters: Counters, fill: Callable[[Piece, int, int], None] | None = None) -> None:
        """Decide for each tuple whether it is late; afterwards frontier, clock and estimator stand behind the piece.

        `fill` judges one stretch between decision points; the default knows no limits.
        """
        fill = fill or self._fill
        decides, silent = self._marks(piece.clock_ms, counters.tuples)
        bounds = np.flatnonzero(decides | silent).tolist()
        if not bounds or bounds[0]:
            bounds.insert(0, 0)
        bounds.append(len(piece))
        for begin, end in pairwise(bounds):
            if silent[begin]:
                self._end_silence(piece, begin, counters)
            if decides[begin]:
                self._decide()
            piece.slacks.append((begin, self.decided_slack_ms))
            fill(piece, begin, end)
            self.clock_ms = int(piece.clock_ms[end - 1])
            stretch = slice(begin, end)
            self._estimator.update(piece.ts_ms[stretch], piece.clock_ms[stretch], piece.late[stretch])
        counters.tuples += len(piece)
        counters.late += int(np.count_nonzero(piece.late))

    def _marks(self, clock_ms: Ints, tuples: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return where a decision point lies before a tuple, and where a tuple ends a silence."""
        previous = np.empty_like(clock_ms)
        previous[1:] = clock_ms[:-1]
        previous[0] = clock_ms[0] if self.clock_ms is None else self.clock_ms
        silent = clock_ms - previous > self._config.idle_after_ms
        if self._fixed:
            decides = np.zeros(len(clock_ms), np.bool_)
        else:
            decides = clock_ms // DECIDE_EVERY_MS != previous // DECIDE_EVERY_MS
            decides[-tuples % DECIDE_EVERY_TUPLES :: DECIDE_EVERY_TUPLES] = True
        if self.clock_ms is None:
            silent[0] = True
            decides[0] = not self._fixed
        return decides, silent

    def _end_silence(self, piece: Piece, index: int, counters: Counters) -> None:
        silence = self.silence(int(piece.clock_ms[index]))
        if silence is not None and silence.until_ms >= self.ts_ms:
            piece.silences[index] = silence
            counters.stalls += silence.stalled
            self.move_to(silence.until_ms)

    def _decide(self) -> None:
        self.policy = self._estimator.policy()
        self.late_since_decision = 0
        if self.policy.slack_ms is not None:
            self.last_slack_ms = self.policy.slack_ms

    def _moving_slack_ms(self) -> int | None:
        may_drop = self.policy.may_drop
        braked = may_drop is not None and self.late_since_decision >= may_drop
        return None if braked else self.policy.slack_ms

    def _fill(self, piece: Piece, begin: int, end: int) -> None:
        """Judge one stretch as arrays: before = max(f, arrival - K), late = ts < before."""
        ts_ms, clock_ms = piece.ts_ms[begin:end], piece.clock_ms[begin:end]
        before, late = piece.before[begin:end], piece.late[begin:end]
        self._follow(clock_ms, self.slack_ms, self.ts_ms, ts_ms, before, late)
        dropped = int(np.count_nonzero(late))
        may_drop = self.policy.may_drop
        if (
            may_drop is not None
            and self._moving_slack_ms() is not None
            and dropped >= may_drop - self.late_since_decision
        ):
            last = int(np.flatnonzero(late)[may_drop - self.late_since_decision - 1]) + 1
            self._follow(clock_ms[last:], self._cap_ms, int(before[last - 1]), ts_ms[last:], before[last:], late[last:])
            dropped = int(np.count_nonzero(late))
        self.late_since_decision += dropped
        self.move_to(int(before[-1]))

    def _follow(
        self, clock_ms: Ints, slack_ms: int, from_ms: int, ts_ms: Ints, before: Ints, late: NDArray[np.bool_]
    ) -> None:
        np.subtract(clock_ms, slack_ms, out=before)
        if self.policy.until_ms is not None:
            np.minimum(before, self.policy.until_ms, out=before)
            np.maximum(before, clock_ms - self._cap_ms, out=before)
        np.maximum(before, from_ms, out=before)
        np.less(ts_ms, before, out=late)
