"""Queries become plans."""

from __future__ import annotations

import pytest

from spark_jobs.csql.edges import Instants, Monotonicity
from spark_jobs.csql.expressions import AggregateCall, Binary, Column, Literal
from spark_jobs.csql.plan import (
    Aggregate,
    Disorder,
    Field,
    Frequency,
    Measure,
    Output,
    Partition,
    Project,
    Scan,
    Select,
    Span,
    Stream,
    Window,
)
from spark_jobs.csql.program import load
from spark_jobs.csql.types import Type
from tests.spark_jobs.csql.paper_queries import ANIMALS, QUERIES, VEHICLES

PULSE = Stream(
    "Pulse",
    (Field("", "Id", Type.INT), Field("", "Timestamp", Type.TIMESTAMP)),
    (),
    "Timestamp",
    "pulse",
    "pulse.clean",
)
MINUTE = Span(60_000, "ms")


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_of_the_papers_becomes_a_plan(name: str) -> None:
    declarations, text = QUERIES[name]
    (query,) = load(declarations + text).queries
    kind = "continuous" if name.startswith("002") else "snapshot"
    assert query.edge.kind == kind


def test_query_3_is_a_pick_by_animal_over_counts_of_a_window_evaluated_at_every_tuple() -> None:
    (query,) = load(ANIMALS + QUERIES["001 query 3"][1]).queries
    animal = Column("P", "Id", Type.INT)
    count = AggregateCall("COUNT", None)
    window = Frequency(Window(Scan(PULSE, "P"), MINUTE), Span(1, "tuples"), "sets")
    counts = Aggregate(window, (animal,), (Measure(count, "COUNT(*)"),))
    picked = Frequency(Partition(counts, (animal,)), Span(10, "tuples"), "rows")
    outputs = (Output(animal, "Id"), Output(Column("", "COUNT(*)", Type.BIGINT), "COUNT"))
    assert query.plan == Project(picked, outputs)


def test_the_bracket_of_query_1a_belongs_to_the_only_source() -> None:
    (query,) = load(ANIMALS + QUERIES["001 query 1(a)"][1]).queries
    assert isinstance(query.plan, Project)
    selection = query.plan.child
    assert isinstance(selection, Select)
    horse = Binary("=", Column("B", "Species", Type.STRING), Literal("horse", Type.STRING))
    assert selection.condition == horse
    assert isinstance(selection.child, Frequency)
    assert (selection.child.every, selection.child.of) == (Span(100, "tuples"), "sets")


def test_a_slide_is_the_snapshot_one_millisecond_before_each_multiple() -> None:
    (query,) = load(VEHICLES + QUERIES["003 Q3"][1]).queries
    assert query.edge.instants == Instants(Span(30_000, "ms"), 29_999)


def test_what_a_window_asks_of_the_reorderer_stays_on_the_scan() -> None:
    (query,) = load(VEHICLES + QUERIES["003 Q4"][1]).queries
    assert isinstance(query.plan, Project)
    window = query.plan.child
    assert isinstance(window, Frequency)
    assert isinstance(window.child, Window)
    assert isinstance(window.child.child, Scan)
    assert window.child.child.disorder == Disorder(dratio=0.01, bsize=100)


def test_a_named_result_is_a_stream_with_the_columns_and_instants_of_its_query() -> None:
    text = ANIMALS + (
        "CREATE STREAM Rates AS SELECT Id, COUNT(*) AS Rate FROM Pulse [RANGE 1 Minute FREQUENCY 1 Second] GROUP BY Id;"
        "SELECT * FROM Rates WHERE Rate > 60;"
    )
    rates, fast = load(text).queries
    fields = (Field("", "Id", Type.INT), Field("", "Rate", Type.BIGINT))
    expected = Stream("Rates", fields, (), None, None, "Rates", "snapshot", Span(1000, "ms"), 0)
    assert rates.result == expected
    assert (fast.name, fast.edge.kind, fast.edge.instants) == ("q2", "snapshot", Instants(Span(1000, "ms"), 0))


@pytest.mark.parametrize(
    ("query", "expiry"),
    [
        ("SELECT * FROM A", Monotonicity.MONOTONIC),
        ("SELECT * FROM A [RANGE 1 Second] WHERE x > 1", Monotonicity.WEAKEST),
        ("SELECT * FROM A [RANGE 3 Tuples]", Monotonicity.STRICT),
        ("SELECT A.x FROM A [RANGE 1 Second], B [RANGE 1 Second] WHERE A.x = B.x", Monotonicity.WEAK),
        ("SELECT A.x FROM A [RANGE 1 Second], B [RANGE 3 Tuples] WHERE A.x = B.x", Monotonicity.STRICT),
        ("SELECT COUNT(*) FROM A [RANGE 1 Second]", Monotonicity.STRICT),
        ("SELECT DISTINCT x FROM A [RANGE 1 Second]", Monotonicity.WEAK),
        ("SELECT DISTINCT x FROM A [RANGE 3 Tuples]", Monotonicity.STRICT),
        ("SELECT x FROM A [RANGE 1 Second] MINUS SELECT x FROM B [RANGE 1 Second]", Monotonicity.STRICT),
        ("SELECT * FROM C", Monotonicity.STRICT),
    ],
)
def test_the_monotonicity_class_of_a_result_follows_004(query: str, expiry: Monotonicity) -> None:
    declarations = """
        CREATE STREAM A (x INT, ts BIGINT) WITH (topic = 'a');
        CREATE STREAM B (x INT, ts BIGINT) WITH (topic = 'b');
        CREATE STREAM C (x INT) WITH (clean = 'c', kind = 'continuous');
    """
    (found,) = load(declarations + query).queries
    assert found.edge.monotonicity is expiry
