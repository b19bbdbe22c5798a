"""Plans as text and back."""

from __future__ import annotations

import pytest

from spark_jobs.csql.plan_text import plan_to_text
from spark_jobs.csql.program import load
from spark_jobs.errors import QueryError
from tests.spark_jobs.csql.paper_queries import ANIMALS, QUERIES
from tests.spark_jobs.csql.running import DECLARATIONS, s, snapshots

MORE = [
    "SELECT x / 2 AS h, CASE WHEN g = 'it''s' THEN 1.5 ELSE -x END AS c FROM S WHERE NOT (x IN (1, 2) OR g IS NULL)",
    "SELECT DISTINCT g [FREQUENCY 5 Tuples PARTITIONED BY S.g] FROM S [RANGE 7 Tuples]",
    "SELECT x FROM S [RANGE 90 Seconds, SLIDE 1 Hour, DRATIO 0.7%, SLACK 1500 Milliseconds, BSIZE 3]",
    "SELECT x FROM S [RANGE 1 Second FREQUENCY 2 Seconds PARTITIONED BY g, x ORIGIN -1] WHERE CAST(x AS STRING) = ''",
    'SELECT A.x AS "from here", B.y FROM S A [RANGE 1 Second], R B [RANGE 2 Tuples] KEY (A.x + B.y) WHERE A.g = B.g',
    "SELECT x FROM S [RANGE 1 Second] MINUS SELECT y FROM R [RANGE 1 Second] MINUS SELECT y FROM R [RANGE 3 Seconds]",
    "SELECT g, x, MAX(x), COUNT(*) - 1 AS rest FROM S [RANGE 1 Second] GROUP BY g HAVING SUM(x) > 3",
    "SELECT N.c FROM (SELECT g, COUNT(*) AS c FROM S [FREQUENCY 3 Tuples] GROUP BY g) AS N [FREQUENCY 2 Seconds]",
]


@pytest.mark.parametrize(("declarations", "text"), [*QUERIES.values(), *((DECLARATIONS, each) for each in MORE)])
def test_a_plan_as_text_and_back_is_the_same_plan(declarations: str, text: str) -> None:
    (query,) = load(declarations + text).queries
    (again,) = load(declarations + plan_to_text(query.plan)).queries
    assert again.plan == query.plan


def test_query_3_reads_as_the_algebra_of_figure_2() -> None:
    (query,) = load(ANIMALS + QUERIES["001 query 3"][1]).queries
    assert plan_to_text(query.plan) == (
        'Project[P.Id AS Id, "COUNT(*)" AS COUNT](\n'
        "  Frequency[10 Tuples OF ROWS](\n"
        "    Partition[P.Id](\n"
        "      Aggregate[BY P.Id COMPUTE COUNT(*)](\n"
        "        Frequency[1 Tuple OF SETS](\n"
        "          Window[1 Minute](\n"
        "            Scan[Pulse AS P]))))))"
    )


def test_an_algebra_plan_is_run_as_a_query_is() -> None:
    """A frequency above a selection, as no query would say it: what is alive at 4 and 8 and passes."""
    plan = "Project[S.x AS x](Frequency[4 Milliseconds OF SETS](Select[S.x > 1](Window[3 Milliseconds](Scan[S AS S]))))"
    assert snapshots(plan, S=s((1, 9), (2, 1), (3, 2), (8, 3))) == [(4, 2), (8, 3)]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (
            "Frequency[2 Tuples OF SETS](Scan[S AS S])",
            "a frequency of sets in tuples must stand right above its window",
        ),
        ("Select[COUNT(*) > 1](Scan[S AS S])", "COUNT stands in Aggregate[COMPUTE ...]"),
        (
            "Join(Window[1 Second](Scan[S AS A]), Window[1 Second](Scan[R AS A]))",
            "both inputs of the join are named 'A'",
        ),
        ("Distinct(Scann[S AS S])", "expected a plan node, found 'Scann'; did you mean 'Scan'?"),
        ("Distinct(Scan[S AS S])", "DISTINCT over a stream without a window would keep every tuple for ever"),
        ("Select[S.z = 1](Scan[S AS S])", "unknown column 'z' in 'S'"),
    ],
)
def test_a_wrong_plan_is_refused(plan: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        load(DECLARATIONS + plan)
    assert message in str(caught.value)
