"""One frequency instead of two, where one divides the other (001, section 5).

Of sets: F_a(F_b x) = F_a x where b divides a. Of rows: every n-th of every m-th row is every nm-th; the last row of a
slot is the last of the last rows of the slots it is made of.
"""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.csql.plan import Frequency, Partition, Plan, Span, bottom_up
from spark_jobs.csql.rules.conditions import window_in_time


def compose_frequencies(plan: Plan) -> Plan:
    """Return the plan without frequencies that another one above them makes needless."""
    return bottom_up(plan, lambda node: _composed(node) if isinstance(node, Frequency) else node)


def _composed(node: Frequency) -> Plan:
    if node.of == "sets":
        inner = node.child
        if isinstance(inner, Frequency) and inner.of == "sets" and window_in_time(inner) and _divides(inner, node):
            return replace(node, child=inner.child)
        return node
    if node.of == "picks":
        return node
    columns, below = (node.child.columns, node.child.child) if isinstance(node.child, Partition) else ((), node.child)
    if not isinstance(below, Frequency) or below.of != "rows":
        return node
    inner_columns = below.child.columns if isinstance(below.child, Partition) else ()
    if columns != inner_columns or node.every.unit != below.every.unit:
        return node
    if node.every.unit == "tuples":
        return replace(below, every=Span(node.every.amount * below.every.amount, "tuples"))
    return replace(below, every=node.every, origin_ms=node.origin_ms) if _divides(below, node) else node


def _divides(inner: Frequency, outer: Frequency) -> bool:
    if inner.every.unit == "tuples" or outer.every.unit == "tuples":
        return False
    every_ms = inner.every.amount
    return outer.every.amount % every_ms == 0 and (outer.origin_ms - inner.origin_ms) % every_ms == 0
