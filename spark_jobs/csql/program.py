"""A CSQL text, checked: its declared streams, its queries with their plans, and what to warn of."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.csql.bind import Binder
from spark_jobs.csql.declare import declare, named_result
from spark_jobs.csql.edges import Edge, edge
from spark_jobs.csql.parser import statements
from spark_jobs.csql.plan import Plan, Stream
from spark_jobs.csql.syntax import CreateStream, Query, Statement
from spark_jobs.errors import QueryError


@dataclass(frozen=True, slots=True)
class RegisteredQuery:
    """A query under its name: its plan, and the stream of its results.

    An unnamed one (not `named`) is q1, q2, ... by its place, and no other query is answered from it.
    """

    name: str
    plan: Plan
    result: Stream
    named: bool = False

    @property
    def edge(self) -> Edge:
        """What the query puts out."""
        return edge(self.plan)


@dataclass(frozen=True, slots=True)
class Program:
    """Everything a text declares, in its order."""

    streams: tuple[Stream, ...]
    queries: tuple[RegisteredQuery, ...]
    warnings: tuple[str, ...]


def load(text: str) -> Program:
    """Return the checked program of a text; raise QueryError with line, column and a caret where it is wrong.

    >>> program = load("CREATE STREAM S (x INT, ts BIGINT) WITH (topic = 's'); SELECT x FROM S WHERE x > 1;")
    >>> program.queries[0].name, program.queries[0].edge.kind
    ('q1', 'continuous')
    """
    try:
        return _load(text)
    except QueryError as error:
        error.text = text
        raise
    except RecursionError:
        raise QueryError("this query is nested too deeply", text=text, at=0) from None


def _load(text: str) -> Program:
    binder = Binder()
    declared: list[Stream] = []
    queries: list[RegisteredQuery] = []
    for statement in statements(text, binder.streams):
        if isinstance(statement, CreateStream):
            stream = declare(statement)
            declared.append(stream)
            _add(binder, stream, statement)
            continue
        plan = binder.bind(statement.query) if isinstance(statement.query, Query) else statement.query
        name = statement.name or f"q{len(queries) + 1}"
        query = RegisteredQuery(name, plan, named_result(statement, name, plan), bool(statement.name))
        _add(binder, query.result, statement)
        queries.append(query)
    warnings = tuple(_located(text, message, at) for message, at in binder.warnings)
    return Program(tuple(declared), tuple(queries), warnings)


def _add(binder: Binder, stream: Stream, statement: Statement) -> None:
    if stream.name.lower() in (name.lower() for name in binder.streams):
        raise QueryError(f"stream '{stream.name}' exists already", hint="give it another name", at=statement.at)
    binder.streams[stream.name] = stream


def _located(text: str, message: str, at: int) -> str:
    place = QueryError(message, text=text, at=at)
    return f"line {place.line}, column {place.column}: {message}"
