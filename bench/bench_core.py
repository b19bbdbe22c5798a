"""How fast the core alone is: arrays in, events out, on one core.

A stream of 10,000 tuples a second with 2 s of disorder and BSIZE 1,000,000, then the same with ten times the disorder
and so ten times the buffer. Fixed seeds; the best of some runs, taken in turns so that both meet the same machine.

    python bench/bench_core.py [--tuples N] [--runs N]
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable

import numpy as np

from reorderer.core.config import CoreConfig
from reorderer.core.estimators import NAMES
from reorderer.core.events import Batch
from reorderer.core.reorder import Reorderer

RATE = 10_000
BATCH = 10_000
BSIZE = 1_000_000
START_MS = 1_700_000_000_000


def make_stream(tuples: int, disorder_ms: int, seed: int) -> list[Batch[bytes]]:
    """Return a stream with delays spread evenly over the disorder, as batches in order of arrival."""
    rng = np.random.default_rng(seed)
    ts_ms = START_MS + np.sort(rng.integers(0, tuples * 1_000 // RATE, tuples))
    arrival_ms = ts_ms + rng.integers(0, disorder_ms, tuples)
    order = np.argsort(arrival_ms, kind="stable")
    ts_ms, arrival_ms, offset = ts_ms[order], arrival_ms[order], np.arange(tuples)
    batches = []
    for begin in range(0, tuples, BATCH):
        part = slice(begin, begin + BATCH)
        messages = [b'{"device": %d, "value": 1}' % i for i in range(begin, min(begin + BATCH, tuples))]
        batches.append(Batch(ts_ms[part], arrival_ms[part], offset[part], messages))
    return batches


def run(config: CoreConfig, batches: list[Batch[bytes]]) -> tuple[float, int]:
    """Return CPU seconds per tuple and the most tuples held; the warm-up (a quarter) is not counted."""
    core = Reorderer[bytes](config)
    warm = len(batches) // 4
    for batch in batches[:warm]:
        core.process(batch)
    gc.collect()
    held, tuples = 0, 0
    begin = time.process_time()
    for batch in batches[warm:]:
        core.process(batch)
        held = max(held, core.held)
        tuples += len(batch)
    return (time.process_time() - begin) / tuples, held


def best(runs: int, jobs: list[Callable[[], tuple[float, int]]]) -> list[tuple[float, int]]:
    """Return the best of some rounds over all jobs."""
    results = [[job() for job in jobs] for _ in range(runs)]
    return [min(column) for column in zip(*results, strict=True)]


def config_of(name: str, disorder_ms: int) -> CoreConfig:
    """Return the configuration with that estimator."""
    if name == "slack":
        return CoreConfig(slack_ms=disorder_ms, bsize=BSIZE)
    return CoreConfig(dratio=0.01, estimator=name, bsize=BSIZE)


def main() -> None:
    """Print a line for each estimator, then the two figures that matter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuples", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    streams = {disorder_ms: make_stream(args.tuples, disorder_ms, seed=0) for disorder_ms in (2_000, 20_000)}
    print(f"{'estimator':10} {'2 s: M/s':>9} {'held':>8} {'20 s: M/s':>10} {'held':>8} {'cost x':>7}")
    slowest, ratio = float("inf"), 0.0
    for name in NAMES:
        jobs = [
            lambda name=name, disorder_ms=disorder_ms, batches=batches: run(config_of(name, disorder_ms), batches)
            for disorder_ms, batches in streams.items()
        ]
        (small, small_held), (large, large_held) = best(args.runs, jobs)
        slowest, ratio = min(slowest, 1e-6 / small), max(ratio, large / small)
        print(
            f"{name:10} {1e-6 / small:9.2f} {small_held:8,} {1e-6 / large:10.2f} {large_held:8,} {large / small:7.2f}",
            flush=True,
        )
    print(f"slowest {slowest:.2f} M tuples/s (at least 1.5); ten times the buffer costs {ratio:.2f} x (at most 1.3)")


if __name__ == "__main__":
    main()
