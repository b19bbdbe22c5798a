"""Runs plans before and after a rewrite on the same generated data."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

from spark_jobs.csql.plan import Plan
from spark_jobs.csql.program import load
from spark_jobs.csql.reference.engine import Evaluation, run
from spark_jobs.csql.reference.inputs import Line
from tests.spark_jobs.csql.running import DECLARATIONS

Inputs = dict[str, list[Line]]


def plan_of(text: str) -> Plan:
    """Return the plan of the only query of a text over S and R."""
    (query,) = load(DECLARATIONS + text).queries
    return query.plan


def data(seed: int, count: int = 60) -> Inputs:
    """Return rows of S and R: few instants, so that many rows share one; gaps, NULLs, two partitions."""
    rng = random.Random(seed)
    times = [rng.randrange(40) + (50 if rng.random() < 0.2 else 0) for _ in range(2 * count)]

    def row(at_ms: int, column: str) -> dict[str, Any]:
        value = None if rng.random() < 0.1 else rng.randrange(5)
        return {"ts": at_ms, column: value, "g": rng.choice("abc")}

    return {
        "S": [(rng.randrange(2), offset, row(at_ms, "x")) for offset, at_ms in enumerate(times[:count])],
        "R": [(rng.randrange(2), offset, row(at_ms, "y")) for offset, at_ms in enumerate(times[count:])],
    }


def execute(plan: Plan, inputs: Inputs) -> Evaluation:
    """Return what the plan puts out."""
    program = load(DECLARATIONS + "SELECT x FROM S")
    (query,) = program.queries
    return run(replace(program, queries=(replace(query, plan=plan),)), inputs)


def work(plan: Plan, inputs: Inputs) -> Counter[str]:
    """Return what the plan costs."""
    return execute(plan, inputs).work
