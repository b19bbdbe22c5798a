"""The core, sentence by sentence of the specification (sections 2 to 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reorderer.core.config import CoreConfig
from reorderer.core.estimators import ESTIMATORS
from reorderer.core.estimators.protocol import JSON, Policy
from reorderer.core.events import BOTTOM_MS, Batch, Event, Punctuation
from reorderer.core.reorder import Reorderer
from reorderer.core.state import CoreState
from reorderer.errors import UsageError
from tests.reorderer.core.reference import Reference
from tests.reorderer.core.streams import flatten, make_stream

NOT_FUTURE = 10**9


def batch(*tuples: tuple[int, int], offset: int = 0, size: int | None = None) -> Batch[str]:
    """Return tuples given as (ts, arrival) pairs with consecutive offsets."""
    ts_ms, arrival_ms = np.array(tuples, np.int64).reshape(-1, 2).T
    offsets = np.arange(offset, offset + len(tuples))
    sizes = None if size is None else np.full(len(tuples), size)
    return Batch(ts_ms.copy(), arrival_ms.copy(), offsets, [str(o) for o in offsets.tolist()], sizes)


def told(events: list[Event[str]]) -> list[str]:
    """Return the events in short: r3 released, l3 late, f3 future, |100 punctuation, ~100 heartbeat."""
    short = []
    for fact in flatten(events):
        if isinstance(fact, Punctuation):
            short.append(f"{'~' if fact.idle else '|'}{fact.until_ms}")
        else:
            short.append(f"{str(fact[0])[0]}{fact[1]}")
    return short


class Scripted:
    """An estimator whose policies are given in advance."""

    def __init__(self, *policies: Policy) -> None:
        self.policies = list(policies)

    def update(self, ts_ms: object, arrival_ms: object, late: object) -> None:
        """Learn nothing."""

    def policy(self) -> Policy:
        return self.policies.pop(0) if len(self.policies) > 1 else self.policies[0]

    def state(self) -> dict[str, JSON]:
        return {}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> list[Policy]:
    """Policies of the estimator 'scripted', to be filled in by the test."""
    policies: list[Policy] = []

    def make_scripted(bound: float, *, state: object = None) -> Scripted:
        return Scripted(*policies)

    monkeypatch.setitem(ESTIMATORS, "scripted", make_scripted)
    return policies


SCRIPTED = CoreConfig(dratio=0.01, estimator="scripted", punctuation_every_ms=NOT_FUTURE, windows=((100, 0),))


def test_a_tuple_is_late_below_the_frontier_and_not_at_it() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=50))
    events = core.process(batch((980, 1_000), (950, 1_000), (949, 1_000), (1_000, 1_050)))
    assert told(events) == ["|900", "l2", "r1", "r0", "|1000"]
    assert (core.frontier, core.held, core.drop_ratio) == ((1_000, 0), 1, 0.25)


def test_each_tuple_is_judged_against_its_own_arrival_minus_the_slack() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=50, idle_after_ms=10_000))
    core.process(batch((1_000, 1_000)))
    assert told(core.process(batch((1_099, 1_150), offset=1))) == ["|1000", "r0", "|1100", "l1"]


def test_arrival_is_the_running_maximum_and_its_steps_back_are_counted() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=50))
    core.process(batch((1_000, 1_000), (940, 960), (949, 900)))
    assert (core.clock_ms, core.counters.arrival_steps_back, core.counters.late) == (1_000, 2, 2)


def test_a_future_tuple_moves_nothing() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=50, max_future_ms=100))
    events = core.process(batch((1_000, 1_000), (9_101, 9_000), (1_001, 1_010)))
    assert told(events) == ["|900", "f1"]
    assert (core.clock_ms, core.frontier, core.held, core.position) == (1_010, (960, 0), 2, 3)
    assert (core.counters.tuples, core.counters.future) == (2, 1)


def test_future_is_not_judged_on_the_wall_clock() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=50, max_future_ms=None))
    core.process(batch((10**12, 1_000)))
    assert (core.held, core.counters.future) == (1, 0)


def test_punctuations_stand_between_the_tuples_they_separate() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=500, idle_after_ms=10_000, windows=((250, 30),)))
    core.process(batch((1_010, 1_000), (1_029, 1_000), (1_030, 1_000), (1_099, 1_000), (1_100, 1_000)))
    events = core.process(batch((2_000, 1_601), offset=5))
    assert told(events) == ["|1000", "r0", "r1", "|1030", "r2", "r3", "|1100", "r4"]
    first = next(event for event in events if isinstance(event, Punctuation))
    assert first == Punctuation(1_000, 500, 0.0, None, 6, 1, idle=False, at_ms=1_601)


def test_a_jump_over_an_hour_without_tuples_is_one_punctuation() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=50))
    core.process(batch((1_000, 1_000)))
    assert told(core.process(batch((3_601_000, 3_601_000), offset=1))) == ["|1000", "r0", "|3600900"]


def test_bsize_forces_the_oldest_out_and_the_frontier_follows_into_their_timestamp() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=5_000, bsize=2))
    events = core.process(batch((1_000, 1_000), (1_000, 1_000), (1_000, 1_000), (990, 1_000), (1_000, 1_000)))
    assert told(events)[-4:] == ["|1000", "r0", "l3", "r1"]
    assert (core.frontier, core.held, core.counters.forced) == ((1_000, 2), 2, 2)


def test_the_byte_limit_counts_sizes_and_a_tuple_larger_than_it_passes_through() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=5_000, max_bytes=10))
    core.process(batch((1_000, 1_000), (1_001, 1_000), size=5))
    assert (core.held_bytes, core.counters.forced) == (10, 0)
    assert told(core.process(batch((1_002, 1_000), offset=2, size=11)))[-3:] == ["r0", "r1", "r2"]
    assert (core.held, core.held_bytes, core.counters.forced) == (0, 0, 3)


def test_slack_in_tuples_keeps_the_newest_n() -> None:
    core = Reorderer[str](CoreConfig(slack_tuples=2))
    events = core.process(batch((1_030, 1_000), (1_010, 1_000), (1_020, 1_000), (1_009, 1_000)))
    assert told(events)[-2:] == ["r1", "l3"]
    assert (core.held, core.counters.capped, core.counters.forced) == (2, 1, 0)


def test_slack_as_a_duration_caps_the_estimator_even_where_that_stands_still(script: list[Policy]) -> None:
    script[:] = [Policy(None)]
    core = Reorderer[str](replace(SCRIPTED, slack_ms=100))
    core.process(batch((1_000, 1_000), (1_100, 1_100)))
    assert (core.frontier, core.slack_ms) == ((1_000, 0), 100)


def test_max_slack_caps_the_estimator(script: list[Policy]) -> None:
    script[:] = [Policy(10**9)]
    core = Reorderer[str](SCRIPTED)
    core.process(batch((10**10, 10**10)))
    assert core.slack_ms == 3_600_000


def test_slack_0_lets_tuples_pass_at_once_in_arrival_order_between_punctuations(script: list[Policy]) -> None:
    script[:] = [Policy(50)]
    core = Reorderer[str](replace(SCRIPTED, slack_tuples=0))
    events = core.process(batch((1_000, 1_000), (990, 1_010), (1_200, 1_160), (1_050, 1_170), (1_150, 1_180)))
    assert told(events) == ["|-59000", "|900", "r0", "r1", "|1100", "r2", "l3", "r4"]
    assert (core.held, core.oldest_needed_offset) == (0, None)


def test_the_slack_changes_only_at_decision_points(script: list[Policy]) -> None:
    script[:] = [Policy(500), Policy(20)]
    core = Reorderer[str](SCRIPTED)
    core.process(batch((1_000, 1_000), (1_099, 1_099)))
    assert core.slack_ms == 500
    core.process(batch((1_100, 1_100), offset=2))  # a new slot of 100 ms
    assert (core.slack_ms, core.frontier) == (20, (1_080, 0))


def test_every_1024th_tuple_is_a_decision_point(script: list[Policy]) -> None:
    script[:] = [Policy(500), Policy(20)]
    core = Reorderer[str](SCRIPTED)
    core.process(batch(*[(1_000, 1_000)] * 1_024))
    assert core.slack_ms == 500
    core.process(batch((1_000, 1_000), offset=1_024))
    assert core.slack_ms == 20


def test_the_brake_holds_the_frontier_until_the_next_decision_point(script: list[Policy]) -> None:
    script[:] = [Policy(10, may_drop=2)]
    core = Reorderer[str](SCRIPTED)
    tuples = [(1_000, 1_000), (900, 1_010), (999, 1_020), (1_009, 1_030), (1_015, 1_040), (1_000, 1_050)]
    events = core.process(batch(*tuples))
    assert told(events) == ["|-59000", "|900", "|1000", "l1", "r0", "l2", "l3", "l5"]
    assert (core.frontier, core.counters.late) == ((1_010, 0), 4)
    core.process(batch((1_200, 1_100), offset=6))
    assert core.frontier == (1_090, 0)


def test_a_tuple_that_ends_a_silence_first_moves_the_frontier_by_the_slack_before_it(script: list[Policy]) -> None:
    script[:] = [Policy(100), Policy(5_000)]
    core = Reorderer[str](SCRIPTED)
    core.process(batch((1_000, 1_000)))
    events = core.process(batch((2_900, 3_001), offset=1))
    assert told(events) == ["|1000", "r0", "|2900", "l1"]
    assert core.frontier == (2_901, 0)
    assert [event.position for event in events if isinstance(event, Punctuation)] == [1, 1]
    assert core.slack_ms == 5_000


def test_a_heartbeat_announces_the_wall_time_less_skew_and_slack_and_takes_no_number() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=100))
    core.process(batch((1_000, 1_000)))
    assert core.advance(2_500) == []  # 2,500 - 500 is not more than a second beyond the last arrival
    events = core.advance(2_760)
    assert told(events) == ["|1000", "r0", "~2100"]
    assert events[-1] == Punctuation(2_100, 100, 0.0, None, 1, None, idle=True, at_ms=2_760)
    assert (core.frontier, core.advance(2_760), core.advance(2_790)) == ((2_160, 0), [], [])


def test_a_partition_without_data_announces_by_the_initial_slack_and_its_first_tuple_is_judged_by_it() -> None:
    config = CoreConfig(slack_tuples=5, initial_slack_ms=1_000)
    core = Reorderer[str](config)
    assert told(core.advance(10_500)) == ["~9000"]
    events = core.process(batch((9_100, 10_200), offset=0))
    assert told(events) == told(Reorderer[str](config).process(batch((9_100, 10_200)))) == ["|9200", "l0"]


def test_silence_wins_over_a_standing_frontier_after_max_stall(script: list[Policy]) -> None:
    script[:] = [Policy(100), Policy(None)]
    core = Reorderer[str](SCRIPTED)
    core.process(batch((1_000, 1_000), (1_150, 1_150)))
    assert core.advance(61_650) == []
    assert told(core.advance(61_651)) == ["|1000", "r0", "|1100", "r1", "~61000"]
    core.process(batch((61_200, 61_200), offset=2))
    assert (core.counters.stalls, core.frontier) == (1, (61_100, 0))


def test_flush_releases_all_and_closes_with_a_punctuation_behind_the_last() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=10_000))
    core.process(batch((1_250, 1_250), (1_110, 1_260)))
    assert told(core.flush()) == ["|1100", "r1", "|1200", "r0", "|1251"]
    assert (core.held, core.flush()) == (0, [])
    assert told(core.process(batch((1_250, 1_270), offset=2))) == ["l2"]


def test_an_empty_batch_and_an_empty_trace_do_nothing() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=10))
    assert core.process(batch()) == core.flush() == []
    assert (core.frontier, core.drop_ratio, core.oldest_needed_offset) == ((BOTTOM_MS, 0), 0.0, None)
    core.process(replace(batch(), position=17))
    assert core.position == 17


def test_the_position_counts_records_that_were_taken_out() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=10))
    core.process(replace(batch((1_000, 1_000), offset=4), position=9))
    assert (core.position, core.state().position) == (9, 9)
    with pytest.raises(UsageError, match="offset 8 is below the position 9; rebuild takes such tuples"):
        core.process(batch((1_000, 1_000), offset=8))


def test_rebuild_holds_only_what_lies_at_or_behind_the_frontier_and_changes_nothing_else() -> None:
    config = CoreConfig(slack_ms=100, bsize=3)
    core = Reorderer[str](config)
    raw = batch((1_000, 1_000), (1_000, 1_001), (1_000, 1_002), (1_000, 1_003), (10**9, 1_004), (1_001, 1_005))
    core.process(raw)
    restored = Reorderer[str](config, core.state())
    restored.rebuild(raw)
    assert (restored.frontier, restored.held, restored.state()) == ((1_000, 2), 3, core.state())
    with pytest.raises(UsageError, match="does not belong to the rebuild"):
        restored.rebuild(batch((1_000, 1_000), offset=6))
    with pytest.raises(UsageError, match="does not belong to the rebuild"):
        restored.rebuild(raw)


def test_a_changed_bound_starts_a_new_estimator_and_keeps_frontier_and_counters() -> None:
    stream = make_stream(1, 3_000)
    core = Reorderer[str](CoreConfig(dratio=0.01, estimator="quantile"))
    core.process(stream.batch(0, 3_000))
    state = core.state()
    changed = Reorderer[str](CoreConfig(dratio=0.1, estimator="quantile"), state)
    assert (changed.frontier, changed.counters) == (core.frontier, core.counters)
    assert changed.state().estimator_state != state.estimator_state
    assert changed.state().policy == Policy(None)


def test_a_changed_slack_holds_from_the_next_tuple_on() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=100))
    core.process(batch((1_000, 1_000)))
    changed = Reorderer[str](CoreConfig(slack_ms=300), core.state())
    assert (changed.slack_ms, changed.frontier) == (300, (900, 0))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_long_streams_agree_with_the_reference_across_decision_points(name: str) -> None:
    stream = make_stream(7, 4_000, per_second=8_000, odd=0.002)
    config = CoreConfig(dratio=0.05, estimator=name, bsize=1_500, max_bytes=30_000)
    core = Reorderer[str](config)
    events: list[Event[str]] = []
    for part in stream.batches([1, 700, 701, 1_500, 3_333]):
        events += core.process(part)
    assert flatten(events) == Reference(config).run(stream)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("ts_ms", np.array([1.0]), "ts_ms has type 'float64'"),
        ("ts_ms", np.array([float("nan")]), "times, offsets and sizes are int64"),
        ("arrival_ms", np.array([1 << 53]), "arrival_ms 9007199254740992 is beyond 2\\^53"),
        ("ts_ms", np.array([-(1 << 53)]), "ts_ms -9007199254740992 is beyond 2\\^53"),
        ("offset", np.array([-1]), "offsets of a batch must increase from 0 on"),
        ("offset", np.array([1, 2]), "offset has 2 entries for 1 messages"),
    ],
)
def test_a_batch_that_is_none_is_refused(column: str, values: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Reorderer[str](CoreConfig(slack_ms=10)).process(replace(batch((1, 1)), **{column: values}))


def test_times_before_the_epoch_are_times_like_others() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=10))
    core.process(batch((-1_000, -1_000), (-1_005, -1_000), (-1_011, -1_000)))
    assert (core.frontier, core.held, core.counters.late) == ((-1_010, 0), 2, 1)


def test_offsets_must_increase_and_a_byte_limit_needs_sizes() -> None:
    core = Reorderer[str](CoreConfig(slack_ms=10, max_bytes=10))
    with pytest.raises(UsageError, match="a byte limit is set and the batch has no sizes"):
        core.process(batch((1, 1)))
    twice = replace(batch((1, 1), (1, 1), size=1), offset=np.array([3, 3]))
    with pytest.raises(UsageError, match="offsets of a batch must increase"):
        core.process(twice)


def test_a_state_of_another_version_is_refused() -> None:
    with pytest.raises(UsageError, match="core state has version 9; this program reads 1"):
        CoreState.from_json({"v": 9})


def test_messages_may_be_anything_sequences_included() -> None:
    core = Reorderer[list[int]](CoreConfig(slack_ms=10))
    times = np.array([1_000, 1_001])
    core.process(Batch(times, times, np.array([0, 1]), [[1, 2], [3, 4]]))
    released = [event for event in core.flush() if not isinstance(event, Punctuation)]
    assert [message for event in released for message in event.messages] == [[1, 2], [3, 4]]
