"""The reference engine of `csql run`: files of rows in, results out; no JVM, no broker.

Rows may stand in any order; they are sorted into sequence order (time, partition, line). Times are epoch milliseconds
or RFC 3339 text. The end of the files counts as a punctuation behind their last row. Results come query by query, each
in sequence order.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from spark_jobs.commands.source_file import read_program
from spark_jobs.errors import UsageError


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    """Add the options of this engine."""
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        type=_named_file,
        metavar="STREAM=FILE",
        help="the rows of a stream; again for the next partition",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where results go (default: standard output)")


def run(args: argparse.Namespace) -> int:
    """Evaluate the file's queries over the inputs and write the results."""
    from spark_jobs.csql.reference.engine import run as evaluate

    program = read_program(args.file)
    lines: dict[str, list[tuple[int, int, dict[str, Any]]]] = {}
    partitions: dict[str, int] = {}
    names = {stream.name.lower(): stream.name for stream in program.streams}
    for written, path in args.input:
        name = names.get(written.lower(), written)
        partition = partitions[name] = partitions.get(name, -1) + 1
        lines.setdefault(name, []).extend((partition, offset, row) for offset, row in _rows(path))
    evaluation = evaluate(program, lines)
    with _output(args.out) as out:
        _write(out, evaluation.rows)
    if evaluation.ignored:
        print(f"csql: {evaluation.ignored} rows ignored, their keys were alive", file=sys.stderr)
    return 0


def _named_file(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise argparse.ArgumentTypeError(f"'{text}' is not STREAM=FILE")
    return name, Path(path)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line's number, from 0, and its object; blank lines are left out."""
    import orjson

    try:
        with path.open("rb") as file:
            for offset, line in enumerate(file):
                if line.strip():
                    yield offset, _object(orjson.loads(line), path, offset)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"line {offset + 1} of '{path}' is no JSON: {error}") from error
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}") from error


def _object(value: Any, path: Path, offset: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"line {offset + 1} of '{path}' is no JSON object")
    return value


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
