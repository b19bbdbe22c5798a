"""Operators over lifetimes (004, section 3): each takes and returns rows with the time they live."""

from __future__ import annotations

from spark_jobs.csql.plan import Aggregate, Join
from spark_jobs.csql.reference.relational import aggregate_rows, group_of, joined, row_values
from spark_jobs.csql.reference.rows import FOREVER, Life, Lives, Row, began, changes, coalesced
from spark_jobs.csql.reference.values import is_true
from spark_jobs.csql.types import Value


def join_lives(plan: Join, left: Lives, right: Lives) -> Lives:
    """Return every pair that fits, alive while both are; announced to live until the earlier announced end."""
    pairs = []
    for ours in left.items:
        for theirs in right.items:
            from_ms, end_ms = max(ours.from_ms, theirs.from_ms), min(ours.end_ms, theirs.end_ms)
            if from_ms >= end_ms:
                continue
            row = joined(plan, ours.row, theirs.row)
            if is_true(plan.condition, row.record):
                pairs.append(Life(row, from_ms, min(ours.to_ms, theirs.to_ms), end_ms))
    return Lives(tuple(pairs))


def aggregate_lives(plan: Aggregate, lives: Lives) -> Lives:
    """Return one row a group from each change of it to the next, announced until the earliest end in it (004, 3.2).

    ::

        SUM, W = 4      a=1 [====)                  1 [0,4) ended at 2
                          b=2 [====)                3 [2,4)
                                                    2 [4,6)
    """
    alive: dict[tuple[Value, ...], dict[int, Life]] = {}
    current: dict[tuple[Value, ...], Life] = {}
    done: list[Life] = []
    for at_ms, ending, beginning in changes(lives.items):
        for life in ending:
            del alive[group_of(plan, life.row)][id(life)]
        for life in beginning:
            alive.setdefault(group_of(plan, life.row), {})[id(life)] = life
        touched = dict.fromkeys(group_of(plan, life.row) for life in (*ending, *beginning))
        for group in touched:
            members = alive[group].values()
            row = aggregate_rows(plan, tuple(life.row for life in members)) if members else None
            to_ms = min((life.to_ms for life in members), default=at_ms)
            _replace(current, done, group, row, at_ms, to_ms)
    return Lives((*done, *current.values()))


def distinct_lives(lives: Lives) -> Lives:
    """Return, of equal rows alive, the oldest one until it ends, then the next oldest (004, 3.4)."""
    alive: dict[tuple[Value, ...], dict[int, Life]] = {}
    current: dict[tuple[Value, ...], Life] = {}
    done: list[Life] = []
    for at_ms, ending, beginning in changes(tuple(coalesced(lives))):
        for life in ending:
            del alive[row_values(life.row)][id(life)]
        for life in beginning:
            alive.setdefault(row_values(life.row), {})[id(life)] = life
        for values in dict.fromkeys(row_values(life.row) for life in (*ending, *beginning)):
            oldest = min(alive[values].values(), key=began, default=None)
            row = None if oldest is None else Row(oldest.row.record, values, oldest.row.order)
            _replace(current, done, values, row, at_ms, at_ms if oldest is None else oldest.to_ms)
    return Lives((*done, *current.values()))


def _replace(
    current: dict[tuple[Value, ...], Life],
    done: list[Life],
    key: tuple[Value, ...],
    row: Row | None,
    at_ms: int,
    to_ms: int,
) -> None:
    """End the current row of a key and begin the new one, unless it is the same row with the same end.

    A row that goes on under a newer tuple is two lives here, since its place in a snapshot moves; `coalesced` makes one
    row of them for those who see results come and go.
    """
    before = current.get(key)
    if before is not None and row == before.row and before.to_ms == to_ms:
        return
    if before is not None:
        del current[key]
        done.append(Life(before.row, before.from_ms, before.to_ms, at_ms))
    if row is not None:
        current[key] = Life(row, at_ms, to_ms, FOREVER)


def minus_lives(left: Lives, right: Lives) -> Lives:
    """Return the left rows, each while no equal row is alive on the right (004, 3.5)."""
    blocked: dict[tuple[Value, ...], list[Life]] = {}
    for life in right.items:
        blocked.setdefault(row_values(life.row), []).append(life)
    return Lives(
        tuple(
            Life(life.row, from_ms, life.to_ms, end_ms)
            for life in left.items
            for from_ms, end_ms in _gaps(life, blocked.get(row_values(life.row), []))
        )
    )


def _gaps(life: Life, blockers: list[Life]) -> list[tuple[int, int]]:
    """Return the stretches of a lifetime that no blocker covers."""
    free = [(life.from_ms, life.end_ms)]
    for blocker in blockers:
        cut = []
        for from_ms, end_ms in free:
            cut.append((from_ms, min(end_ms, blocker.from_ms)))
            cut.append((max(from_ms, blocker.end_ms), end_ms))
        free = [(from_ms, end_ms) for from_ms, end_ms in cut if from_ms < end_ms]
    return sorted(free)


def admit(lives: Lives) -> tuple[Lives, int]:
    """Return the lives without those that begin while their key is alive, and how many these were (004, 2.2)."""
    admitted: list[Life] = []
    ends: dict[tuple[Value, ...], int] = {}
    for life in sorted(lives.items, key=began):
        if ends.get(life.row.key, life.from_ms) <= life.from_ms:
            admitted.append(life)
            ends[life.row.key] = life.end_ms
    return Lives(tuple(admitted)), len(lives.items) - len(admitted)
