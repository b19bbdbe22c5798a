"""What flows on each edge of a plan: schema, primary key, kind, instants, monotonicity class (004, 2.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Literal, assert_never

from spark_jobs.csql.plan import (
    Aggregate,
    Distinct,
    Field,
    Frequency,
    Join,
    Minus,
    Partition,
    Plan,
    Project,
    Scan,
    Select,
    Span,
    Window,
)
from spark_jobs.csql.text import to_text
from spark_jobs.csql.typing import type_of


class Monotonicity(IntEnum):
    """How rows of an edge expire (004, 2.2)."""

    MONOTONIC = 1
    """Never."""
    WEAKEST = 2
    """After a constant time: in the order they came."""
    WEAK = 3
    """At a time known when they come, in another order."""
    STRICT = 4
    """When a later tuple says so: negative tuples occur."""


@dataclass(frozen=True, slots=True)
class Instants:
    """When snapshots are taken: multiples of a time past an origin, or every n-th tuple; None: not known."""

    every: Span | None
    origin_ms: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """The output of a plan node."""

    schema: tuple[Field, ...]
    key: tuple[str, ...]
    kind: Literal["snapshot", "continuous"]
    instants: Instants | None
    monotonicity: Monotonicity

    def field(self, source: str, name: str) -> Field:
        """Return the field of that name."""
        return next(field for field in self.schema if (field.source, field.name) == (source, name))


@lru_cache(maxsize=4096)
def edge(plan: Plan) -> Edge:
    """Return what flows out of the node."""
    match plan:
        case Scan():
            return _scan(plan)
        case Select(child=child) | Partition(child=child):
            return edge(child)
        case Project():
            return _project(plan)
        case Window():
            below = edge(plan.child)
            expiry = Monotonicity.WEAKEST if plan.length.unit == "ms" else Monotonicity.STRICT
            return Edge(below.schema, below.key, "continuous", None, expiry)
        case Frequency():
            below = edge(plan.child)
            return _snapshots(below.schema, below.key, Instants(plan.every, plan.origin_ms))
        case Aggregate():
            return _aggregate(plan)
        case Join():
            return _join(plan)
        case Distinct(child=child):
            below = edge(child)
            key = tuple(to_text(field.column()) for field in below.schema)
            expiry = max(below.monotonicity, Monotonicity.WEAK)
            if below.monotonicity is Monotonicity.MONOTONIC:
                expiry = Monotonicity.MONOTONIC
            return Edge(below.schema, key, below.kind, below.instants, expiry)
        case Minus(left=left, right=right):
            return _combined(edge(left), edge(right), edge(left).schema, edge(left).key, Monotonicity.STRICT)
        case _:
            assert_never(plan)


def _snapshots(schema: tuple[Field, ...], key: tuple[str, ...], instants: Instants) -> Edge:
    """Rows of snapshots are never taken back: monotonic."""
    return Edge(schema, key, "snapshot", instants, Monotonicity.MONOTONIC)


def _scan(plan: Scan) -> Edge:
    stream = plan.stream
    schema = tuple(Field(plan.alias, field.name, field.type) for field in stream.fields)
    key = tuple(f"{plan.alias}.{name}" for name in stream.key) or _place_key(plan.alias)
    if stream.kind == "snapshot":
        return _snapshots(schema, key, Instants(stream.every, stream.origin_ms))
    expiry = Monotonicity.STRICT if stream.kind == "continuous" else Monotonicity.MONOTONIC
    return Edge(schema, key, "continuous", None, expiry)


def _place_key(alias: str) -> tuple[str, ...]:
    return f"{alias}.partition", f"{alias}.offset"


def _project(plan: Project) -> Edge:
    below = edge(plan.child)
    schema = tuple(Field(plan.alias, output.name, type_of(output.expression)) for output in plan.outputs)
    if plan.alias and below.kind == "snapshot":
        return replace(below, schema=schema, key=_place_key(plan.alias))  # a sequence of rows of its own
    return Edge(schema, below.key, below.kind, below.instants, below.monotonicity)


def _aggregate(plan: Aggregate) -> Edge:
    below = edge(plan.child)
    kept = tuple(below.field(column.source, column.name) for column in (*plan.group, *plan.last))
    measured = tuple(Field("", measure.name, type_of(measure.call)) for measure in plan.measures)
    key = tuple(to_text(column) for column in plan.group)
    expiry = Monotonicity.STRICT if below.kind == "continuous" else Monotonicity.MONOTONIC
    return Edge(kept + measured, key, below.kind, below.instants, expiry)


def _join(plan: Join) -> Edge:
    left, right = edge(plan.left), edge(plan.right)
    key = tuple(map(to_text, plan.key)) or left.key + right.key
    expiry = max(left.monotonicity, right.monotonicity)
    if expiry is Monotonicity.WEAKEST:
        expiry = Monotonicity.WEAK  # the intersection of two lifetimes has no constant length
    return _combined(left, right, left.schema + right.schema, key, expiry)


def _combined(left: Edge, right: Edge, schema: tuple[Field, ...], key: tuple[str, ...], expiry: Monotonicity) -> Edge:
    """Two inputs meet: continuous if both are, else at the instants they share."""
    if left.kind == right.kind == "continuous":
        return Edge(schema, key, "continuous", None, expiry)
    if left.instants is None or right.instants is None:
        instants = left.instants or right.instants
        assert instants is not None
        return _snapshots(schema, key, instants)
    return _snapshots(schema, key, meet(left.instants, right.instants) or Instants(None))


def meet(left: Instants, right: Instants) -> Instants | None:
    """Return the instants two time frequencies share (their lcm, from a common instant), None if they never meet.

    >>> meet(Instants(Span(4, "ms"), 1), Instants(Span(6, "ms"), 3))
    Instants(every=Span(amount=12, unit='ms'), origin_ms=9)
    >>> meet(Instants(Span(4, "ms"), 0), Instants(Span(6, "ms"), 1)) is None
    True
    """
    if left.every is None or right.every is None:
        return Instants(None)
    first, second = left.every.amount, right.every.amount
    gcd = math.gcd(first, second)
    gap = right.origin_ms - left.origin_ms
    if gap % gcd:
        return None
    steps = (gap // gcd) * pow(first // gcd, -1, second // gcd) % (second // gcd)
    every = first * second // gcd
    return Instants(Span(every, "ms"), (left.origin_ms + first * steps) % every)


def is_local(plan: Plan) -> bool:
    """Whether the node's output at an instant depends on its input at that instant alone (001, definition 1)."""
    match plan:
        case Window():
            return False
        case Frequency(every=every, of=of):
            return every.unit == "ms" and of == "sets"
        case Scan() | Select() | Project() | Partition() | Aggregate() | Join() | Distinct() | Minus():
            return True
        case _:
            assert_never(plan)
