"""One partition's way through restarts, without a broker."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from confluent_kafka import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from reorderer.checkpoint import MAX_BYTES, Checkpoint
from reorderer.config import Arrival, Quality, RunConfig
from reorderer.core.events import Late, Punctuation, Released
from reorderer.errors import StateError
from reorderer.kafka.codec import RawMessage
from reorderer.partition import Outcome, Partition
from reorderer.records import Topics

T0 = 1_700_000_000_000
CONFIG = RunConfig("b", Topics.of("t"), "g", arrival=Arrival("record"), quality=Quality(slack_ms=300))


def messages(seed: int, count: int) -> list[RawMessage]:
    """Return raw records with gaps in their offsets, some dead and some from the future."""
    rng = random.Random(seed)
    arrival_ms, offset, out = T0, 0, []
    for _ in range(count):
        arrival_ms += rng.choice([0, 1, 5, 40])
        offset += rng.choice([1, 1, 1, 3])
        ts_ms = arrival_ms - rng.randrange(500)
        value = rng.choices([b'{"ts": %d}' % ts_ms, b"?", b'{"ts": %d}' % (ts_ms + 10**9)], [20, 1, 1])[0]
        made: Any = Message(topic="t", partition=0, offset=offset, key=b"k", value=value, timestamp=(1, arrival_ms))
        out.append(made)
    return out


def written(outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return what would be written, flattened, without idle heartbeats."""
    out: list[tuple[Any, ...]] = [("dead", dead.offset, dead.disposition) for dead in outcome.dead]
    for event in outcome.events:
        if isinstance(event, Released):
            out += [("clean", offset) for offset in event.offset.tolist()]
        elif isinstance(event, Late):
            out += [("late", *pair) for pair in zip(event.offset.tolist(), event.frontier_ms.tolist(), strict=True)]
        elif isinstance(event, Punctuation) and not event.idle:
            out.append(("promise", event.until_ms, event.seq, event.position))
    return out


def by_topic(rows: list[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    topics: dict[str, list[tuple[Any, ...]]] = {"clean": [], "late": [], "dead": []}
    for row in rows:
        topics["clean" if row[0] == "promise" else row[0]].append(row)
    return topics


def restarted(committed: tuple[int, str], raw: list[RawMessage]) -> tuple[Partition, list[RawMessage]]:
    """Return the partition as the next process finds it, and what that process will read."""
    offset, metadata = committed
    partition = Partition(0, CONFIG, "id", restored=Checkpoint.decode(metadata))
    return partition, [message for message in raw if message.offset() >= offset]


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32), cuts=st.lists(st.integers(1, 60), max_size=12), step=st.integers(3, 50))
def test_what_is_written_does_not_depend_on_batches_or_restarts(seed: int, cuts: list[int], step: int) -> None:
    raw = messages(seed, 150)
    whole = Partition(0, CONFIG, "id")
    expected = by_topic(written(whole.read(raw, 0)))
    partition, left, rows = Partition(0, CONFIG, "id"), raw, []
    for cut in cuts:
        for begin in range(0, min(cut, len(left)), step):
            rows += written(partition.read(left[begin : min(begin + step, cut)], 0))
        if partition.settled:  # a process killed while it rebuilds has committed nothing
            partition, left = restarted(partition.checkpoint(), raw)
        else:
            left = left[cut:]
    for begin in range(0, len(left), step):
        rows += written(partition.read(left[begin : begin + step], 0))
    assert by_topic(rows) == expected
    assert partition.books() == whole.books()
    assert partition.checkpoint() == whole.checkpoint()


def test_the_books_balance_and_the_state_fits() -> None:
    partition = Partition(0, CONFIG, "id")
    partition.read(messages(5, 2_000), 0)
    books = partition.books()
    assert books["in"] == books["clean"] + books["late"] + books["dead"] + books["held"] == 2_000
    assert min(books.values()) > 0
    offset, metadata = partition.checkpoint()
    assert len(metadata.encode()) < MAX_BYTES
    assert json.loads(metadata)["position"] == partition.position > offset


def test_until_its_position_a_restored_partition_only_holds_again() -> None:
    raw = messages(6, 500)
    partition = Partition(0, CONFIG, "id")
    partition.read(raw, 0)
    again, left = restarted(partition.checkpoint(), raw)
    outcome = again.read(left, 0)
    settled_before = again.settled
    again.reach(partition.position)
    assert (outcome, settled_before, again.settled) == (Outcome([], []), False, True)
    assert again.checkpoint() == partition.checkpoint()


def test_a_tuple_that_was_held_and_is_gone_stops_the_partition() -> None:
    raw = messages(7, 500)
    partition = Partition(0, CONFIG, "id")
    partition.read(raw, 0)
    again, left = restarted(partition.checkpoint(), raw)
    held = partition.books()["held"]
    again.read(left[1:], 0)
    with pytest.raises(StateError, match=f"partition 0 held {held} tuples .* and {held - 1} were found again"):
        again.reach(partition.position)


def test_a_topic_that_ends_below_the_position_stops_the_partition() -> None:
    partition = Partition(0, CONFIG, "id")
    partition.read(messages(8, 100), 0)
    again, _ = restarted(partition.checkpoint(), [])
    with pytest.raises(StateError, match=f"ends at offset 3, below the position {partition.position}"):
        again.reach(3)


def test_the_promise_of_the_frontier_is_repeated_after_a_restart() -> None:
    partition = Partition(0, CONFIG, "id")
    assert partition.repeated() is None
    partition.read(messages(9, 100), 0)
    again, _ = restarted(partition.checkpoint(), [])
    repeated = again.repeated()
    assert repeated is not None
    assert (repeated.until_ms, repeated.idle, repeated.seq) == (partition.core.frontier[0], True, None)
