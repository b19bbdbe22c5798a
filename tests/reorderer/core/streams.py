"""Streams to test with, and the core's events as one flat list that can be compared at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from hypothesis import strategies as st

from reorderer.core.config import CoreConfig
from reorderer.core.estimators import NAMES
from reorderer.core.events import Batch, Event, Future, Ints, Late, Punctuation, Released

Fact: TypeAlias = tuple[str | int, ...] | Punctuation
START_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Stream:
    """Tuples in raw order; the message of a tuple is its offset as a string."""

    ts_ms: Ints
    arrival_ms: Ints
    offset: Ints
    size: Ints

    def __len__(self) -> int:
        return len(self.ts_ms)

    def batch(self, begin: int, end: int) -> Batch[str]:
        part = slice(begin, end)
        messages = [str(offset) for offset in self.offset[part].tolist()]
        return Batch(self.ts_ms[part], self.arrival_ms[part], self.offset[part], messages, self.size[part])

    def batches(self, cuts: Iterable[int]) -> list[Batch[str]]:
        inner = sorted({cut for cut in cuts if 0 < cut < len(self)})
        return [self.batch(a, b) for a, b in zip([0, *inner], [*inner, len(self)], strict=True)]


def make_stream(
    seed: int, count: int, *, per_second: float = 500, delay_ms: float = 100, gaps: float = 0.0, odd: float = 0.0
) -> Stream:
    """Return a stream with exponential gaps and delays; some silences, some tuples far off, arrivals that step back."""
    rng = np.random.default_rng(seed)
    steps = rng.exponential(1_000 / per_second, count)
    silent = rng.random(count) < gaps
    steps[silent] += rng.choice([900, 1_100, 30_000, 59_000, 61_000, 4_000_000], silent.sum())
    arrival_ms = START_MS + np.floor(np.cumsum(steps)).astype(np.int64)
    delays_ms = rng.exponential(delay_ms, count).astype(np.int64) - rng.integers(0, 20)
    strange = rng.random(count) < odd
    delays_ms[strange] = rng.choice([-400_000, -299_000, -5_000, 50_000, 4_000_000], strange.sum())
    ts_ms = arrival_ms - delays_ms
    if rng.random() < 0.3:
        ts_ms = ts_ms // 1_000 * 1_000
    back = rng.random(count) < odd
    arrival_ms = arrival_ms - back * rng.integers(0, 2_000, count)
    offset = np.cumsum(rng.integers(1, 3, count)) - 1
    return Stream(ts_ms, arrival_ms, offset, rng.integers(0, 50, count))


def streams(most: int = 250) -> st.SearchStrategy[Stream]:
    """Streams of all kinds, from none to `most` tuples."""
    return st.builds(
        make_stream,
        st.integers(0, 2**32),
        st.integers(0, most),
        per_second=st.sampled_from([0.5, 20, 500, 20_000]),
        delay_ms=st.sampled_from([0, 1, 30, 400, 3_000]),
        gaps=st.sampled_from([0, 0, 0.05]),
        odd=st.sampled_from([0, 0.02, 0.2]),
    )


def cuts() -> st.SearchStrategy[list[int]]:
    """Where to cut a stream into batches."""
    return st.lists(st.integers(1, 250), max_size=12)


@st.composite
def configs(draw: st.DrawFn, sorted_only: bool = False) -> CoreConfig:
    """Every estimator under every kind of limit."""
    name = draw(st.sampled_from(NAMES))
    kinds = ["ms", "tuples"] if name == "slack" else ["none", "none", "ms", "tuples", "zero"]
    kind = draw(st.sampled_from(kinds))
    config = CoreConfig(
        dratio=None if name == "slack" else draw(st.sampled_from([0.001, 0.01, 0.1, 0.5, 1.0])),
        slack_ms=draw(st.sampled_from([1, 50, 700])) if kind == "ms" else None,
        slack_tuples=draw(st.sampled_from([1, 7, 40])) if kind == "tuples" else None,
        estimator=name,
        bsize=draw(st.sampled_from([None, None, 1, 20, 90])),
        max_bytes=draw(st.sampled_from([None, None, 30, 900])),
        max_future_ms=draw(st.sampled_from([300_000, 300_000, 2_000, None])),
        windows=draw(st.sampled_from([(), ((250, 30),), ((60_000, 0), (1_000, 500))])),
        initial_slack_ms=draw(st.sampled_from([0, 60_000])),
    )
    return replace(config, slack_tuples=0) if kind == "zero" and not sorted_only else config


def flatten(events: Iterable[Event[str]], *, timeless: bool = False) -> list[Fact]:
    """Return one entry a tuple or punctuation; `timeless` leaves out when it happened, and the idle heartbeats."""
    facts: list[Fact] = []
    for event in events:
        match event:
            case Punctuation():
                if not timeless:
                    facts.append(event)
                elif not event.idle:
                    facts.append(replace(event, at_ms=0))
            case Released():
                at_ms = np.zeros_like(event.at_ms) if timeless else event.at_ms
                columns = [event.ts_ms.tolist(), event.offset.tolist(), at_ms.tolist()]
                facts += [("released", *row) for row in zip(event.messages, *columns, strict=True)]
            case Late():
                columns = [c.tolist() for c in (event.ts_ms, event.offset, event.arrival_ms, event.frontier_ms)]
                facts += [("late", *row) for row in zip(event.messages, *columns, strict=True)]
            case Future():
                columns = [c.tolist() for c in (event.ts_ms, event.offset, event.arrival_ms)]
                facts += [("future", *row) for row in zip(event.messages, *columns, strict=True)]
    return facts
