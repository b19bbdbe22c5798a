"""The settings of one partition's core: limits, bound, estimator, punctuations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from reorderer.errors import UsageError


@dataclass(frozen=True, slots=True)
class CoreConfig:
    """Settings of the core, checked on construction. All limits are per partition.

    `dratio` is a fraction: 0.01 is DRATIO 1 %. `slack_ms` or `slack_tuples` is SLACK as a duration or in tuples; with
    `dratio` it caps the buffer; `slack_tuples=0` (or `slack_ms=0`) with `dratio` is SLACK 0: punctuations only,
    tuples pass at once. The estimator defaults to `slack` without a bound and to `budget` with one.
    `max_future_ms=None` judges no tuple as future (wall-clock arrival). `windows` are (period_ms, origin_ms) pairs
    whose boundaries get punctuations too.

    >>> CoreConfig(slack_ms=2000).estimator_name
    'slack'
    >>> CoreConfig(slack_tuples=0)
    Traceback (most recent call last):
    reorderer.errors.UsageError: SLACK 0 without DRATIO; add a DRATIO: punctuations alone need a bound
    """

    dratio: float | None = None
    slack_ms: int | None = None
    slack_tuples: int | None = None
    bsize: int | None = None
    max_bytes: int | None = None
    estimator: str | None = None
    options: Mapping[str, float] = field(default_factory=dict)
    max_slack_ms: int = 3_600_000
    max_future_ms: int | None = 300_000
    idle_after_ms: int = 1_000
    clock_skew_ms: int = 500
    initial_slack_ms: int = 60_000
    max_stall_ms: int = 60_000
    punctuation_every_ms: int = 100
    windows: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        _check_bound(self.dratio)
        if self.slack_ms is not None and self.slack_tuples is not None:
            raise UsageError("SLACK is given as a duration and in tuples", hint="choose one")
        for name in ("bsize", "max_bytes", "punctuation_every_ms"):
            _check_at_least(name, getattr(self, name), 1)
        for name in ("slack_ms", "slack_tuples", "max_slack_ms", "max_future_ms", "initial_slack_ms", "max_stall_ms"):
            _check_at_least(name, getattr(self, name), 0)
        for name in ("idle_after_ms", "clock_skew_ms"):
            _check_at_least(name, getattr(self, name), 0)
        for period_ms, origin_ms in self.windows:
            _check_at_least("window period", period_ms, 1)
            _check_at_least("window origin", abs(origin_ms), 0)
        has_slack = self.slack_ms is not None or self.slack_tuples is not None
        if self.unsorted and self.dratio is None:
            raise UsageError("SLACK 0 without DRATIO", hint="add a DRATIO: punctuations alone need a bound")
        if self.dratio is None and not has_slack:
            raise UsageError("neither DRATIO nor SLACK is given", hint="set a bound (DRATIO 1%) or a SLACK")
        if self.estimator == "slack" and (not has_slack or self.unsorted):
            raise UsageError("the estimator 'slack' needs a SLACK above 0")
        if self.dratio is None and self.estimator not in (None, "slack"):
            raise UsageError(f"the estimator {self.estimator!r} needs a DRATIO")

    @property
    def unsorted(self) -> bool:
        """Whether this is SLACK 0: tuples pass at once, in arrival order."""
        return self.slack_ms == 0 or self.slack_tuples == 0

    @property
    def estimator_name(self) -> str:
        """The estimator in force: the one named, else `slack` without a bound and `budget` with one."""
        if self.estimator is not None:
            return self.estimator
        return "slack" if self.dratio is None else "budget"

    @property
    def cap_ms(self) -> int:
        """The slack that no estimator exceeds: `max_slack`, or SLACK if that is a shorter duration."""
        if self.slack_ms is None or self.unsorted:
            return self.max_slack_ms
        return min(self.slack_ms, self.max_slack_ms)

    @property
    def first_slack_ms(self) -> int:
        """The slack before the first tuple: the declared one if it is all that counts, else `initial_slack`, capped."""
        if self.estimator_name == "slack" and self.slack_ms is not None:
            return self.cap_ms
        return min(self.initial_slack_ms, self.cap_ms)


def _check_bound(dratio: float | None) -> None:
    if dratio is None:
        return
    if isinstance(dratio, bool) or not isinstance(dratio, int | float) or not math.isfinite(dratio):
        raise UsageError(f"drop ratio {dratio!r} is not a number", hint="a fraction from 0 to 1: 0.01 is 1 %")
    if not 0 <= dratio <= 1:
        raise UsageError(f"drop ratio {dratio!r} is not within 0 and 1", hint="a fraction: 0.01 is 1 %")


def _check_at_least(name: str, value: int | None, least: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1 << 53:
        raise UsageError(f"{name} {value!r} is not an integer from {least} to 2^53")
