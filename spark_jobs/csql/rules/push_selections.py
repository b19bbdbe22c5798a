"""Split selections and push each part down: past time-based windows and frequencies, joins, groups, projections.

Never below a window or a frequency in tuples, nor below a pick of rows, nor into a nested query of snapshots: these
count the rows that a selection would remove.
"""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.csql.edges import edge
from spark_jobs.csql.expressions import Column, Expression, columns, conjunction, conjuncts, transform
from spark_jobs.csql.plan import (
    Aggregate,
    Distinct,
    Frequency,
    Join,
    Minus,
    Partition,
    Plan,
    Project,
    Select,
    Window,
    bottom_up,
)
from spark_jobs.csql.rules.conditions import keys_decide, window_in_time


def push_selections(plan: Plan) -> Plan:
    """Return the plan with every condition as near to its scan as it may stand."""
    return bottom_up(plan, lambda node: _selection(node) if isinstance(node, Select) else node)


def _selection(node: Select) -> Plan:
    child = node.child
    kept: list[Expression] = []
    for condition in conjuncts(node.condition):
        lower = _pushed(child, condition)
        if lower is None:
            kept.append(condition)
        else:
            child = lower
    remaining = conjunction(tuple(kept))
    if remaining is None:
        return child
    if isinstance(child, Select):
        return Select(child.child, _both(child.condition, remaining), node.at)
    return Select(child, remaining, node.at)


def _pushed(plan: Plan, condition: Expression) -> Plan | None:
    """Return the plan with the condition somewhere below its top node, None where it cannot go there."""
    if keys_decide(plan):
        return None
    match plan:
        case Select(child=child):
            lower = _pushed(child, condition)
            return None if lower is None else replace(plan, child=lower)
        case Frequency(of="sets") if plan.every.unit == "ms" and not window_in_time(plan):
            return None
        case Frequency(of="sets", every=every) if every.unit == "ms":
            return replace(plan, child=_below(plan.child, condition))
        case Window(length=length) if length.unit == "ms":
            return replace(plan, child=_below(plan.child, condition))
        case Partition() | Distinct():
            return replace(plan, child=_below(plan.child, condition))
        case Project() if not (plan.alias and edge(plan).kind == "snapshot"):
            return replace(plan, child=_below(plan.child, _through(plan, condition)))
        case Aggregate(group=group):
            if not set(columns(condition)) <= set(group):
                return None
            return replace(plan, child=_below(plan.child, condition))
        case Join():
            return _into_join(plan, condition)
        case Minus(left=left):
            return replace(plan, left=_below(left, condition))
        case _:
            return None


def _below(plan: Plan, condition: Expression) -> Plan:
    """Return the plan with the condition on it or below it."""
    lower = _pushed(plan, condition)
    if lower is not None:
        return lower
    if isinstance(plan, Select):
        return replace(plan, condition=_both(plan.condition, condition))
    return Select(plan, condition)


def _into_join(plan: Join, condition: Expression) -> Plan:
    read = set(columns(condition))
    for side, name in ((plan.left, "left"), (plan.right, "right")):
        reachable = {field.column() for field in edge(side).schema}
        if read <= reachable:
            pushed = _below(side, condition)
            return replace(plan, left=pushed) if name == "left" else replace(plan, right=pushed)
    joined = condition if plan.condition is None else _both(plan.condition, condition)
    return replace(plan, condition=joined)


def _both(first: Expression, second: Expression) -> Expression:
    both = conjunction((*conjuncts(first), *conjuncts(second)))
    assert both is not None
    return both


def _through(plan: Project, condition: Expression) -> Expression:
    """Return the condition in terms of what the projection computes its columns from."""
    meaning = {(plan.alias, output.name): output.expression for output in plan.outputs}
    return transform(condition, lambda part: meaning[part.source, part.name] if isinstance(part, Column) else None)
