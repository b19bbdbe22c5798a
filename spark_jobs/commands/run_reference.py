"""The reference engine of `csql run`: files of rows in, results out; no JVM, no broker.

Rows may stand in any order; they are sorted into sequence order (time, partition, line). Times are epoch milliseconds
or RFC 3339 text. The end of the files counts as a punctuation behind their last row. Results come query by query, each
in sequence order.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from spark_jobs.commands.row_files import add_input, read_lines
from spark_jobs.commands.source_file import read_program
from spark_jobs.errors import UsageError


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    """Add the options of this engine."""
    add_input(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="where results go (default: standard output)")


def run(args: argparse.Namespace) -> int:
    """Evaluate the file's queries over the inputs and write the results."""
    from spark_jobs.csql.reference.engine import run as evaluate

    program = read_program(args.file)
    evaluation = evaluate(program, read_lines(program, args.input))
    with _output(args.out) as out:
        _write(out, evaluation.rows)
    if evaluation.ignored:
        print(f"csql: {evaluation.ignored} rows ignored, their keys were alive", file=sys.stderr)
    return 0


def _output(path: Path | None) -> contextlib.AbstractContextManager[IO[bytes]]:
    if path is None:
        return contextlib.nullcontext(sys.stdout.buffer)
    try:
        return path.open("wb")
    except OSError as error:
        raise UsageError(f"'{path}' cannot be written: {error.strerror}") from error


def _write(out: IO[bytes], rows: Iterable[dict[str, Any]]) -> None:
    import orjson

    for row in rows:
        out.write(orjson.dumps(row) + b"\n")
    out.flush()
