"""The type of every bound expression; a QueryError at the part that has none."""

from __future__ import annotations

from typing import Never, assert_never

from spark_jobs.csql.expressions import (
    COMPARISONS,
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
from spark_jobs.csql.text import to_text
from spark_jobs.csql.types import INTEGERS, NUMBERS, Type, common
from spark_jobs.errors import QueryError


def type_of(expression: Expression) -> Type:
    """Return the expression's type; raise QueryError where its parts do not fit together."""
    match expression:
        case Literal(type=kind) | Column(type=kind):
            return kind
        case Unary(operator="NOT", operand=operand):
            return _need(operand, Type.BOOLEAN, "NOT")
        case Unary(operand=operand):
            return _number(operand, "-")
        case Binary():
            return _binary(expression)
        case IsNull(operand=operand):
            type_of(operand)
            return Type.BOOLEAN
        case In(operand=operand, options=options):
            for option in options:
                _common(operand, option, option.at, "compare")
            return Type.BOOLEAN
        case Case():
            return _case(expression)
        case Cast(operand=operand, type=target):
            return _cast(operand, target, expression.at)
        case Call():
            return _call(expression)
        case AggregateCall():
            return _aggregate(expression)
        case _:
            assert_never(expression)


def need_condition(expression: Expression, clause: str) -> None:
    """Raise QueryError unless the expression is a condition."""
    kind = type_of(expression)
    if kind not in (Type.BOOLEAN, Type.NULL):
        _fail(f"{clause} needs a condition, '{to_text(expression)}' is {kind.value}", expression.at)


def _fail(message: str, at: int, hint: str | None = None) -> Never:
    raise QueryError(message, hint=hint, at=at)


def _need(operand: Expression, wanted: Type, operator: str) -> Type:
    kind = type_of(operand)
    if kind not in (wanted, Type.NULL):
        _fail(f"{operator} needs {wanted.value}, '{to_text(operand)}' is {kind.value}", operand.at)
    return wanted


def _number(operand: Expression, operator: str) -> Type:
    kind = type_of(operand)
    if kind is Type.NULL:
        return Type.BIGINT
    if kind not in NUMBERS:
        _fail(f"{operator} needs a number, '{to_text(operand)}' is {kind.value}", operand.at)
    return kind


def _common(left: Expression, right: Expression, at: int, verb: str) -> Type:
    found = common(type_of(left), type_of(right))
    if found is None:
        _fail(f"cannot {verb} {type_of(left).value} and {type_of(right).value}", at, "convert one with CAST")
    return found


def _binary(expression: Binary) -> Type:
    operator, left, right = expression.operator, expression.left, expression.right
    if operator in ("AND", "OR"):
        _need(left, Type.BOOLEAN, operator)
        return _need(right, Type.BOOLEAN, operator)
    if operator in ("LIKE", "||"):
        _need(left, Type.STRING, operator)
        _need(right, Type.STRING, operator)
        return Type.STRING if operator == "||" else Type.BOOLEAN
    if operator in COMPARISONS:
        _common(left, right, expression.at, "compare")
        return Type.BOOLEAN
    kinds = (_number(left, operator), _number(right, operator))
    if operator == "/" or Type.DOUBLE in kinds:
        return Type.DOUBLE
    if kinds.count(Type.TIMESTAMP) == 1 and operator in ("+", "-"):
        return Type.TIMESTAMP
    return Type.BIGINT


def _case(expression: Case) -> Type:
    for condition, _ in expression.branches:
        _need(condition, Type.BOOLEAN, "WHEN")
    values = [value for _, value in expression.branches]
    if expression.otherwise is not None:
        values.append(expression.otherwise)
    found = Type.NULL
    for value in values:
        merged = common(found, type_of(value))
        if merged is None:
            _fail(f"CASE gives {found.value} and {type_of(value).value}", value.at, "convert one with CAST")
        found = merged
    return found


def _cast(operand: Expression, target: Type, at: int) -> Type:
    source = type_of(operand)
    if (source is Type.BOOLEAN and target in NUMBERS) or (source in NUMBERS and target is Type.BOOLEAN):
        _fail(f"cannot cast {source.value} to {target.value}", at, "write a CASE or a comparison")
    return target


def _call(expression: Call) -> Type:
    function, arguments = expression.function, expression.arguments
    match function:
        case "UPPER" | "LOWER":
            return _need(arguments[0], Type.STRING, function)
        case "LENGTH":
            _need(arguments[0], Type.STRING, function)
            return Type.INT
        case "FLOOR" | "CEIL":
            _number(arguments[0], function)
            return Type.BIGINT
        case "ABS":
            return _number(arguments[0], function)
        case "ROUND":
            if len(arguments) == 2 and not (isinstance(arguments[1], Literal) and isinstance(arguments[1].value, int)):
                _fail("ROUND takes a constant number of digits", arguments[1].at)
            return _number(arguments[0], function)
        case "COALESCE":
            found = type_of(arguments[0])
            for argument in arguments[1:]:
                merged = common(found, type_of(argument))
                if merged is None:
                    _fail(f"COALESCE of {found.value} and {type_of(argument).value}", argument.at)
                found = merged
            return found
        case _:
            assert_never(function)


def _aggregate(expression: AggregateCall) -> Type:
    function, argument = expression.function, expression.argument
    if argument is None:
        return Type.BIGINT
    kind = type_of(argument)
    match function:
        case "COUNT":
            return Type.BIGINT
        case "MIN" | "MAX":
            return kind
        case "SUM" | "AVG":
            if kind not in NUMBERS | {Type.NULL} or kind is Type.TIMESTAMP:
                _fail(f"{function} needs a number, '{to_text(argument)}' is {kind.value}", argument.at)
            return Type.BIGINT if function == "SUM" and kind in INTEGERS else Type.DOUBLE
        case _:
            assert_never(function)
