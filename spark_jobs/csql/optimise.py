"""The optimiser: the rewrites in order, again and again until none of them finds anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spark_jobs.csql.plan import Plan
from spark_jobs.csql.program import RegisteredQuery
from spark_jobs.csql.rules.answer_from_registered import answer_from_registered
from spark_jobs.csql.rules.compose_frequencies import compose_frequencies
from spark_jobs.csql.rules.drop_unseen import drop_unseen
from spark_jobs.csql.rules.evaluate_at_outer import evaluate_at_outer
from spark_jobs.csql.rules.push_frequency import push_frequency
from spark_jobs.csql.rules.push_selections import push_selections
from spark_jobs.csql.rules.share_panes import share_panes

Rule = Callable[[Plan], Plan]

RULES: tuple[Rule, ...] = (
    push_selections,
    push_frequency,
    compose_frequencies,
    evaluate_at_outer,
    drop_unseen,
    share_panes,
)
MAX_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Firing:
    """A rewrite that changed a plan."""

    rule: str
    before: Plan
    after: Plan


def optimise_query(query: RegisteredQuery, registered: Sequence[RegisteredQuery]) -> tuple[Plan, tuple[Firing, ...]]:
    """Return a query's rewritten plan, answered from a registered query where one can, and the rewrites that fired."""
    answered = answer_from_registered(query.plan, registered)
    plan, fired = optimise(answered)
    if answered == query.plan:
        return plan, fired
    return plan, (Firing("answer_from_registered", query.plan, answered), *fired)


def optimise(plan: Plan, rules: tuple[Rule, ...] = RULES) -> tuple[Plan, tuple[Firing, ...]]:
    """Return the rewritten plan and the rewrites that fired, in order."""
    fired: list[Firing] = []
    for _ in range(MAX_ROUNDS):
        before_round = plan
        for rule in rules:
            after = rule(plan)
            if after != plan:
                fired.append(Firing(rule.__name__, plan, after))
                plan = after
        if plan == before_round:
            break
    return plan, tuple(fired)
