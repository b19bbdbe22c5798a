"""What the nodes of a plan demand of their inputs, whether a query or an algebra text made them."""

from __future__ import annotations

from spark_jobs.csql.edges import Monotonicity, edge, meet
from spark_jobs.csql.plan import Plan
from spark_jobs.csql.types import common
from spark_jobs.errors import QueryError


def check_bounded(plan: Plan, what: str, at: int) -> None:
    """Raise QueryError where an operator would have to keep every row of its input for ever."""
    found = edge(plan)
    if found.kind == "continuous" and found.monotonicity is Monotonicity.MONOTONIC:
        hint = "give the source a RANGE"
        raise QueryError(f"{what} over a stream without a window would keep every tuple for ever", hint=hint, at=at)


def check_meeting(left: Plan, right: Plan, what: str, at: int) -> None:
    """Raise QueryError where two inputs are evaluated at instants that cannot be brought together."""
    ours, theirs = edge(left).instants, edge(right).instants
    if ours is None or theirs is None:
        return
    units = {each.every.unit for each in (ours, theirs) if each.every is not None}
    if "tuples" in units:
        hint = "keep one FREQUENCY in tuples and drop the other, or use time for both"
        clash = "both in tuples" if units == {"tuples"} else "in tuples and in time"
        raise QueryError(f"the frequencies of {what} clash: {clash}", hint=hint, at=at)
    if meet(ours, theirs) is None:
        raise QueryError(f"the frequencies of {what} never meet", hint="give them origins that do", at=at)


def check_join(left: Plan, right: Plan, left_at: int, at: int) -> None:
    """Raise QueryError where two sources cannot be joined."""
    check_meeting(left, right, "the sources", at)
    check_bounded(left, "a join", left_at)
    check_bounded(right, "a join", at)


def check_minus(left: Plan, right: Plan, left_at: int, at: int) -> None:
    """Raise QueryError where two results cannot be subtracted."""
    ours, theirs = edge(left), edge(right)
    same = "both sides select the same columns"
    if len(ours.schema) != len(theirs.schema):
        raise QueryError(f"MINUS of {len(ours.schema)} columns and {len(theirs.schema)}", hint=same, at=at)
    for mine, other in zip(ours.schema, theirs.schema, strict=True):
        if common(mine.type, other.type) is None:
            message = f"MINUS of column '{mine.name}' {mine.type.value} and '{other.name}' {other.type.value}"
            raise QueryError(message, hint=same, at=at)
    if ours.kind == "continuous" and theirs.kind == "snapshot":
        hint = "give the left side the same FREQUENCY"
        raise QueryError("MINUS of a continuous result and snapshots", hint=hint, at=at)
    check_meeting(left, right, "both sides of MINUS", at)
    check_bounded(left, "MINUS", left_at)
    check_bounded(right, "MINUS", at)
