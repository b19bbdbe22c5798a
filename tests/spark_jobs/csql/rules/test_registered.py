"""Queries answered from registered ones: the plan, and the same result as without."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_jobs.csql.plan import scans
from spark_jobs.csql.plan_text import plan_to_text
from spark_jobs.csql.program import load
from spark_jobs.csql.reference.engine import run
from spark_jobs.csql.rules.answer_from_registered import answer_from_registered
from tests.spark_jobs.csql.rules.executing import data
from tests.spark_jobs.csql.running import DECLARATIONS

RATES = (
    "SELECT g, COUNT(*) [FREQUENCY {} Tuples PARTITIONED BY g] AS Rate FROM S [RANGE 9 Milliseconds FREQUENCY 1 Tuple] "
    "GROUP BY g"
)
NESTED_ANSWER = (
    'Project[N.g AS g, "AVG(N.Rate)" AS m](Aggregate[BY N.g COMPUTE AVG(N.Rate)](Frequency[1 Tuple OF SETS]('
    "Window[9 Tuples](Project[A.g AS g, A.Rate AS Rate NAMED N](Frequency[2 Tuples OF ROWS]("
    "Partition[A.g](Scan[A AS A])))))))"
)
NESTED = "SELECT SUM(N.x) AS t FROM (SELECT x FROM S [RANGE 4 Seconds FREQUENCY {} Seconds]) AS N [RANGE 3 Tuples]"
ANSWERED = {
    "snapshots in time": (
        "SELECT g, COUNT(*) AS c FROM S [RANGE 9 Milliseconds FREQUENCY 2 Milliseconds] WHERE x > 1 GROUP BY g",
        "SELECT g, COUNT(*) AS c FROM S [RANGE 9 Milliseconds FREQUENCY 6 Milliseconds] WHERE x > 1 GROUP BY g",
        "Project[A.g AS g, A.c AS c](Frequency[6 Milliseconds OF SETS](Scan[A AS A]))",
    ),
    "a join of snapshots": (
        "SELECT x, y FROM S [RANGE 9 Milliseconds SLIDE 2 Milliseconds], R [RANGE 9 Milliseconds] WHERE S.g = R.g",
        "SELECT x, y FROM S [RANGE 9 Milliseconds SLIDE 4 Milliseconds], R [RANGE 9 Milliseconds] WHERE S.g = R.g",
        "Project[A.x AS x, A.y AS y](Frequency[4 Milliseconds ORIGIN 3 OF SETS](Scan[A AS A]))",
    ),
    "query 3: every 2nd row of every 3rd, by group": (
        RATES.format(3),
        RATES.format(6),
        "Project[A.g AS g, A.Rate AS Rate](Frequency[2 Tuples OF ROWS](Partition[A.g](Scan[A AS A])))",
    ),
    "a coarser pick in time": (
        "SELECT x [FREQUENCY 2 Milliseconds] FROM S [RANGE 9 Milliseconds]",
        "SELECT x [FREQUENCY 6 Milliseconds] FROM S [RANGE 9 Milliseconds]",
        "Project[A.x AS x](Frequency[6 Milliseconds OF ROWS](Scan[A AS A]))",
    ),
    "aggregates at every n-th tuple of their group": (
        "SELECT g, SUM(x) AS t FROM S [RANGE 4 Tuples FREQUENCY 2 Tuples PARTITIONED BY g] GROUP BY g",
        "SELECT g, SUM(x) AS t FROM S [RANGE 4 Tuples FREQUENCY 4 Tuples PARTITIONED BY g] GROUP BY g",
        "Project[A.g AS g, A.t AS t](Frequency[2 Tuples OF ROWS](Partition[A.g](Scan[A AS A])))",
    ),
    "an aggregate of all at every n-th tuple": (
        "SELECT SUM(x) AS t FROM S [RANGE 9 Milliseconds FREQUENCY 2 Tuples]",
        "SELECT SUM(x) AS t FROM S [RANGE 9 Milliseconds FREQUENCY 4 Tuples]",
        "Project[A.t AS t](Frequency[2 Tuples OF ROWS](Scan[A AS A]))",
    ),
    "the same query": (
        "SELECT SUM(x) AS t FROM S [RANGE 9 Milliseconds FREQUENCY 2 Milliseconds]",
        "SELECT SUM(x) AS t FROM S [RANGE 9 Milliseconds FREQUENCY 2 Milliseconds]",
        "Project[A.t AS t](Scan[A AS A])",
    ),
    "query 4: the inner query": (
        RATES.format(2),
        f"SELECT N.g, AVG(N.Rate) AS m FROM ({RATES.format(4)}) AS N [RANGE 9 Tuples FREQUENCY 1 Tuple] GROUP BY N.g",
        NESTED_ANSWER,
    ),
}

LEFT_ALONE = {
    "a frequency that is no multiple": (
        "SELECT x FROM S [RANGE 9 Milliseconds FREQUENCY 4 Milliseconds]",
        "SELECT x FROM S [RANGE 9 Milliseconds FREQUENCY 6 Milliseconds]",
    ),
    "another origin": (
        "SELECT x FROM S [RANGE 9 Milliseconds FREQUENCY 2 Milliseconds ORIGIN 1]",
        "SELECT x FROM S [RANGE 9 Milliseconds FREQUENCY 4 Milliseconds]",
    ),
    "another window": (
        "SELECT x FROM S [RANGE 9 Milliseconds FREQUENCY 2 Milliseconds]",
        "SELECT x FROM S [RANGE 8 Milliseconds FREQUENCY 4 Milliseconds]",
    ),
    "a tuple window in time, evaluated where tuples come": (
        "SELECT x FROM S [RANGE 3 Tuples FREQUENCY 2 Milliseconds]",
        "SELECT x FROM S [RANGE 3 Tuples FREQUENCY 4 Milliseconds]",
    ),
    "groups that are not the partition": (
        "SELECT g, SUM(x) AS t FROM S [RANGE 9 Milliseconds FREQUENCY 2 Tuples] GROUP BY g",
        "SELECT g, SUM(x) AS t FROM S [RANGE 9 Milliseconds FREQUENCY 4 Tuples] GROUP BY g",
    ),
    "a tuple-driven aggregate with WHERE, whose snapshots may be empty": (
        "SELECT SUM(x) AS t FROM S [RANGE 9 Milliseconds FREQUENCY 2 Tuples] WHERE x > 3",
        "SELECT SUM(x) AS t FROM S [RANGE 9 Milliseconds FREQUENCY 4 Tuples] WHERE x > 3",
    ),
    "whole windows at every n-th tuple": (
        "SELECT x FROM S [RANGE 9 Milliseconds FREQUENCY 2 Tuples]",
        "SELECT x FROM S [RANGE 9 Milliseconds FREQUENCY 4 Tuples]",
    ),
    "a frequency below a window that counts its rows": (
        NESTED.format(2),
        NESTED.format(4),
    ),
    "a pick whose partition the result does not show": (
        "SELECT x [FREQUENCY 2 Tuples PARTITIONED BY g] FROM S",
        "SELECT x [FREQUENCY 4 Tuples PARTITIONED BY g] FROM S",
    ),
}


@pytest.mark.parametrize("title", ANSWERED)
def test_a_query_is_answered_from_a_registered_one_with_the_same_result(title: str) -> None:
    registered, text, expected = ANSWERED[title]
    program = load(f"{DECLARATIONS} CREATE STREAM A AS {registered}; {text}")
    first, query = program.queries
    answer = answer_from_registered(query.plan, [first])
    (wanted,) = load(f"{DECLARATIONS} CREATE STREAM A AS {registered}; {expected}").queries[1:]
    assert plan_to_text(answer) == plan_to_text(wanted.plan)
    assert [scan.stream for scan in scans(answer)] == [first.result]
    answered = replace(program, queries=(first, replace(query, plan=answer)))
    for seed in range(5):
        assert run(answered, data(seed)).rows == run(program, data(seed)).rows
        assert any(row["query"] == query.name for row in run(program, data(seed)).rows)


@pytest.mark.parametrize("title", LEFT_ALONE)
def test_a_query_that_no_registered_one_can_answer_is_left_alone(title: str) -> None:
    registered, text = LEFT_ALONE[title]
    first, query = load(f"{DECLARATIONS} CREATE STREAM A AS {registered}; {text}").queries
    assert answer_from_registered(query.plan, [first]) == query.plan
