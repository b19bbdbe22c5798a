"""Scalar and aggregate expressions: frozen, typed, comparable; positions in the text never count for equality."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf
from typing import TypeAlias, assert_never

from spark_jobs.csql.types import Type, Value

UnaryOperator = OneOf["-", "NOT"]
BinaryOperator = OneOf["+", "-", "*", "/", "%", "||", "=", "<>", "<", "<=", ">", ">=", "AND", "OR", "LIKE"]
AggregateFunction = OneOf["COUNT", "SUM", "AVG", "MIN", "MAX"]
ScalarFunction = OneOf["ABS", "FLOOR", "CEIL", "ROUND", "UPPER", "LOWER", "LENGTH", "COALESCE"]

COMPARISONS: frozenset[str] = frozenset({"=", "<>", "<", "<=", ">", ">="})


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: Value
    type: Type
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `source` is the alias that qualifies it. Bound columns have their declared spelling and type."""

    source: str
    name: str
    type: Type = Type.NULL
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """A sign or a negation."""

    operator: UnaryOperator
    operand: Expression
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, comparison, AND, OR, LIKE, concatenation."""

    operator: BinaryOperator
    left: Expression
    right: Expression
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IsNull:
    """`operand IS NULL`."""

    operand: Expression
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class In:
    """`operand IN (option, ...)`."""

    operand: Expression
    options: tuple[Expression, ...]
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Case:
    """`CASE WHEN condition THEN value ... [ELSE otherwise] END`."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None = None
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """`CAST(operand AS type)`."""

    operand: Expression
    type: Type
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A scalar function of its arguments."""

    function: ScalarFunction
    arguments: tuple[Expression, ...]
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate over the rows of a group; `argument` None stands for COUNT(*)."""

    function: AggregateFunction
    argument: Expression | None
    at: int = field(default=-1, compare=False, repr=False)


Expression: TypeAlias = Literal | Column | Unary | Binary | IsNull | In | Case | Cast | Call | AggregateCall


def children(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct parts of an expression, from left to right."""
    match expression:
        case Literal() | Column():
            return ()
        case Unary(operand=operand) | IsNull(operand=operand) | Cast(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case In(operand=operand, options=options):
            return (operand, *options)
        case Case(branches=branches, otherwise=otherwise):
            parts = tuple(part for branch in branches for part in branch)
            return parts if otherwise is None else (*parts, otherwise)
        case Call(arguments=arguments):
            return arguments
        case AggregateCall(argument=argument):
            return () if argument is None else (argument,)
        case _:
            assert_never(expression)


def transform(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """Return the expression with `change` applied from the top; where it returns None the parts are visited."""
    changed = change(expression)
    if changed is not None:
        return changed

    def visit(part: Expression) -> Expression:
        return transform(part, change)

    match expression:
        case Literal() | Column():
            return expression
        case Unary() | IsNull() | Cast():
            return replace(expression, operand=visit(expression.operand))
        case Binary():
            return replace(expression, left=visit(expression.left), right=visit(expression.right))
        case In():
            return replace(expression, operand=visit(expression.operand), options=tuple(map(visit, expression.options)))
        case Case():
            branches = tuple((visit(condition), visit(value)) for condition, value in expression.branches)
            otherwise = None if expression.otherwise is None else visit(expression.otherwise)
            return replace(expression, branches=branches, otherwise=otherwise)
        case Call():
            return replace(expression, arguments=tuple(map(visit, expression.arguments)))
        case AggregateCall():
            return (
                expression if expression.argument is None else replace(expression, argument=visit(expression.argument))
            )
        case _:
            assert_never(expression)


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and every part of it, parents first."""
    yield expression
    for part in children(expression):
        yield from walk(part)


def columns(expression: Expression) -> tuple[Column, ...]:
    """Return every column the expression reads, in order, with repetitions."""
    return tuple(part for part in walk(expression) if isinstance(part, Column))


def conjuncts(condition: Expression) -> tuple[Expression, ...]:
    """Return the conditions that AND joins.

    >>> a, b = Column("S", "a"), Column("S", "b")
    >>> conjuncts(Binary("AND", a, b)) == (a, b)
    True
    """
    if isinstance(condition, Binary) and condition.operator == "AND":
        return conjuncts(condition.left) + conjuncts(condition.right)
    return (condition,)


def conjunction(conditions: tuple[Expression, ...]) -> Expression | None:
    """Return the conditions joined by AND, or None where there are none."""
    joined: Expression | None = None
    for condition in conditions:
        joined = condition if joined is None else Binary("AND", joined, condition)
    return joined
