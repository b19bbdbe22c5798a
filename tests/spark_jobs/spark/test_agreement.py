"""Spark's results equal the reference evaluator's, row for row and in order."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.csql.program import load
from spark_jobs.csql.reference.engine import run
from spark_jobs.spark.compile import compile_query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STREAM = "CREATE STREAM S (k STRING, n INT, x DOUBLE, seen TIMESTAMP, ok BOOLEAN, ts TIMESTAMP) WITH (topic = 's');"

QUERIES = (
    "SELECT k, COUNT(*), AVG(x), SUM(x) FROM S [RANGE 300 Milliseconds, FREQUENCY 70 Milliseconds] GROUP BY k",
    "SELECT COUNT(n) AS c, SUM(n), AVG(n), MIN(n), MAX(n) FROM S [RANGE 50 Milliseconds FREQUENCY 200 Milliseconds]",
    "SELECT k, ok, MIN(x), MAX(seen) AS s FROM S [RANGE 200 Milliseconds SLIDE 100 Milliseconds] GROUP BY k, ok",
    """SELECT k, n + 1 AS m, x / n AS r, n % 3 AS p
       FROM S [RANGE 90 Milliseconds, FREQUENCY 100 Milliseconds ORIGIN 7] WHERE n > 2 OR x IS NULL""",
    "SELECT DISTINCT k, ok FROM S [RANGE 120 Milliseconds, FREQUENCY 60 Milliseconds] WHERE NOT ok",
    """SELECT k, n, SUM(n) * 2 - COUNT(*) AS s, AVG(x) + n AS t
       FROM S [RANGE 150 Milliseconds, FREQUENCY 50 Milliseconds]
       WHERE k IN ('a', 'b', 'c') GROUP BY k HAVING COUNT(*) > 1 AND AVG(x) > 0.0""",
    """SELECT q.m, COUNT(*) AS c
       FROM (SELECT CASE WHEN n > 3 THEN 'high' ELSE 'low' END AS m
             FROM S [RANGE 200 Milliseconds, FREQUENCY 100 Milliseconds]) AS q GROUP BY q.m""",
)


def made_lines(seed: int, count: int) -> list[tuple[int, int, dict[str, Any]]]:
    """Return (partition, offset, value) of two partitions with ties, NULLs, missing fields and gaps in time."""
    chance = random.Random(seed)
    lines = []
    offsets = [0, 0]
    ts = 1_700_000_000_000
    for _ in range(count):
        ts += chance.choice((0, 0, 3, 11, 40, 900) if chance.random() < 0.1 else (0, 1, 7))
        value = {
            "k": chance.choice(("a", "b", "c", "d", None)),
            "n": chance.choice((None, 0, 1, 2, 3, 4, 5)),
            "x": chance.choice((None, chance.gauss(0, 1), chance.gauss(0, 1) * 10**9, 0.1)),
            "seen": chance.choice((ts - 5, "2026-01-01T00:00:00.250Z")),
            "ok": chance.random() < 0.5,
            "ts": ts,
        }
        if chance.random() < 0.1:
            del value["k"]
        partition = chance.randrange(2)
        lines.append((partition, offsets[partition], value))
        offsets[partition] += chance.choice((1, 2))
    return lines


@pytest.mark.parametrize("query", QUERIES)
def test_spark_equals_the_reference_evaluator(spark: SparkSession, query: str) -> None:
    from pyspark.sql import functions as F  # noqa: N812 - the name every Spark program uses

    from spark_jobs.spark.snapshot import AT, NEWEST, evaluate
    from spark_jobs.spark.source import tuples

    program = load(STREAM + query)
    compiled = compile_query(program.queries[0])
    lines = made_lines(seed=5, count=250)
    records = spark.createDataFrame(
        [(json.dumps(value), partition, offset, value["ts"]) for partition, offset, value in lines],
        "value string, partition int, offset bigint, ms bigint",
    ).select(
        "value",
        "partition",
        "offset",
        F.timestamp_millis("ms").alias("timestamp"),
        F.expr("cast(null as array<struct<key: string, value: binary>>)").alias("headers"),
    )
    found = sorted(
        evaluate(tuples(records, compiled.stream), compiled.snapshot).collect(), key=lambda row: (row[AT], row[NEWEST])
    )
    rows = [
        {"at": row[AT], **{name: row[f"i{place}"] for place, name in enumerate(compiled.names)}}
        for row in found
        if row[AT] <= lines[-1][2]["ts"]
    ]
    expected = [
        {name: value for name, value in row.items() if name != "query"} for row in run(program, {"S": lines}).rows
    ]
    assert expected
    assert rows == expected
