"""`csql run`: evaluate the queries of a file, by the reference engine over files of rows."""

from __future__ import annotations

import argparse
from pathlib import Path

from spark_jobs.commands import run_reference

EPILOG = """\
examples:
  csql run animals.csql --engine reference --input Pulse=pulse.jsonl
  csql run animals.csql --engine reference --input Pulse=part-0.jsonl --input Pulse=part-1.jsonl   (two partitions)
"""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "run",
        help="evaluate the queries of a file",
        description=run_reference.DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="CREATE STREAM statements and queries")
    parser.add_argument("--engine", choices=("reference",), default="reference", help="who evaluates the queries")
    run_reference.add_arguments(parser)
    parser.set_defaults(run=run_reference.run)
