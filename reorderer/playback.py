"""Tuples on their way out of a generator: cut to a count, paced in real time, written to a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Protocol

import numpy as np

from reorderer.delays import Slice
from reorderer.errors import UsageError

Values = Callable[[Slice], list[bytes]]
"""Encodes tuples as the values of records."""


class Writer(Protocol):
    """Takes tuples in arrival order."""

    def __enter__(self) -> Writer: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Return when all tuples are where they belong."""

    def write(self, tuples: Slice) -> None:
        """Take some more."""


def limited(slices: Iterator[Slice], count: int | None) -> Iterator[Slice]:
    """Yield the first `count` tuples, all if None."""
    for tuples in slices:
        if count is not None and len(tuples) >= count:
            yield tuples.take(slice(0, count))
            return
        yield tuples
        count = None if count is None else count - len(tuples)


def paced(
    slices: Iterator[Slice],
    start_ms: int,
    speed: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Slice]:
    """Yield each tuple when its arrival is due; it is `start_ms` now, and time runs `speed` times as fast."""
    began = clock()
    for tuples in slices:
        done = 0
        while done < len(tuples):
            now_ms = start_ms + (clock() - began) * 1_000 * speed
            due = int(np.searchsorted(tuples.arrival_ms, now_ms, side="right"))
            if due > done:
                yield tuples.take(slice(done, due))
                done = due
            else:
                sleep(max(0.005, (int(tuples.arrival_ms[done]) - now_ms) / 1_000 / speed))


class FileWriter:
    """A file of values (`.jsonl`, or `-` for standard output) or of times (`.csv`: arrival_ms,event_ms,device,seq)."""

    def __init__(self, name: str, values: Values) -> None:
        if name != "-" and Path(name).suffix not in (".jsonl", ".csv"):
            raise UsageError(
                f"cannot tell the format of {name!r}", hint="name it .jsonl or .csv, or - to print JSON lines"
            )
        self._values = values
        self._csv = name.endswith(".csv")
        try:
            made = sys.stdout.buffer if name == "-" else Path(name).open("wb")  # noqa: SIM115  # closed by __exit__
        except OSError as error:
            raise UsageError(f"cannot write {name!r}: {error.strerror}") from error
        self._file = made
        if self._csv:
            self._file.write(b"arrival_ms,event_ms,device,seq\n")

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.flush()
        if self._file is not sys.stdout.buffer:
            self._file.close()

    def write(self, tuples: Slice) -> None:
        """Append the tuples, a line each."""
        if self._csv:
            columns = np.stack((tuples.arrival_ms, tuples.ts_ms, tuples.device, tuples.seq), axis=1).tolist()
            self._file.write(b"".join(b"%d,%d,%d,%d\n" % tuple(row) for row in columns))
        else:
            self._file.write(b"".join(value + b"\n" for value in self._values(tuples)))
