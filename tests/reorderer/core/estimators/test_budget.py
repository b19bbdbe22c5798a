"""The promise of `budget`: drops within the bound, waits near the best constant slack; and its parts."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pytest

from reorderer.core.config import CoreConfig
from reorderer.core.estimators.budget import Budget
from reorderer.core.estimators.census import SLOTS, Census
from reorderer.core.estimators.delays import EDGES, beyond, count, in_flight, least
from reorderer.core.replay import Report, replay
from reorderer.core.trace import Trace
from reorderer.errors import UsageError
from reorderer.streams import make


def report(name: str, bound: float, settings: Mapping[str, float], tuples: int = 120_000) -> Report:
    stream = make(name, seed=11, tuples=tuples, rate=2_000, settings=settings)
    return replay(Trace(stream.ts_ms, stream.arrival_ms), CoreConfig(dratio=bound))


def within(found: Report, bound: float, wait_ratio: float) -> None:
    assert found.worst_drop_ratio_after_warmup <= bound
    assert found.drop_ratio <= bound
    assert found.wait_ratio is not None
    assert found.wait_ratio <= wait_ratio


@pytest.mark.parametrize("bound", [0.01, 0.001])
@pytest.mark.parametrize(
    ("name", "settings", "wait_ratio"),
    [
        ("constant", {"mu": 1_000.0, "sigma": 300.0}, 1.25),
        ("constant", {"mu": 0.0, "sigma": 1_000.0}, 1.25),
        ("changing", {"mu_max": 2_000.0, "sigma_max": 1_000.0}, 1.5),
        ("pareto", {"alpha": 1.8, "scale": 50.0}, 2.0),
        ("regime", {"mu": 500.0, "sigma": 100.0, "mu_after": 2_500.0}, 1.0),
        ("burst", {"length": 600.0}, 1.5),
    ],
)
def test_drops_stay_within_the_bound_and_waits_near_hindsight(
    name: str, settings: dict[str, float], wait_ratio: float, bound: float
) -> None:
    within(report(name, bound, settings), bound, wait_ratio)


def test_a_budget_is_spent_not_hoarded_on_a_calm_stream() -> None:
    assert report("constant", 0.01, {"mu": 1_000.0, "sigma": 300.0}).drop_ratio > 0.005


def test_a_clock_that_is_off_does_not_coarsen_the_slack() -> None:
    stream = make("constant", seed=3, tuples=100_000, rate=2_000, settings={"mu": 400.0, "sigma": 80.0})
    for off_ms in (-20_000, 0, 20_000):
        found = replay(Trace(stream.ts_ms + off_ms, stream.arrival_ms), CoreConfig(dratio=0.01))
        within(found, 0.01, 1.2)


def test_nothing_is_released_before_the_warm_up_is_over() -> None:
    found = report("constant", 0.01, {"mu": 100.0, "sigma": 10.0}, tuples=15_000)
    assert found.warmup_tuples == found.tuples
    assert (found.dropped, found.mean_wait_ms) == (0, None)


def test_a_bound_of_nothing_never_drops_and_a_bound_of_all_is_no_error() -> None:
    assert report("constant", 0.0, {}, tuples=40_000).dropped == 0
    assert report("constant", 1.0, {}, tuples=40_000).drop_ratio <= 1.0


def test_the_state_is_small_and_restores_to_the_same_policies() -> None:
    stream = make("changing", seed=5, tuples=60_000, rate=2_000, settings={"mu_max": 2_000.0})
    whole = Budget(0.01)
    cut = Budget(0.01)
    for begin in range(0, 60_000, 200):
        part = slice(begin, begin + 200)
        late = np.zeros(200, np.bool_)
        text = json.dumps(cut.state(), separators=(",", ":"))
        assert len(text) < 2_048
        cut = Budget(0.01, state=json.loads(text))
        for budget in (whole, cut):
            budget.update(stream.ts_ms[part], stream.arrival_ms[part], late)
        assert whole.policy() == cut.policy()


@pytest.mark.parametrize("options", [{"target": 0.0}, {"gain": -1.0}, {"commit": 2.0}, {"spreads": float("nan")}])
def test_nonsense_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="is not within"):
        Budget(0.01, **options)  # type: ignore[arg-type]  # mypy takes the keywords for `state` too


# --- delays ----------------------------------------------------------------------------------------------------------


def test_the_tail_is_read_within_a_bucket_of_the_quantile() -> None:
    delay_ms = np.random.default_rng(1).exponential(1_000, 100_000).astype(np.int64)
    found = least(beyond(count(delay_ms)), 1_000)
    assert found == pytest.approx(np.quantile(delay_ms, 0.99), rel=0.03)


def test_littles_law_counts_the_tuples_under_way() -> None:
    """One arrival a millisecond, each 100 ms beyond 1,000: 100 of them are under way past 1,000 at any time."""
    flying = in_flight(count(np.full(5_000, 1_100)), 5_000.0)
    assert np.interp(1_000, EDGES, flying) == pytest.approx(100, rel=0.5)


def test_nothing_exceeds_the_largest_delay() -> None:
    assert least(beyond(count(np.array([5, 7, 9]))), 0.0) == 10.0


# --- census ----------------------------------------------------------------------------------------------------------

SHARE = np.ones(2)
AGES = np.array([0.0, 1.0])


def counted(until_ms: int) -> Census:
    """One tuple a millisecond, at once, up to a time; the frontier a second behind."""
    census = Census()
    times = np.arange(until_ms)
    for begin in range(0, until_ms, 100):
        census.add(times[begin : begin + 100], times[begin : begin + 100], 0)
        census.close(begin - 1_000)
    return census


def test_a_full_slot_lets_the_frontier_pass() -> None:
    assert counted(20_000).shortage(19_999, 19_000, 0.0, AGES, SHARE) == (None, 0.0)


def test_an_empty_second_stops_the_frontier_before_it() -> None:
    census = counted(20_000)
    census.add(np.array([22_000]), np.array([22_000]), 0)
    limit_ms, missing = census.shortage(22_000, 21_500, 0.0, AGES, SHARE)
    assert limit_ms is not None
    assert 19_800 <= limit_ms <= 20_200
    assert missing == pytest.approx(0.95 * 1_500, abs=150)


def test_what_the_budget_can_pay_for_does_not_stop_the_frontier() -> None:
    census = counted(20_000)
    census.add(np.array([22_000]), np.array([22_000]), 0)
    assert census.shortage(22_000, 21_500, 5_000.0, AGES, SHARE)[0] is None


def test_a_stream_that_became_slower_is_forgiven() -> None:
    census = counted(20_000)
    census.add(np.arange(20_000, 24_000, 10), np.arange(20_000, 24_000, 10), 0)
    limit_ms, _ = census.shortage(23_990, 23_500, 0.0, AGES, SHARE)
    assert limit_ms is not None
    assert limit_ms < 21_000
    census.close(20_000)
    census.forgive(23_500)
    assert census.shortage(23_990, 23_500, 0.0, AGES, SHARE)[0] is None


def test_a_day_of_silence_takes_no_memory() -> None:
    census = counted(20_000)
    census.add(np.array([86_400_000]), np.array([86_400_000]), 0)
    assert len(census.counts) <= SLOTS
