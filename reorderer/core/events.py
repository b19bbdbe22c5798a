"""What goes into the core and what comes out: arrays in, arrays out, one entry a tuple.

`Batch` is in raw (offset) order. The events of `Reorderer.process` are in the order they happen; flattened to tuples
they do not depend on how the input was cut into batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from reorderer.errors import UsageError

M = TypeVar("M")
Ints: TypeAlias = NDArray[np.int64]

BOTTOM_MS = -(1 << 53)
"""The frontier before any tuple: nothing is older. Times lie strictly between it and 2^53."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch(Generic[M]):
    """Consecutive tuples of one raw partition, in offset order; what the codec found dead is already taken out.

    `size` (bytes of each tuple) is needed where a byte limit is set. `position` is the raw position after the batch,
    where records taken out follow its last tuple; by default the last offset plus one.
    """

    ts_ms: Ints
    arrival_ms: Ints
    offset: Ints
    messages: Sequence[M]
    size: Ints | None = None
    position: int | None = None

    def __len__(self) -> int:
        return len(self.ts_ms)


def check_batch(batch: Batch[M]) -> None:
    """Refuse a batch that is no sequence of tuples: wrong types, lengths, times beyond 2^53, offsets not increasing."""
    columns = {"ts_ms": batch.ts_ms, "arrival_ms": batch.arrival_ms, "offset": batch.offset}
    if batch.size is not None:
        columns["size"] = batch.size
    for name, column in columns.items():
        if column.dtype != np.int64:
            raise UsageError(f"{name} has type {str(column.dtype)!r}", hint="times, offsets and sizes are int64")
        if len(column) != len(batch.messages):
            raise UsageError(f"{name} has {len(column)} entries for {len(batch.messages)} messages")
    if not len(batch):
        return
    for name in ("ts_ms", "arrival_ms"):
        least, most = int(columns[name].min()), int(columns[name].max())
        if least <= BOTTOM_MS or most >= -BOTTOM_MS:
            wrong = least if least <= BOTTOM_MS else most
            raise UsageError(f"{name} {wrong!r} is beyond 2^53", hint="times are milliseconds since the epoch")
    if (batch.offset[1:] <= batch.offset[:-1]).any() or batch.offset[0] < 0:
        raise UsageError("offsets of a batch must increase from 0 on")


@dataclass(frozen=True, slots=True, eq=False)
class Released(Generic[M]):
    """Tuples leaving the buffer, consecutive in sequence order; `at_ms` is the arrival clock when each left."""

    messages: list[M]
    ts_ms: Ints
    offset: Ints
    at_ms: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Late(Generic[M]):
    """Tuples that came after their punctuation; `frontier_ms` is the frontier each was judged against."""

    messages: list[M]
    ts_ms: Ints
    offset: Ints
    arrival_ms: Ints
    frontier_ms: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Future(Generic[M]):
    """Tuples more than `max_future` ahead of their arrival; they moved nothing."""

    messages: list[M]
    ts_ms: Ints
    offset: Ints
    arrival_ms: Ints


@dataclass(frozen=True, slots=True)
class Punctuation:
    """No tuple with `ts < until_ms` follows on this partition.

    `position` is the offset after the tuple that caused it; where silence caused it, after the last tuple before the
    silence. `drop_ratio` counts the tuples before that cause. `seq` numbers those that are a function of the input;
    idle heartbeats have none. `at_ms`, the arrival clock (or wall time) of the cause, is not part of the record.
    """

    until_ms: int
    slack_ms: int
    drop_ratio: float
    bound: float | None
    position: int
    seq: int | None
    idle: bool
    at_ms: int


Event: TypeAlias = Released[M] | Late[M] | Future[M] | Punctuation
