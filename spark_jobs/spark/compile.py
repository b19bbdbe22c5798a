"""From a plan of CSQL to what Spark runs: so far, time-driven snapshots of one stream (spec, 5)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from spark_jobs.csql import plan as algebra
from spark_jobs.csql.expressions import Column, Expression, conjunction, transform
from spark_jobs.csql.plan import Distinct, Frequency, Plan, Project, Scan, Select, Stream, Window
from spark_jobs.csql.program import RegisteredQuery
from spark_jobs.csql.render import to_spark
from spark_jobs.errors import QueryError
from spark_jobs.spark.snapshot import Aggregate, Snapshot

Scope = dict[tuple[str, str], Expression]
"""What each column of an edge, by source and name, is made of."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query that Spark can run. `plan` identifies it in a checkpoint; `names` are its columns."""

    name: str
    plan: str
    stream: Stream
    snapshot: Snapshot
    names: tuple[str, ...]
    output_topic: str


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a stream under stateless operators: a column is an expression over the stream's."""

    stream: Stream
    columns: Scope
    where: tuple[Expression, ...] = ()
    range_ms: int | None = None
    every_ms: int | None = None
    origin_ms: int = 0


@dataclass(frozen=True, slots=True)
class _Groups:
    """Rows in groups: a column is an expression over the names of the group's columns and aggregates."""

    rows: _Rows
    columns: Scope
    group_by: tuple[Expression, ...]
    aggregates: tuple[Aggregate, ...] = ()
    having: tuple[Expression, ...] = field(default=())


def compile_query(query: RegisteredQuery) -> Query:
    """Return what Spark runs for the query; raise QueryError where this engine has no operator for it."""
    compiled = _compile(query.plan)
    groups = compiled if isinstance(compiled, _Groups) else _each_tuple(compiled)
    rows = groups.rows
    if rows.range_ms is None or rows.every_ms is None:
        raise _unsupported("a query without RANGE and FREQUENCY (or SLIDE) in time", query.plan)
    snapshot = Snapshot(
        range_ms=rows.range_ms,
        frequency_ms=rows.every_ms,
        origin_ms=rows.origin_ms,
        where=_condition(rows.where),
        group_by=tuple((f"g{place}", _sql(part)) for place, part in enumerate(groups.group_by)),
        aggregates=groups.aggregates,
        having=_condition(groups.having),
        items=tuple(_sql(part) for part in groups.columns.values()),
    )
    names = tuple(name for _, name in groups.columns)
    return Query(query.name, repr(_bare(query.plan)), rows.stream, snapshot, names, query.result.clean)


def _compile(plan: Plan) -> _Rows | _Groups:
    match plan:
        case Scan():
            return _scan(plan)
        case Select():
            return _select(_compile(plan.child), plan)
        case Project():
            below = _compile(plan.child)
            columns = {(plan.alias, output.name): _in(below.columns, output.expression) for output in plan.outputs}
            return replace(below, columns=columns)
        case Window():
            return _window(_compile(plan.child), plan)
        case Frequency():
            return _frequency(_compile(plan.child), plan)
        case algebra.Aggregate():
            return _aggregate(_compile(plan.child), plan)
        case Distinct():
            below = _compile(plan.child)
            if isinstance(below, _Groups):
                raise _unsupported("DISTINCT of an aggregate", plan)
            return _Groups(below, _named(below.columns), tuple(below.columns.values()))
        case algebra.Partition() | algebra.Join() | algebra.Minus():
            raise _unsupported(type(plan).__name__.upper(), plan)


def _scan(plan: Scan) -> _Rows:
    if plan.stream.kind != "tuples":
        raise _unsupported(f"a {plan.stream.kind} stream as input", plan)
    fields = plan.stream.fields
    columns = {(plan.alias, one.name): Column("", f"c{place}", one.type) for place, one in enumerate(fields)}
    return _Rows(plan.stream, dict(columns))


def _select(below: _Rows | _Groups, plan: Select) -> _Rows | _Groups:
    condition = _in(below.columns, plan.condition)
    if isinstance(below, _Rows):
        return replace(below, where=(*below.where, condition))
    return replace(below, having=(*below.having, condition))


def _window(below: _Rows | _Groups, plan: Window) -> _Rows:
    if isinstance(below, _Groups) or below.range_ms is not None or below.every_ms is not None:
        raise _unsupported("a window over a window", plan)
    if plan.length.unit != "ms":
        raise _unsupported("RANGE in tuples", plan)
    return replace(below, range_ms=plan.length.amount)


def _frequency(below: _Rows | _Groups, plan: Frequency) -> _Rows:
    if isinstance(below, _Groups) or below.range_ms is None or below.every_ms is not None or plan.of != "sets":
        raise _unsupported("a FREQUENCY that samples rows", plan)
    if plan.every.unit != "ms":
        raise _unsupported("FREQUENCY in tuples", plan)
    return replace(below, every_ms=plan.every.amount, origin_ms=plan.origin_ms)


def _aggregate(below: _Rows | _Groups, plan: algebra.Aggregate) -> _Groups:
    if isinstance(below, _Groups):
        raise _unsupported("an aggregate of an aggregate", plan)
    group_by = tuple(_in(below.columns, column) for column in plan.group)
    columns: Scope = {(one.source, one.name): Column("", f"g{place}") for place, one in enumerate(plan.group)}
    aggregates: list[Aggregate] = []
    for column in plan.last:
        columns[column.source, column.name] = Column("", f"a{len(aggregates)}")
        aggregates.append(Aggregate(f"a{len(aggregates)}", "LAST", _sql(_in(below.columns, column))))
    for measure in plan.measures:
        argument = None if measure.call.argument is None else _sql(_in(below.columns, measure.call.argument))
        columns["", measure.name] = Column("", f"a{len(aggregates)}")
        aggregates.append(Aggregate(f"a{len(aggregates)}", measure.call.function, argument))
    return _Groups(below, columns, group_by, tuple(aggregates))


def _each_tuple(rows: _Rows) -> _Groups:
    """Return every tuple as a group of its own: its place in the stream is the key."""
    aggregates = tuple(Aggregate(f"a{place}", "LAST", _sql(part)) for place, part in enumerate(rows.columns.values()))
    columns: Scope = {name: Column("", f"a{place}") for place, name in enumerate(rows.columns)}
    return _Groups(rows, columns, (Column("", "_partition"), Column("", "_offset")), aggregates)


def _named(columns: Scope) -> Scope:
    return {name: Column("", f"g{place}") for place, name in enumerate(columns)}


def _in(columns: Scope, expression: Expression) -> Expression:
    """Return the expression with every column replaced by what it is made of."""
    return transform(expression, lambda part: columns[part.source, part.name] if isinstance(part, Column) else None)


def _condition(conditions: tuple[Expression, ...]) -> str | None:
    joined = conjunction(conditions)
    return None if joined is None else _sql(joined)


def _sql(expression: Expression) -> str:
    return to_spark(expression, lambda column: column.name)


def _bare(plan: Plan) -> Plan:
    """Return the plan without what it asks of the reorderer: a changed DRATIO is not another query."""
    if isinstance(plan, Scan):
        return replace(plan, disorder=algebra.Disorder())
    return algebra.with_inputs(plan, tuple(_bare(child) for child in algebra.inputs(plan)))


def _unsupported(what: str, plan: Any) -> QueryError:
    return QueryError(
        f"the Spark engine cannot run {what} yet",
        hint="it runs one stream with RANGE and FREQUENCY (or SLIDE) in time; --engine reference runs every query",
        at=plan.at,
    )
