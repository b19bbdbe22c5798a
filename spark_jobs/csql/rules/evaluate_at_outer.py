"""Evaluate a window only where the outer frequency will pick the result (001, queries 3 and 4).

With FREQUENCY 1 Tuple each group puts out one row for each of its tuples; every n-th row of a group is the one of its
every n-th tuple, and the last row of a slot that of its last tuple. Not with HAVING (it takes rows from the
count), nor where the pick is not partitioned as the groups are, nor over a tuple window (it holds all groups' tuples).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from spark_jobs.csql.plan import Aggregate, Frequency, Partition, Plan, Select, Span, Window, bottom_up

ONE = Span(1, "tuples")


def evaluate_at_outer(plan: Plan) -> Plan:
    """Return the plan with the outer frequency in the place of FREQUENCY 1 Tuple."""
    return bottom_up(plan, lambda node: _merged(node) if isinstance(node, Frequency) else node)


def _merged(node: Frequency) -> Plan:
    if node.of != "rows":
        return node
    columns, groups = (node.child.columns, node.child.child) if isinstance(node.child, Partition) else ((), node.child)
    if not isinstance(groups, Aggregate) or set(columns) != set(groups.group):
        return node
    selection = groups.child if isinstance(groups.child, Select) else None
    driver = groups.child.child if isinstance(groups.child, Select) else groups.child
    if not isinstance(driver, Frequency) or driver.of != "sets" or driver.every != ONE:
        return node
    window = driver.child
    if not isinstance(window, Window) or window.length.unit == "tuples" or isinstance(window.child, Partition):
        return node
    source = window.child if selection is None else replace(selection, child=window.child)
    below = Partition(source, groups.group) if groups.group else source
    of: Literal["sets", "picks"] = "sets" if node.every.unit == "tuples" else "picks"
    taken = Frequency(replace(window, child=below), node.every, of, node.origin_ms, at=driver.at)
    return replace(groups, child=taken)
