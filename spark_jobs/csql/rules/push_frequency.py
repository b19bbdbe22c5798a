"""Push a time-based frequency below local operators and joins, and let the two sides of a join meet at their lcm.

F_t(R1 x R2) = F_t(R1) x F_t(R2) (001, section 5). A continuous side of a join is read at the other side's instants.
"""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.csql.edges import Instants, edge, meet
from spark_jobs.csql.plan import (
    Aggregate,
    Frequency,
    Join,
    Minus,
    Plan,
    Project,
    Select,
    Window,
    bottom_up,
    inputs,
    with_inputs,
)
from spark_jobs.csql.rules.conditions import keys_decide, window_in_time


def push_frequency(plan: Plan) -> Plan:
    """Return the plan with time-based frequencies right above the windows they are taken of."""
    return bottom_up(plan, _rewrite)


def _rewrite(node: Plan) -> Plan:
    if isinstance(node, Frequency) and node.of == "sets" and node.every.unit == "ms":
        return _pushed(node)
    if isinstance(node, Join):
        return _aligned(node)
    return node


def _pushed(node: Frequency) -> Plan:
    """Put the frequency on each input of a local operator; on a tuple window it would mean something else."""
    child = node.child
    movable = isinstance(child, Select | Aggregate | Join | Minus) or (isinstance(child, Project) and not child.alias)
    if not movable or keys_decide(child) or any(map(_is_tuple_window, inputs(child))):
        return node
    return with_inputs(child, tuple(_rewrite(replace(node, child=below)) for below in inputs(child)))


def _aligned(node: Join) -> Plan:
    """Take both sides at the instants they share, no others."""
    left, right = edge(node.left).instants, edge(node.right).instants
    if left is None and right is None:
        return node
    shared = left or right if left is None or right is None else meet(left, right)
    if shared is None or shared.every is None or shared.every.unit == "tuples":
        return node
    return replace(node, left=_taken_at(node.left, shared), right=_taken_at(node.right, shared))


def _taken_at(plan: Plan, instants: Instants) -> Plan:
    assert instants.every is not None
    if isinstance(plan, Frequency) and plan.of == "sets" and plan.every.unit == "ms" and window_in_time(plan):
        return replace(plan, every=instants.every, origin_ms=instants.origin_ms)
    if edge(plan).kind == "continuous" and not _is_tuple_window(plan):
        return _rewrite(Frequency(plan, instants.every, "sets", instants.origin_ms))
    if isinstance(plan, Select):
        return replace(plan, child=_taken_at(plan.child, instants))
    return plan


def _is_tuple_window(plan: Plan) -> bool:
    return isinstance(plan, Window) and plan.length.unit == "tuples"
