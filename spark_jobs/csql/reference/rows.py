"""What flows in the reference evaluator: rows in snapshots, rows with lifetimes, and sequences of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from spark_jobs.csql.reference.values import Record
from spark_jobs.csql.types import Value

FOREVER = 2**63
"""The end of a lifetime that has none."""

Position: TypeAlias = tuple[int, int, int]
"""A place in a sequence: (time, partition, offset)."""


@dataclass(frozen=True, slots=True)
class Row:
    """Values, primary key, and the positions of the newest tuples behind the row, source by source.

    `fresh` is false for a row of a tuple-driven snapshot that the previous snapshot had seen.
    """

    record: Record
    key: tuple[Value, ...]
    order: tuple[Position, ...]
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The rows at one instant; `driver` is the position of the tuple that caused it, () where time did."""

    at_ms: int
    driver: tuple[Position, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Life:
    """A row alive in [from_ms, end_ms), announced to live until `to_ms`, which is not before `end_ms` (004, 2.1)."""

    row: Row
    from_ms: int
    to_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Snapshots:
    """A sequence of sets."""

    items: tuple[Snapshot, ...]


@dataclass(frozen=True, slots=True)
class Lives:
    """A continuous result."""

    items: tuple[Life, ...]


Result: TypeAlias = Snapshots | Lives


@dataclass(frozen=True, slots=True)
class Timed:
    """A row of a sequence: its time and its place, counted from 0."""

    at_ms: int
    place: int
    row: Row


def timed_rows(result: Result) -> list[Timed]:
    """Return the rows of a result in its order: of a continuous one, each beginning (a positive) at its time."""
    if isinstance(result, Lives):
        ordered = [(life.from_ms, life.row) for life in coalesced(result)]
    else:
        keyed = [((each.at_ms, each.driver, row.order), row) for each in result.items for row in each.rows]
        ordered = [(key[0], row) for key, row in sorted(keyed, key=lambda each: each[0])]
    return [Timed(at_ms, place, row) for place, (at_ms, row) in enumerate(ordered)]


def coalesced(lives: Lives) -> list[Life]:
    """Return the lives in order of beginning; one that only goes on under a newer tuple is part of the first."""
    whole: dict[tuple[Value, ...], Life] = {}
    done: list[Life] = []
    for life in sorted(lives.items, key=began):
        before = whole.get(life.row.key)
        goes_on = before is not None and (before.end_ms, before.to_ms) == (life.from_ms, life.to_ms)
        if before is not None and goes_on and before.row.record == life.row.record:
            whole[life.row.key] = replace(before, end_ms=life.end_ms)
            continue
        if before is not None:
            done.append(before)
        whole[life.row.key] = life
    return sorted((*done, *whole.values()), key=began)


def began(life: Life) -> tuple[int, tuple[Position, ...]]:
    """Return the sort key of beginnings: by time, then by the rows' order."""
    return life.from_ms, life.row.order


def as_sequence(result: Result) -> Result:
    """Return the result as a source sees it: each row at a position of its own, snapshots joined by instant."""
    if isinstance(result, Lives):
        return Lives(
            tuple(
                replace(life, row=replace(life.row, order=((life.from_ms, 0, ordinal),)))
                for ordinal, life in enumerate(coalesced(result))
            )
        )
    sets: dict[int, list[Row]] = {}
    for each in timed_rows(result):
        placed = replace(each.row, key=(0, each.place), order=((each.at_ms, 0, each.place),), fresh=True)
        sets.setdefault(each.at_ms, []).append(placed)
    return Snapshots(tuple(Snapshot(at_ms, (), tuple(rows)) for at_ms, rows in sets.items()))


def changes(lives: tuple[Life, ...]) -> Iterator[tuple[int, list[Life], list[Life]]]:
    """Yield each instant at which something ends or begins, with what ends and what begins, in order."""
    instants: dict[int, tuple[list[Life], list[Life]]] = {}
    for life in sorted(lives, key=began):
        instants.setdefault(life.from_ms, ([], []))[1].append(life)
        if life.end_ms < FOREVER:
            instants.setdefault(life.end_ms, ([], []))[0].append(life)
    for at_ms in sorted(instants):
        ending, beginning = instants[at_ms]
        yield at_ms, ending, beginning
