"""Properties of the core over all estimators and limits."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reorderer.core.config import CoreConfig
from reorderer.core.events import Event, Punctuation
from reorderer.core.reorder import Reorderer
from reorderer.core.state import CoreState
from tests.reorderer.core.reference import Reference
from tests.reorderer.core.streams import Fact, Stream, configs, cuts, flatten, streams

bounded = settings(max_examples=2000, deadline=None, derandomize=False)


def run(config: CoreConfig, stream: Stream, where: list[int]) -> list[Fact]:
    """Run the stream through the core in batches, checking the buffer after each."""
    core = Reorderer[str](config)
    events: list[Event[str]] = []
    for batch in stream.batches(where):
        events += core.process(batch)
        core._buffer._check()
    return flatten(events)


@bounded
@given(configs(), streams(), cuts())
def test_the_core_does_what_the_specification_says_however_the_input_is_cut(
    config: CoreConfig, stream: Stream, where: list[int]
) -> None:
    reference = Reference(config)
    expected = reference.run(stream)
    core = Reorderer[str](config)
    events: list[Event[str]] = []
    for batch in stream.batches(where):
        events += core.process(batch)
        core._buffer._check()
        assert core.held <= (config.bsize or core.held)
        assert core.held_bytes <= (config.max_bytes or core.held_bytes)
        assert core.held <= (config.slack_tuples or core.held)
    assert flatten(events) == expected
    assert core.held == len(reference.held)


@bounded
@given(configs(sorted_only=True), streams(), cuts())
def test_output_is_sorted_and_complete_and_never_older_than_a_punctuation(
    config: CoreConfig, stream: Stream, where: list[int]
) -> None:
    core = Reorderer[str](config)
    facts: list[Fact] = []
    frontiers = [core.frontier]
    for batch in stream.batches(where):
        facts += flatten(core.process(batch))
        frontiers.append(core.frontier)
    held = core.held
    facts += flatten(core.flush())
    assert core.held == 0
    released = [fact for fact in facts if not isinstance(fact, Punctuation) and fact[0] == "released"]
    punctuations = [fact for fact in facts if isinstance(fact, Punctuation)]
    if not config.unsorted:
        assert [(fact[2], fact[3]) for fact in released] == sorted((fact[2], fact[3]) for fact in released)
    assert len(released) - held + core.counters.late + core.counters.future + held == len(stream)
    assert {str(offset) for offset in stream.offset.tolist()} == {
        str(fact[1]) for fact in facts if not isinstance(fact, Punctuation)
    }
    assert frontiers == sorted(frontiers)
    assert [p.seq for p in punctuations] == list(range(len(punctuations)))
    assert all(a.until_ms < b.until_ms for a, b in pairwise(punctuations))
    until_ms = -(1 << 60)
    for fact in facts:
        if isinstance(fact, Punctuation):
            until_ms = fact.until_ms
        elif fact[0] == "released":
            assert int(fact[2]) >= until_ms


@bounded
@given(configs(), streams(), cuts(), st.integers(0, 2**32))
def test_a_restored_core_with_its_buffer_rebuilt_continues_as_if_nothing_had_happened(
    config: CoreConfig, stream: Stream, where: list[int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    core = Reorderer[str](config)
    events: list[Event[str]] = []
    for batch in stream.batches(where):
        events += core.process(batch)
        core = restart(core, stream, rng)
    assert flatten(events) == run(config, stream, [])


def restart(core: Reorderer[str], stream: Stream, rng: np.random.Generator) -> Reorderer[str]:
    """Return a core restored from JSON, its buffer rebuilt from the oldest offset needed, in two batches."""
    text = json.dumps(core.state().to_json(), separators=(",", ":"))
    assert len(text) < 3 * 1_024
    state = CoreState.from_json(json.loads(text))
    assert state == core.state()
    restored = Reorderer[str](core.config, state)
    oldest = core.oldest_needed_offset
    begin = int(np.searchsorted(stream.offset, core.position if oldest is None else oldest))
    end = int(np.searchsorted(stream.offset, core.position))
    middle = int(rng.integers(begin, end + 1))
    restored.rebuild(stream.batch(begin, middle))
    restored.rebuild(stream.batch(middle, end))
    restored._buffer._check()
    assert restored.state() == state
    assert (restored.held, restored.held_hash, restored.held_bytes) == (core.held, core.held_hash, core.held_bytes)
    return restored


@bounded
@given(configs(), streams(), cuts(), st.integers(0, 2**32))
def test_heartbeats_announce_early_and_change_no_verdict(
    config: CoreConfig, stream: Stream, where: list[int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    core = Reorderer[str](config)
    events: list[Event[str]] = []
    clock_ms = np.maximum.accumulate(stream.arrival_ms)
    for batch in stream.batches(where):
        if len(batch):
            first = int(np.searchsorted(stream.offset, batch.offset[0]))
            since_ms = int(clock_ms[first - 1]) if first else int(clock_ms[0]) - 100_000
            gap_ms = max(0, int(stream.arrival_ms[first]) - since_ms)
            for share in [*sorted(rng.random(3)), rng.choice([0.5, 1.0])]:
                events += core.advance(since_ms + int(gap_ms * share) + config.clock_skew_ms)
                core._buffer._check()
        events += core.process(batch)
    expected = Reorderer[str](config).process(stream.batch(0, len(stream)))
    assert by_topic(flatten(events, timeless=True)) == by_topic(flatten(expected, timeless=True))
    until_ms = -(1 << 60)
    for fact in flatten(events):
        if isinstance(fact, Punctuation):
            assert fact.until_ms >= until_ms
            until_ms = fact.until_ms
        elif fact[0] == "released":
            assert int(fact[2]) >= until_ms


def by_topic(facts: list[Fact]) -> list[list[Fact]]:
    """Return what goes to the clean, late and dead topics, each in order; between topics a heartbeat may change it."""
    topics: dict[str | int, list[Fact]] = {"released": [], "late": [], "future": []}
    for fact in facts:
        topics["released" if isinstance(fact, Punctuation) else fact[0]].append(fact)
    return list(topics.values())
