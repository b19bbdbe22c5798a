"""The condensative stream algebra (001, sections 4 and 5): what a query means, as a tree of frozen nodes.

An edge of a plan carries *snapshots* (a sequence of sets, one an instant) or a *continuous* result (rows with
lifetimes; 004); the tuples of a declared stream are the latter, each living for ever. `edges` infers which.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, assert_never

from spark_jobs.csql.expressions import AggregateCall, Column, Expression
from spark_jobs.csql.types import Type

Kind = Literal["tuples", "snapshot", "continuous"]


@dataclass(frozen=True, slots=True)
class Span:
    """A length: milliseconds of event time, or a number of tuples."""

    amount: int
    unit: Literal["ms", "tuples"]


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a schema, with the alias it is reached by."""

    source: str
    name: str
    type: Type

    def column(self) -> Column:
        """Return the expression that reads this column."""
        return Column(self.source, self.name, self.type)


@dataclass(frozen=True, slots=True)
class Disorder:
    """What a window asks of the reorderer of its raw topic: not executed by a query."""

    dratio: float | None = None
    slack: Span | None = None
    bsize: int | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """A declared stream or a named result, read from the topic `clean`; `topic` is the raw one, if any.

    `timestamp` is the event-time column, None where `at` or `from` is it (kinds snapshot and continuous). `every` and
    `origin_ms` are the instants of a snapshot result, where they are known.
    """

    name: str
    fields: tuple[Field, ...]
    key: tuple[str, ...]
    timestamp: str | None
    topic: str | None
    clean: str
    kind: Kind = "tuples"
    every: Span | None = None
    origin_ms: int = 0


@dataclass(frozen=True, slots=True)
class Scan:
    """All rows of a stream, in sequence order, under an alias."""

    stream: Stream
    alias: str
    disorder: Disorder = Disorder()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Select:
    """The rows for which the condition is true."""

    child: Plan
    condition: Expression
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Output:
    """One output column: an expression and its name."""

    expression: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Project:
    """New columns, reached by `alias`; keys are kept even where they are not selected."""

    child: Plan
    outputs: tuple[Output, ...]
    alias: str = ""
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Window:
    """W_t or W_n (001, 4.2): a row lives for `length` of time, or until `length` newer rows have come."""

    child: Plan
    length: Span
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Frequency:
    """F_t or F_n. Of "sets" (001, 4.4): the snapshot at each instant. Of "rows" (4.3): every n-th, or each slot's last.

    Instants lie at `origin_ms` plus multiples of a length in time; `origin_ms` is below the length.
    """

    child: Plan
    every: Span
    of: Literal["sets", "rows"]
    origin_ms: int = 0
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Partition:
    """Substreams by the values of columns: the Window and Frequency right above count within each of them."""

    child: Plan
    columns: tuple[Column, ...]
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Measure:
    """An aggregate and the name of the column it makes (source "")."""

    call: AggregateCall
    name: str


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One row a group: its columns, the last tuple's value of each `last` column, and the measures."""

    child: Plan
    group: tuple[Column, ...]
    measures: tuple[Measure, ...]
    last: tuple[Column, ...] = ()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of rows alive together for which the condition (None: always) is true; `key` as in 004, section 5."""

    left: Plan
    right: Plan
    condition: Expression | None = None
    key: tuple[Expression, ...] = ()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each combination of values once (004, 3.4)."""

    child: Plan
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Minus:
    """The left rows for which no equal row is alive on the right (004, 3.5)."""

    left: Plan
    right: Plan
    at: int = field(default=-1, compare=False, repr=False)


Plan: TypeAlias = Scan | Select | Project | Window | Frequency | Partition | Aggregate | Join | Distinct | Minus


def inputs(plan: Plan) -> tuple[Plan, ...]:
    """Return the plans right below a node, from left to right."""
    match plan:
        case Scan():
            return ()
        case Join(left=left, right=right) | Minus(left=left, right=right):
            return (left, right)
        case Select() | Project() | Window() | Frequency() | Partition() | Aggregate() | Distinct():
            return (plan.child,)
        case _:
            assert_never(plan)


def with_inputs(plan: Plan, children: tuple[Plan, ...]) -> Plan:
    """Return the same node over other inputs."""
    match plan:
        case Scan():
            return plan
        case Join() | Minus():
            left, right = children
            return replace(plan, left=left, right=right)
        case Select() | Project() | Window() | Frequency() | Partition() | Aggregate() | Distinct():
            (child,) = children
            return replace(plan, child=child)
        case _:
            assert_never(plan)


def scans(plan: Plan) -> tuple[Scan, ...]:
    """Return every scan of the plan, in FROM order."""
    if isinstance(plan, Scan):
        return (plan,)
    return tuple(scan for child in inputs(plan) for scan in scans(child))
