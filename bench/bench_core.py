"""How fast the core alone is: arrays in, events out, on one core.

A stream of 10,000 tuples a second with 2 s of disorder and BSIZE 1,000,000, then the same with ten times the disorder
and so ten times the buffer. Fixed seeds, CPU time; speeds are the best of some runs, the ratio is the median of pairs.
What grows with the buffer is what the cache no longer holds: the messages, each touched once more when it leaves.

    python bench/bench_core.py [--tuples N] [--runs N]
"""

from __future__ import annotations

import argparse
import gc
import time
from statistics import median

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


def compare(name: str, runs: int, streams: dict[int, list[Batch[bytes]]]) -> tuple[list[float], list[int], float]:
    """Return for each stream the best M tuples/s and the tuples held, and the median of the second's cost over the
    first's.

    The streams take turns, so that a pair of runs meets the same machine.
    """
    rounds = [[run(config_of(name, ms), batches) for ms, batches in streams.items()] for _ in range(runs)]
    speeds = [1e-6 / min(seconds for seconds, _ in column) for column in zip(*rounds, strict=True)]
    return speeds, [held for _, held in rounds[0]], median(large[0] / small[0] for small, large in rounds)


def config_of(name: str, disorder_ms: int) -> CoreConfig:
    """Return the configuration with that estimator."""
    if name == "slack":
        return CoreConfig(slack_ms=disorder_ms, bsize=BSIZE)
    return CoreConfig(dratio=0.01, estimator=name, bsize=BSIZE)


def main() -> None:
    """Print a line for each estimator, then the two figures that matter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuples", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    streams = {disorder_ms: make_stream(args.tuples, disorder_ms, seed=0) for disorder_ms in (2_000, 20_000)}
    print(f"{'estimator':10} {'2 s: M/s':>9} {'held':>8} {'20 s: M/s':>10} {'held':>8} {'cost x':>7}")
    slowest, ratios = float("inf"), []
    for name in NAMES:
        (small, large), (small_held, large_held), ratio = compare(name, args.runs, streams)
        slowest = min(slowest, small)
        ratios.append(ratio)
        print(f"{name:10} {small:9.2f} {small_held:8,} {large:10.2f} {large_held:8,} {ratio:7.2f}", flush=True)
    cost = f"ten times the buffer costs {median(ratios):.2f} x (at most 1.3)"
    print(f"slowest {slowest:.2f} M tuples/s (at least 1.5); {cost}")


if __name__ == "__main__":
    main()
