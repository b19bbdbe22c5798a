"""CREATE STREAM: a declaration checked, and a named result as a stream others can read."""

from __future__ import annotations

from spark_jobs.csql.cursor import suggest
from spark_jobs.csql.edges import edge
from spark_jobs.csql.expressions import Column
from spark_jobs.csql.plan import Field, Kind, Plan, Stream
from spark_jobs.csql.scope import Scope, check_column_name
from spark_jobs.csql.syntax import CreateQuery, CreateStream, Option
from spark_jobs.csql.types import INTEGERS
from spark_jobs.errors import QueryError

KINDS: dict[str, Kind] = {"tuples": "tuples", "snapshot": "snapshot", "continuous": "continuous"}
TIMESTAMP_NAMES = ("ts", "timestamp")
"""Columns taken as the event time where no option names one, in any case."""


def declare(statement: CreateStream) -> Stream:
    """Return the stream that a CREATE STREAM declares."""
    for position, column in enumerate(statement.columns):
        check_column_name(column.name, column.at)
        if any(column.name.lower() == earlier.name.lower() for earlier in statement.columns[:position]):
            raise QueryError(f"column '{column.name}' stands twice", at=column.at)
    fields = tuple(Field("", column.name, column.type) for column in statement.columns)
    scope = Scope(fields)
    key = tuple(scope.resolve(column).name for column in statement.key)
    for position, part in enumerate(statement.key):
        if key[position] in key[:position]:
            raise QueryError(f"column '{part.name}' stands twice in PRIMARY KEY", at=part.at)
    options = _options(statement.options, ("topic", "clean", "timestamp", "kind"))
    kind = _kind(options)
    timestamp = _timestamp(statement, options, scope) if kind == "tuples" else None
    topic = options["topic"].value if "topic" in options else None
    if topic is None and "clean" not in options:
        hint = "add WITH (topic = '...'), the raw topic, or clean = '...', one that is in order"
        raise QueryError(f"stream '{statement.name}' has no topic", hint=hint, at=statement.at)
    clean = options["clean"].value if "clean" in options else f"{topic}.clean"
    return Stream(statement.name, fields, key, timestamp, topic, clean, kind)


def named_result(statement: CreateQuery, name: str, plan: Plan) -> Stream:
    """Return the stream of a query's results: its topic has its name unless an option says otherwise."""
    options = _options(statement.options, ("topic",))
    result = edge(plan)
    fields = tuple(Field("", field.name, field.type) for field in result.schema)
    topic = options["topic"].value if "topic" in options else name
    instants = result.instants
    every, origin_ms = (instants.every, instants.origin_ms) if instants else (None, 0)
    return Stream(name, fields, (), None, None, topic, result.kind, every, origin_ms)


def _options(options: tuple[Option, ...], known: tuple[str, ...]) -> dict[str, Option]:
    found: dict[str, Option] = {}
    for option in options:
        if option.name not in known:
            hint = suggest(option.name, known) or f"there is {', '.join(known)}"
            raise QueryError(f"unknown option '{option.name}'", hint=hint, at=option.at)
        if option.name in found:
            raise QueryError(f"option '{option.name}' stands twice", at=option.at)
        if not option.value:
            raise QueryError(f"option '{option.name}' is empty", at=option.value_at)
        found[option.name] = option
    return found


def _kind(options: dict[str, Option]) -> Kind:
    if "kind" not in options:
        return "tuples"
    option = options["kind"]
    if option.value.lower() not in KINDS:
        hint = suggest(option.value, tuple(KINDS)) or f"there is {', '.join(KINDS)}"
        raise QueryError(f"unknown kind '{option.value}'", hint=hint, at=option.value_at)
    return KINDS[option.value.lower()]


def _timestamp(statement: CreateStream, options: dict[str, Option], scope: Scope) -> str:
    if "timestamp" in options:
        option = options["timestamp"]
        column = scope.resolve(Column("", option.value, at=option.value_at))
    else:
        named = [field for field in scope.fields if field.name.lower() in TIMESTAMP_NAMES]
        if len(named) != 1:
            hint = "name its event-time column: WITH (timestamp = '...')"
            raise QueryError(f"stream '{statement.name}' has no timestamp column", hint=hint, at=statement.at)
        column = named[0].column()
    if column.type not in INTEGERS:
        at = options["timestamp"].value_at if "timestamp" in options else statement.at
        hint = "declare it TIMESTAMP, or BIGINT of milliseconds"
        raise QueryError(f"timestamp column '{column.name}' is {column.type.value}", hint=hint, at=at)
    return column.name
