"""Windows made of panes: each pane is aggregated once, and each window merges the panes it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from spark_jobs.csql.expressions import AggregateCall
from spark_jobs.csql.plan import Aggregate
from spark_jobs.csql.reference.relational import group_of
from spark_jobs.csql.reference.rows import Row, Timed
from spark_jobs.csql.reference.values import bounded, comparable, evaluate
from spark_jobs.csql.reference.windows import multiples, slot_end
from spark_jobs.csql.types import Value

Group = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Partial:
    """One measure over part of a group: the values that count, their exact sum, the least and the greatest."""

    count: int
    total: Fraction
    exact: bool
    least: Value
    greatest: Value


@dataclass(frozen=True, slots=True)
class Pane:
    """A group's rows within one pane: the newest of them, and a partial for each measure."""

    newest: Row
    partials: tuple[Partial, ...]


def aggregate_panes(plan: Aggregate, rows: list[Timed], pane_ms: int, origin_ms: int) -> dict[int, dict[Group, Pane]]:
    """Return the panes by their last instant, group by group."""
    content: dict[int, dict[Group, list[Row]]] = {}
    for each in rows:
        pane = content.setdefault(slot_end(each.at_ms, pane_ms, origin_ms), {})
        pane.setdefault(group_of(plan, each.row), []).append(each.row)
    return {
        end_ms: {group: _pane(plan, members) for group, members in groups.items()} for end_ms, groups in content.items()
    }


def windows_of(
    panes: dict[int, dict[Group, Pane]], length_ms: int, every_ms: int, origin_ms: int, end_ms: int
) -> Iterator[tuple[int, dict[Group, list[Pane]]]]:
    """Yield each instant at which a pane is alive, with the panes of (t - W, t] by group."""
    instants: set[int] = set()
    for pane_ms in panes:
        instants.update(multiples(pane_ms, min(pane_ms + length_ms - 1, end_ms), every_ms, origin_ms))
    for at_ms in sorted(instants):
        groups: dict[Group, list[Pane]] = {}
        for pane_ms in sorted(panes):
            if at_ms - length_ms < pane_ms <= at_ms:
                for group, pane in panes[pane_ms].items():
                    groups.setdefault(group, []).append(pane)
        yield at_ms, groups


def merged(plan: Aggregate, panes: list[Pane]) -> Row:
    """Return a group's row from its panes."""
    newest = max((pane.newest for pane in panes), key=lambda row: row.order)
    record = {
        (column.source, column.name): newest.record[column.source, column.name] for column in (*plan.group, *plan.last)
    }
    for place, measure in enumerate(plan.measures):
        partial = [pane.partials[place] for pane in panes]
        record["", measure.name] = _result(measure.call, _together(partial))
    return Row(record, group_of(plan, newest), newest.order)


def _pane(plan: Aggregate, rows: list[Row]) -> Pane:
    newest = max(rows, key=lambda row: row.order)
    return Pane(newest, tuple(_together([_single(measure.call, row) for row in rows]) for measure in plan.measures))


def _single(call: AggregateCall, row: Row) -> Partial:
    value = 1 if call.argument is None else evaluate(call.argument, row.record)
    if value is None:
        return Partial(0, Fraction(0), True, None, None)
    number = isinstance(value, int | float)
    return Partial(1, Fraction(value) if number else Fraction(0), isinstance(value, int), value, value)


def _together(partials: list[Partial]) -> Partial:
    counted = [partial for partial in partials if partial.count]
    total = sum((partial.total for partial in counted), Fraction(0))
    least = min((partial.least for partial in counted), key=comparable, default=None)
    greatest = max((partial.greatest for partial in counted), key=comparable, default=None)
    count = sum(partial.count for partial in counted)
    return Partial(count, total, all(partial.exact for partial in counted), least, greatest)


def _result(call: AggregateCall, partial: Partial) -> Value:
    match call.function:
        case "COUNT":
            return partial.count
        case "MIN":
            return partial.least
        case "MAX":
            return partial.greatest
        case "SUM" if partial.count:
            return bounded(int(partial.total)) if partial.exact else float(partial.total)
        case "AVG" if partial.count:
            return (int(partial.total) if partial.exact else float(partial.total)) / partial.count
        case _:
            return None
