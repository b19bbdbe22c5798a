"""Recorded tuples: the two times of each, in order of arrival."""

from __future__ import annotations

import csv
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reorderer.errors import UsageError

Ints = NDArray[np.int64]
COLUMNS = ("arrival_ms", "event_ms")
_BEYOND_MS = 1 << 53


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The tuples of one partition; `arrival_ms` is the arrival clock and never goes back.

    >>> trace = Trace.of(np.array([5, 6, 4]), np.array([10, 12, 11]))
    >>> trace.arrival_ms.tolist(), trace.delay_ms.tolist()
    ([10, 12, 12], [5, 6, 8])
    """

    ts_ms: Ints
    arrival_ms: Ints

    @classmethod
    def of(cls, ts_ms: Ints, arrival_ms: Ints) -> Trace:
        """Return the tuples in the order given, the arrival of each being the latest so far (spec, section 2)."""
        return cls(ts_ms, np.maximum.accumulate(arrival_ms))

    def __len__(self) -> int:
        return len(self.ts_ms)

    @property
    def delay_ms(self) -> Ints:
        """How late each tuple came: the smallest constant slack that would have kept it."""
        return self.arrival_ms - self.ts_ms

    def present(self, max_future_ms: int) -> Trace:
        """Return the tuples that are no further ahead of their arrival than that."""
        keep = self.ts_ms - self.arrival_ms <= max_future_ms
        return self if keep.all() else Trace(self.ts_ms[keep], self.arrival_ms[keep])


def read_csv(path: str | Path) -> Trace:
    """Return the trace in a CSV file with the columns arrival_ms and event_ms, sorted by arrival, ties kept."""
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            places = _places(next(csv.reader(file), []), path)
            arrival_ms, ts_ms = _rows(file, places, path)
    except OSError as error:
        raise UsageError(f"cannot read {str(path)!r}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(path)!r} is not a CSV file: not UTF-8") from error
    order = np.argsort(arrival_ms, kind="stable")
    return Trace.of(ts_ms[order], arrival_ms[order])


def _places(header: list[str], path: str | Path) -> list[int]:
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise UsageError(f"{str(path)!r} has no column {missing[0]!r}", hint="the first line names the columns")
    return [header.index(name) for name in COLUMNS]


def _rows(file: object, places: list[int], path: str | Path) -> tuple[Ints, Ints]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # a number with a fraction
        warnings.filterwarnings("ignore", message="loadtxt: input contained no data")
        try:
            rows = np.loadtxt(file, np.int64, delimiter=",", usecols=places, ndmin=2, quotechar='"')  # type: ignore[call-overload]
        except (ValueError, DeprecationWarning) as error:
            raise UsageError(f"{str(path)!r}: {_reason(error)}", hint="times are whole milliseconds") from error
    if not len(rows):
        raise UsageError(f"{str(path)!r} has no tuples")
    if np.abs(rows).max() >= _BEYOND_MS:
        raise UsageError(f"{str(path)!r} has a time beyond 2^53", hint="times are milliseconds since the epoch")
    return rows[:, 0], rows[:, 1]


def _reason(error: BaseException) -> str:
    text = str(error.__cause__ or error)
    return text[:1].lower() + text[1:].rstrip(".")
