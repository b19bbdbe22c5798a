"""Time-driven snapshots over tuples at hand: which instants a tuple is alive at, and what a row says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.csql.program import load
from spark_jobs.spark.compile import compile_query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STREAM = "CREATE STREAM S (k STRING, n INT, x DOUBLE, ts TIMESTAMP) WITH (topic = 's');"


def evaluate(spark: SparkSession, query: str, *tuples: tuple[int, str | None, int | None, float | None]) -> list[Any]:
    """Return the rows of a query over tuples (ts, k, n, x), one partition, in order."""
    from spark_jobs.spark.snapshot import AT, NEWEST, evaluate

    compiled = compile_query(load(STREAM + query).queries[0])
    schema = (
        "c0 string, c1 bigint, c2 double, c3 bigint, _ts_ms bigint, "
        "_position struct<_ts_ms: bigint, ordinal: bigint, _partition: int, _offset: bigint>, "
        "_partition int, _offset bigint"
    )
    rows = [(k, n, x, ts, ts, (ts, 0, 0, place), 0, place) for place, (ts, k, n, x) in enumerate(tuples)]
    # The last tuples first: what comes of them must not depend on the order in which Spark meets them.
    frame = spark.createDataFrame(list(reversed(rows)), schema)
    found = evaluate(frame, compiled.snapshot).collect()
    ordered = sorted(found, key=lambda row: (row[AT], row[NEWEST]))
    return [(row[AT], *(row[f"i{place}"] for place in range(len(compiled.names)))) for row in ordered]


def test_a_tuple_is_alive_where_t_minus_range_is_below_ts_and_ts_is_not_above_t(spark: SparkSession) -> None:
    # range 4, every 2      instants: 2   4   6   8   10
    #   ts = 3                          [ 4   6 ]                    alive in [3, 7)
    #   ts = 4                          [ 4   6 ]                    alive in [4, 8): not at 8
    #   ts = 5                              [ 6   8 ]                alive in [5, 9)
    query = "SELECT COUNT(*) AS n FROM S [RANGE 4 Milliseconds, FREQUENCY 2 Milliseconds];"
    tuples = ((3, "a", 1, 1.0), (4, "a", 1, 1.0), (5, "a", 1, 1.0))
    assert evaluate(spark, query, *tuples) == [(4, 2), (6, 3), (8, 1)]


def test_a_range_shorter_than_the_frequency_leaves_out_tuples_that_no_snapshot_sees(spark: SparkSession) -> None:
    query = "SELECT k FROM S [RANGE 2 Milliseconds, FREQUENCY 10 Milliseconds];"
    tuples = ((8, "unseen", 1, 1.0), (9, "seen", 1, 1.0), (10, "at it", 1, 1.0), (11, "past it", 1, 1.0))
    assert evaluate(spark, query, *tuples) == [(10, "seen"), (10, "at it")]


def test_an_origin_moves_the_instants_and_a_slide_ends_one_millisecond_before_its_multiples(
    spark: SparkSession,
) -> None:
    tuples = ((100, "a", 1, 1.0),)
    moved = "SELECT k FROM S [RANGE 10 Milliseconds, FREQUENCY 10 Milliseconds ORIGIN 3];"
    slide = "SELECT k FROM S [RANGE 10 Milliseconds, SLIDE 10 Milliseconds];"
    assert evaluate(spark, moved, *tuples) == [(103, "a")]
    assert evaluate(spark, slide, *tuples) == [(109, "a")]


def test_rows_of_one_instant_are_ordered_by_the_newest_tuple_behind_them(spark: SparkSession) -> None:
    query = "SELECT k, COUNT(*) AS n FROM S [RANGE 10 Milliseconds, FREQUENCY 10 Milliseconds] GROUP BY k;"
    tuples = ((1, "b", 1, 1.0), (2, "a", 1, 1.0), (2, "c", 1, 1.0), (3, "b", 1, 1.0))
    assert evaluate(spark, query, *tuples) == [(10, "a", 1), (10, "c", 1), (10, "b", 2)]


def test_nulls_are_counted_by_count_star_alone_and_a_group_of_nulls_has_no_sum(spark: SparkSession) -> None:
    query = (
        "SELECT k, COUNT(*) AS a, COUNT(x) AS b, SUM(x) AS c, AVG(x) AS d, SUM(n) AS e, AVG(n) AS f, MIN(n) AS g, "
        "MAX(x) AS h FROM S [RANGE 10 Milliseconds, FREQUENCY 10 Milliseconds] GROUP BY k;"
    )
    tuples = ((1, "a", None, None), (2, "b", 3, 0.5), (3, "b", 4, None), (4, None, 5, 2.0))
    assert evaluate(spark, query, *tuples) == [
        (10, "a", 1, 0, None, None, None, None, None, None),
        (10, "b", 2, 1, 0.5, 0.5, 7, 3.5, 3, 0.5),
        (10, None, 1, 1, 2.0, 2.0, 5, 5.0, 5, 2.0),
    ]


def test_doubles_are_added_in_sequence_order(spark: SparkSession) -> None:
    query = "SELECT SUM(x) AS s FROM S [RANGE 10 Milliseconds, FREQUENCY 10 Milliseconds];"
    values = [1e16, 1.0, 1.0, -1e16, 0.1, 0.2, 0.3]
    total = 0.0
    for value in values:
        total += value
    assert evaluate(spark, query, *((ts, "a", 1, value) for ts, value in enumerate(values, 1))) == [(10, total)]


def test_where_having_arithmetic_and_the_last_tuples_value(spark: SparkSession) -> None:
    query = (
        "SELECT k, n, SUM(n) * 2 + COUNT(*) AS s, ts FROM S [RANGE 10 Milliseconds, FREQUENCY 10 Milliseconds] "
        "WHERE x > 1.5 AND k <> 'c' GROUP BY k HAVING COUNT(*) > 1;"
    )
    tuples = (
        (1, "a", 1, 2.0),
        (2, "a", 2, 2.0),
        (3, "a", 9, 1.0),
        (4, "b", 7, 2.0),
        (5, "c", 1, 2.0),
        (6, "c", 1, 2.0),
    )
    assert evaluate(spark, query, *tuples) == [(10, "a", 2, 8, 2)]


def test_distinct_gives_each_combination_once_at_its_newest_tuples_place(spark: SparkSession) -> None:
    query = "SELECT DISTINCT k, n FROM S [RANGE 10 Milliseconds, FREQUENCY 10 Milliseconds];"
    tuples = ((1, "a", 1, 1.0), (2, "b", 1, 1.0), (3, "a", 1, 2.0), (4, "a", 2, 1.0))
    assert evaluate(spark, query, *tuples) == [(10, "b", 1), (10, "a", 1), (10, "a", 2)]


def test_without_aggregates_every_tuple_alive_is_a_row_in_sequence_order(spark: SparkSession) -> None:
    query = "SELECT k, x FROM S [RANGE 4 Milliseconds, FREQUENCY 2 Milliseconds] WHERE n = 1;"
    tuples = ((1, "a", 1, 1.0), (1, "a", 1, 1.0), (2, "b", 2, 1.0), (3, "c", 1, None))
    assert evaluate(spark, query, *tuples) == [
        (2, "a", 1.0),
        (2, "a", 1.0),
        (4, "a", 1.0),
        (4, "a", 1.0),
        (4, "c", None),
        (6, "c", None),
    ]
