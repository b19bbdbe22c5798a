"""The core as the specification tells it: one tuple at a time, a sorted list, no arrays. Slow, and easy to believe."""

from __future__ import annotations

from bisect import insort

import numpy as np

from reorderer.core.config import CoreConfig
from reorderer.core.estimators import Policy, make
from reorderer.core.events import BOTTOM_MS, Punctuation
from tests.reorderer.core.streams import Fact, Stream


class Reference:
    """Takes tuples one by one; `facts` is everything that happened."""

    def __init__(self, config: CoreConfig) -> None:
        self.config = config
        self.facts: list[Fact] = []
        self.held: list[tuple[int, int, int]] = []
        self._estimator = make(config)
        self._policy = Policy(None)
        self._last_slack_ms: int | None = None
        self._late_since = 0
        self._frontier = (BOTTOM_MS, 0)
        self._clock_ms: int | None = None
        self._tuples = self._late = self._next_offset = self._seq = 0
        self._until_ms = BOTTOM_MS

    def run(self, stream: Stream) -> list[Fact]:
        columns = (stream.ts_ms, stream.arrival_ms, stream.offset, stream.size)
        for row in zip(*(column.tolist() for column in columns), strict=True):
            self.take(*row)
        return self.facts

    def take(self, ts_ms: int, arrival_ms: int, offset: int, size: int) -> None:
        config = self.config
        if config.max_future_ms is not None and ts_ms - arrival_ms > config.max_future_ms:
            self.facts.append(("future", str(offset), ts_ms, offset, arrival_ms))
            return
        before_ms = self._clock_ms
        clock_ms = arrival_ms if before_ms is None else max(arrival_ms, before_ms)
        if before_ms is None:
            slack_ms = config.first_slack_ms
            self._advance(clock_ms - slack_ms, slack_ms, self._next_offset, clock_ms)
        elif clock_ms - before_ms > config.idle_after_ms:
            until_ms = self._silent_until_ms(clock_ms, clock_ms - before_ms)
            self._advance(until_ms, self._told_slack_ms(), self._next_offset, clock_ms)
        if before_ms is None or clock_ms // 100 != before_ms // 100 or self._tuples % 1_024 == 0:
            self._policy, self._late_since = self._estimator.policy(), 0
            if self._policy.slack_ms is not None:
                self._last_slack_ms = self._policy.slack_ms
        self._clock_ms = clock_ms
        slack_ms = self._told_slack_ms()
        self._advance(self._reach_ms(clock_ms), slack_ms, offset + 1, clock_ms)
        self._judge(ts_ms, arrival_ms, offset, size, slack_ms)
        self._next_offset = offset + 1

    def _judge(self, ts_ms: int, arrival_ms: int, offset: int, size: int, slack_ms: int) -> None:
        assert self._clock_ms is not None
        late = ts_ms < self._frontier[0]
        self._estimator.update(np.array([ts_ms]), np.array([self._clock_ms]), np.array([late]))
        if late:
            self.facts.append(("late", str(offset), ts_ms, offset, arrival_ms, self._frontier[0]))
            self._late_since += 1
        elif self.config.unsorted:
            self.facts.append(("released", str(offset), ts_ms, offset, self._clock_ms))
        else:
            insort(self.held, (ts_ms, offset, size))
            while self._full():
                self._release(slack_ms, offset + 1, self._clock_ms)
        self._tuples += 1
        self._late += late

    def _full(self) -> bool:
        config = self.config
        most = min(n for n in (config.bsize, config.slack_tuples, 1 << 60) if n is not None)
        size = sum(size for _, _, size in self.held)
        return len(self.held) > most or (config.max_bytes is not None and size > config.max_bytes)

    def _slack_ms(self) -> int:
        braked = self._policy.may_drop is not None and self._late_since >= self._policy.may_drop
        slack_ms = None if braked else self._policy.slack_ms
        return self.config.cap_ms if slack_ms is None else min(slack_ms, self.config.cap_ms)

    def _told_slack_ms(self) -> int:
        slack_ms = self._policy.slack_ms
        return self.config.cap_ms if slack_ms is None else min(slack_ms, self.config.cap_ms)

    def _reach_ms(self, clock_ms: int) -> int:
        until_ms = clock_ms - self._slack_ms()
        if self._policy.until_ms is None:
            return until_ms
        return max(min(until_ms, self._policy.until_ms), clock_ms - self.config.cap_ms)

    def _silent_until_ms(self, clock_ms: int, gap_ms: int) -> int:
        braked = self._policy.may_drop is not None and self._late_since >= self._policy.may_drop
        fenced = self._reach_ms(clock_ms) < clock_ms - self._slack_ms()
        if (braked or fenced or self._policy.slack_ms is None) and gap_ms > self.config.max_stall_ms:
            stall_ms = self.config.initial_slack_ms if self._last_slack_ms is None else self._last_slack_ms
            return clock_ms - min(stall_ms, self.config.cap_ms)
        return self._reach_ms(clock_ms)

    def _advance(self, until_ms: int, slack_ms: int, position: int, at_ms: int) -> None:
        self._frontier = max(self._frontier, (until_ms, 0))
        while self.held and self.held[0][:2] < self._frontier:
            self._release(slack_ms, position, at_ms)
        self._punctuate(self._frontier[0], slack_ms, position, at_ms)

    def _release(self, slack_ms: int, position: int, at_ms: int) -> None:
        ts_ms, offset, _ = self.held.pop(0)
        self._punctuate(ts_ms, slack_ms, position, at_ms)
        self.facts.append(("released", str(offset), ts_ms, offset, at_ms))
        self._frontier = max(self._frontier, (ts_ms, offset + 1))

    def _punctuate(self, ts_ms: int, slack_ms: int, position: int, at_ms: int) -> None:
        grids = [(self.config.punctuation_every_ms, 0), *self.config.windows]
        until_ms = max((ts_ms - origin) // period * period + origin for period, origin in grids)
        if until_ms > self._until_ms:
            self._until_ms = until_ms
            ratio = self._late / self._tuples if self._tuples else 0.0
            self.facts.append(
                Punctuation(until_ms, slack_ms, ratio, self.config.dratio, position, self._seq, idle=False, at_ms=at_ms)
            )
            self._seq += 1
