"""One run: an estimator under a bound on a stream; and many of them, stream by stream."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from reorderer.core.config import CoreConfig
from reorderer.core.trace import Trace, read_trace
from reorderer.planning.fate import LATE, measure
from reorderer.planning.tryout import try_out
from reorderer.streams import START_MS, make

Settings = tuple[tuple[str, float], ...]
EARLY_MS = 30_000


@dataclass(frozen=True, order=True)
class Source:
    """A stream: one of `reorderer.streams`, `sensors`, or a recorded trace (`kind` is its file)."""

    kind: str
    seed: int = 0
    tuples: int = 0
    settings: Settings = ()


@dataclass(frozen=True, order=True)
class Case:
    """An estimator with its options under a bound on a stream."""

    source: Source
    estimator: str
    bound: float
    options: Settings = ()


@dataclass(frozen=True)
class Result:
    """What a run amounts to. Drops and buffer count from the first tuple, waits from the end of the warm-up.

    `early` is the share of the drops that fell into the first half minute.
    """

    drop_ratio: float
    used: float
    kept: bool
    mean_held: float
    early: float
    mean_wait_ms: float = field(default=float("nan"))
    wait_ratio: float = field(default=float("nan"))


def load(source: Source) -> Trace:
    """Return the stream."""
    if source.kind.endswith(".csv"):
        return read_trace(source.kind)
    if source.kind == "sensors":
        return sensors(source.seed, source.tuples, **dict(source.settings))
    stream = make(source.kind, seed=source.seed, tuples=source.tuples, settings=dict(source.settings))
    return Trace(stream.ts_ms, stream.arrival_ms)


def sensors(
    seed: int, tuples: int, count: float = 20, mu: float = 3_000.0, sigma: float = 1_000.0, early: float = 0.0
) -> Trace:
    """Return the readings of `count` sensors, one a second each, with normal delays (000, section 6; 003, section 7).

    `early` delays every fifth of the hundred tuples after the first hundred by that much more.
    """
    rng = np.random.default_rng((seed, int(count)))
    number = np.arange(tuples)
    phase_ms = np.sort(rng.uniform(0, 1_000, int(count)))
    event_ms = number // int(count) * 1_000 + phase_ms[number % int(count)]
    delay_ms = np.maximum(rng.normal(mu, sigma, tuples), 0.0)
    delay_ms[100:200:5] += early
    arrival_ms = np.rint(event_ms + delay_ms).astype(np.int64)
    order = np.argsort(arrival_ms, kind="stable")
    return Trace(START_MS + np.rint(event_ms).astype(np.int64)[order], START_MS + arrival_ms[order])


def run(case: Case, trace: Trace) -> Result:
    """Let the estimator loose on the stream."""
    config = CoreConfig(dratio=case.bound, estimator=case.estimator, options=dict(case.options))
    fate, report = try_out(trace, config)
    found = measure([fate])
    begun = trace.arrival_ms < trace.arrival_ms[0] + EARLY_MS
    early = float(np.count_nonzero(begun & (fate.leaves == LATE)) / max(1, found.dropped))
    counts = found.drop_ratio, found.drop_ratio / case.bound, found.within(case.bound), found.mean_held, early
    if report.mean_wait_ms is None or report.wait_ratio is None:
        return Result(*counts)
    return Result(*counts, report.mean_wait_ms, report.wait_ratio)


def run_stream(cases: Sequence[Case]) -> list[tuple[Case, Result]]:
    """Run cases that share a stream."""
    trace = load(cases[0].source)
    return [(case, run(case, trace)) for case in cases]


def run_all(cases: Sequence[Case], jobs: int) -> Iterator[list[tuple[Case, Result]]]:
    """Yield the results, stream by stream; each case runs once."""
    streams = [list(group) for _, group in groupby(sorted(set(cases)), key=lambda case: case.source)]
    if jobs == 1:
        yield from map(run_stream, streams)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap_unordered(run_stream, streams)
