"""The core over a finite trace as if it were live, and what it amounts to beside the best constant slack."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from reorderer.core.config import CoreConfig
from reorderer.core.events import Batch, Event, Future, Ints, Late, Released
from reorderer.core.frontier import DECIDE_EVERY_MS, DECIDE_EVERY_TUPLES
from reorderer.core.reorder import Reorderer
from reorderer.core.trace import Trace

BATCH = 16_384

Emit = Callable[[list[Event[None]]], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What a replay amounts to; drops are counted from the first tuple, waits from the first after warm-up.

    `warmup_tuples` arrived before the estimator first let the frontier move. None: there is nothing to measure, as no
    tuple came after warm-up, or no bound was given to choose a slack by.
    """

    tuples: int
    dropped: int
    drop_ratio: float
    worst_drop_ratio_after_warmup: float
    mean_wait_ms: float | None
    p99_wait_ms: float | None
    max_held: int
    warmup_tuples: int
    punctuations: int
    hindsight_mean_wait_ms: float | None
    hindsight_slack_ms: int | None
    wait_ratio: float | None
    future: int

    def to_json(self) -> dict[str, float | None]:
        """Return it as one JSON object."""
        return asdict(self)


def replay(trace: Trace, config: CoreConfig, emit: Emit | None = None) -> Report:
    """Run the core over the trace; `emit` gets the events as they happen, the offset of a tuple being its rank."""
    core = Reorderer[None](config)
    late = np.zeros(len(trace), np.bool_)
    left_ms = np.full(len(trace), -1, np.int64)
    punctuations = warmup = 0
    warm = config.estimator_name == "slack"

    def take(events: list[Event[None]]) -> None:
        nonlocal punctuations
        for event in events:
            if isinstance(event, Released):
                left_ms[event.offset] = event.at_ms
            elif isinstance(event, Late):
                late[event.offset] = True
            elif not isinstance(event, Future):
                punctuations += 1
        if emit is not None:
            emit(events)

    points = _decision_points(trace.arrival_ms)
    begin = 0
    while begin < len(trace):
        # Between decision points while cold, so that the end of warm-up is exact.
        end = min(begin + BATCH, len(trace)) if warm else int(points[np.searchsorted(points, begin, "right")])
        take(core.process(_batch(trace, begin, end)))
        warm = warm or core.moving
        warmup = warmup if warm else end
        begin = end
    held = _max_held(trace.arrival_ms, late, left_ms)
    take(core.flush())
    return _report(trace, config, late, left_ms, warmup, punctuations, held)


def event_lines(events: list[Event[None]]) -> Iterator[str]:
    """Yield the events as JSON, one line for each tuple or punctuation, in the order they happened."""
    for event in events:
        if isinstance(event, Released):
            yield from _lines("release", event.offset, event.at_ms)
        elif isinstance(event, Late | Future):
            yield from _lines("late" if isinstance(event, Late) else "future", event.offset, event.arrival_ms)
        else:
            yield json.dumps({"punctuation": event.until_ms, "at_ms": event.at_ms})


def hindsight_slack_ms(trace: Trace, bound: float) -> int:
    """Return the smallest constant slack on the arrival clock that keeps the bound over the whole trace.

    >>> hindsight_slack_ms(Trace(np.array([0, 0, 0, 0]), np.array([1, 2, 3, 50])), 0.25)
    3
    """
    delay_ms = trace.arrival_ms - trace.ts_ms
    may_drop = min(math.floor(bound * len(trace) + 1e-9), len(trace) - 1)
    place = len(trace) - 1 - may_drop
    return int(np.partition(delay_ms, place)[place])


def _decision_points(arrival_ms: Ints) -> Ints:
    """Return the ranks before which the core decides, and the end."""
    slot = arrival_ms // DECIDE_EVERY_MS
    entered = np.flatnonzero(slot[1:] != slot[:-1]) + 1
    return np.union1d(entered, [*range(DECIDE_EVERY_TUPLES, len(slot), DECIDE_EVERY_TUPLES), len(slot)])


def _batch(trace: Trace, begin: int, end: int) -> Batch[None]:
    part = slice(begin, end)
    return Batch(trace.ts_ms[part], trace.arrival_ms[part], np.arange(begin, end), [None] * (end - begin))


def _report(
    trace: Trace,
    config: CoreConfig,
    late: NDArray[np.bool_],
    left_ms: Ints,
    warmup: int,
    punctuations: int,
    held: int,
) -> Report:
    released = left_ms >= 0
    judged = released | late
    ratio = np.cumsum(late) / np.maximum(np.cumsum(judged), 1)
    wait_ms = (left_ms - trace.arrival_ms)[warmup:][released[warmup:]]
    slack_ms = None if config.dratio is None else hindsight_slack_ms(trace, config.dratio)
    best_ms = None if slack_ms is None else _mean(_constant_waits(trace, slack_ms, warmup))
    mean_ms = _mean(wait_ms)
    return Report(
        tuples=len(trace),
        dropped=int(np.count_nonzero(late)),
        drop_ratio=float(ratio[-1]),
        worst_drop_ratio_after_warmup=float(ratio[warmup:].max(initial=0.0)),
        mean_wait_ms=mean_ms,
        p99_wait_ms=float(np.quantile(wait_ms, 0.99)) if len(wait_ms) else None,
        max_held=held,
        warmup_tuples=warmup,
        punctuations=punctuations,
        hindsight_mean_wait_ms=best_ms,
        hindsight_slack_ms=slack_ms,
        wait_ratio=None if mean_ms is None or best_ms is None else mean_ms / max(best_ms, 1.0),
        future=int(np.count_nonzero(~judged)),
    )


def _constant_waits(trace: Trace, slack_ms: int, warmup: int) -> Ints:
    """Return how long a constant slack holds the tuples after warm-up; what is held at the end leaves with the last."""
    kept = trace.arrival_ms - trace.ts_ms <= slack_ms
    kept[:warmup] = False
    step = np.searchsorted(trace.arrival_ms, trace.ts_ms[kept] + slack_ms, "right")
    waits: Ints = trace.arrival_ms[np.minimum(step, len(trace) - 1)] - trace.arrival_ms[kept]
    return waits


def _max_held(arrival_ms: Ints, late: NDArray[np.bool_], left_ms: Ints) -> int:
    """Return the most tuples held at the end of a millisecond, before what is left at the end of the trace leaves."""
    came_ms = arrival_ms[~late]
    times_ms = np.unique(came_ms)
    gone = np.searchsorted(np.sort(left_ms[left_ms >= 0]), times_ms, "right")
    return int(np.max(np.searchsorted(came_ms, times_ms, "right") - gone, initial=0))


def _mean(wait_ms: Ints) -> float | None:
    return float(wait_ms.mean()) if len(wait_ms) else None


def _lines(what: str, rank: Ints, at_ms: Ints) -> Iterator[str]:
    for i, at in zip(rank.tolist(), at_ms.tolist(), strict=True):
        yield f'{{"{what}": {i}, "at_ms": {at}}}'
