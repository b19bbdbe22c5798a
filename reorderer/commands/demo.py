"""`reorderer demo`: the whole pipeline on this machine, to be watched."""

from __future__ import annotations

import argparse
import signal
import time
from collections import deque
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from reorderer.errors import SetupError

if TYPE_CHECKING:
    from rich.console import Console

    from reorderer.demo.pipeline import Pipeline
    from reorderer.demo.view import Moment

ANSWER_WITHIN_S = 180
"""How long the last windows may take after the sensors have stopped: Spark may still be starting then."""

_EPILOG = """
what runs, each a process of its own, all ended with the demo (Ctrl-C as well):
  a Kafka broker        started from its jars, on a free port, its data deleted at the end
  reorderer generate    animals that report their body condition, late and out of order
  reorderer run         holds them for as long as the quality asked for needs, releases them in order
  csql run              counts them by species over the last 10 s, every 5 s, on Spark

exit code 0 only if the books balance: tuples in = clean + late + dead + held.
"""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "demo",
        help="run the whole pipeline on this machine and watch it",
        description="Start a broker, sensors, the reorderer and a query on Spark; show what happens; check the books.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seconds", type=int, default=40, metavar="S", help="how long the sensors send (default 40)")
    parser.add_argument("--rate", type=int, default=2000, metavar="R", help="tuples a second (default 2000)")
    parser.add_argument("--partitions", type=int, default=4, metavar="N", help="of every topic (default 4)")
    parser.add_argument(
        "--delay", default="exponential:400", metavar="D", help="of the network (default exponential:400)"
    )
    quality = parser.add_mutually_exclusive_group()
    quality.add_argument("--dratio", metavar="PCT", help="the share of tuples that may be dropped (default 1%%)")
    quality.add_argument("--slack", metavar="T", help="hold tuples for a fixed time instead, such as 2s")
    parser.add_argument("--plain", action="store_true", help="a line a second instead of the live view")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the pipeline, show it, settle the books; 0 if they balance."""
    from rich.console import Console

    from reorderer.demo.pipeline import Options, Pipeline
    from reorderer.kafka.jars import cache_dir

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C: every process is stopped first
    console = Console(highlight=False)
    quality = ("--slack", args.slack) if args.slack else ("--dratio", args.dratio or "1%")
    options = Options(args.seconds, args.rate, args.partitions, args.delay, quality)
    folder = cache_dir() / "demo"
    with Pipeline(options, folder, lambda line: console.print(f"demo: {line}")) as pipeline:
        _watch(pipeline, console, plain=args.plain or not console.is_terminal)
        console.print("demo: settling the books")
        held = pipeline.settle()
    return _close(pipeline, held, folder, console)


def _watch(pipeline: Pipeline, console: Console, *, plain: bool) -> None:
    """Show the pipeline until the sensors have stopped and the last window is out."""
    from rich.live import Live

    from reorderer.demo import view

    rates = _Rates()
    live = None if plain else Live(console=console, refresh_per_second=4, transient=True)
    shown_s, last_ms, deadline_s = 0.0, None, float("inf")
    with live or nullcontext():
        while last_ms is None or not pipeline.all_answered(last_ms):
            pipeline.look()
            if last_ms is None and not pipeline.sensors.running():
                last_ms, deadline_s = int(time.time() * 1000), time.monotonic() + ANSWER_WITHIN_S
            if time.monotonic() > deadline_s:
                stuck = view.plain(rates.moment(pipeline, "stuck"))
                raise SetupError(
                    f"no answer {ANSWER_WITHIN_S} s after the last tuple: {stuck}",
                    hint=f"the logs are beside {pipeline.query.log}",
                )
            moment = rates.moment(pipeline, "sensors send" if last_ms is None else "the last windows close")
            if live is not None:
                live.update(view.live(moment))
            elif moment.elapsed_s - shown_s >= 1:
                shown_s = moment.elapsed_s
                console.print(view.plain(moment), soft_wrap=True)


def _close(pipeline: Pipeline, held: int, folder: Path, console: Console) -> int:
    from reorderer.demo import view

    where = {
        "logs of every process": str(folder),
        "the query": str(folder / "animals.csql"),
        "your own Kafka": "README.md, 'Quick start on your own Kafka'",
        "every option": "reorderer demo --help",
    }
    console.print(view.summary(pipeline.seen, held, where))
    return 0 if view.balanced(pipeline.seen.totals, held) and pipeline.seen.result_count else 1


class _Rates:
    """Tuples a second over the last few seconds."""

    def __init__(self) -> None:
        self._start_s = time.monotonic()
        self._points: deque[tuple[float, int, int]] = deque(maxlen=30)

    def moment(self, pipeline: Pipeline, stage: str) -> Moment:
        """Return what the view draws now."""
        from reorderer.demo.view import Moment

        now_s, totals = time.monotonic(), pipeline.seen.totals
        self._points.append((now_s, totals.raw, totals.clean))
        first_s, first_raw, first_clean = self._points[0]
        span_s = max(now_s - first_s, 1e-9)
        return Moment(
            seen=pipeline.seen,
            stage=stage,
            elapsed_s=now_s - self._start_s,
            now_ms=int(time.time() * 1000),
            raw_per_s=(totals.raw - first_raw) / span_s,
            clean_per_s=(totals.clean - first_clean) / span_s,
        )
