"""Answer a query from a registered one whose frequency divides its own, over the same plan (001, query 4's remark).

Three shapes: snapshots in time (every k-th instant); picks of rows (every k-th row, or coarser slots); aggregates at
every n-th tuple, of which each group must have one row a snapshot: partitioned by its groups, no WHERE, no HAVING.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spark_jobs.csql.expressions import Column
from spark_jobs.csql.plan import (
    Aggregate,
    Frequency,
    Output,
    Partition,
    Plan,
    Project,
    Scan,
    Span,
    Stream,
    Window,
    inputs,
    with_inputs,
)
from spark_jobs.csql.program import RegisteredQuery
from spark_jobs.csql.rules.conditions import window_in_time


def answer_from_registered(plan: Plan, registered: Sequence[RegisteredQuery]) -> Plan:
    """Return the plan with every part that a registered query can answer read from its result."""
    bare = replace(plan, alias="") if isinstance(plan, Project) else plan
    for query in registered:
        answer = _in_time(bare, query) or _by_rows(bare, query) or _by_tuples(bare, query)
        if answer is not None:
            alias = plan.alias if isinstance(plan, Project) else ""
            return replace(answer, alias=alias)
    return with_inputs(plan, tuple(answer_from_registered(child, registered) for child in inputs(plan)))


def _project(child: Plan, stream: Stream) -> Project:
    """Return the columns of the registered result under their own names."""
    columns = [replace(field, source=stream.name).column() for field in stream.fields]
    return Project(child, tuple(Output(column, column.name) for column in columns))


# --- snapshots in time -------------------------------------------------------------------------------------------


def _in_time(plan: Plan, query: RegisteredQuery) -> Project | None:
    ours, theirs = _periods(plan), _periods(query.plan)
    if ours is None or theirs is None:
        return None
    (every_ms, origin_ms), (base_ms, base_origin_ms) = ours, theirs
    if every_ms % base_ms or (origin_ms - base_origin_ms) % base_ms:
        return None
    if _with_period(plan, Span(base_ms, "ms"), base_origin_ms) != query.plan:
        return None
    scan = Scan(query.result, query.result.name)
    if (every_ms, origin_ms) == (base_ms, base_origin_ms):
        return _project(scan, query.result)
    return _project(Frequency(scan, Span(every_ms, "ms"), "sets", origin_ms), query.result)


def _periods(plan: Plan) -> tuple[int, int] | None:
    """Return the one (period, origin) of all snapshot frequencies; None where something else counts their rows."""
    found: set[tuple[int, int] | None] = set()

    def visit(node: Plan, counted: bool) -> None:
        if isinstance(node, Frequency):
            timed = not counted and node.of == "sets" and node.every.unit == "ms" and window_in_time(node)
            found.add((node.every.amount, node.origin_ms) if timed else None)
        for child in inputs(node):
            visit(child, counted or isinstance(node, Frequency | Window))

    visit(plan, False)
    return found.pop() if len(found) == 1 else None


def _with_period(plan: Plan, every: Span, origin_ms: int) -> Plan:
    below = with_inputs(plan, tuple(_with_period(child, every, origin_ms) for child in inputs(plan)))
    return replace(below, every=every, origin_ms=origin_ms) if isinstance(below, Frequency) else below


# --- picks of rows, and aggregates at every n-th tuple -----------------------------------------------------------


def _by_rows(plan: Plan, query: RegisteredQuery) -> Project | None:
    if not isinstance(plan, Project) or not isinstance(query.plan, Project):
        return None
    ours, theirs = plan.child, query.plan.child
    if not isinstance(ours, Frequency) or not isinstance(theirs, Frequency) or ours.of != "rows":
        return None
    if replace(plan, child=replace(ours, every=theirs.every, origin_ms=theirs.origin_ms)) != query.plan:
        return None
    columns = ours.child.columns if isinstance(ours.child, Partition) else ()
    return _picked(plan, query, ours, theirs, columns)


def _by_tuples(plan: Plan, query: RegisteredQuery) -> Project | None:
    if not isinstance(plan, Project) or not isinstance(plan.child, Aggregate):
        return None
    ours = plan.child.child
    registered = query.plan.child if isinstance(query.plan, Project) else None
    theirs = registered.child if isinstance(registered, Aggregate) else None
    if not isinstance(ours, Frequency) or not isinstance(theirs, Frequency) or ours.of != "sets":
        return None
    if ours.every.unit != "tuples" or not isinstance(ours.child, Window):
        return None
    below = ours.child.child
    columns = below.columns if isinstance(below, Partition) else ()
    if set(columns) != set(plan.child.group):
        return None
    if replace(plan, child=replace(plan.child, child=replace(ours, every=theirs.every))) != query.plan:
        return None
    return _picked(plan, query, ours, theirs, columns)


def _picked(
    plan: Project, query: RegisteredQuery, ours: Frequency, theirs: Frequency, columns: tuple[Column, ...]
) -> Project | None:
    """Return the pick from the registered result, partitioned by the columns it has of them."""
    if ours.every.unit != theirs.every.unit or ours.every.amount % theirs.every.amount:
        return None
    if ours.every.unit == "ms" and (ours.origin_ms - theirs.origin_ms) % theirs.every.amount:
        return None
    scan = Scan(query.result, query.result.name)
    if (ours.every, ours.origin_ms) == (theirs.every, theirs.origin_ms):
        return _project(scan, query.result)
    names = {output.expression: output.name for output in plan.outputs}
    if not set(columns) <= set(names):
        return None
    fields = {field.name: replace(field, source=scan.alias).column() for field in query.result.fields}
    by = tuple(fields[names[column]] for column in columns)
    child = Partition(scan, by) if by else scan
    every = ours.every
    if every.unit == "tuples":
        every = Span(every.amount // theirs.every.amount, "tuples")
    return _project(Frequency(child, every, "rows", ours.origin_ms), query.result)
