"""The grammar of expressions, by precedence: OR, AND, NOT, comparison, ||, + -, * / %, sign, primary."""

from __future__ import annotations

from typing import get_args

from sqlglot.tokenizer_core import TokenType

from spark_jobs.csql.cursor import Cursor, suggest
from spark_jobs.csql.expressions import (
    AggregateCall,
    AggregateFunction,
    Binary,
    BinaryOperator,
    Call,
    Case,
    Cast,
    Column,
    Expression,
    In,
    IsNull,
    Literal,
    ScalarFunction,
    Unary,
)
from spark_jobs.csql.types import SPELLINGS, Type

AGGREGATES: dict[str, AggregateFunction] = {name: name for name in get_args(AggregateFunction)}
SCALARS: dict[str, ScalarFunction] = {name: name for name in get_args(ScalarFunction)}
ARITIES = {"ROUND": (1, 2), "COALESCE": (1, 100)}
"""The least and most arguments of a scalar function; one where it is not named here."""

RESERVED = frozenset(
    {"SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "MINUS", "AS", "CREATE", "WITH"}
    | {"AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "BETWEEN", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST"}
    | {"TRUE", "FALSE", "ORDER", "LIMIT", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "ON"}
    | {"UNION", "EXCEPT", "INTERSECT"}
)
"""Words that are no names unless quoted."""

MAX_INTEGER = 2**63 - 1

_COMPARISONS: dict[TokenType, BinaryOperator] = {
    TokenType.EQ: "=",
    TokenType.NEQ: "<>",
    TokenType.LT: "<",
    TokenType.LTE: "<=",
    TokenType.GT: ">",
    TokenType.GTE: ">=",
}
_SUMS: dict[TokenType, BinaryOperator] = {TokenType.PLUS: "+", TokenType.DASH: "-"}
_PRODUCTS: dict[TokenType, BinaryOperator] = {TokenType.STAR: "*", TokenType.SLASH: "/", TokenType.MOD: "%"}


def parse_expression(cursor: Cursor) -> Expression:
    """Take one expression."""
    cursor.deeper()
    left = _conjunction(cursor)
    while cursor.is_word("OR"):
        at = cursor.at
        cursor.take_word("OR")
        left = Binary("OR", left, _conjunction(cursor), at)
    cursor.higher()
    return left


def parse_column(cursor: Cursor) -> Column:
    """Take `name` or `source.name`."""
    at = cursor.at
    first = cursor.name("a column", RESERVED)
    if cursor.take(TokenType.DOT):
        return Column(first, cursor.name(f"a column after '{first}.'"), at=at)
    return Column("", first, at=at)


def _conjunction(cursor: Cursor) -> Expression:
    left = _negation(cursor)
    while cursor.is_word("AND"):
        at = cursor.at
        cursor.take_word("AND")
        left = Binary("AND", left, _negation(cursor), at)
    return left


def _negation(cursor: Cursor) -> Expression:
    at = cursor.at
    if not cursor.take_word("NOT"):
        return _comparison(cursor)
    cursor.deeper()
    operand = _negation(cursor)
    cursor.higher()
    return Unary("NOT", operand, at)


def _comparison(cursor: Cursor) -> Expression:
    left = _concatenation(cursor)
    at = cursor.at
    for kind, operator in _COMPARISONS.items():
        if cursor.take(kind):
            return Binary(operator, left, _concatenation(cursor), at)
    if cursor.take_word("IS"):
        negated = cursor.take_word("NOT")
        cursor.need_word("NULL")
        return _negated(IsNull(left, at), negated, at)
    negated = cursor.is_word("NOT") and cursor.take_word("NOT")
    if cursor.take_word("IN"):
        return _negated(In(left, _options(cursor), at), negated, at)
    if cursor.take_word("LIKE"):
        return _negated(Binary("LIKE", left, _concatenation(cursor), at), negated, at)
    if cursor.take_word("BETWEEN"):
        low = _concatenation(cursor)
        cursor.need_word("AND")
        high = _concatenation(cursor)
        return _negated(Binary("AND", Binary(">=", left, low, at), Binary("<=", left, high, at), at), negated, at)
    if negated:
        cursor.expected("IN, LIKE or BETWEEN")
    return left


def _negated(expression: Expression, negated: bool, at: int) -> Expression:
    return Unary("NOT", expression, at) if negated else expression


def _options(cursor: Cursor) -> tuple[Expression, ...]:
    cursor.need(TokenType.L_PAREN, "(")
    if cursor.is_word("SELECT"):
        cursor.fail("IN takes a list of values", hint="name the query in FROM and join with it in WHERE")
    options = [parse_expression(cursor)]
    while cursor.take(TokenType.COMMA):
        options.append(parse_expression(cursor))
    cursor.need(TokenType.R_PAREN, ")")
    return tuple(options)


def _concatenation(cursor: Cursor) -> Expression:
    left = _chain(cursor, _SUMS)
    while cursor.is_type(TokenType.DPIPE):
        at = cursor.at
        cursor.take(TokenType.DPIPE)
        left = Binary("||", left, _chain(cursor, _SUMS), at)
    return left


def _chain(cursor: Cursor, operators: dict[TokenType, BinaryOperator]) -> Expression:
    """Take operands of the next precedence joined by these operators, left-associative."""
    left = _operand(cursor, operators)
    while True:
        at = cursor.at
        operator = next((operator for kind, operator in operators.items() if cursor.take(kind)), None)
        if operator is None:
            return left
        left = Binary(operator, left, _operand(cursor, operators), at)


def _operand(cursor: Cursor, operators: dict[TokenType, BinaryOperator]) -> Expression:
    return _chain(cursor, _PRODUCTS) if operators is _SUMS else _signed(cursor)


def _signed(cursor: Cursor) -> Expression:
    at = cursor.at
    if cursor.take(TokenType.PLUS):
        return _signed_deeper(cursor)
    if cursor.take(TokenType.DASH):
        operand = _signed_deeper(cursor)
        if isinstance(operand, Literal) and isinstance(operand.value, int | float) and operand.type is not Type.BOOLEAN:
            return Literal(-operand.value, operand.type, at)
        return Unary("-", operand, at)
    return _primary(cursor)


def _signed_deeper(cursor: Cursor) -> Expression:
    cursor.deeper()
    operand = _signed(cursor)
    cursor.higher()
    return operand


def _primary(cursor: Cursor) -> Expression:
    at = cursor.at
    if cursor.take(TokenType.L_PAREN):
        if cursor.is_word("SELECT"):
            cursor.fail("a query cannot stand in an expression", hint="name it in FROM and join with it in WHERE")
        inner = parse_expression(cursor)
        cursor.need(TokenType.R_PAREN, ")")
        return inner
    if cursor.is_type(TokenType.NUMBER):
        return number(cursor)
    if string := cursor.take(TokenType.STRING):
        return Literal(string.text, Type.STRING, at)
    if cursor.take_word("NULL"):
        return Literal(None, Type.NULL, at)
    if cursor.is_word("TRUE", "FALSE"):
        return Literal(cursor.take_word("TRUE") or not cursor.take_word("FALSE"), Type.BOOLEAN, at)
    if cursor.take_word("CASE"):
        return _case(cursor, at)
    if cursor.take_word("CAST"):
        return _cast(cursor, at)
    if cursor.is_name(RESERVED) and cursor.is_type(TokenType.L_PAREN, ahead=1):
        return _call(cursor)
    if not cursor.is_name(RESERVED):
        cursor.expected("an expression")
    return parse_column(cursor)


def number(cursor: Cursor) -> Literal:
    """Take a number: an integer unless it has a point or an exponent."""
    at = cursor.at
    text = cursor.need(TokenType.NUMBER, "a number").text
    if text.isdecimal() and text.isascii():
        if len(text) > len(str(MAX_INTEGER)) or int(text) > MAX_INTEGER:
            cursor.fail(f"number '{text[:40]}' is too large", at=at, hint=f"the largest is {MAX_INTEGER}")
        return Literal(int(text), Type.BIGINT, at)
    try:
        value = float(text)
    except ValueError:
        cursor.fail(f"'{text[:40]}' is no number", at=at)
    if value in (float("inf"), float("-inf")):
        cursor.fail(f"number '{text[:40]}' is too large", at=at)
    return Literal(value, Type.DOUBLE, at)


def parse_type(cursor: Cursor) -> Type:
    """Take a type, and the length of VARCHAR(n), which has no effect."""
    at = cursor.at
    written = cursor.name("a type")
    if written.upper() not in SPELLINGS:
        hint = suggest(written, list(SPELLINGS)) or "there are INT, BIGINT, DOUBLE, STRING, BOOLEAN and TIMESTAMP"
        cursor.fail(f"unknown type '{written}'", at=at, hint=hint)
    if written.upper() in ("VARCHAR", "CHAR") and cursor.take(TokenType.L_PAREN):
        cursor.need(TokenType.NUMBER, "a length")
        cursor.need(TokenType.R_PAREN, ")")
    return SPELLINGS[written.upper()]


def _case(cursor: Cursor, at: int) -> Expression:
    operand = None if cursor.is_word("WHEN") else parse_expression(cursor)
    branches = []
    while True:
        when_at = cursor.at
        if not cursor.take_word("WHEN"):
            break
        condition = parse_expression(cursor)
        cursor.need_word("THEN")
        tested = condition if operand is None else Binary("=", operand, condition, when_at)
        branches.append((tested, parse_expression(cursor)))
    if not branches:
        cursor.expected("WHEN")
    otherwise = parse_expression(cursor) if cursor.take_word("ELSE") else None
    cursor.need_word("END")
    return Case(tuple(branches), otherwise, at)


def _cast(cursor: Cursor, at: int) -> Expression:
    cursor.need(TokenType.L_PAREN, "(")
    operand = parse_expression(cursor)
    cursor.need_word("AS")
    target = parse_type(cursor)
    cursor.need(TokenType.R_PAREN, ")")
    return Cast(operand, target, at)


def _call(cursor: Cursor) -> Expression:
    at = cursor.at
    written = cursor.name("a function")
    cursor.need(TokenType.L_PAREN, "(")
    upper = written.upper()
    if upper in AGGREGATES:
        return _aggregate(cursor, AGGREGATES[upper], at)
    if upper not in SCALARS:
        hint = suggest(written, [*AGGREGATES, *SCALARS])
        cursor.fail(f"unknown function '{written}'", at=at, hint=hint)
    arguments = [] if cursor.is_type(TokenType.R_PAREN) else [parse_expression(cursor)]
    while arguments and cursor.take(TokenType.COMMA):
        arguments.append(parse_expression(cursor))
    cursor.need(TokenType.R_PAREN, ")")
    least, most = ARITIES.get(upper, (1, 1))
    if not least <= len(arguments) <= most:
        wanted = "1 argument" if most == 1 else f"{least} to {most} arguments"
        cursor.fail(f"{upper} takes {wanted}, not {len(arguments)}", at=at)
    return Call(SCALARS[upper], tuple(arguments), at)


def _aggregate(cursor: Cursor, function: AggregateFunction, at: int) -> Expression:
    if cursor.is_word("DISTINCT"):
        cursor.fail(f"{function}(DISTINCT ...) is not supported", hint="aggregate a nested SELECT DISTINCT")
    if cursor.take(TokenType.STAR):
        if function != "COUNT":
            cursor.fail(f"{function}(*) has no meaning", at=at, hint="name a column, or use COUNT(*)")
        argument = None
    else:
        argument = parse_expression(cursor)
    cursor.need(TokenType.R_PAREN, ")")
    return AggregateCall(function, argument, at)
