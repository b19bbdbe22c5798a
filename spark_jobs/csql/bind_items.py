"""The SELECT list: stars spread out, columns bound, output names found and checked."""

from __future__ import annotations

from spark_jobs.csql.cursor import suggest
from spark_jobs.csql.expressions import AggregateCall, Column, Expression
from spark_jobs.csql.plan import Output
from spark_jobs.csql.scope import Scope, check_column_name
from spark_jobs.csql.syntax import Item, Star
from spark_jobs.csql.typing import type_of
from spark_jobs.errors import QueryError


def bind_items(items: tuple[Item, ...], scope: Scope) -> list[tuple[Output, int]]:
    """Return the output columns of a block, each with its place in the text."""
    outputs: list[tuple[Output, int]] = []
    for item in items:
        if isinstance(item.expression, Star):
            outputs += _star(item.expression, scope)
        else:
            bound = scope.bind(item.expression)
            type_of(bound)
            outputs.append((Output(bound, item.name or output_name(bound, item.at)), item.at))
    _check_names(outputs)
    return outputs


def output_name(expression: Expression, at: int = -1) -> str:
    """Return the name of an unnamed item: a column's last part, an aggregate's function.

    >>> output_name(AggregateCall("COUNT", None))
    'COUNT'
    """
    match expression:
        case Column(name=name):
            return name
        case AggregateCall(function=function):
            return function
        case _:
            raise QueryError("this column has no name", hint="name it with AS", at=at)


def _star(star: Star, scope: Scope) -> list[tuple[Output, int]]:
    fields = [field for field in scope.fields if star.source.lower() in ("", field.source.lower())]
    if not fields:
        sources = tuple(dict.fromkeys(field.source for field in scope.fields))
        raise QueryError(f"unknown source '{star.source}'", hint=suggest(star.source, sources), at=star.at)
    return [(Output(field.column(), field.name), star.at) for field in fields]


def _check_names(outputs: list[tuple[Output, int]]) -> None:
    seen: set[str] = set()
    for output, at in outputs:
        check_column_name(output.name, at)
        if output.name.lower() in seen:
            raise QueryError(f"two columns are named '{output.name}'", hint="name one of them with AS", at=at)
        seen.add(output.name.lower())
