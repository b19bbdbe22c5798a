"""Evaluate a window only where the outer frequency will pick the result (001, query 3).

With FREQUENCY 1 Tuple each group puts out one row for each of its tuples; every n-th row of a group is the one of its
every n-th tuple. Not with HAVING (it takes rows from the count), nor where the pick is not partitioned as the groups
are, nor over a tuple window (it holds tuples of all groups).
"""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.csql.plan import Aggregate, Frequency, Partition, Plan, Select, Span, Window, bottom_up

ONE = Span(1, "tuples")


def evaluate_at_outer(plan: Plan) -> Plan:
    """Return the plan with the outer frequency in the place of FREQUENCY 1 Tuple."""
    return bottom_up(plan, lambda node: _merged(node) if isinstance(node, Frequency) else node)


def _merged(node: Frequency) -> Plan:
    if node.of != "rows" or node.every.unit != "tuples":
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
    return replace(groups, child=replace(driver, every=node.every, child=replace(window, child=below)))
