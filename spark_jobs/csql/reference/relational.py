"""What the relational operators do to rows, whichever way these flow."""

from __future__ import annotations

from spark_jobs.csql.plan import Aggregate, Join, Project
from spark_jobs.csql.reference.rows import Row
from spark_jobs.csql.reference.values import Record, evaluate, measure
from spark_jobs.csql.types import Value


def projected(plan: Project, row: Row) -> Row:
    """Return the row with the output columns; key and order stay."""
    record = {(plan.alias, output.name): evaluate(output.expression, row.record) for output in plan.outputs}
    return Row(record, row.key, row.order, row.fresh)


def joined(plan: Join, left: Row, right: Row) -> Row:
    """Return a pair as one row: keys concatenated, or computed by KEY."""
    record: Record = {**left.record, **right.record}
    key = tuple(evaluate(part, record) for part in plan.key) if plan.key else left.key + right.key
    return Row(record, key, left.order + right.order, left.fresh and right.fresh)


def group_of(plan: Aggregate, row: Row) -> tuple[Value, ...]:
    """Return the values of the grouping columns."""
    return tuple(row.record[column.source, column.name] for column in plan.group)


def aggregate_rows(plan: Aggregate, rows: tuple[Row, ...]) -> Row:
    """Return the one row of a group; ungrouped columns come from its last tuple, and so does its order."""
    newest = max(rows, key=lambda row: row.order)
    record = {(column.source, column.name): newest.record[column.source, column.name] for column in plan.group}
    record |= {(column.source, column.name): newest.record[column.source, column.name] for column in plan.last}
    records = [row.record for row in rows]
    record |= {("", each.name): measure(each.call, records) for each in plan.measures}
    return Row(record, group_of(plan, newest), newest.order)


def row_values(row: Row) -> tuple[Value, ...]:
    """Return the values of a row, in the order of its columns."""
    return tuple(row.record.values())
