"""The buffer against a sorted list; how its range follows the tuples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reorderer.core.buffer import LEAST_NODES, MOST_NODES, Buffer
from reorderer.core.pnode import SHIFT


class BufferMachine(RuleBasedStateMachine):
    """Inserts and releases in any order, on dense, coarse and sparse timestamps."""

    @initialize(spread_ms=st.sampled_from([3, 500, 20_000, 4_000_000]), grain_ms=st.sampled_from([1, 1_000]))
    def begin(self, spread_ms: int, grain_ms: int) -> None:
        self.buffer = Buffer[tuple[int, int]]()
        self.held: list[tuple[int, int]] = []
        self.sizes: dict[int, int] = {}
        self.spread_ms, self.grain_ms = spread_ms, grain_ms
        self.frontier = (-1_000, 0)
        self.offset = 0

    @rule(seed=st.integers(0, 2**32), count=st.integers(0, 60))
    def insert(self, seed: int, count: int) -> None:
        rng = np.random.default_rng(seed)
        ts_ms = self.frontier[0] + rng.integers(0, self.spread_ms, count) // self.grain_ms * self.grain_ms
        offset = self.offset + np.arange(count) * 2
        size = rng.integers(0, 9, count)
        tuples = list(zip(ts_ms.tolist(), offset.tolist(), strict=True))
        self.buffer.insert(ts_ms, offset, tuples, size)
        self.sizes |= dict(zip(offset.tolist(), size.tolist(), strict=True))
        self.held = sorted(self.held + tuples)
        self.offset += 2 * count

    @rule(share=st.floats(0, 1.2))
    def release_to_a_time(self, share: float) -> None:
        self.release(max(self.frontier[0], self.frontier[0] + int(share * self.spread_ms)), 0)

    @rule(share=st.floats(0, 1))
    def release_to_a_tuple(self, share: float) -> None:
        if self.held:
            ts_ms, offset = self.held[int(share * (len(self.held) - 1))]
            self.release(ts_ms, offset + 1)

    def release(self, ts_ms: int, offset: int) -> None:
        self.frontier = max(self.frontier, (ts_ms, offset))
        leaving = self.buffer.release(*self.frontier)
        expected = [pair for pair in self.held if pair < self.frontier]
        self.held = [pair for pair in self.held if pair >= self.frontier]
        assert leaving.messages == expected
        assert list(zip(leaving.ts_ms.tolist(), leaving.offset.tolist(), strict=True)) == expected

    @invariant()
    def holds_what_a_sorted_list_would(self) -> None:
        if not hasattr(self, "buffer"):
            return
        self.buffer._check()
        held = [pair for ts_ms, offset, _ in self.buffer.oldest() for pair in zip(ts_ms, offset, strict=True)]
        assert held == self.held
        assert self.buffer.least_offset == min((offset for _, offset in self.held), default=None)
        assert self.buffer.last_ts_ms == (self.held[-1][0] if self.held else None)
        assert self.buffer.held_bytes == sum(self.sizes[offset] for _, offset in self.held)
        self.buffer._check()


TestBuffer = BufferMachine.TestCase
TestBuffer.settings = settings(max_examples=60, stateful_step_count=15, deadline=None, derandomize=True)


def fill(buffer: Buffer[int], ts_ms: list[int], offset: int = 0) -> None:
    offsets = np.arange(offset, offset + len(ts_ms))
    buffer.insert(np.array(ts_ms, np.int64), offsets, offsets.tolist())
    buffer._check()


def test_the_i_node_grows_and_shrinks_with_the_range_in_use() -> None:
    buffer = Buffer[int]()
    fill(buffer, [0, 127])
    assert (len(buffer._ring), buffer._used) == (LEAST_NODES, 1)
    fill(buffer, list(range(0, 20 * 128, 64)), 2)
    assert (len(buffer._ring), buffer._used) == (32, 20)
    buffer.release(18 * 128)
    assert (len(buffer._ring), buffer._used) == (LEAST_NODES, 2)
    buffer._check()


def test_slots_widen_where_the_disorder_is_long_and_narrow_again() -> None:
    buffer = Buffer[int]()
    fill(buffer, list(range(0, 1_000_000, 50)))
    assert buffer._shift > SHIFT
    assert not buffer._far
    assert len(buffer._ring) <= 2 * MOST_NODES
    buffer.release(999_000)
    buffer._check()
    fill(buffer, [999_900], 20_000)
    assert buffer.release(999_990).messages[-1] == 19_999
    buffer.release(2_000_000)
    assert buffer._shift == SHIFT


def test_one_tuple_an_hour_costs_one_p_node_each_not_the_hour_between() -> None:
    buffer = Buffer[int]()
    hours = [hour * 3_600_000 for hour in range(100)]
    fill(buffer, hours)
    assert len(buffer._ring) == LEAST_NODES
    assert buffer._used + len(buffer._far) == 100
    for hour, ts_ms in enumerate(hours):
        assert buffer.release(ts_ms + 1).messages == [hour]
        buffer._check()


def test_a_tuple_older_than_the_ring_moves_its_beginning() -> None:
    buffer = Buffer[int]()
    fill(buffer, [1_000_000])
    fill(buffer, [999_000], 1)
    fill(buffer, [0], 2)
    assert buffer.release(2_000_000).messages == [2, 1, 0]


def test_coarse_timestamps_share_a_slot_in_offset_order() -> None:
    buffer = Buffer[int]()
    for batch in range(100):
        fill(buffer, [5_000] * 10, batch * 10)
    assert buffer.release(5_000, 37).messages == list(range(37))
    buffer._check()
    assert buffer.release(5_001).messages == list(range(37, 1_000))


@pytest.mark.parametrize("spread_ms", [1 << 50, 1 << 20])
def test_any_span_of_timestamps_is_sorted(spread_ms: int) -> None:
    buffer = Buffer[int]()
    fill(buffer, [spread_ms, 0, spread_ms // 2, 0])
    assert buffer.release(spread_ms + 1).messages == [1, 3, 2, 0]


def test_released_messages_are_not_kept_alive_by_those_still_held() -> None:
    buffer = Buffer[int]()
    fill(buffer, [0] * 999 + [1])
    buffer.release(1)
    node = buffer._ring[buffer._head]
    assert node is not None
    assert node.runs[0].messages.base is None
