"""Plans to Spark: what is compiled, what identifies a query, and what is refused with its place in the text."""

from __future__ import annotations

import pytest

from spark_jobs.csql.program import load
from spark_jobs.errors import QueryError
from spark_jobs.spark.compile import Query, compile_query
from spark_jobs.spark.snapshot import Aggregate, Snapshot

STREAM = "CREATE STREAM S (k STRING, x DOUBLE, ts TIMESTAMP) WITH (topic = 's');"


def compiled(query: str) -> Query:
    return compile_query(load(STREAM + query).queries[0])


def test_a_grouped_snapshot_becomes_one_aggregation() -> None:
    query = compiled(
        "CREATE STREAM hot AS SELECT k, AVG(x) * 2 AS d FROM S [RANGE 10 Seconds, FREQUENCY 5 Seconds] "
        "WHERE x > 1.5 GROUP BY k HAVING COUNT(*) > 3;"
    )
    assert query.names == ("k", "d")
    assert (query.stream.clean, query.output_topic) == ("s.clean", "hot")
    assert query.snapshot == Snapshot(
        range_ms=10_000,
        frequency_ms=5_000,
        origin_ms=0,
        where="`c1` > CAST(1.5 AS DOUBLE)",
        group_by=(("g0", "`c0`"),),
        aggregates=(Aggregate("a0", "AVG", "`c1`"), Aggregate("a1", "COUNT")),
        having="`a1` > 3",
        items=("`g0`", "`a0` * 2"),
    )


def test_spacing_and_what_is_asked_of_the_reorderer_do_not_make_another_query() -> None:
    first = compiled("SELECT k FROM S [RANGE 10 Seconds, FREQUENCY 5 Seconds];")
    same = compiled("select  k\nfrom S [range 10 seconds frequency 5 seconds, DRATIO 1%];")
    other = compiled("SELECT k FROM S [RANGE 10 Seconds, FREQUENCY 6 Seconds];")
    assert first.plan == same.plan
    assert first.plan != other.plan


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("SELECT k FROM S;", "without RANGE and FREQUENCY"),
        ("SELECT k FROM S [RANGE 10 Seconds];", "without RANGE and FREQUENCY"),
        ("SELECT k FROM S [FREQUENCY 10 Seconds];", "samples rows"),
        ("SELECT k FROM S [RANGE 10 Tuples, FREQUENCY 5 Seconds];", "RANGE in tuples"),
        ("SELECT k FROM S [RANGE 10 Seconds, FREQUENCY 5 Tuples];", "FREQUENCY in tuples"),
        ("SELECT DISTINCT COUNT(*) AS n FROM S [RANGE 9 Seconds, FREQUENCY 5 Seconds] GROUP BY k;", "DISTINCT of an"),
        ("SELECT a.k FROM S a [RANGE 9 Seconds, FREQUENCY 5 Seconds], S b [RANGE 5 Seconds] WHERE a.k = b.k;", "JOIN"),
    ],
)
def test_what_has_no_operator_is_refused_with_its_place(query: str, what: str) -> None:
    with pytest.raises(QueryError, match=f"cannot run .*{what}.* yet; .*--engine reference"):
        compiled(query)
