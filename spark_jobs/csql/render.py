"""Bound expressions as Spark SQL, through sqlglot's expressions and its Spark generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from sqlglot import exp

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
from spark_jobs.csql.types import Type
from spark_jobs.csql.typing import type_of

_BINARIES: dict[str, type[exp.Binary]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "/": exp.Div,
    "%": exp.Mod,
    "||": exp.DPipe,
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "AND": exp.And,
    "OR": exp.Or,
    "LIKE": exp.Like,
}
_SPARK_TYPES = {Type.TIMESTAMP: "BIGINT"}
"""A TIMESTAMP travels as a BIGINT of milliseconds."""


_CHECKED = {"+": "TRY_ADD", "-": "TRY_SUBTRACT", "*": "TRY_MULTIPLY"}
"""Integer arithmetic whose overflow is NULL and not the end of the job."""


def to_spark(expression: Expression, column: Callable[[Column], str]) -> str:
    """Return Spark SQL for a bound expression; `column` gives the Spark name of a column, unquoted.

    Division by zero and overflow of integers are NULL, as in the reference evaluator; a TIMESTAMP is a BIGINT.

    >>> ratio = Binary("/", Column("B", "a", Type.INT), Column("B", "b", Type.INT))
    >>> to_spark(ratio, lambda column: f"{column.source}.{column.name}")
    '`B.a` / NULLIF(`B.b`, 0)'
    """
    return lower(expression, column).sql(dialect="spark")


def lower(expression: Expression, column: Callable[[Column], str]) -> exp.Expr:
    """Return the sqlglot expression; every nested operator in parentheses."""

    def below(part: Expression) -> exp.Expr:
        lowered = lower(part, column)
        return exp.Paren(this=lowered) if isinstance(part, Unary | Binary | IsNull | In) else lowered

    match expression:
        case Literal():
            return _literal(expression)
        case Column():
            return exp.column(exp.to_identifier(column(expression), quoted=True))
        case Unary(operator="NOT", operand=operand):
            return exp.Not(this=below(operand))
        case Unary(operand=operand):
            return exp.Neg(this=below(operand))
        case Binary(operator="/" | "%", left=left, right=right):
            divisor = exp.Anonymous(this="NULLIF", expressions=[lower(right, column), exp.Literal.number(0)])
            return _BINARIES[expression.operator](this=below(left), expression=divisor)
        case Binary(operator="+" | "-" | "*") if type_of(expression) is not Type.DOUBLE:
            sides = [_as_bigint(side, lower(side, column)) for side in (expression.left, expression.right)]
            return exp.Anonymous(this=_CHECKED[expression.operator], expressions=sides)
        case Binary(operator=operator, left=left, right=right):
            return _BINARIES[operator](this=below(left), expression=below(right))
        case IsNull(operand=operand):
            return exp.Is(this=below(operand), expression=exp.Null())
        case In(operand=operand, options=options):
            return exp.In(this=below(operand), expressions=[lower(option, column) for option in options])
        case Case(branches=branches, otherwise=otherwise):
            whens = [exp.If(this=lower(test, column), true=lower(value, column)) for test, value in branches]
            return exp.Case(ifs=whens, default=None if otherwise is None else lower(otherwise, column))
        case Cast(operand=operand, type=target):
            kind = exp.Var(this=_SPARK_TYPES.get(target, target.value))
            # sqlglot writes Spark's TRY_CAST as CAST, which ends the job at the first value that does not fit.
            return exp.Anonymous(this="TRY_CAST", expressions=[exp.Alias(this=lower(operand, column), alias=kind)])
        case Call(function=function, arguments=arguments):
            return exp.Anonymous(this=function, expressions=[lower(argument, column) for argument in arguments])
        case AggregateCall(function=function, argument=argument):
            inner = exp.Star() if argument is None else lower(argument, column)
            return exp.Anonymous(this=function, expressions=[inner])
        case _:
            assert_never(expression)


def _as_bigint(side: Expression, lowered: exp.Expr) -> exp.Expr:
    return exp.Cast(this=lowered, to=exp.DataType.build("BIGINT")) if type_of(side) is Type.INT else lowered


def _literal(literal: Literal) -> exp.Expr:
    value = literal.value
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return exp.Literal.string(value)
    # Spark reads 1.5 as a decimal, whose arithmetic is not that of a double.
    number = exp.Literal.number(repr(value))
    return number if isinstance(value, int) else exp.Cast(this=number, to=exp.DataType.build("DOUBLE"))
