"""Aggregate panes of length gcd(W, F) once and share them among the windows that overlap them."""

from __future__ import annotations

import math
from dataclasses import replace

from spark_jobs.csql.plan import Aggregate, Frequency, Plan, Window, bottom_up


def share_panes(plan: Plan) -> Plan:
    """Return the plan with panes on every aggregate over windows in time that overlap."""
    return bottom_up(plan, _with_panes)


def divides(pane_ms: int, plan: Plan) -> bool:
    """Whether windows in time of this plan are made of whole panes."""
    if not isinstance(plan, Frequency) or plan.of != "sets" or not isinstance(plan.child, Window):
        return False
    length, every = plan.child.length, plan.every
    return length.unit == every.unit == "ms" and math.gcd(length.amount, every.amount) % pane_ms == 0


def _with_panes(node: Plan) -> Plan:
    if not isinstance(node, Aggregate) or node.pane_ms is not None:
        return node
    snapshots = node.child
    if not isinstance(snapshots, Frequency) or not isinstance(snapshots.child, Window) or not divides(1, snapshots):
        return node
    length_ms, every_ms = snapshots.child.length.amount, snapshots.every.amount
    return node if length_ms <= every_ms else replace(node, pane_ms=math.gcd(length_ms, every_ms))
