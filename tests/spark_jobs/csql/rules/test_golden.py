"""Each rewrite's golden cases, by text, by result and by gain."""

from __future__ import annotations

import pytest

from spark_jobs.csql.optimise import RULES, Rule
from spark_jobs.csql.plan_text import plan_to_text
from spark_jobs.csql.rules.gains import UNITS
from tests.spark_jobs.csql.rules import golden
from tests.spark_jobs.csql.rules.executing import data, execute, plan_of, work
from tests.spark_jobs.csql.rules.golden import Golden

CASES = [
    pytest.param(rule, case, id=f"{rule.__name__}: {case.title}")
    for rule in RULES
    for case in getattr(golden, rule.__name__.upper())
]
SEEDS = range(5)


@pytest.mark.parametrize(("rule", "case"), CASES)
def test_a_rewrite_makes_the_golden_plan(rule: Rule, case: Golden) -> None:
    before = plan_of(case.before)
    expected = before if case.after is None else plan_of(case.after)
    assert plan_to_text(rule(before)) == plan_to_text(expected)


@pytest.mark.parametrize(("rule", "case"), CASES)
def test_a_rewrite_changes_no_result(rule: Rule, case: Golden) -> None:
    before = plan_of(case.before)
    after = rule(before)
    results = [execute(before, data(seed)).rows for seed in SEEDS]
    assert [execute(after, data(seed)).rows for seed in SEEDS] == results
    assert any(results)


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.__name__) for rule in RULES])
def test_a_rewrite_saves_in_its_own_unit(rule: Rule) -> None:
    gains = []
    for case in getattr(golden, rule.__name__.upper()):
        if case.after is not None:
            unit = UNITS[rule.__name__]
            before = plan_of(case.before)
            gains.append(work(before, data(1, 240))[unit] - work(rule(before), data(1, 240))[unit])
    assert min(gains) >= 0
    assert max(gains) > 0
