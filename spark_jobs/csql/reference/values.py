"""Expressions over one row, with SQL's NULL: unknown stays unknown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import TypeAlias, assert_never

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
from spark_jobs.csql.reference.casting import cast
from spark_jobs.csql.types import Value

Record: TypeAlias = Mapping[tuple[str, str], Value]
"""The values of a row by (source, name)."""

LARGEST = 2**63 - 1


def evaluate(expression: Expression, record: Record) -> Value:
    """Return the expression's value for the row; NULL is None.

    >>> from spark_jobs.csql.types import Type
    >>> unknown = Binary("=", Literal(None, Type.NULL), Literal(1, Type.BIGINT))
    >>> evaluate(unknown, {}) is None, evaluate(Binary("OR", unknown, Literal(True, Type.BOOLEAN)), {})
    (True, True)
    """
    match expression:
        case Literal(value=value):
            return value
        case Column(source=source, name=name):
            return record[source, name]
        case Unary(operator="NOT", operand=operand):
            truth = evaluate(operand, record)
            return None if truth is None else not truth
        case Unary(operand=operand):
            number = evaluate(operand, record)
            return None if number is None else _bounded(-_number(number))
        case Binary(operator="AND" | "OR"):
            return _logic(expression, record)
        case Binary(operator=operator, left=left, right=right):
            return _binary(operator, evaluate(left, record), evaluate(right, record))
        case IsNull(operand=operand):
            return evaluate(operand, record) is None
        case In(operand=operand, options=options):
            return _in(evaluate(operand, record), [evaluate(option, record) for option in options])
        case Case(branches=branches, otherwise=otherwise):
            for condition, outcome in branches:
                if evaluate(condition, record) is True:
                    return evaluate(outcome, record)
            return None if otherwise is None else evaluate(otherwise, record)
        case Cast(operand=operand, type=target):
            return cast(evaluate(operand, record), target)
        case Call():
            return _call(expression, [evaluate(argument, record) for argument in expression.arguments])
        case AggregateCall():
            raise AssertionError("an aggregate is computed by its Aggregate node")
        case _:
            assert_never(expression)


def is_true(condition: Expression | None, record: Record) -> bool:
    """Whether the condition is true, neither false nor unknown; no condition is true."""
    return condition is None or evaluate(condition, record) is True


def measure(call: AggregateCall, records: list[Record]) -> Value:
    """Return an aggregate over rows; NULLs do not count, and nothing but NULLs is NULL (COUNT: 0)."""
    if call.argument is None:
        return len(records)
    values = [value for record in records if (value := evaluate(call.argument, record)) is not None]
    if call.function == "COUNT":
        return len(values)
    if not values:
        return None
    if call.function in ("MIN", "MAX"):
        ordered = sorted(values, key=_comparable)
        return ordered[0] if call.function == "MIN" else ordered[-1]
    total = _total([_number(value) for value in values])
    return total / len(values) if call.function == "AVG" else _bounded(total)


def _total(numbers: list[int] | list[int | float] | list[float]) -> int | float:
    """Return the sum: exact for integers, correctly rounded for doubles whatever their order."""
    exact = [number for number in numbers if isinstance(number, int)]
    return sum(exact) if len(exact) == len(numbers) else math.fsum(numbers)


def _comparable(value: Value) -> tuple[float | int, str]:
    return (0, value) if isinstance(value, str) else (_number(value), "")


def _number(value: Value) -> int | float:
    assert isinstance(value, int | float)
    return value


def _bounded(number: int | float) -> int | float | None:
    return None if isinstance(number, int) and not -LARGEST - 1 <= number <= LARGEST else number


def _logic(expression: Binary, record: Record) -> Value:
    left, right = evaluate(expression.left, record), evaluate(expression.right, record)
    decisive = expression.operator == "OR"
    if left is decisive or right is decisive:
        return decisive
    return None if left is None or right is None else not decisive


def _binary(operator: str, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return None
    match operator:
        case "=":
            return left == right
        case "<>":
            return left != right
        case "<" | "<=" | ">" | ">=":
            return _compare(operator, left, right)
        case "LIKE":
            return _like(str(left), str(right))
        case "||":
            return str(left) + str(right)
        case _:
            return _arithmetic(operator, _number(left), _number(right))


def _compare(operator: str, left: Value, right: Value) -> bool:
    ours, theirs = _comparable(left), _comparable(right)
    match operator:
        case "<":
            return ours < theirs
        case "<=":
            return ours <= theirs
        case ">":
            return ours > theirs
        case _:
            return ours >= theirs


def _arithmetic(operator: str, left: int | float, right: int | float) -> Value:
    match operator:
        case "+":
            return _bounded(left + right)
        case "-":
            return _bounded(left - right)
        case "*":
            return _bounded(left * right)
        case "/":
            return None if right == 0 else left / right
        case _:
            return None if right == 0 else _remainder(left, right)


def _remainder(left: int | float, right: int | float) -> int | float:
    """Return the remainder with the sign of the dividend, as SQL has it."""
    if isinstance(left, int) and isinstance(right, int):
        return abs(left) % abs(right) * (-1 if left < 0 else 1)
    return math.fmod(left, right)


def _in(value: Value, options: list[Value]) -> Value:
    if value is None:
        return None
    if any(option == value for option in options if option is not None):
        return True
    return None if None in options else False


def _like(text: str, pattern: str) -> bool:
    """Whether the text matches: % any characters, _ one, a backslash takes the next one literally."""
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    translated = {"%": ".*", "_": "."}
    regex = "".join(translated.get(part) or re.escape(part[-1]) for part in parts)
    return re.fullmatch(regex, text, re.DOTALL) is not None


def _call(expression: Call, arguments: list[Value]) -> Value:
    if expression.function == "COALESCE":
        return next((argument for argument in arguments if argument is not None), None)
    first = arguments[0]
    if first is None:
        return None
    match expression.function:
        case "UPPER":
            return str(first).upper()
        case "LOWER":
            return str(first).lower()
        case "LENGTH":
            return len(str(first))
        case "ABS":
            return _bounded(abs(_number(first)))
        case "FLOOR":
            return math.floor(_number(first))
        case "CEIL":
            return math.ceil(_number(first))
        case "ROUND":
            return _round(_number(first), int(_number(arguments[1])) if len(arguments) == 2 else 0)
        case _:
            assert_never(expression.function)


def _round(number: int | float, digits: int) -> int | float:
    """Return the number rounded half away from zero, by its decimal digits."""
    rounded = Decimal(repr(number)).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
    return int(rounded) if isinstance(number, int) else float(rounded)
