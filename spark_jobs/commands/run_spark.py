"""`csql run` on Spark: a query from the clean topic to the output topic."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from spark_jobs.commands.source_file import read_text
from spark_jobs.csql.program import Program, RegisteredQuery, load
from spark_jobs.errors import QueryError, UsageError

if TYPE_CHECKING:
    from spark_jobs.job import Job, JobConfig
    from spark_jobs.spark.compile import Query
    from spark_jobs.spark.query import Progress


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    """Add what only this engine takes."""
    parser.add_argument("--query", metavar="NAME", help="which query of FILE (needed if there are several)")
    _add_kafka(parser)
    _add_end(parser)
    parser.add_argument("--master", default="local[*]", help="Spark master (default: %(default)s)")
    parser.add_argument(
        "--conf", action="append", default=[], type=_setting, metavar="NAME=VALUE", help="a setting of Spark"
    )
    parser.add_argument(
        "--trigger-ms", type=_positive, default=250, metavar="MS", help="start a micro-batch every MS (default: 250)"
    )
    parser.add_argument("--max-records", type=_positive, metavar="N", help="at most N records a micro-batch")
    parser.add_argument(
        "--stats",
        choices=("text", "json", "none"),
        default="text",
        help="progress once a second: a line on stderr (text), or a JSON object a line on stdout (json)",
    )


def _add_kafka(parser: argparse._ArgumentGroup) -> None:
    parser.add_argument("--bootstrap-servers", metavar="HOST:PORT,...", help="the Kafka cluster")
    parser.add_argument("--checkpoint", type=Path, metavar="DIR", help="the folder to restart from")
    parser.add_argument("--output-topic", metavar="TOPIC", help="where results go (default: named as the query)")
    parser.add_argument(
        "--output-partitions",
        type=_positive,
        default=1,
        metavar="N",
        help="partitions of an output topic that is made (default: 1, which keeps all results in order)",
    )
    parser.add_argument(
        "--rebuild",
        action="store_true",
        help="throw the checkpoint away, read from the beginning, leave out results that the output topic has",
    )


def _add_end(parser: argparse._ArgumentGroup) -> None:
    parser.add_argument("--stop-at", type=int, metavar="MS", help="end when every result up to this instant is out")
    parser.add_argument(
        "--until-idle", type=float, metavar="S", help="end when results and time have stood still for S seconds"
    )


def run(args: argparse.Namespace) -> int:
    """Run the query until it is told to stop."""
    for option, value in (("--bootstrap-servers", args.bootstrap_servers), ("--checkpoint", args.checkpoint)):
        if value is None:
            raise UsageError(f"a query on Spark needs {option}", hint="see csql run --help")
    if args.input or args.out:
        raise UsageError("--input and --out are for files of rows", hint="add --engine reference")
    query = _query(args.file, args.query)
    from spark_jobs.job import JobConfig

    config = JobConfig(
        bootstrap_servers=args.bootstrap_servers,
        checkpoint=args.checkpoint,
        output_topic=args.output_topic or query.output_topic,
        output_partitions=args.output_partitions,
        trigger_ms=args.trigger_ms,
        master=args.master,
        settings=dict(args.conf),
        max_records=args.max_records,
        stop_at_ms=args.stop_at,
        until_idle_s=args.until_idle,
        rebuild=args.rebuild,
    )
    return _run(query, config, args.stats)


def _run(query: Query, config: JobConfig, stats: str) -> int:
    from spark_jobs.job import Job

    job = Job(query, config, tell=_tell, report=_REPORTS[stats])
    _stop_on_signals(job)
    progress = job.run()
    _REPORTS[stats](progress)
    _tell(f"stopped: {progress.results} results in {progress.batches} batches")
    return 0


def _query(path: Path, name: str | None) -> Query:
    from spark_jobs.spark.compile import compile_query

    text = read_text(path)
    program = load(text)
    for warning in program.warnings:
        _tell(f"warning: {warning}")
    chosen = _choose(program, name, path)
    try:
        return compile_query(chosen)
    except QueryError as error:
        error.text = text
        raise


def _choose(program: Program, name: str | None, path: Path) -> RegisteredQuery:
    names = ", ".join(query.name for query in program.queries)
    if not program.queries:
        raise UsageError(f"no query in '{path}'", hint="end it with a SELECT")
    if name is None:
        if len(program.queries) > 1:
            raise UsageError(f"'{path}' has {len(program.queries)} queries", hint=f"choose with --query: {names}")
        return program.queries[0]
    found = [query for query in program.queries if query.name.lower() == name.lower()]
    if not found:
        raise UsageError(f"no query '{name}' in '{path}'", hint=f"there is {names}")
    return found[0]


def _stop_on_signals(job: Job) -> None:
    """End gracefully once the query runs; before, as Ctrl-C does."""

    def stop(*_: object) -> None:
        if not job.stop():
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def _tell(line: str) -> None:
    print(f"csql: {line}", file=sys.stderr, flush=True)


def _text(progress: Progress) -> None:
    _tell(
        f"{progress.records:>10,} records {progress.records_per_s:>9,.0f}/s  complete before {progress.until_ms}  "
        f"{progress.results:,} results  newest {json.dumps(progress.newest, default=str)}"
    )


def _json(progress: Progress) -> None:
    print(json.dumps(asdict(progress), default=str), flush=True)


def _none(_: Progress) -> None:
    """Say nothing."""


_REPORTS = {"text": _text, "json": _json, "none": _none}


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not above 0")
    return number


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise argparse.ArgumentTypeError(f"'{text}' is not spark.NAME=VALUE")
    return name, value
