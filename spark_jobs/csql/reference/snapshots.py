"""Operators over snapshots: each works on the rows of one instant alone."""

from __future__ import annotations

from collections.abc import Iterator

from spark_jobs.csql.edges import Instants
from spark_jobs.csql.plan import Aggregate, Join
from spark_jobs.csql.reference.relational import aggregate_rows, group_of, joined, row_values
from spark_jobs.csql.reference.rows import Lives, Position, Result, Row, Snapshot, Snapshots
from spark_jobs.csql.reference.values import is_true
from spark_jobs.csql.reference.windows import alive_at
from spark_jobs.csql.types import Value


def aggregate(plan: Aggregate, snapshots: Snapshots) -> Snapshots:
    """Return one row a group alive; of a tuple-driven snapshot only the groups that received a tuple since the last."""
    found = []
    for each in snapshots.items:
        groups: dict[tuple[Value, ...], list[Row]] = {}
        for row in each.rows:
            groups.setdefault(group_of(plan, row), []).append(row)
        received = (rows for rows in groups.values() if any(row.fresh for row in rows))
        found.append(Snapshot(each.at_ms, each.driver, tuple(aggregate_rows(plan, tuple(rows)) for rows in received)))
    return Snapshots(tuple(found))


def distinct(snapshots: Snapshots) -> Snapshots:
    """Return each combination of values once, at the place of its newest row."""
    found = []
    for each in snapshots.items:
        newest: dict[tuple[Value, ...], Row] = {}
        for row in sorted(each.rows, key=lambda row: row.order):
            newest[row_values(row)] = row
        found.append(Snapshot(each.at_ms, each.driver, tuple(newest.values())))
    return Snapshots(tuple(found))


def join(plan: Join, left: Result, right: Result) -> Snapshots:
    """Return the pairs that fit of the two windows at the same instants."""
    found = []
    for at_ms, driver, ours, theirs in _met(left, right):
        pairs = (joined(plan, mine, other) for mine in ours for other in theirs)
        rows = tuple(pair for pair in pairs if is_true(plan.condition, pair.record))
        found.append(Snapshot(at_ms, driver, rows))
    return Snapshots(tuple(found))


def minus(left: Snapshots, right: Result, instants: Instants | None) -> Snapshots:
    """Return the left rows without an equal one on the right, at the instants both sides have."""
    found = []
    present = _rows_at(right, left)
    for each in left.items:
        if not _is_met(each.at_ms, instants):
            continue
        gone = {row_values(row) for row in present.get(each.at_ms, ())}
        kept = tuple(row for row in each.rows if row_values(row) not in gone)
        found.append(Snapshot(each.at_ms, each.driver, kept))
    return Snapshots(tuple(found))


def _is_met(at_ms: int, instants: Instants | None) -> bool:
    if instants is None or instants.every is None or instants.every.unit == "tuples":
        return True
    return (at_ms - instants.origin_ms) % instants.every.amount == 0


def _rows_at(result: Result, others: Snapshots) -> dict[int, tuple[Row, ...]]:
    """Return the rows of one input at the instants of the other."""
    if isinstance(result, Lives):
        return alive_at(result, (each.at_ms for each in others.items))
    rows: dict[int, tuple[Row, ...]] = {}
    for each in result.items:
        rows[each.at_ms] = rows.get(each.at_ms, ()) + each.rows
    return rows


def _met(left: Result, right: Result) -> Iterator[tuple[int, tuple[Position, ...], tuple[Row, ...], tuple[Row, ...]]]:
    """Yield the instants of both inputs with the rows of each side; a continuous side is read at the other's."""
    if isinstance(left, Lives):
        assert isinstance(right, Snapshots)
        present = _rows_at(left, right)
        for each in right.items:
            yield each.at_ms, each.driver, present[each.at_ms], each.rows
        return
    if isinstance(right, Lives):
        present = _rows_at(right, left)
        for each in left.items:
            yield each.at_ms, each.driver, each.rows, present[each.at_ms]
        return
    others: dict[int, list[Snapshot]] = {}
    for other in right.items:
        others.setdefault(other.at_ms, []).append(other)
    for each in left.items:
        for other in others.get(each.at_ms, []):
            yield each.at_ms, each.driver + other.driver, each.rows, other.rows
