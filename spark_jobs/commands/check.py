"""`csql check`: is a file right, and what are its queries."""

from __future__ import annotations

import argparse
from pathlib import Path

from spark_jobs.commands.source_file import read_program

EPILOG = """\
examples:
  csql check animals.csql
"""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "check",
        help="check a file of queries",
        description="Check every statement of FILE: syntax, names, types, windows. The first fault is printed with its "
        "line, column and a hint (exit 2); otherwise a line for each query tells what it puts out.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="CREATE STREAM statements and queries")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check the file and print what its queries put out."""
    program = read_program(args.file)
    for query in program.queries:
        columns = ", ".join(f"{field.name} {field.type.value}" for field in query.edge.schema)
        print(f"{query.name}: {query.edge.kind} ({columns})")
    return 0
