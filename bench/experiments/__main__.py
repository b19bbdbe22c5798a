"""Run the papers' experiments and write tables and pictures.

python -m bench.experiments [--quick] [--jobs N] [--out DIR] [--traces DIR] [--only NAME]

Seeds are fixed: the same commit writes the same numbers.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from bench.experiments.papers import FULL, QUICK, experiments
from bench.experiments.report import draw, markdown, rows, write_csv
from bench.experiments.runs import Case, Result, run_all
from reorderer.progress import Progress

ROOT = Path(__file__).parents[2]
SAMPLE = Path("tests/data")


def main() -> int:
    """Run, write, and say where."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few and short streams: whether it works at all")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "experiments", metavar="DIR", help="where to write")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="recorded traces (default ../shared/data/ooo)")
    parser.add_argument("--only", metavar="NAME", help="experiments whose name begins so")
    args = parser.parse_args()
    recorded = recorded_traces(args.traces, quick=args.quick)
    chosen = [
        one for one in experiments(QUICK if args.quick else FULL, recorded) if one.name.startswith(args.only or "")
    ]
    if not chosen:
        parser.error(f"no experiment begins with {args.only!r}")
    text = heading(recorded)
    results = run_cases([entry.case for one in chosen for entry in one.entries], args.jobs)
    args.out.mkdir(parents=True, exist_ok=True)
    for one in chosen:
        table = rows(one, results)
        write_csv(args.out / f"{one.name}.csv", table)
        draw(args.out / f"{one.name}.png", one, table)
        text += markdown(one, table)
    (args.out / ("RESULTS.md" if args.only is None else f"{args.only}.md")).write_text(
        "\n".join(text), encoding="utf-8"
    )
    print(f"{len(chosen)} experiments, {len(results)} runs: tables and pictures in {args.out}")
    return 0


def run_cases(cases: list[Case], jobs: int) -> dict[Case, Result]:
    """Return the result of every case, telling how far it is."""
    results: dict[Case, Result] = {}
    with Progress("ran", "cases", len(set(cases))) as progress:
        for found in run_all(cases, jobs):
            results.update(found)
            progress.add(len(found))
    return results


def recorded_traces(folder: Path | None, *, quick: bool) -> list[Path]:
    """Return the traces in the folder; by default those beside the project, else the sample among the tests."""
    beside = Path("../shared/data/ooo")
    chosen = folder or (beside if not quick and any((ROOT / beside).glob("*.csv")) else SAMPLE)
    found = sorted((ROOT / chosen).glob("*.csv"))
    if not found:
        print(f"no recorded traces in {chosen}: left out", file=sys.stderr)
    return found


def heading(recorded: list[Path]) -> list[str]:
    """Return the first lines: from which commit and by which command, and with which traces."""
    command = shlex.join(["python", "-m", "bench.experiments", *sys.argv[1:]])
    traces = ", ".join(path.name for path in recorded) or "none"
    return [
        "# Results of the experiments",
        f"Commit {commit()}, `{command}`. Recorded traces: {traces}. What they mean: [README.md](README.md).",
        "",
        "`kept`: runs within the bound. `early`: share of the drops in the first 30 s. `buffer`: tuples held, mean.",
        "`mean wait` and `x hindsight` (the same as a multiple of the best constant slack's) count the tuples after",
        "warm-up, drops and buffer all of them.",
        "",
    ]


def commit() -> str:
    """Return the commit that runs, marked if files that it has were changed since."""
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
