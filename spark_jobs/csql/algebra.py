"""Algebra text (001, section 8) as a plan: `Node[arguments](inputs)`, bound and checked as a query's plan is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot.tokenizer_core import TokenType

from spark_jobs.csql.cursor import Cursor, suggest
from spark_jobs.csql.edges import edge
from spark_jobs.csql.expression_parser import RESERVED, parse_expression
from spark_jobs.csql.expressions import AggregateCall, Column, Expression, walk
from spark_jobs.csql.plan import (
    Aggregate,
    Disorder,
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
    Window,
)
from spark_jobs.csql.scope import Scope, check_column_name
from spark_jobs.csql.text import to_text
from spark_jobs.csql.typing import need_condition, type_of
from spark_jobs.csql.validate import check_bounded, check_join, check_minus
from spark_jobs.csql.window_parser import parse_columns, parse_disorder, parse_milliseconds, parse_span
from spark_jobs.errors import QueryError

NODES = (
    "SCAN",
    "SELECT",
    "PROJECT",
    "WINDOW",
    "FREQUENCY",
    "PARTITION",
    "AGGREGATE",
    "JOIN",
    "DISTINCT",
    "MINUS",
)


def starts_plan(cursor: Cursor) -> bool:
    """Whether an algebra text stands here: a node's name before its bracket."""
    bare = cursor.is_word("JOIN", "DISTINCT", "MINUS") and cursor.is_type(TokenType.L_PAREN, ahead=1)
    return bare or (cursor.is_word(*NODES) and cursor.is_type(TokenType.L_BRACKET, ahead=1))


@dataclass
class AlgebraParser:
    """Takes algebra texts from a cursor, over the streams known so far."""

    cursor: Cursor
    streams: Mapping[str, Stream]

    def plan(self) -> Plan:
        """Take one node with its inputs; return the checked plan."""
        cursor = self.cursor
        cursor.deeper()
        at, name = cursor.at, cursor.word()
        if name not in NODES:
            cursor.expected("a plan node", hint=suggest(name, [node.capitalize() for node in NODES]))
        cursor.take_word(name)
        build = self._node(name, at)
        cursor.higher()
        return build

    def _node(self, name: str, at: int) -> Plan:
        match name:
            case "SCAN":
                return self._scan(at)
            case "DISTINCT":
                child = self._only_input()
                check_bounded(child, "DISTINCT", at)
                return Distinct(child, at)
            case "MINUS":
                left, right = self._two_inputs()
                check_minus(left, right, left.at, right.at)
                return Minus(left, right, at)
            case "JOIN":
                return self._join(at)
            case "AGGREGATE":
                return self._aggregate(at)
            case _:
                return self._simple(name, at)

    # --- brackets come before the inputs they are bound to: take them first, bind them after ------------------

    def _simple(self, name: str, at: int) -> Plan:
        self._open()
        match name:
            case "SELECT":
                build = self._select(at)
            case "PROJECT":
                build = self._project(at)
            case "WINDOW":
                build = self._window(at)
            case "FREQUENCY":
                build = self._frequency(at)
            case _:
                build = self._partition(at)
        self._close()
        return build(self._only_input())

    def _open(self) -> None:
        self.cursor.need(TokenType.L_BRACKET, "[")

    def _close(self) -> None:
        self.cursor.need(TokenType.R_BRACKET, "]")

    def _only_input(self) -> Plan:
        self.cursor.need(TokenType.L_PAREN, "(")
        child = self.plan()
        self.cursor.need(TokenType.R_PAREN, ")")
        return child

    def _two_inputs(self) -> tuple[Plan, Plan]:
        self.cursor.need(TokenType.L_PAREN, "(")
        left = self.plan()
        self.cursor.need(TokenType.COMMA, ",")
        right = self.plan()
        self.cursor.need(TokenType.R_PAREN, ")")
        return left, right

    def _expressions(self) -> list[Expression]:
        found = [parse_expression(self.cursor)]
        while self.cursor.take(TokenType.COMMA):
            found.append(parse_expression(self.cursor))
        return found

    # --- nodes -----------------------------------------------------------------------------------------------

    def _scan(self, at: int) -> Plan:
        cursor = self.cursor
        self._open()
        name_at = cursor.at
        written = cursor.name("a stream", RESERVED)
        known = {name.lower(): stream for name, stream in self.streams.items()}
        if written.lower() not in known:
            hint = suggest(written, list(self.streams)) or "declare it with CREATE STREAM"
            cursor.fail(f"unknown stream '{written}'", at=name_at, hint=hint)
        alias = cursor.name("an alias after AS") if cursor.take_word("AS") else written
        stream = known[written.lower()]
        disorder = parse_disorder(cursor)
        if disorder != Disorder() and stream.topic is None:
            cursor.fail("SLACK, DRATIO and BSIZE need a raw topic", at=name_at)
        self._close()
        return Scan(stream, alias, disorder, at)

    def _select(self, at: int) -> Callable[[Plan], Plan]:
        condition = parse_expression(self.cursor)

        def build(child: Plan) -> Plan:
            bound = _bound(condition, child)
            need_condition(bound, "Select")
            return Select(child, bound, at)

        return build

    def _project(self, at: int) -> Callable[[Plan], Plan]:
        cursor = self.cursor
        items: list[tuple[Expression, str, int]] = []
        while True:
            item_at = cursor.at
            expression = parse_expression(cursor)
            cursor.need_word("AS")
            items.append((expression, cursor.name("a column's name"), item_at))
            if not cursor.take(TokenType.COMMA):
                break
        alias = cursor.name("a name") if cursor.take_word("NAMED") else ""
        for place, (_, name, item_at) in enumerate(items):
            check_column_name(name, item_at)
            if name.lower() in [other.lower() for _, other, _ in items[:place]]:
                cursor.fail(f"two columns are named '{name}'", at=item_at)

        def build(child: Plan) -> Plan:
            outputs = tuple(Output(_bound(expression, child), name) for expression, name, _ in items)
            return Project(child, outputs, alias, at)

        return build

    def _window(self, at: int) -> Callable[[Plan], Plan]:
        length = parse_span(self.cursor, "Window")
        return lambda child: Window(child, length, at)

    def _frequency(self, at: int) -> Callable[[Plan], Plan]:
        cursor = self.cursor
        every = parse_span(cursor, "Frequency")
        origin_ms = parse_milliseconds(cursor) % every.amount if cursor.take_word("ORIGIN") else 0
        cursor.need_word("OF")
        if cursor.take_word("ROWS"):
            return lambda child: Frequency(child, every, "rows", origin_ms, at)
        cursor.need_word("SETS")

        def build(child: Plan) -> Plan:
            if every.unit == "tuples" and not isinstance(child, Window):
                cursor.fail("a frequency of sets in tuples must stand right above its window", at=at)
            return Frequency(child, every, "sets", origin_ms, at)

        return build

    def _partition(self, at: int) -> Callable[[Plan], Plan]:
        columns = parse_columns(self.cursor)
        return lambda child: Partition(child, tuple(Scope(edge(child).schema).resolve(each) for each in columns), at)

    def _aggregate(self, at: int) -> Plan:
        cursor = self.cursor
        self._open()
        group = parse_columns(cursor) if cursor.take_word("BY") else ()
        last = parse_columns(cursor) if cursor.take_word("LAST") else ()
        calls = self._calls() if cursor.take_word("COMPUTE") else []
        self._close()
        child = self._only_input()
        scope = Scope(edge(child).schema)
        measures = []
        for call in calls:
            bound = scope.bind(call)
            assert isinstance(bound, AggregateCall)
            type_of(bound)
            measures.append(Measure(bound, to_text(bound)))
        return Aggregate(child, _resolved(group, scope), tuple(measures), _resolved(last, scope), at)

    def _calls(self) -> list[AggregateCall]:
        calls: list[AggregateCall] = []
        for expression in self._expressions():
            parts = list(walk(expression))
            if not isinstance(parts[0], AggregateCall) or any(isinstance(part, AggregateCall) for part in parts[1:]):
                self.cursor.fail("COMPUTE takes aggregates", at=expression.at)
            calls.append(parts[0])
        return calls

    def _join(self, at: int) -> Plan:
        cursor = self.cursor
        condition: Expression | None = None
        key: list[Expression] = []
        if cursor.take(TokenType.L_BRACKET):
            condition = parse_expression(cursor) if cursor.take_word("ON") else None
            key = self._expressions() if cursor.take_word("KEY") else []
            self._close()
        left, right = self._two_inputs()
        check_join(left, right, left.at, right.at)
        shared = {field.source for field in edge(left).schema} & {field.source for field in edge(right).schema}
        if shared:
            cursor.fail(f"both inputs of the join are named '{min(shared)}'", at=at)
        bare = Join(left, right, None, (), at)
        bound = None if condition is None else _bound(condition, bare)
        if bound is not None:
            need_condition(bound, "Join")
        return Join(left, right, bound, tuple(_bound(part, bare) for part in key), at)


def _bound(expression: Expression, child: Plan) -> Expression:
    """Return a scalar expression bound to the columns of the node below it."""
    for part in walk(expression):
        if isinstance(part, AggregateCall):
            raise QueryError(f"{part.function} stands in Aggregate[COMPUTE ...]", at=part.at)
    bound = Scope(edge(child).schema).bind(expression)
    type_of(bound)
    return bound


def _resolved(columns: tuple[Column, ...], scope: Scope) -> tuple[Column, ...]:
    return tuple(scope.resolve(column) for column in columns)
