"""Drops and waits under a constant slack, against a literal walk and against the core itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reorderer.core.config import CoreConfig
from reorderer.core.replay import hindsight_slack_ms
from reorderer.core.trace import Trace
from reorderer.planning.fate import LATE, measure
from reorderer.planning.hindsight import fate_with, pooled, slacks
from reorderer.planning.tryout import try_out


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Streams of up to 60 tuples, with ties, silences and times ahead of their arrival."""
    steps = draw(st.lists(st.sampled_from([0, 0, 1, 3, 40, 1_500]), min_size=1, max_size=60))
    delays = draw(st.lists(st.integers(-20, 200), min_size=len(steps), max_size=len(steps)))
    arrival_ms = 1_000_000 + np.cumsum(np.array(steps, np.int64))
    return Trace(arrival_ms - np.array(delays, np.int64), arrival_ms)


def walked(trace: Trace, slack_ms: int) -> tuple[list[int], list[int]]:
    """Return the wait of each tuple (-1: late) and how many are held after each, one tuple at a time."""
    waits, held, counts = [LATE] * len(trace), dict[int, int](), []
    for i, (ts_ms, arrival_ms) in enumerate(zip(trace.ts_ms.tolist(), trace.arrival_ms.tolist(), strict=True)):
        for j in [j for j, held_ms in held.items() if held_ms < arrival_ms - slack_ms]:
            waits[j] = arrival_ms - int(trace.arrival_ms[j])
            del held[j]
        if ts_ms >= arrival_ms - slack_ms:
            held[i] = ts_ms
        counts.append(len(held))
    for j in held:
        waits[j] = int(trace.arrival_ms[-1] - trace.arrival_ms[j])
    return waits, counts


@given(traces(), st.integers(-30, 250))
def test_a_constant_slack_does_what_a_walk_tuple_by_tuple_finds(trace: Trace, slack_ms: int) -> None:
    fate = fate_with(trace, slack_ms)
    waits, held = walked(trace, slack_ms)
    assert fate.wait_ms.tolist() == [wait for wait in waits if wait != LATE]
    assert (fate.leaves == LATE).tolist() == [wait == LATE for wait in waits]
    assert fate.held.tolist() == held


@given(traces(), st.integers(1, 250))
def test_the_core_with_that_slack_does_the_same(trace: Trace, slack_ms: int) -> None:
    core, _ = try_out(trace, CoreConfig(slack_ms=slack_ms))
    ours = fate_with(trace, slack_ms)
    assert core.late == ours.late
    assert core.wait_ms.tolist() == ours.wait_ms.tolist()


@given(traces(), st.sampled_from([0.0, 0.01, 0.1, 0.3, 0.5]))
def test_the_slack_for_a_bound_keeps_it_and_a_smaller_one_does_not(trace: Trace, bound: float) -> None:
    slack_ms = hindsight_slack_ms(trace, bound)
    assert measure([fate_with(trace, slack_ms)]).within(bound)
    assert not measure([fate_with(trace, slack_ms - 1)]).within(bound)


def test_partitions_share_a_slack_and_keep_their_own_clocks() -> None:
    early = Trace(np.array([100, 90]), np.array([110, 120]))
    later = Trace(np.array([900, 800, 905]), np.array([905, 910, 1_000]))
    assert hindsight_slack_ms(pooled([early, later]), 0.2) == 95
    found = measure([fate_with(early, 95), fate_with(later, 95)])
    assert (found.tuples, found.dropped, found.max_held, found.drop_ratio) == (5, 1, 2, 0.2)


def test_the_curve_goes_from_half_the_drops_to_none() -> None:
    trace = Trace(np.arange(10_000), np.arange(10_000) + np.random.default_rng(1).permutation(10_000))
    trace = Trace(trace.ts_ms[np.argsort(trace.arrival_ms)], np.sort(trace.arrival_ms))
    ratios = [measure([fate_with(trace, slack_ms)]).drop_ratio for slack_ms in slacks(trace, 20)]
    assert ratios == sorted(ratios, reverse=True)
    assert (ratios[0], ratios[-1]) == (0.5, 0.0)
    assert ratios[-2] == pytest.approx(1 / 10_000)
