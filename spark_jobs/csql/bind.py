"""Semantic check: a parsed query becomes a plan, or a QueryError says what is wrong with it, before anything runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from spark_jobs.csql.bind_items import bind_items
from spark_jobs.csql.bind_source import bind_window
from spark_jobs.csql.cursor import suggest
from spark_jobs.csql.edges import Monotonicity, edge
from spark_jobs.csql.expressions import AggregateCall, Column, Expression, Literal, columns, transform, walk
from spark_jobs.csql.plan import (
    Aggregate,
    Distinct,
    Frequency,
    Join,
    Measure,
    Minus,
    Output,
    Partition,
    Plan,
    Project,
    Scan,
    Select,
    Stream,
)
from spark_jobs.csql.scope import Scope
from spark_jobs.csql.syntax import Block, FrequencyClause, Query, Source
from spark_jobs.csql.text import to_text
from spark_jobs.csql.types import Type
from spark_jobs.csql.typing import need_condition, type_of
from spark_jobs.csql.validate import check_bounded, check_join, check_minus
from spark_jobs.errors import QueryError


@dataclass
class Binder:
    """Binds queries against the streams known so far; collects warnings as (message, offset)."""

    streams: dict[str, Stream] = field(default_factory=dict)
    warnings: list[tuple[str, int]] = field(default_factory=list)

    def bind(self, query: Query) -> Plan:
        """Return the plan of a query."""
        plan = self._block(query.blocks[0])
        for block in query.blocks[1:]:
            plan = self._minus(plan, block, query.blocks[0])
        return plan

    def _minus(self, left: Plan, block: Block, first: Block) -> Plan:
        right = self._block(block)
        for side in (first, block):
            if side.frequency is not None:
                hint = "nest the whole query: SELECT * [FREQUENCY ...] FROM (... MINUS ...) AS name"
                raise QueryError("FREQUENCY cannot stand in a block of MINUS", hint=hint, at=side.frequency.at)
        check_minus(left, right, first.at, block.at)
        return Minus(left, right, block.at)

    def _block(self, block: Block) -> Plan:
        plan = self._from(block)
        scope = Scope(edge(plan).schema)
        if block.where is not None:
            _no_aggregate(block.where, "WHERE", "conditions on aggregates stand in HAVING")
            condition = scope.bind(block.where)
            need_condition(condition, "WHERE")
            plan = Select(plan, condition, block.where.at)
        outputs = bind_items(block.items, scope)
        having = None if block.having is None else scope.bind(block.having)
        grouped = self._is_grouped(block, outputs, having)
        if grouped:
            plan, outputs = self._aggregate(plan, block, scope, outputs, having)
        if block.frequency is not None and not block.distinct:
            plan = self._pick(plan, block.frequency, scope, outputs)
        plan = Project(plan, tuple(output for output, _ in outputs), "", block.at)
        if block.distinct:
            check_bounded(plan, "DISTINCT", block.at)
            plan = Distinct(plan, block.at)
            if block.frequency is not None:
                plan = self._pick_distinct(plan, block.frequency, scope, outputs)
        return plan

    # --- FROM ------------------------------------------------------------------------------------------------

    def _from(self, block: Block) -> Plan:
        aliases: list[str] = []
        plan: Plan | None = None
        for source in block.sources:
            if source.alias.lower() in aliases:
                hint = "give one of them an alias"
                raise QueryError(f"two sources are named '{source.alias}'", hint=hint, at=source.at)
            aliases.append(source.alias.lower())
            right = self._source(source)
            plan = right if plan is None else self._join(plan, right, block, source)
        assert plan is not None
        if block.key:
            plan = self._with_key(plan, block)
        return plan

    def _join(self, left: Plan, right: Plan, block: Block, source: Source) -> Plan:
        check_join(left, right, block.sources[0].at, source.at)
        return Join(left, right, at=source.at)

    def _with_key(self, plan: Plan, block: Block) -> Plan:
        if not isinstance(plan, Join):
            raise QueryError("KEY is for joins", hint="declare PRIMARY KEY in CREATE STREAM", at=block.key[0].at)
        scope = Scope(edge(plan).schema)
        key = []
        for part in block.key:
            _no_aggregate(part, "KEY", "a key is computed from the joined rows")
            bound = scope.bind(part)
            type_of(bound)
            key.append(bound)
        return replace(plan, key=tuple(key))

    def _source(self, source: Source) -> Plan:
        if isinstance(source.stream, Query):
            return bind_window(self._nested(source.stream, source), source)
        known = {name.lower(): stream for name, stream in self.streams.items()}
        stream = known.get(source.stream.lower())
        if stream is None:
            hint = suggest(source.stream, list(self.streams)) or "declare it with CREATE STREAM"
            raise QueryError(f"unknown stream '{source.stream}'", hint=hint, at=source.at)
        return bind_window(Scan(stream, source.alias, at=source.at), source)

    def _nested(self, query: Query, source: Source) -> Plan:
        inner = self.bind(query)
        if isinstance(inner, Project):
            return replace(inner, alias=source.alias)
        outputs = tuple(Output(each.column(), each.name) for each in edge(inner).schema)
        return Project(inner, outputs, source.alias, source.at)

    # --- GROUP BY and aggregates -----------------------------------------------------------------------------

    def _is_grouped(self, block: Block, outputs: list[tuple[Output, int]], having: Expression | None) -> bool:
        measured = any(isinstance(part, AggregateCall) for output, _ in outputs for part in walk(output.expression))
        if having is not None and not block.group and not measured and not _aggregates(having):
            raise QueryError("HAVING without an aggregate", hint="conditions on rows stand in WHERE", at=having.at)
        return bool(block.group) or measured or having is not None

    def _aggregate(
        self,
        plan: Plan,
        block: Block,
        scope: Scope,
        outputs: list[tuple[Output, int]],
        having: Expression | None,
    ) -> tuple[Plan, list[tuple[Output, int]]]:
        group = self._group(block, scope)
        wanted = [output.expression for output, _ in outputs] + ([having] if having is not None else [])
        measures, last = self._measures(wanted, group, block)
        if edge(plan).monotonicity is Monotonicity.MONOTONIC and edge(plan).kind == "continuous" and group:
            self.warnings.append(("without a RANGE every group is kept for ever", block.at))
        plan = Aggregate(plan, group, measures, last, block.at)
        if having is not None:
            condition = _over_measures(having)
            need_condition(condition, "HAVING")
            plan = Select(plan, condition, having.at)
        lifted = [(Output(_over_measures(output.expression), output.name), at) for output, at in outputs]
        return plan, lifted

    def _group(self, block: Block, scope: Scope) -> tuple[Column, ...]:
        group: list[Column] = []
        for column in block.group:
            bound = scope.resolve(column)
            if bound in group:
                raise QueryError(f"column '{column.name}' stands twice in GROUP BY", at=column.at)
            group.append(bound)
        return tuple(group)

    def _measures(
        self, wanted: list[Expression], group: tuple[Column, ...], block: Block
    ) -> tuple[tuple[Measure, ...], tuple[Column, ...]]:
        measures: dict[AggregateCall, Measure] = {}
        last: list[Column] = []
        for expression in wanted:
            for call in _aggregates(expression):
                if call.argument is not None:
                    _no_aggregate(call.argument, call.function, "aggregate a nested query's result instead")
                type_of(call)
                measures.setdefault(call, Measure(call, to_text(call)))
            for column in columns(transform(expression, _hide_aggregate)):
                if column in group or column in last:
                    continue
                self._ungrouped(column, block)
                last.append(column)
        return tuple(measures.values()), tuple(last)

    def _ungrouped(self, column: Column, block: Block) -> None:
        if not block.group:
            hint = f"add GROUP BY {to_text(column)}"
            raise QueryError(f"column '{column.name}' stands beside an aggregate", hint=hint, at=column.at)
        message = f"column '{column.name}' is not in GROUP BY: it takes the value of each group's last tuple"
        self.warnings.append((message, column.at))

    # --- FREQUENCY in SELECT ---------------------------------------------------------------------------------

    def _pick(self, plan: Plan, clause: FrequencyClause, scope: Scope, outputs: list[tuple[Output, int]]) -> Plan:
        by = tuple(_partition_column(column, plan, scope, outputs) for column in clause.partition)
        child = Partition(plan, by, clause.at) if by else plan
        return Frequency(child, clause.every, "rows", 0, clause.at)

    def _pick_distinct(
        self, plan: Plan, clause: FrequencyClause, scope: Scope, outputs: list[tuple[Output, int]]
    ) -> Plan:
        by = []
        for column in clause.partition:
            found = scope.resolve(column) if scope.find(column) else None
            match = next((output for output, _ in outputs if output.expression == found), None)
            name = match.name if match else column.name
            by.append(Scope(edge(plan).schema).resolve(Column("", name, at=column.at)))
        child = Partition(plan, tuple(by), clause.at) if by else plan
        return Frequency(child, clause.every, "rows", 0, clause.at)


def _aggregates(expression: Expression) -> list[AggregateCall]:
    return [part for part in walk(expression) if isinstance(part, AggregateCall)]


def _hide_aggregate(part: Expression) -> Expression | None:
    return Literal(None, Type.NULL) if isinstance(part, AggregateCall) else None


def _over_measures(expression: Expression) -> Expression:
    """Return the expression with each aggregate replaced by the column it became."""

    def replaced(part: Expression) -> Expression | None:
        if isinstance(part, AggregateCall):
            return Column("", to_text(part), type_of(part), part.at)
        return None

    return transform(expression, replaced)


def _no_aggregate(expression: Expression, clause: str, hint: str) -> None:
    found = _aggregates(expression)
    if found:
        raise QueryError(f"{found[0].function} cannot stand in {clause}", hint=hint, at=found[0].at)


def _partition_column(column: Column, plan: Plan, scope: Scope, outputs: list[tuple[Output, int]]) -> Column:
    """Return the column below the projection that PARTITIONED BY names, by itself or by its output name."""
    by_name = [output.expression for output, _ in outputs if output.name.lower() == column.name.lower()]
    if not scope.find(column) and not column.source and by_name and isinstance(by_name[0], Column):
        bound = replace(by_name[0], at=column.at)
    else:
        bound = scope.resolve(column)
    if not any((each.source, each.name) == (bound.source, bound.name) for each in edge(plan).schema):
        hint = "partition the result by columns of GROUP BY"
        raise QueryError(f"the result has no column '{column.name}' to partition by", hint=hint, at=column.at)
    return bound
