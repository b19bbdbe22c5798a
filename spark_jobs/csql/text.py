"""Expressions as CSQL text; `render` has them as Spark SQL."""

from __future__ import annotations

import re
from typing import assert_never

from spark_jobs.csql.expression_parser import RESERVED
from spark_jobs.csql.expressions import (
    AggregateCall,
    Binary,
    Call,
    Case,
    Cast,
    Column,
    Expression,
    In,
    IsNull,
    Literal,
    Unary,
)
from spark_jobs.csql.types import Value

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def quote(name: str) -> str:
    """Return a name as the parser takes it, in quotes where it needs them.

    >>> quote("Id"), quote("from")
    ('Id', '"from"')
    """
    if _PLAIN.fullmatch(name) and name.upper() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def to_text(expression: Expression) -> str:
    """Return CSQL text that parses to the same expression.

    >>> from spark_jobs.csql.types import Type
    >>> to_text(Unary("NOT", Binary("<", Column("B", "BTemp"), Literal(39.5, Type.DOUBLE))))
    'NOT (B.BTemp < 39.5)'
    """
    match expression:
        case Literal(value=value):
            return _literal(value)
        case Column(source=source, name=name):
            return f"{quote(source)}.{quote(name)}" if source else quote(name)
        case Unary(operator="NOT", operand=operand):
            return f"NOT {_part(operand)}"
        case Unary(operand=operand):
            return f"- {_part(operand)}"
        case Binary(operator=operator, left=left, right=right):
            return f"{_part(left)} {operator} {_part(right)}"
        case IsNull(operand=operand):
            return f"{_part(operand)} IS NULL"
        case In(operand=operand, options=options):
            return f"{_part(operand)} IN ({_list(options)})"
        case Case(branches=branches, otherwise=otherwise):
            whens = " ".join(f"WHEN {to_text(condition)} THEN {to_text(value)}" for condition, value in branches)
            return f"CASE {whens} END" if otherwise is None else f"CASE {whens} ELSE {to_text(otherwise)} END"
        case Cast(operand=operand, type=target):
            return f"CAST({to_text(operand)} AS {target.value})"
        case Call(function=function, arguments=arguments):
            return f"{function}({_list(arguments)})"
        case AggregateCall(function=function, argument=argument):
            return f"{function}({'*' if argument is None else to_text(argument)})"
        case _:
            assert_never(expression)


def _part(expression: Expression) -> str:
    text = to_text(expression)
    return f"({text})" if isinstance(expression, Unary | Binary | IsNull | In) else text


def _list(expressions: tuple[Expression, ...]) -> str:
    return ", ".join(map(to_text, expressions))


def _literal(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    text = repr(value)
    return text if isinstance(value, int) or any(mark in text for mark in ".en") else f"{text}.0"
