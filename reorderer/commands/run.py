"""`reorderer run`: the service, reading a raw topic and writing clean, late and dead."""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import time
from typing import TYPE_CHECKING

from reorderer.commands.arguments import positive, positive_int
from reorderer.config import Arrival, Quality, RunConfig, Timestamp
from reorderer.errors import UsageError
from reorderer.quantities import duration_ms, ratio, tuples
from reorderer.records import Topics

if TYPE_CHECKING:
    from reorderer.service import Service

_EPILOG = """
quality:
  --slack 2s            hold each tuple for 2 s of arrival time, then release in order
  --slack '500 tuples'  hold the newest 500 tuples
  --dratio 1%           hold as long as it takes to drop no more than 1 %; with --slack: but no longer than that

times:
  --timestamp ts        event time from this field of the JSON value (default); a.b leads into objects
  --timestamp header:N  from a header, --timestamp record from the record's timestamp; values are then opaque
  --arrival broker      when the broker appended the record (default; needs LogAppendTime)
  --arrival record      the record's timestamp, set by a trusted gateway; header:NAME likewise; wall: this machine's
                        clock, where nothing else is to be had

examples:
  reorderer topics create body --partitions 4
  reorderer run --topic body --slack 2s
  reorderer run --topic body --dratio 1% --group body-reorderer --instance-id body-0 --stats json

It may be killed at any moment: what it writes and how far it has read are committed together. Several instances with
the same --group share the partitions; one with an --instance-id takes its own up again without a rebalance.
"""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "run",
        help="reorder a raw topic into a clean one, until stopped",
        description="Read a raw topic, put its tuples in order of event time, and write them exactly once to a clean "
        "topic with punctuations; late tuples go to a late topic, unreadable ones to a dead topic.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--topic", required=True, help="the raw topic")
    parser.add_argument("--bootstrap-servers", default="localhost:9092", metavar="B", help="default localhost:9092")
    for name in ("clean", "late", "dead"):
        parser.add_argument(f"--{name}", metavar="NAME", help=f"the {name} topic (default TOPIC.{name})")
    parser.add_argument("--group", metavar="G", help="consumer group (default reorderer-TOPIC)")
    parser.add_argument("--instance-id", metavar="ID", help="a name that this instance keeps over restarts")
    parser.add_argument("--start", choices=("earliest", "latest"), default="earliest", help="where a new group begins")
    _add_quality(parser)
    _add_times(parser)
    parser.add_argument(
        "--until-idle", type=positive, metavar="S", help="stop once all is read and silent for S seconds"
    )
    parser.add_argument(
        "--stats",
        choices=("auto", "json", "none"),
        default="auto",
        help="numbers once a second: a line on a terminal (auto), a JSON object on stdout, or none",
    )
    parser.add_argument("--verbose", action="store_true", help="show the Kafka client's log")
    parser.set_defaults(run=run)


def _add_quality(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("quality")
    group.add_argument("--slack", metavar="K", help="a duration such as 2s, or 'n tuples'")
    group.add_argument("--dratio", metavar="D", help="largest share of tuples that may be late, such as 1%%")
    group.add_argument("--bsize", type=positive_int, metavar="N", help="hold at most N tuples of a partition")
    group.add_argument("--estimator", metavar="NAME", help="how the slack is chosen under --dratio")
    group.add_argument("--max-slack", default="1h", metavar="T", help="longest slack (default 1h)")
    group.add_argument("--max-future", default="5min", metavar="T", help="further ahead is dead (default 5min)")


def _add_times(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("times")
    group.add_argument("--timestamp", default="ts", metavar="FROM", help="event time (default: the field ts)")
    group.add_argument("--unit", default="millis", help="seconds, millis (default), micros, nanos or rfc3339")
    group.add_argument("--arrival", default="broker", metavar="FROM", help="arrival (default broker)")
    group.add_argument("--idle-after", default="1s", metavar="T", help="a longer silence is idleness (default 1s)")
    group.add_argument("--clock-skew", default="500ms", metavar="T", help="largest error of clocks (default 500ms)")
    group.add_argument(
        "--heartbeats",
        choices=("auto", "on", "off"),
        default="auto",
        help="punctuations on silent partitions; auto: where no arrival can be before now (broker, wall)",
    )
    group.add_argument("--transaction", default="200ms", metavar="T", help="commit this often (default 200ms)")
    group.add_argument("--max-value-bytes", type=positive_int, metavar="N", help="a larger value is dead")


def run(args: argparse.Namespace) -> int:
    """Run until stopped; print a summary."""
    config = configured(args)
    from reorderer.kafka.checks import check_topics
    from reorderer.kafka.topics import Cluster
    from reorderer.partition import core_config
    from reorderer.service import Service

    core_config(config)  # refuses a wrong combination of qualities before anything is contacted
    _set_up_log(verbose=args.verbose)
    raw = check_topics(Cluster(config.bootstrap_servers), config)
    service = Service(config, raw.topic_id)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: service.stop())
    Reporter(service, args.stats).run()
    return 0


def configured(args: argparse.Namespace) -> RunConfig:
    """Return the configuration that the options describe."""
    arrival = Arrival.parse(args.arrival)
    slack_tuples = None if args.slack is None else tuples(args.slack)
    return RunConfig(
        bootstrap_servers=args.bootstrap_servers,
        topics=Topics.of(args.topic, args.clean, args.late, args.dead),
        group=args.group or f"reorderer-{args.topic}",
        instance_id=args.instance_id,
        timestamp=Timestamp.parse(args.timestamp, args.unit),
        arrival=arrival,
        quality=Quality(
            slack_ms=None if args.slack is None or slack_tuples is not None else duration_ms(args.slack),
            slack_tuples=slack_tuples,
            drop_ratio=None if args.dratio is None else ratio(args.dratio),
            buffer_tuples=args.bsize,
            estimator=args.estimator,
            max_slack_ms=duration_ms(args.max_slack),
            max_future_ms=duration_ms(args.max_future),
            idle_after_ms=duration_ms(args.idle_after),
            clock_skew_ms=duration_ms(args.clock_skew),
        ),
        max_value_bytes=args.max_value_bytes,
        start=args.start,
        heartbeats=arrival.live if args.heartbeats == "auto" else args.heartbeats == "on",
        transaction_ms=_at_least(duration_ms(args.transaction), 1, "--transaction"),
        until_idle_s=args.until_idle,
    )


class Reporter:
    """Runs a service and shows its numbers once a second."""

    def __init__(self, service: Service, form: str) -> None:
        from reorderer.stats import Stats

        self._service = service
        self._stats = Stats(service)
        self._form = "none" if form == "auto" and not sys.stderr.isatty() else form
        self._shown_s = time.monotonic()

    def run(self) -> None:
        """Return when the service has stopped and its last numbers are out."""
        self._service.run(self._tick)
        self._show(final=True)

    def _tick(self) -> None:
        if self._form != "none" and time.monotonic() - self._shown_s >= 1.0:
            self._shown_s = time.monotonic()
            self._show(final=False)

    def _show(self, *, final: bool) -> None:
        from reorderer.stats import human

        snapshot = self._stats.snapshot(final=final)
        if self._form == "json":
            print(json.dumps(snapshot), flush=True)
        elif final:
            start = "\r\033[K" if sys.stderr.isatty() else ""
            print(f"{start}stopped: {human(snapshot)}", file=sys.stderr)
        else:
            print(f"\r\033[K{human(snapshot)}", end="", file=sys.stderr, flush=True)


def _set_up_log(*, verbose: bool) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("reorderer: %(message)s"))
    logging.getLogger("reorderer.service").addHandler(handler)
    if verbose:
        logging.getLogger("reorderer.kafka").addHandler(handler)
        logging.getLogger("reorderer").setLevel(logging.DEBUG)


def _at_least(value: int, least: int, option: str) -> int:
    if value < least:
        raise UsageError(f"{option} {value} is below {least}")
    return value
