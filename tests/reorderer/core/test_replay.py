"""A replay is the core over a trace, measured."""

from __future__ import annotations

import json

import numpy as np

from reorderer.core.config import CoreConfig
from reorderer.core.events import Event
from reorderer.core.replay import event_lines, hindsight_slack_ms, replay
from reorderer.core.trace import Trace
from reorderer.streams import make

# rank        0    1    2    3    4
# arrival   100  110  120  130  240
# event     100   90  118   60  239
SMALL = Trace(np.array([100, 90, 118, 60, 239]), np.array([100, 110, 120, 130, 240]))


def test_every_tuple_leaves_or_is_late_at_the_clock_that_decided_it() -> None:
    happened: list[str] = []

    def emit(events: list[Event[None]]) -> None:
        happened.extend(event_lines(events))

    report = replay(SMALL, CoreConfig(slack_ms=30), emit)
    tuples = [fact for fact in map(json.loads, happened) if "punctuation" not in fact]
    assert tuples == [
        {"release": 1, "at_ms": 130},
        {"late": 3, "at_ms": 130},
        {"release": 0, "at_ms": 240},
        {"release": 2, "at_ms": 240},
        {"release": 4, "at_ms": 240},
    ]
    assert (report.tuples, report.dropped, report.warmup_tuples, report.max_held) == (5, 1, 0, 3)
    assert report.mean_wait_ms == (20 + 140 + 120 + 0) / 4
    assert report.hindsight_mean_wait_ms is None
    assert report.worst_drop_ratio_after_warmup == 1 / 4


def test_hindsight_is_the_smallest_constant_slack_that_keeps_the_bound() -> None:
    assert [hindsight_slack_ms(SMALL, bound) for bound in (0, 0.19, 0.2, 0.4, 1)] == [70, 70, 20, 2, 0]


def test_a_constant_slack_of_hindsight_waits_what_the_report_says() -> None:
    settings = {"mu": 200.0, "sigma": 50.0, "mu_after": 400.0}
    stream = make("regime", seed=2, tuples=50_000, rate=2_000, settings=settings)
    trace = Trace(stream.ts_ms, stream.arrival_ms)
    bounded = replay(trace, CoreConfig(dratio=0.01, estimator="maxdelay"))
    assert bounded.hindsight_slack_ms is not None
    fixed = replay(trace, CoreConfig(slack_ms=bounded.hindsight_slack_ms))
    assert bounded.warmup_tuples < 2_048
    assert 0.009 < fixed.drop_ratio <= 0.01
    assert bounded.hindsight_mean_wait_ms is not None
    assert fixed.mean_wait_ms is not None
    assert abs(bounded.hindsight_mean_wait_ms - fixed.mean_wait_ms) < 0.05 * fixed.mean_wait_ms


def test_bsize_limits_what_is_held() -> None:
    stream = make("constant", seed=2, tuples=20_000, rate=2_000)
    report = replay(Trace(stream.ts_ms, stream.arrival_ms), CoreConfig(dratio=0.01, bsize=500))
    assert report.max_held <= 500
    assert report.dropped > 0


def test_one_tuple_is_a_trace() -> None:
    report = replay(Trace(np.array([5]), np.array([9])), CoreConfig(dratio=0.01))
    assert (report.tuples, report.dropped, report.warmup_tuples, report.max_held) == (1, 0, 1, 1)
