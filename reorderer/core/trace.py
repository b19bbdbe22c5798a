"""A recorded or generated trace: event time and arrival of each tuple, in arrival order."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reorderer.core.events import Ints
from reorderer.errors import UsageError

COLUMNS = ("arrival_ms", "event_ms")
_BEYOND_MS = 1 << 53


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Tuples sorted by arrival, ties kept; a tuple's place is its rank."""

    ts_ms: Ints
    arrival_ms: Ints

    def __len__(self) -> int:
        return len(self.ts_ms)


def read_trace(path: str | Path) -> Trace:
    """Return the trace in a CSV file; see `parse_trace`."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {str(path)!r}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(path)!r} is no CSV file: it is not UTF-8") from error
    return parse_trace(text, str(path))


def parse_trace(text: str, name: str = "trace") -> Trace:
    """Return the trace written as CSV: a header with arrival_ms and event_ms among its columns, rows in any order.

    >>> parse_trace("event_ms,arrival_ms\\n7,9\\n5,8\\n").ts_ms.tolist()
    [5, 7]
    """
    header, _, body = text.partition("\n")
    columns = [column.strip() for column in next(csv.reader([header]), [])]
    for column in COLUMNS:
        if column not in columns:
            raise UsageError(f"{name}: no column {column!r} in the first line", hint=f"it reads {header.strip()!r}")
    if not body.strip():
        raise UsageError(f"{name}: no tuples")
    places = [columns.index(column) for column in COLUMNS]
    try:
        rows = np.loadtxt(io.StringIO(body), np.float64, delimiter=",", usecols=places, quotechar='"', ndmin=2)
    except ValueError as error:
        raise _row_error(body, places, name) from error
    if not (np.isfinite(rows).all() and (rows >= 0).all() and (rows < _BEYOND_MS).all() and (rows % 1 == 0).all()):
        raise _row_error(body, places, name)
    arrival_ms, ts_ms = rows.astype(np.int64).T
    order = np.argsort(arrival_ms, kind="stable")
    return Trace(ts_ms[order], arrival_ms[order])


def _row_error(body: str, places: list[int], name: str) -> UsageError:
    """Return the error that names the first row that is not two times."""
    for number, row in enumerate(csv.reader(io.StringIO(body)), 2):
        if not row or row[0].startswith("#"):
            continue
        for column, place in zip(COLUMNS, places, strict=True):
            text = row[place].strip() if place < len(row) else ""
            if (reason := _reason(text)) is not None:
                return UsageError(f"{name}, line {number}: {column} {text!r} {reason}", hint="times are milliseconds")
    return UsageError(f"{name}: not a CSV file of times")


def _reason(text: str) -> str | None:
    """Return why a text is no time, None if it is one."""
    try:
        value = float(text)
    except ValueError:
        return "is missing" if not text else "is not a number"
    if math.isnan(value) or value != value // 1:
        return "is not a whole number"
    if value < 0:
        return "is negative"
    return "is beyond 2^53" if value >= _BEYOND_MS else None
