"""Which operator of Spark each node of a plan becomes, and which collections its state needs (004, 2.2)."""

from __future__ import annotations

from typing import assert_never

from spark_jobs.csql.edges import Edge, Monotonicity, edge
from spark_jobs.csql.plan import (
    Aggregate,
    Distinct,
    Frequency,
    Join,
    Minus,
    Partition,
    Plan,
    Project,
    Scan,
    Select,
    Window,
    inputs,
)

STATEFUL = "transformWithStateInPandas by bucket of keys"


def spark_operator(plan: Plan) -> str:
    """Return the Spark operator of a node."""
    match plan:
        case Scan():
            return "one Kafka source a partition, watermark from punctuations"
        case Select():
            return "native filter"
        case Project():
            return "native select"
        case Partition():
            return "key of the operator above"
        case Window():
            return f"{STATEFUL}: {collections(edge(plan))}" if edge(plan).monotonicity > 2 else "ranges of event time"
        case Frequency() if _is_native(plan):
            return "native explode to instants"
        case Aggregate() if _is_native(plan.child):
            return "native aggregation by instant and group"
        case Distinct() if _is_native(plan.child):
            return "native aggregation by instant and columns"
        case Frequency() | Aggregate() | Join() | Distinct() | Minus():
            kept = ", ".join(dict.fromkeys(collections(edge(child)) for child in inputs(plan)))
            return f"{STATEFUL}: {kept}"
        case _:
            assert_never(plan)


def collections(below: Edge) -> str:
    """Return the collections that an operator needs for the rows of an edge."""
    if below.kind == "snapshot":
        return "rows by instant"
    match below.monotonicity:
        case Monotonicity.MONOTONIC:
            return "no expiry"
        case Monotonicity.WEAKEST:
            return "a queue"
        case Monotonicity.WEAK:
            return "an index by end time"
        case Monotonicity.STRICT:
            return "an index by end time and one by key"
        case _:
            assert_never(below.monotonicity)


def _is_native(plan: Plan) -> bool:
    """Whether snapshots in time of one stream stand here, which Spark aggregates by itself."""
    if isinstance(plan, Select | Project):
        return _is_native(plan.child)
    if not isinstance(plan, Frequency) or plan.of == "rows" or plan.every.unit == "tuples":
        return False
    return isinstance(plan.child, Window) and plan.child.length.unit == "ms" and _is_stateless(plan.child.child)


def _is_stateless(plan: Plan) -> bool:
    return isinstance(plan, Scan) or (isinstance(plan, Select | Project) and _is_stateless(plan.child))
