"""The papers' equations against values worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reorderer.core.estimators.adhoc import Adhoc
from reorderer.core.estimators.hybrid import Hybrid
from reorderer.core.estimators.maxdelay import MaxDelay
from reorderer.core.estimators.normal import critical_point, exact_size, simple_size
from reorderer.core.estimators.protocol import Estimator, Policy
from reorderer.core.estimators.quantile import Quantile
from reorderer.core.estimators.sampled import Sampled
from reorderer.core.estimators.vseq import VSeq
from reorderer.core.events import Ints
from reorderer.errors import UsageError


def feed(estimator: Estimator, arrival_ms: Ints, delay_ms: Ints) -> Policy:
    """Show the tuples to the estimator and ask for its policy."""
    estimator.update(arrival_ms - delay_ms, arrival_ms, np.zeros(len(arrival_ms), np.bool_))
    return estimator.policy()


@pytest.mark.parametrize(("bound", "z"), [(0.05, 1.6449), (0.01, 2.3263), (0.001, 3.0902), (0.5, 0.0), (1.0, 0.0)])
def test_z_is_the_critical_point_of_the_standard_normal_distribution(bound: float, z: float) -> None:
    assert critical_point(bound, "vseq") == pytest.approx(z, abs=5e-5)


def test_equation_11_solves_the_quadratic_of_equation_7() -> None:
    # z = 2, so C = 4; sigma = 50 ms, theta = 5 ms: n = (4 + sqrt(16 + 8 * 4 * 100)) / 2 = (4 + sqrt(3216)) / 2 = 30.355
    n = exact_size(2, 50, 5)
    assert n == pytest.approx(30.3549, abs=5e-5)
    assert n * n - 4 * n - 2 * 4 * 50**2 / 5**2 == pytest.approx(0, abs=1e-9)


def test_equation_12_is_the_limit_of_equation_11_at_high_rates() -> None:
    # sqrt(2) * 2.3263 * 1000 ms * 10 tuples per ms = 32,899 tuples
    assert simple_size(2.3263, 1_000, 0.1) == pytest.approx(32_899, abs=1)
    assert exact_size(2.3263, 1_000, 0.1) / simple_size(2.3263, 1_000, 0.1) == pytest.approx(1, abs=1e-3)


def test_vseq_waits_for_30_tuples_then_keeps_n_p_of_them() -> None:
    # delays 100 and 300 in turn: mu = 200, sigma = 100; arrivals 10 ms apart: theta = 290 / 30 = 9.667; C = z(1 %)^2
    # = 5.4119 n = (5.4119 + sqrt(5.4119^2 + 8 * 5.4119 * (100 / 9.667)^2)) / 2 = 36.85 -> 36; K = 200 + 36 * 9.667 =
    # 548
    vseq = VSeq(0.01)
    arrival_ms = 10_000 + 10 * np.arange(30)
    delay_ms = np.tile([100, 300], 15)
    assert feed(vseq, arrival_ms[:29], delay_ms[:29]) == Policy(None)
    assert feed(vseq, arrival_ms[29:], delay_ms[29:]) == Policy(548)
    assert vseq.policy() == Policy(None)  # VSeq has to fill up to 36 first
    assert feed(vseq, arrival_ms[:6] + 300, delay_ms[:6]) != Policy(None)


def test_vseq_forgets_tuples_older_than_n_p() -> None:
    vseq = VSeq(0.5)  # z = 0: n_p = 30
    feed(vseq, 10_000 + np.arange(500), np.full(500, 5_000))
    assert feed(vseq, 10_500 + np.arange(30), np.full(30, 40)) == Policy(40 + 29)  # 30 * 29 / 30


def test_vseq_of_simultaneous_arrivals_takes_the_limit() -> None:
    # theta = 0: K = mu + sqrt(2) z sigma = 20 + 1.4142 * 2.3263 * 10 = 52.9
    assert feed(VSeq(0.01), np.full(30, 10_000), np.tile([10, 30], 15)) == Policy(53)


def test_adhoc_is_figure_4_with_mean_and_deviation_of_the_timestamps() -> None:
    # timestamps 9,900 to 10,190: mu_t = 10,045, sigma_t = 10 * sqrt((30^2 - 1) / 12) = 86.554
    # tau_p = 10,045 - 86.554 + 86.554 * 0.01 * 2 = 9,960.177; K = 10,290 - tau_p = 329.8
    adhoc = Adhoc(0.01)
    assert feed(adhoc, 10_000 + 10 * np.arange(30), np.full(30, 100)) == Policy(330)
    # n_p = 30 + floor(86.554 * 2.3263 / 9.667) = 30 + 20
    assert adhoc._window.need == 50


def test_sampled_uses_equation_11_below_100_tuples_a_second() -> None:
    # every tuple sampled, 50 ms apart: theta = 50, mu = 200, sigma = 100
    # n = (5.4119 + sqrt(5.4119^2 + 8 * 5.4119 * 2^2)) / 2 = 9.82 -> at least 30; K = 200 + 30 * 50
    sampled = Sampled(0.01, ps=1, pe=64, m=64)
    assert feed(sampled, 10_000 + 50 * np.arange(64), np.tile([100, 300], 32)) == Policy(1_700)


def test_sampled_uses_equation_12_at_high_rates_and_only_its_samples() -> None:
    # 1 tuple a ms, every 16th sampled, those with delays 100 and 300: K = 200 + sqrt(2) * 2.3263 * 100 = 529.0
    delay_ms = np.full(1_024, 77_777)
    delay_ms[::16] = np.tile([100, 300], 32)
    assert feed(Sampled(0.01), 10_000 + np.arange(1_024), delay_ms) == Policy(529)


def test_sampled_estimates_every_pe_tuples_or_once_a_second() -> None:
    sampled = Sampled(0.01, ps=1, pe=100, m=100)
    assert feed(sampled, 10_000 + np.arange(99), np.full(99, 50)) == Policy(None)
    assert feed(sampled, np.array([10_099]), np.array([50])) == Policy(50)
    assert feed(sampled, np.array([10_100]), np.array([50_000])) == Policy(50)
    policy = feed(sampled, np.array([11_099]), np.array([50]))
    assert policy.slack_ms is not None
    assert policy.slack_ms > 1_000


def test_maxdelay_is_the_mean_of_the_largest_ever_and_the_second_largest_of_late() -> None:
    delays = MaxDelay(0.01, w=4)
    assert feed(delays, np.array([1]), np.array([900])) == Policy(None)
    assert feed(delays, np.array([2, 3]), np.array([500, 300])) == Policy(700)
    assert feed(delays, np.array([4, 5, 6, 7]), np.array([10, 60, 20, 80])) == Policy((900 + 60) // 2)


def test_hybrid_takes_w_of_at_least_a_second_of_tuples_at_small_bounds() -> None:
    # 5 tuples a ms: W grows towards 5,000, so the second largest delay of 0.6 s ago still counts
    hybrid = Hybrid(0.001, w=10)
    arrival_ms = 10_000 + np.arange(10_000) // 5
    delay_ms = np.full(10_000, 10)
    delay_ms[[100, 6_500, 6_600]] = [800, 400, 300]
    for part in np.array_split(np.arange(10_000), 100):
        policy = feed(hybrid, arrival_ms[part], delay_ms[part])
    assert policy == Policy((800 + 300) // 2)


def test_quantile_is_measured_against_the_greatest_event_time() -> None:
    # lateness: 98 times 0, then 40 and 80; D = 1 % lets one of a hundred go: B is 40, read at its bucket's upper
    # edge, 43
    arrival_ms = 10_000 + np.arange(100)
    delay_ms = np.full(100, 7)
    delay_ms[98:] = [7 + 41, 7 + 82]
    quantile = Quantile(0.01)
    greatest_ms = 10_097 - 7
    assert feed(quantile, arrival_ms, delay_ms) == Policy(10_099 + 43 - greatest_ms)


@pytest.mark.parametrize(("bound", "lateness_ms"), [(0.0, 87), (1.0, 0)])
def test_quantile_of_0_percent_is_the_largest_lateness_and_of_100_percent_none(bound: float, lateness_ms: int) -> None:
    arrival_ms = 10_000 + np.arange(100)
    delay_ms = np.full(100, 0)
    delay_ms[50] = 81
    assert feed(Quantile(bound), arrival_ms, delay_ms) == Policy(lateness_ms)


@pytest.mark.parametrize("kind", [VSeq, Adhoc, Sampled])
def test_a_bound_of_0_percent_has_no_critical_point(kind: type[VSeq | Adhoc | Sampled]) -> None:
    with pytest.raises(UsageError, match="has no slack for a drop ratio of 0; use maxdelay or budget"):
        kind(0.0)


def test_options_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="m \\* ps >= pe"):
        Sampled(0.01, ps=1, pe=100, m=50)
    with pytest.raises(UsageError, match="at least 2 tuples"):
        MaxDelay(0.01, w=1)


def test_negative_delays_give_a_frontier_ahead_of_arrival() -> None:
    assert feed(Sampled(0.01), 10_000 + np.arange(1_024), np.full(1_024, -500)) == Policy(-500)
    assert not math.isnan(exact_size(0, 0, 1))
