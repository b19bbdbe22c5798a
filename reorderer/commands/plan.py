"""`reorderer plan`: what a bound would cost on a stream, before anything is deployed."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from reorderer.commands.arguments import positive
from reorderer.config import Arrival, RunConfig, Timestamp
from reorderer.errors import ClusterError, UsageError
from reorderer.progress import Progress
from reorderer.quantities import duration_ms, ratio
from reorderer.records import Topics

if TYPE_CHECKING:
    from reorderer.core.trace import Trace
    from reorderer.planning.plan import Stream

BOUNDS = "5%,1%,0.5%,0.1%,0.01%"

_EPILOG = """
The first table is the price list of the stream: for a constant slack the share of tuples it would have dropped and how
long the others would have waited. The second names the smallest slack for each bound. Both know the whole stream in
advance. The third is what each estimator, which does not, would have done under each bound. The picture shows them all.

examples:
  reorderer plan trace.csv
  reorderer plan trace.csv --bounds 2%,0.2% --estimators budget,vseq --out plan.svg
  reorderer plan --topic body --minutes 10 --bootstrap-servers localhost:9092 --json

A trace has the columns arrival_ms and event_ms (as `reorderer generate --out FILE.csv` writes it), rows in any order.
"""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "plan",
        help="show what a bound on drops costs in waiting, for a recorded stream",
        description="Read a trace, or the last minutes of a raw topic, and show drops against waiting time: as tables "
        "and as a picture.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("trace", nargs="?", metavar="TRACE.csv", help="a recorded stream")
    parser.add_argument("--bounds", default=BOUNDS, metavar="LIST", help=f"default {BOUNDS.replace('%', '%%')}")
    parser.add_argument("--estimators", metavar="LIST", help="default: all that follow a bound")
    parser.add_argument("--max-future", default="5min", metavar="T", help="further ahead is left out (default 5min)")
    parser.add_argument("--out", metavar="PNG", help="the picture (default: beside the trace, or TOPIC.plan.png)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the tables")
    topic = parser.add_argument_group("from a topic")
    topic.add_argument("--topic", help="a raw topic; the arrival of a record is its timestamp")
    topic.add_argument("--minutes", type=positive, metavar="N", help="read the last N minutes")
    topic.add_argument("--bootstrap-servers", default="localhost:9092", metavar="B", help="default localhost:9092")
    topic.add_argument("--timestamp", default="ts", metavar="FROM", help="event time, as in `run` (default: field ts)")
    topic.add_argument("--unit", default="millis", help="seconds, millis (default), micros, nanos or rfc3339")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the plan and write its picture."""
    bounds, max_future_ms = [ratio(text) for text in args.bounds.split(",")], duration_ms(args.max_future)
    if (args.trace is None) == (args.topic is None):
        raise UsageError("which stream?", hint="give either TRACE.csv or --topic T --minutes N")
    from reorderer.core.estimators import ESTIMATORS
    from reorderer.planning import picture  # tells at once if matplotlib is missing
    from reorderer.planning.plan import make_plan, steps
    from reorderer.planning.report import lines

    estimators = list(ESTIMATORS) if args.estimators is None else args.estimators.split(",")
    unknown = [name for name in estimators if name not in ESTIMATORS]
    if unknown:
        raise UsageError(f"unknown estimator {unknown[0]!r}", hint=f"choose from {', '.join(ESTIMATORS)}")
    out = Path(args.out or (f"{args.topic}.plan.png" if args.topic else Path(args.trace).with_suffix(".plan.png")))
    picture.check(out)
    traces, dead = _topic_traces(args) if args.topic else _file_traces(args)
    present = [kept for kept in (_present(trace, max_future_ms) for trace in traces) if len(kept)]
    if not present:
        raise UsageError("every tuple is too far in the future", hint="check the unit of the times, or --max-future")
    stream = _described(args.topic or args.trace, traces, present, dead)
    with Progress("tried", "tuples", steps(present, bounds, estimators)) as progress:
        plan = make_plan(stream, present, bounds, estimators, progress.add)
    picture.save(plan, out)
    print(json.dumps({**plan.to_json(), "picture": str(out)}) if args.json else "\n".join(lines(plan)))
    print(f"the picture is in {out}", file=sys.stderr)
    return 0


def _file_traces(args: argparse.Namespace) -> tuple[list[Trace], int]:
    if args.minutes is not None:
        raise UsageError("--minutes goes with --topic")
    from reorderer.core.trace import read_trace

    return [read_trace(args.trace)], 0


def _topic_traces(args: argparse.Namespace) -> tuple[list[Trace], int]:
    if args.minutes is None:
        raise UsageError("how much of the topic?", hint="add --minutes N")
    timestamp = Timestamp.parse(args.timestamp, args.unit)
    config = RunConfig(
        args.bootstrap_servers, Topics.of(args.topic), "onlooker", timestamp=timestamp, arrival=Arrival("record")
    )
    import numpy as np

    from reorderer.core.trace import Trace
    from reorderer.kafka.recent import read_since
    from reorderer.kafka.topics import Cluster

    topic = Cluster(args.bootstrap_servers).find(args.topic).get(args.topic)
    if topic is None:
        raise ClusterError(f"there is no topic {args.topic!r}", hint="check --topic and --bootstrap-servers")
    if not topic.log_append_time:
        print(
            f"reorderer: the producers of {args.topic!r} set its record timestamps, taken as arrivals", file=sys.stderr
        )
    since_ms = time.time_ns() // 1_000_000 - round(args.minutes * 60_000)
    with Progress("read", "records") as progress:
        times = read_since(config, topic.partitions, since_ms, progress.add)
    dead = sum(found.dead for found in times.values())
    if not any(found.ts_ms for found in times.values()):
        unread = f" ({dead:,} records have no usable {timestamp})" if dead else ""
        raise UsageError(
            f"no tuple in the last {args.minutes:g} minutes of {args.topic!r}{unread}",
            hint="check --timestamp and --unit" if dead else "read more with --minutes",
        )
    columns = [(np.array(found.ts_ms), np.array(found.arrival_ms)) for found in times.values() if found.ts_ms]
    return [Trace(ts_ms, np.maximum.accumulate(arrival_ms)) for ts_ms, arrival_ms in columns], dead


def _present(trace: Trace, max_future_ms: int) -> Trace:
    """Return the tuples that are no further ahead of their arrival than that; the core would take out the others."""
    keep = trace.ts_ms - trace.arrival_ms <= max_future_ms
    return type(trace)(trace.ts_ms[keep], trace.arrival_ms[keep])


def _described(source: str, traces: list[Trace], present: list[Trace], dead: int) -> Stream:
    import numpy as np

    from reorderer.planning.hindsight import pooled
    from reorderer.planning.plan import Stream

    together = pooled(present)
    delay_ms = np.sort(together.arrival_ms - together.ts_ms)
    behind = sum(int(np.count_nonzero(t.ts_ms < np.maximum.accumulate(t.ts_ms))) for t in present)
    first_ms, last_ms = min(int(t.arrival_ms[0]) for t in present), max(int(t.arrival_ms[-1]) for t in present)
    return Stream(
        source=Path(source).name,
        partitions=len(present),
        tuples=len(delay_ms),
        seconds=(last_ms - first_ms) / 1_000,
        out_of_order=behind / len(delay_ms),
        least_delay_ms=int(delay_ms[0]),
        median_delay_ms=int(delay_ms[len(delay_ms) // 2]),
        largest_delay_ms=int(delay_ms[-1]),
        dead=dead,
        future=sum(map(len, traces)) - len(delay_ms),
    )
