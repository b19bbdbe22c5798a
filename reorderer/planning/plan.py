"""A plan for one stream: drops against waiting in hindsight, and what each estimator would have done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reorderer.core.config import CoreConfig
from reorderer.core.replay import hindsight_slack_ms
from reorderer.core.trace import Trace
from reorderer.errors import UsageError
from reorderer.planning.fate import Measures, measure
from reorderer.planning.hindsight import fate_with, pooled, slacks
from reorderer.planning.tryout import try_out

CURVE_POINTS = 30
_SILENT_MS = 1 << 40
"""Punctuations change no fate: one in 35 years of event time is enough here."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The stream planned for, in numbers."""

    source: str
    partitions: int
    tuples: int
    seconds: float
    out_of_order: float
    least_delay_ms: int
    median_delay_ms: int
    largest_delay_ms: int
    dead: int
    future: int


@dataclass(frozen=True, slots=True)
class Point:
    """What a constant slack would have done; `bound` is the one it was chosen for, if it was."""

    slack_ms: int
    measures: Measures
    bound: float | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an estimator would have done under a bound; `refused` says why if it has no slack for that bound."""

    bound: float
    estimator: str
    measures: Measures | None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything the command shows."""

    stream: Stream
    curve: list[Point]
    bounds: list[Point]
    attempts: list[Attempt]

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return {
            "stream": asdict(self.stream),
            "curve": [{"slack_ms": point.slack_ms, **_flat(point.measures)} for point in self.curve],
            "bounds": [
                {"bound": point.bound, "slack_ms": point.slack_ms, **_flat(point.measures)} for point in self.bounds
            ],
            "estimators": [_attempt_json(attempt) for attempt in self.attempts],
        }


def steps(traces: Sequence[Trace], bounds: Sequence[float], estimators: Sequence[str]) -> int:
    """Return how many tuples `make_plan` will report to have taken, at most."""
    rounds = CURVE_POINTS + len(bounds) + len(bounds) * len(estimators)
    return rounds * sum(len(trace) for trace in traces)


def make_plan(
    stream: Stream,
    traces: Sequence[Trace],
    bounds: Sequence[float],
    estimators: Sequence[str],
    progress: Callable[[int], None] = lambda _: None,
) -> Plan:
    """Return the plan for the partitions of a stream; none of them is empty."""
    together = pooled(traces)

    def point(slack_ms: int, bound: float | None = None) -> Point:
        measures = measure([fate_with(trace, slack_ms) for trace in traces])
        progress(len(together))
        return Point(slack_ms, measures, bound)

    return Plan(
        stream,
        curve=[point(slack_ms) for slack_ms in slacks(together, CURVE_POINTS)],
        bounds=[point(hindsight_slack_ms(together, bound), bound) for bound in bounds],
        attempts=[_attempt(traces, bound, name, progress) for bound in bounds for name in estimators],
    )


def _attempt(traces: Sequence[Trace], bound: float, name: str, progress: Callable[[int], None]) -> Attempt:
    config = CoreConfig(dratio=bound, estimator=name, max_future_ms=None, punctuation_every_ms=_SILENT_MS)
    try:
        return Attempt(bound, name, measure([try_out(trace, config, progress)[0] for trace in traces]))
    except UsageError as error:
        return Attempt(bound, name, None, str(error))


def _attempt_json(attempt: Attempt) -> dict[str, Any]:
    head = {"bound": attempt.bound, "estimator": attempt.estimator}
    if attempt.measures is None:
        return {**head, "refused": attempt.refused}
    return {**head, "violated": not attempt.measures.within(attempt.bound), **_flat(attempt.measures)}


def _flat(measures: Measures) -> dict[str, Any]:
    return {**asdict(measures), "drop_ratio": measures.drop_ratio}
