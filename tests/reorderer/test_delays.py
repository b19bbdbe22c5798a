"""Delays disorder a stream without losing a tuple."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reorderer.delays import Delay, Slice, delayed
from reorderer.errors import UsageError

DELAYS = st.sampled_from(["none", "normal:500,300", "exponential:2000", "pareto:10,0.5"]).map(Delay.parse)


def made(slots: list[int]) -> list[tuple[int, Slice]]:
    """Return slots of 100 ms with the given numbers of tuples, all at the start of their slot."""
    out = []
    for index, count in enumerate(slots):
        ts_ms = np.full(count, 1_000 + 100 * index, dtype=np.int64)
        out.append((1_100 + 100 * index, Slice(ts_ms, ts_ms, np.zeros(count, dtype=np.int64), np.arange(count))))
    return out


def columns(slices: list[Slice]) -> list[list[int]]:
    return [np.concatenate([getattr(s, name) for s in slices]).tolist() for name in ("ts_ms", "arrival_ms", "seq")]


@given(slots=st.lists(st.integers(0, 20), max_size=20), delay=DELAYS, seed=st.integers(0, 2**32))
def test_tuples_come_in_arrival_order_and_none_is_lost(slots: list[int], delay: Delay, seed: int) -> None:
    ts_ms, arrival_ms, _ = columns(list(delayed(made(slots), delay, np.random.default_rng(seed))))
    assert arrival_ms == sorted(arrival_ms)
    assert all(arrival >= ts for ts, arrival in zip(ts_ms, arrival_ms, strict=True))
    assert sorted(ts_ms) == [1_000 + 100 * index for index, count in enumerate(slots) for _ in range(count)]


def test_without_delay_tuples_keep_the_order_in_which_they_were_made() -> None:
    ts_ms, arrival_ms, seq = columns(list(delayed(made([2, 0, 3]), Delay.parse("none"), np.random.default_rng(1))))
    assert (ts_ms, arrival_ms, seq) == ([1000, 1000, 1200, 1200, 1200], ts_ms, [0, 1, 0, 1, 2])


@pytest.mark.parametrize(("text", "mean"), [("normal:5000,100", 5000), ("exponential:800", 800), ("pareto:100,3", 150)])
def test_a_delay_has_the_mean_it_was_given(text: str, mean: float) -> None:
    drawn = Delay.parse(text).draw(100_000, np.random.default_rng(5))
    assert drawn.mean() == pytest.approx(mean, rel=0.02)


@pytest.mark.parametrize(
    "text", ["norml:1,2", "normal", "normal:1", "normal:a,b", "normal:-1,2", "pareto:5,0", "none:3"]
)
def test_a_bad_delay_is_a_usage_error_that_quotes_it(text: str) -> None:
    with pytest.raises(UsageError, match=f"delay '{text}'"):
        Delay.parse(text)
