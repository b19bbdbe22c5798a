"""Tuples leave a generator when they are due."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from reorderer.delays import Slice
from reorderer.playback import limited, paced


def arriving(*arrival_ms: int) -> Slice:
    times = np.array(arrival_ms, dtype=np.int64)
    return Slice(times, times, np.zeros(len(times), dtype=np.int64), np.arange(len(times)))


class ManualClock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_no_tuple_leaves_before_its_arrival_nor_much_after(speed: float) -> None:
    clock = ManualClock()
    source: Iterator[Slice] = iter([arriving(1_000, 1_000, 1_900), arriving(), arriving(2_000, 9_000)])
    left = []
    for tuples in paced(source, 1_000, speed, clock, clock.sleep):
        now_ms = 1_000 + (clock.now_s - 100) * 1_000 * speed
        left += [(arrival_ms, now_ms) for arrival_ms in tuples.arrival_ms.tolist()]
    assert [arrival_ms for arrival_ms, _ in left] == [1_000, 1_000, 1_900, 2_000, 9_000]
    assert all(arrival_ms <= now_ms + 1e-6 <= arrival_ms + 5 * speed + 1e-5 for arrival_ms, now_ms in left)


@pytest.mark.parametrize("count", [1, 3, 4, 5, None])
def test_a_count_cuts_the_stream_exactly(count: int | None) -> None:
    slices = list(limited(iter([arriving(1, 2, 3), arriving(4), arriving(5)]), count))
    assert [ms for tuples in slices for ms in tuples.arrival_ms.tolist()] == [1, 2, 3, 4, 5][:count]
