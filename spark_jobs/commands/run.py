"""`csql run`: evaluate the queries of a file, on Spark over topics or by the reference engine over files of rows."""

from __future__ import annotations

import argparse
from pathlib import Path

from spark_jobs.commands import run_reference, run_spark
from spark_jobs.errors import UsageError

DESCRIPTION = """\
Evaluate the queries of FILE.

On Spark (the default) a query runs until SIGTERM or Ctrl-C: it reads the stream's clean topic, which the reorderer
writes, and writes results and punctuations to the output topic, each exactly once. Started again with the same
--checkpoint it goes on where it was; a checkpoint serves one query, and a changed query is refused.

The reference engine reads files of rows, one JSON object a line, prints the results and ends. It needs no Java."""

EPILOG = """\
examples:
  csql run animals.csql --bootstrap-servers localhost:9092 --checkpoint /var/lib/csql/animals
  csql run animals.csql --bootstrap-servers localhost:9092 --checkpoint ck --query hot --output-topic hot --stats json
  csql run animals.csql --bootstrap-servers localhost:9092 --checkpoint ck --rebuild    # the query has changed
  csql run animals.csql --engine reference --input Pulse=pulse.jsonl
  csql run animals.csql --engine reference --input Pulse=part-0.jsonl --input Pulse=part-1.jsonl    # two partitions"""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "run",
        help="evaluate the queries of a file",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="CREATE STREAM statements and queries")
    parser.add_argument("--plan", type=Path, metavar="FILE", help="CREATE STREAM statements and algebra plans instead")
    parser.add_argument(
        "--engine",
        choices=("spark", "reference"),
        help="who evaluates them (default: reference with --input, else spark)",
    )
    run_spark.add_arguments(parser.add_argument_group("on Spark"))
    run_reference.add_arguments(parser.add_argument_group("by the reference engine"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Hand over to the engine."""
    if (args.file is None) == (args.plan is None):
        raise UsageError("one FILE is needed", hint="name a file of queries, or one of algebra plans with --plan")
    args.file = args.file or args.plan
    engine = args.engine or ("reference" if args.input else "spark")
    return run_reference.run(args) if engine == "reference" else run_spark.run(args)
