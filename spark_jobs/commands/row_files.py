"""Files of rows for the streams of a program: one JSON object a line, one file a partition."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from spark_jobs.csql.program import Program
from spark_jobs.errors import UsageError

Lines = dict[str, list[tuple[int, int, dict[str, Any]]]]
"""By stream, each row with its partition and offset (the number of its line, from 0)."""


class Arguments(Protocol):
    """A parser, or a group of one."""

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action:
        """Add an argument."""


def add_input(parser: Arguments) -> None:
    """Add --input."""
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        type=_named_file,
        metavar="STREAM=FILE",
        help="the rows of a stream; again for the next partition",
    )


def read_lines(program: Program, inputs: list[tuple[str, Path]]) -> Lines:
    """Return the rows of the files, under the declared names of their streams."""
    lines: Lines = {}
    partitions: dict[str, int] = {}
    names = {stream.name.lower(): stream.name for stream in program.streams}
    for written, path in inputs:
        name = names.get(written.lower(), written)
        partition = partitions[name] = partitions.get(name, -1) + 1
        lines.setdefault(name, []).extend((partition, offset, row) for offset, row in _rows(path))
    return lines


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
