"""Throw away tuples that no snapshot will see: where a window is shorter than its frequency (001, figures 3 and 4)."""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.csql.plan import Frequency, Plan, Window, bottom_up


def drop_unseen(plan: Plan) -> Plan:
    """Return the plan with the mark on every frequency whose window leaves tuples out for good."""
    return bottom_up(plan, _marked)


def _marked(node: Plan) -> Plan:
    if not isinstance(node, Frequency) or node.of != "sets" or not isinstance(node.child, Window):
        return node
    length = node.child.length
    if length.unit != node.every.unit or length.amount >= node.every.amount:
        return node
    return replace(node, drop_unseen=True)
