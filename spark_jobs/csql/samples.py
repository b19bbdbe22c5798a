"""Seeded rows for any declared stream, so that the gain of a rewrite can be estimated without data."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from spark_jobs.csql.expressions import Expression, Literal, walk
from spark_jobs.csql.plan import Aggregate, Frequency, Join, Plan, Project, Select, Stream, Window, inputs
from spark_jobs.csql.types import INTEGERS, Type

START_MS = 1_700_000_000_000
ROWS, ROWS_OF_JOINS = 1000, 300
"""A join reads pairs: it gets fewer rows, so that explaining stays quick."""
Rows = list[tuple[int, int, dict[str, Any]]]


def generate(streams: tuple[Stream, ...], plan: Plan, seed: int = 1) -> dict[str, Rows]:
    """Return rows of the streams for a plan: some four of its windows long, values around its constants."""
    nodes = list(_nodes(plan))
    spans = [node.length for node in nodes if isinstance(node, Window)]
    spans += [node.every for node in nodes if isinstance(node, Frequency)]
    horizon_ms = 4 * max((span.amount for span in spans if span.unit == "ms"), default=15_000)
    count = ROWS_OF_JOINS if any(isinstance(node, Join) for node in nodes) else ROWS
    parts = [part for node in nodes for each in _expressions(node) for part in walk(each)]
    constants = [part.value for part in parts if isinstance(part, Literal) and part.value is not None]
    rng = random.Random(seed)
    return {stream.name: _rows(stream, count, horizon_ms, constants, rng) for stream in streams}


def _nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in inputs(plan):
        yield from _nodes(child)


def _expressions(node: Plan) -> list[Expression]:
    match node:
        case Select(condition=condition):
            return [condition]
        case Join(condition=condition) if condition is not None:
            return [condition]
        case Project(outputs=outputs):
            return [output.expression for output in outputs]
        case Aggregate(measures=measures):
            return [measure.call for measure in measures]
        case _:
            return []


def _rows(stream: Stream, count: int, horizon_ms: int, constants: list[Any], rng: random.Random) -> Rows:
    times = sorted(START_MS + rng.randrange(max(horizon_ms, 1)) for _ in range(count))
    rows: Rows = []
    for offset, at_ms in enumerate(times):
        row = {field.name: _value(field.type, at_ms, constants, rng) for field in stream.fields}
        if stream.timestamp is not None:
            row[stream.timestamp] = at_ms
        mark = {"at": at_ms, "op": "+", "from": at_ms, "to": at_ms + horizon_ms // 4, "key": [offset]}
        rows.append((0, offset, row if stream.kind == "tuples" else {**mark, **row}))
    return rows


def _value(kind: Type, at_ms: int, constants: list[Any], rng: random.Random) -> Any:
    if kind is Type.TIMESTAMP:
        return at_ms
    if kind is Type.BOOLEAN:
        return rng.random() < 0.5
    if kind is Type.STRING:
        return rng.choice([*(each for each in constants if isinstance(each, str)), "a", "b", "c"])
    numbers = [each for each in constants if isinstance(each, int | float) and not isinstance(each, bool)]
    drawn = rng.choice([0, 1, 2, 3, *(number + step for number in numbers for step in (-1, 1))])
    return int(drawn) if kind in INTEGERS else float(drawn)
