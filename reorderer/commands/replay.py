"""`reorderer replay`: an estimator over a recorded or generated trace, as if it were live."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from reorderer.commands.arguments import positive_int
from reorderer.errors import UsageError
from reorderer.progress import Progress
from reorderer.quantities import duration_ms, ratio, tuples

if TYPE_CHECKING:
    from reorderer.core.config import CoreConfig
    from reorderer.core.events import Event
    from reorderer.core.replay import Report

_EPILOG = """
A trace is a CSV file with the columns arrival_ms and event_ms (others are ignored), rows in any order, as written by
`reorderer generate STREAM --out trace.csv`. Hindsight is the smallest constant slack that keeps the bound over the
whole trace; waits are compared over the tuples after warm-up, drops are counted from the first tuple.

examples:
  reorderer replay trace.csv --dratio 1%
  reorderer replay trace.csv --estimator maxdelay --dratio 0.1% --json
  reorderer replay trace.csv --slack 2s --out happened.jsonl
"""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "replay",
        help="run an estimator over a recorded trace and measure drops and waits",
        description="Run the core over a trace as if it were live, and compare it with the best constant slack.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("trace", metavar="TRACE.csv", help="the tuples")
    parser.add_argument("--estimator", metavar="NAME", help="default: budget with --dratio, else slack")
    parser.add_argument("--dratio", metavar="D", help="the bound on drops, such as 1%%")
    parser.add_argument("--slack", metavar="S", help="a duration such as 2s, or 'n tuples'; with --dratio a cap")
    parser.add_argument("--bsize", type=positive_int, metavar="N", help="hold at most N tuples")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument("--out", metavar="FILE.jsonl", help="write what happened, one line a tuple or punctuation")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Replay, and print the result."""
    from reorderer.core.replay import event_lines, replay
    from reorderer.core.trace import read_trace

    config = _config(args)
    trace = read_trace(args.trace)
    with _open(args.out) as out, contextlib.ExitStack() as stack:
        progress = stack.enter_context(Progress("replayed", "tuples")) if sys.stderr.isatty() else None

        def emit(events: list[Event[None]]) -> None:
            if out is not None:
                out.writelines(f"{line}\n" for line in event_lines(events))
            if progress is not None:
                progress.add(sum(len(getattr(event, "messages", ())) for event in events))

        report = replay(trace, config, emit)
    print(json.dumps(report.to_json()) if args.json else _table(report, config))
    return 0


def _config(args: argparse.Namespace) -> CoreConfig:
    from reorderer.core.config import CoreConfig
    from reorderer.core.estimators import make

    slack_tuples = None if args.slack is None else tuples(args.slack)
    slack_ms = None if args.slack is None or slack_tuples is not None else duration_ms(args.slack)
    dratio = None if args.dratio is None else ratio(args.dratio)
    config = CoreConfig(
        dratio=dratio, slack_ms=slack_ms, slack_tuples=slack_tuples, bsize=args.bsize, estimator=args.estimator
    )
    make(config)  # an unknown estimator is told before a long file is read
    return config


def _open(name: str | None) -> contextlib.AbstractContextManager[TextIO | None]:
    if name is None:
        return contextlib.nullcontext()
    try:
        return Path(name).open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {name!r}: {error.strerror}") from error


def _table(report: Report, config: CoreConfig) -> str:
    bound = "" if config.dratio is None else f" of {config.dratio:.4g} allowed"
    rows = [
        ("estimator", config.estimator_name),
        ("tuples", f"{report.tuples:,} ({report.warmup_tuples:,} of them warm-up)"),
        ("dropped", f"{report.dropped:,}: a share of {report.drop_ratio:.6f}{bound}"),
        ("worst share after warm-up", f"{report.worst_drop_ratio_after_warmup:.6f}"),
        ("mean wait", _ms(report.mean_wait_ms)),
        ("99 % wait at most", _ms(report.p99_wait_ms)),
        ("best constant slack", _ms(report.hindsight_slack_ms)),
        ("its mean wait", _ms(report.hindsight_mean_wait_ms)),
        ("mean wait / that", "-" if report.wait_ratio is None else f"{report.wait_ratio:.2f}"),
        ("held at most", f"{report.max_held:,} tuples"),
        ("punctuations", f"{report.punctuations:,}"),
    ]
    return "\n".join(f"{name:26} {value}" for name, value in rows)


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f} ms"
