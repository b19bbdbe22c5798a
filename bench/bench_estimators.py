"""Every estimator on the same streams: drops against the bound, waits against the best constant slack in hindsight.

    python bench/bench_estimators.py [--quick] [--jobs N] [--tuples N] [--traces DIR] [--only NAME]

Streams: constant sigma 1..5 s, changing seeds 0..9, Pareto alpha 1.2 and 1.8, the recorded traces, a mixture with rare
very long delays, a step in the delay; D = 1, 0.5 and 0.1 %. A cell is `used wait`: drops as a share of those allowed
(marked `!` above 1) and the mean wait as a multiple of hindsight's, over the tuples after warm-up. Seeds and names are
fixed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from reorderer.core.config import CoreConfig
from reorderer.core.estimators import ESTIMATORS
from reorderer.core.replay import Report, replay
from reorderer.core.trace import Trace, read_trace
from reorderer.streams import make

BOUNDS = (0.01, 0.005, 0.001)
SPECS: dict[str, tuple[str, int, dict[str, float]]] = {
    **{f"constant sigma={s}": ("constant", s, {"sigma": 1_000.0 * s}) for s in (1, 2, 3, 4, 5)},
    **{f"changing seed={seed}": ("changing", seed, {}) for seed in range(10)},
    "pareto alpha=1.2": ("pareto", 1, {"alpha": 1.2}),
    "pareto alpha=1.8": ("pareto", 1, {"alpha": 1.8}),
    "mixture": ("mixture", 1, {}),
    "step": ("regime", 1, {}),
}


@dataclass(frozen=True)
class Case:
    """One estimator on one stream at one bound."""

    stream: str
    bound: float
    estimator: str
    tuples: int
    folder: str


def load(case: Case) -> Trace:
    """Return the stream of a case."""
    if case.stream not in SPECS:
        return read_trace(Path(case.folder) / f"{case.stream}.csv")
    name, seed, settings = SPECS[case.stream]
    stream = make(name, seed=seed, tuples=case.tuples, settings=settings)
    return Trace(stream.ts_ms, stream.arrival_ms)


def run(case: Case) -> tuple[Case, Report]:
    """Replay one case."""
    return case, replay(load(case), CoreConfig(dratio=case.bound, estimator=case.estimator))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer streams, 200,000 tuples each")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--tuples", type=int, help="a stream (default 1,000,000)")
    parser.add_argument("--traces", default="data/ooo", metavar="DIR", help="recorded traces, CSV (default data/ooo)")
    parser.add_argument("--only", metavar="NAME", help="one estimator")
    args = parser.parse_args()
    recorded = sorted(path.stem for path in Path(args.traces).glob("*.csv"))
    if not recorded:
        print(f"no recorded traces in {args.traces!r}: left out (--traces DIR)", file=sys.stderr)
    streams = [*SPECS, *recorded]
    if args.quick:
        streams = ["constant sigma=1", "changing seed=0", "pareto alpha=1.8", "mixture", "step", *recorded]
    tuples = args.tuples or (200_000 if args.quick else 1_000_000)
    names = [args.only] if args.only else [*ESTIMATORS]
    cases = [Case(s, bound, name, tuples, args.traces) for s in streams for bound in BOUNDS for name in names]
    show(measure(cases, args.jobs), streams, names)
    return 0


def measure(cases: list[Case], jobs: int) -> dict[tuple[str, float, str], Report]:
    """Run the cases, telling how far it is."""
    began, done = time.monotonic(), {}
    with multiprocessing.Pool(jobs) as pool:
        for case, report in pool.imap_unordered(run, cases):
            done[case.stream, case.bound, case.estimator] = report
            print(f"\r{len(done)} of {len(cases)} runs, {time.monotonic() - began:.0f} s ", end="", file=sys.stderr)
    print(file=sys.stderr)
    return done


def show(done: dict[tuple[str, float, str], Report], streams: list[str], names: list[str]) -> None:
    """Print the table, a summary of each estimator, and the verdict on `budget`."""
    print(f"{'stream':18} {'D %':>4} {'slack*':>7}" + "".join(f" {name:>14}" for name in names))
    for stream in streams:
        for bound in BOUNDS:
            reports = [done[stream, bound, name] for name in names]
            cells = "".join(f" {cell(report, bound):>14}" for report in reports)
            print(f"{stream:18} {100 * bound:4.1f} {reports[0].hindsight_slack_ms:7d}{cells}")
    for name in names:
        print(f"{name}: {summary([(done[s, b, name], b) for s in streams for b in BOUNDS])}")


def cell(report: Report, bound: float) -> str:
    wait = "-" if report.wait_ratio is None else f"{report.wait_ratio:.2f}"
    return f"{report.drop_ratio / bound:.2f}{'!' if violates(report.drop_ratio, bound) else ' '} {wait:>7}"


def summary(reports: list[tuple[Report, float]]) -> str:
    ended = sum(violates(report.drop_ratio, bound) for report, bound in reports)
    ever = sum(violates(report.worst_drop_ratio_after_warmup, bound) for report, bound in reports)
    waits = [report.wait_ratio for report, _ in reports if report.wait_ratio is not None]
    line = f"over the bound at the end in {ended} of {len(reports)}, at some time after warm-up in {ever}"
    if not waits:
        return line
    return f"{line}; wait {statistics.mean(waits):.2f} x hindsight on average, {max(waits):.2f} x in the worst case"


def violates(ratio: float, bound: float) -> bool:
    return ratio > bound * (1 + 1e-9)


if __name__ == "__main__":
    sys.exit(main())
