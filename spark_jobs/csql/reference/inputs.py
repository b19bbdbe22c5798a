"""Rows of JSON as the sequences of streams: records read by type, sorted into sequence order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spark_jobs.csql.plan import Stream
from spark_jobs.csql.reference.casting import milliseconds, read
from spark_jobs.csql.reference.continuous import admit
from spark_jobs.csql.reference.rows import FOREVER, Life, Lives, Result, Row, Snapshots, as_sequence
from spark_jobs.csql.reference.rows import Snapshot as OneSnapshot
from spark_jobs.csql.reference.values import Record
from spark_jobs.csql.types import Value
from spark_jobs.errors import UsageError

Line = tuple[int, int, dict[str, Any]]
"""A row of a file: (partition, offset, JSON object)."""


def sequence(stream: Stream, lines: Iterable[Line]) -> Result:
    """Return a stream's rows in sequence order, whatever the order of the lines; punctuations are left out."""
    rows = [line for line in lines if "__punctuation__" not in line[2]]
    if stream.kind == "continuous":
        return _continuous(stream, rows)
    placed = [_row(stream, line) for line in rows]
    if stream.kind == "tuples":
        return Lives(tuple(Life(row, at_ms, FOREVER, FOREVER) for at_ms, row in placed))
    return as_sequence(Snapshots(tuple(OneSnapshot(at_ms, (), (row,)) for at_ms, row in placed)))


def last_ms(result: Result) -> int | None:
    """Return the last time of an input's rows, None where it has none."""
    if isinstance(result, Snapshots):
        return max((each.at_ms for each in result.items), default=None)
    times = [life.from_ms for life in result.items]
    times += [life.end_ms for life in result.items if life.end_ms < life.to_ms]
    return max(times, default=None)


def _row(stream: Stream, line: Line) -> tuple[int, Row]:
    partition, offset, value = line
    at_ms = _time(stream, line, stream.timestamp or "at")
    record = _record(stream, value, at_ms)
    key = tuple(record["", name] for name in stream.key) or (partition, offset)
    return at_ms, Row(record, key, ((at_ms, partition, offset),))


def _record(stream: Stream, value: dict[str, Any], at_ms: int) -> Record:
    record = {("", field.name): read(value.get(field.name), field.type) for field in stream.fields}
    if stream.timestamp is not None:
        record["", stream.timestamp] = at_ms
    return record


def _time(stream: Stream, line: Line, name: str) -> int:
    partition, offset, value = line
    at_ms = milliseconds(value.get(name))
    if at_ms is None:
        message = f"row {offset} of input {partition} of '{stream.name}' has no time in '{name}'"
        raise UsageError(message, hint="give epoch milliseconds or RFC 3339 text")
    return at_ms


def _continuous(stream: Stream, lines: list[Line]) -> Result:
    """Pair positives and negatives by key; at one instant negatives come first."""
    events = []
    for line in lines:
        negative = line[2].get("op") == "-"
        events.append((_time(stream, line, "at" if negative else "from"), not negative, line))
    lives: list[Life] = []
    alive: dict[tuple[Value, ...], int] = {}
    for at_ms, positive, line in sorted(events, key=lambda event: (event[0], event[1], event[2][0], event[2][1])):
        key = _key(line[2].get("key"))
        index = alive.get(key)
        if index is not None and lives[index].end_ms <= at_ms:
            index = None
        if positive and index is None:
            to_ms = _end(stream, line)
            order = ((at_ms, line[0], line[1]),)
            alive[key] = len(lives)
            lives.append(Life(Row(_record(stream, line[2], at_ms), key, order), at_ms, to_ms, to_ms))
        elif not positive and index is not None:
            ended = lives[index]
            lives[index] = Life(ended.row, ended.from_ms, ended.to_ms, at_ms)
    return admit(Lives(tuple(life for life in lives if life.from_ms < life.end_ms)))[0]


def _end(stream: Stream, line: Line) -> int:
    return FOREVER if line[2].get("to") is None else _time(stream, line, "to")


def _key(value: Any) -> tuple[Value, ...]:
    return tuple(value) if isinstance(value, list) else (value,)
