"""`csql explain`: what a query means, what the optimiser makes of it, and what it asks of Spark and the reorderer."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spark_jobs.commands.row_files import add_input, read_lines
from spark_jobs.commands.source_file import read_program

DESCRIPTION = """\
Explain every query of FILE: the plan before and after, with each edge's kind, monotonicity class (004), locality (001)
and key, and the Spark operator of each node; the rewrites that fired, each with what it saves in its own unit (tuples
that enter windows, evaluations, rows aggregated); the reorderer's settings for each raw topic. Savings are counted over
the rows of --input, or over generated ones."""

EPILOG = """\
examples:
  csql explain animals.csql
  csql explain animals.csql --input Pulse=pulse.jsonl
  csql explain animals.csql --json
  csql explain animals.csql --dot | dot -Tsvg > plan.svg"""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "explain",
        help="explain the queries of a file",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="CREATE STREAM statements and queries")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as one JSON object")
    form.add_argument("--dot", action="store_true", help="the plans after rewriting as a graph for Graphviz")
    add_input(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Explain the file's queries."""
    import orjson

    from spark_jobs.csql.explain import explain
    from spark_jobs.csql.explain_text import as_dot, as_text

    program = read_program(args.file)
    explanation = explain(program, read_lines(program, args.input) if args.input else None)
    if args.json:
        sys.stdout.write(orjson.dumps(explanation, option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        sys.stdout.write(as_dot(explanation) if args.dot else as_text(explanation))
    return 0
