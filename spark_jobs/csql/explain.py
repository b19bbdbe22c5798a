"""EXPLAIN: plans before and after, the rewrites that fired and what they save, edges, Spark operators, settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spark_jobs.csql.edges import Instants, edge, is_local
from spark_jobs.csql.operators import spark_operator
from spark_jobs.csql.optimise import Firing, optimise_query
from spark_jobs.csql.plan import Plan, inputs
from spark_jobs.csql.plan_text import node_to_text, plan_to_text, span_to_text
from spark_jobs.csql.program import Program
from spark_jobs.csql.reference.engine import Prepared, prepare
from spark_jobs.csql.reference.inputs import Line
from spark_jobs.csql.rules.gains import UNITS
from spark_jobs.csql.samples import generate
from spark_jobs.csql.settings import settings

Json = dict[str, Any]


def explain(program: Program, lines: Mapping[str, list[Line]] | None = None) -> Json:
    """Return the explanation of every query; gains are measured over these rows, or over generated ones."""
    return {
        "rows": "generated" if lines is None else "given",
        "queries": [_query(program, place, lines) for place in range(len(program.queries))],
        "reorderer": settings(program.queries),
        "warnings": list(program.warnings),
    }


def _query(program: Program, place: int, lines: Mapping[str, list[Line]] | None) -> Json:
    query = program.queries[place]
    upto = replace(program, queries=program.queries[: place + 1])
    plan, fired = optimise_query(query, [each for each in upto.queries[:-1] if each.named])
    prepared = prepare(upto, generate(program.streams, query.plan) if lines is None else lines) if fired else None
    return {
        "query": query.name,
        "kind": query.edge.kind,
        "instants": _instants(query.edge.instants),
        "columns": {field.name: field.type.value for field in query.edge.schema},
        "before": _node(query.plan),
        "rewrites": [_rewrite(firing, prepared) for firing in fired] if prepared else [],
        "after": _node(plan),
        "text": plan_to_text(plan),
    }


def _rewrite(firing: Firing, prepared: Prepared) -> Json:
    unit = UNITS[firing.rule]
    return {
        "rule": firing.rule,
        "unit": unit,
        "before": prepared.work(firing.before)[unit],
        "after": prepared.work(firing.after)[unit],
    }


def _node(plan: Plan) -> Json:
    found = edge(plan)
    return {
        "node": node_to_text(plan),
        "kind": found.kind,
        "class": int(found.monotonicity),
        "monotonicity": found.monotonicity.name.lower(),
        "local": is_local(plan),
        "key": list(found.key),
        "columns": {f"{field.source}.{field.name}".lstrip("."): field.type.value for field in found.schema},
        "spark": spark_operator(plan),
        "inputs": [_node(child) for child in inputs(plan)],
    }


def _instants(instants: Instants | None) -> str | None:
    if instants is None:
        return None
    if instants.every is None:
        return "as its input"
    origin = f" from {instants.origin_ms}" if instants.origin_ms else ""
    return f"every {span_to_text(instants.every)}{origin}"
