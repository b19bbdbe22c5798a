"""Windows, frequencies and partitions over sequences of rows (001, section 4; spec, section 5)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace

from spark_jobs.csql.expressions import Column
from spark_jobs.csql.plan import Span
from spark_jobs.csql.reference.rows import FOREVER, Life, Lives, Row, Snapshot, Snapshots, Timed
from spark_jobs.csql.types import Value


def partition(rows: list[Timed], columns: tuple[Column, ...]) -> list[list[Timed]]:
    """Return the substreams by the values of the columns; one where there are none."""
    substreams: dict[tuple[Value, ...], list[Timed]] = {}
    for each in rows:
        values = tuple(each.row.record[column.source, column.name] for column in columns)
        substreams.setdefault(values, []).append(each)
    return list(substreams.values())


def lifetimes(rows: list[Timed], length: Span) -> Lives:
    """Return the rows of a window without a frequency: [ts, ts + W), or until n newer rows have come.

    ::

        W_n, n = 2      a [====)          a ends when c comes: nobody knew before, it was announced for ever
                          b [====)
                             c [====...
    """
    lives = []
    for index, each in enumerate(rows):
        if length.unit == "ms":
            end_ms = each.at_ms + length.amount
            life = Life(each.row, each.at_ms, end_ms, end_ms)
        else:
            pushed_out = index + length.amount
            end_ms = rows[pushed_out].at_ms if pushed_out < len(rows) else FOREVER
            life = Life(each.row, each.at_ms, FOREVER, end_ms)
        if life.end_ms > life.from_ms:
            lives.append(life)
    return Lives(tuple(lives))


def multiples(first_ms: int, last_ms: int, every_ms: int, origin_ms: int) -> Iterator[int]:
    """Yield the instants origin + j * every within [first, last]."""
    instant_ms = first_ms + (origin_ms - first_ms) % every_ms
    while instant_ms <= last_ms:
        yield instant_ms
        instant_ms += every_ms


def instants_of(lives: Lives, every_ms: int, origin_ms: int, end_ms: int) -> list[int]:
    """Return the instants up to the end at which something is alive."""
    found: set[int] = set()
    stretches: list[list[int]] = []
    for life in sorted(lives.items, key=lambda each: each.from_ms):
        if stretches and life.from_ms <= stretches[-1][1]:
            stretches[-1][1] = max(stretches[-1][1], life.end_ms)
        else:
            stretches.append([life.from_ms, life.end_ms])
    for first_ms, past_ms in stretches:
        found.update(multiples(first_ms, min(past_ms - 1, end_ms), every_ms, origin_ms))
    return sorted(found)


def jump_in_time(lives: Lives, every_ms: int, origin_ms: int, end_ms: int) -> Snapshots:
    """Return the snapshots of what is alive at each instant up to the end; where nothing is, the window jumps over.

    ::

        RANGE 3, FREQUENCY 2      t   0 . 2 . 4 . 6 . 8         (t - 3, t]
        tuples                        a   b             .
        snapshots                     a   ab  b   -   -         a at 0 and 2, b at 2 and 4
    """
    found = alive_at(lives, instants_of(lives, every_ms, origin_ms, end_ms))
    return Snapshots(tuple(Snapshot(at_ms, (), rows) for at_ms, rows in found.items()))


def alive_at(lives: Lives, instants: Iterable[int]) -> dict[int, tuple[Row, ...]]:
    """Return the rows alive at each of these instants, in order of time."""
    waiting = sorted(lives.items, key=lambda life: life.from_ms, reverse=True)
    alive: list[Life] = []
    found: dict[int, tuple[Row, ...]] = {}
    for at_ms in sorted(set(instants)):
        while waiting and waiting[-1].from_ms <= at_ms:
            alive.append(waiting.pop())
        alive = [life for life in alive if life.end_ms > at_ms]
        found[at_ms] = tuple(life.row for life in alive)
    return found


def jump_tuples_in_time(rows: list[Timed], count: int, every_ms: int, origin_ms: int, end_ms: int) -> Snapshots:
    """Return the last `count` rows at each instant before which, since the previous one, a row came (001, alg. 2)."""
    times = [each.at_ms for each in rows]
    snapshots = []
    for slot_end_ms in sorted({slot_end(at_ms, every_ms, origin_ms) for at_ms in times}):
        if slot_end_ms <= end_ms:
            past = bisect_right(times, slot_end_ms)
            content = tuple(each.row for each in rows[max(0, past - count) : past])
            snapshots.append(Snapshot(slot_end_ms, (), content))
    return Snapshots(tuple(snapshots))


def jump_by_tuples(rows: list[Timed], length: Span, every: int) -> Snapshots:
    """Return the window at every n-th row, up to and including it; rows since the last snapshot are fresh."""
    times = [each.at_ms for each in rows]
    fresh = [replace(each.row, fresh=True) for each in rows]
    known = [replace(each.row, fresh=False) for each in rows]
    snapshots = []
    for index in range(every - 1, len(rows), every):
        newest = rows[index]
        begin = max(0, index + 1 - length.amount)
        if length.unit == "ms":
            begin = bisect_right(times, newest.at_ms - length.amount)
        since = max(begin, index + 1 - every)
        snapshots.append(Snapshot(newest.at_ms, newest.row.order, (*known[begin:since], *fresh[since : index + 1])))
    return Snapshots(tuple(snapshots))


def seen(rows: list[Timed], length: Span, every: Span, origin_ms: int) -> list[Timed]:
    """Return the rows that some snapshot will see, of windows in the unit of their frequency."""
    if every.unit == "tuples":
        return [each for index, each in enumerate(rows) if index % every.amount >= every.amount - length.amount]
    return [each for each in rows if slot_end(each.at_ms, every.amount, origin_ms) - each.at_ms < length.amount]


def jump_over_seen(rows: list[Timed], length: int, every: int) -> Snapshots:
    """Return the windows at every n-th row where only what they see was kept: `length` rows before each."""
    snapshots = []
    for end in range(length, len(rows) + 1, length):
        newest = rows[end - 1]
        content = tuple(each.row for each in rows[end - length : end])
        snapshots.append(Snapshot(newest.at_ms, newest.row.order, content))
    assert length <= every
    return Snapshots(tuple(snapshots))


def sample(rows: list[Timed], every: Span, origin_ms: int, end_ms: int) -> Snapshots:
    """Return every n-th row at its own time, or the last row of each slot ((j-1)t, jt] at the slot's end.

    Each is a snapshot of one row; those of one instant stay in the order of their places.

    ::

        FREQUENCY 3 ms      t   0 . . 3 . . 6 . . 9
        rows                        a b   c       d         slots (0,3] (3,6] (6,9]
        picked                        b     c       d       at      3     6     9
    """
    if every.unit == "tuples":
        picks = [(each.at_ms, each) for each in rows[every.amount - 1 :: every.amount]]
    else:
        last = {slot_end(each.at_ms, every.amount, origin_ms): each for each in rows}
        picks = [(at_ms, each) for at_ms, each in last.items() if at_ms <= end_ms]
    return Snapshots(
        tuple(Snapshot(at_ms, ((0, 0, each.place),), (replace(each.row, fresh=True),)) for at_ms, each in picks)
    )


def slot_end(at_ms: int, every_ms: int, origin_ms: int) -> int:
    """Return the first instant that is not before a time."""
    return at_ms + (origin_ms - at_ms) % every_ms
