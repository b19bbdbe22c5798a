"""Expressions: SQL's NULL, numbers, text; each as a query over one row would have it."""

from __future__ import annotations

from typing import Any

import pytest

from spark_jobs.csql.program import load
from spark_jobs.csql.reference.casting import read
from spark_jobs.csql.reference.engine import run
from spark_jobs.csql.types import Type

DECLARATION = (
    "CREATE STREAM S (i INT, b BIGINT, d DOUBLE, s STRING, t BOOLEAN, n INT, ts BIGINT) WITH (topic = 's'); "
    "SELECT {} AS v FROM S"
)
ROW = {"i": 7, "b": 2**62, "d": 2.5, "s": "It's 100%", "t": True, "n": None, "ts": 1000}


def value(expression: str) -> Any:
    """Return the expression over the row."""
    (row,) = run(load(DECLARATION.format(expression)), {"S": [(0, 0, ROW)]}).rows
    return row["v"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("i + 1", 8),
        ("i / 2", 3.5),
        ("i % 4", 3),
        ("-i % 4", -3),
        ("i - -i * 2", 21),
        ("(i - 1) * 2", 12),
        ("d * 2", 5.0),
        ("-d % 2", -0.5),
        ("i / 0", None),
        ("i % 0", None),
        ("b + b", None),
        ("b * 2", None),
        ("b + b - b", None),
        ("n + 1", None),
        ("n = n", None),
        ("n IS NULL", True),
        ("i IS NOT NULL", True),
        ("n = 1 OR t", True),
        ("n = 1 AND NOT t", False),
        ("n = 1 AND t", None),
        ("NOT (n = 1)", None),
        ("i IN (1, 7)", True),
        ("i IN (1, n)", None),
        ("i IN (7, n)", True),
        ("i NOT IN (1, 2)", True),
        ("n IN (1)", None),
        ("i BETWEEN 7 AND 8", True),
        ("i NOT BETWEEN 1 AND 6", True),
        ("s LIKE 'It%'", True),
        ("s LIKE '%\\%'", True),
        ("s LIKE '_t''s%'", True),
        ("s LIKE 'it%'", False),
        ("s || '!'", "It's 100%!"),
        ("s || NULL", None),
        ("UPPER(s)", "IT'S 100%"),
        ("LENGTH(s)", 9),
        ("COALESCE(n, i)", 7),
        ("ABS(-i)", 7),
        ("FLOOR(d)", 2),
        ("CEIL(-d)", -2),
        ("ROUND(d)", 3.0),
        ("ROUND(2.345, 2)", 2.35),
        ("ROUND(i, -1)", 10),
        ("CASE WHEN n = 1 THEN 'a' WHEN t THEN 'b' END", "b"),
        ("CASE i WHEN 7 THEN 1 ELSE 2 END", 1),
        ("CASE WHEN n = 1 THEN 1 END", None),
        ("CAST('12' AS INT)", 12),
        ("CAST('1x' AS INT)", None),
        ("CAST('3000000000' AS INT)", None),
        ("CAST(2.9 AS BIGINT)", 2),
        ("CAST(-2.9 AS BIGINT)", -2),
        ("CAST(t AS STRING)", "true"),
        ("CAST(1e10 AS STRING)", "1.0E10"),
        ("CAST(d AS STRING)", "2.5"),
        ("CAST(' 1.5 ' AS DOUBLE)", 1.5),
        ("CAST('yes' AS BOOLEAN)", True),
        ("'b' > 'a' AND 'B' < 'a'", True),
        ("i = 7.0", True),
        ("ts + 1", 1001),
    ],
)
def test_an_expression_has_the_value_sql_gives_it(expression: str, expected: object) -> None:
    found = value(expression)
    assert (found, type(found)) == (expected, type(expected))


def test_nulls_do_not_count_and_nothing_but_nulls_is_null() -> None:
    rows = [(0, place, {"i": i, "s": "g", "ts": place}) for place, i in enumerate([None, 4, None, 2])]
    query = "COUNT(*) AS a, COUNT(i) AS b, SUM(i) AS c, AVG(i) AS d, MIN(i) AS e, MAX(n) AS f, COUNT(n)"
    text = DECLARATION.format(query).replace("FROM S", "FROM S [RANGE 9 Milliseconds FREQUENCY 3 Milliseconds]")
    found = run(load(text), {"S": rows}).rows[-1]
    assert list(found.values()) == ["q1", 3, 4, 2, 6, 3.0, 2, None, 0]


def test_a_null_is_a_group_and_a_distinct_value() -> None:
    rows = [(0, place, {"i": i, "ts": place}) for place, i in enumerate([None, 1, None])]
    text = DECLARATION.format("COUNT(*)").replace(
        "FROM S", "FROM S [RANGE 9 Milliseconds FREQUENCY 2 Milliseconds] GROUP BY i"
    )
    assert [(row["at"], row["v"]) for row in run(load(text), {"S": rows}).rows] == [(0, 1), (2, 1), (2, 2)]


@pytest.mark.parametrize(
    ("given", "kind", "expected"),
    [
        (5, Type.INT, 5),
        (5, Type.DOUBLE, 5.0),
        (5.5, Type.INT, None),
        ("5", Type.INT, None),
        (True, Type.INT, None),
        (2**31, Type.INT, None),
        (2**63, Type.BIGINT, None),
        (1, Type.BOOLEAN, None),
        (7, Type.STRING, "7"),
        ({"a": [1, None]}, Type.STRING, '{"a":[1,null]}'),
        ("2026-01-01T01:00:00+01:00", Type.TIMESTAMP, 1_767_225_600_000),
        ("2026-01-01T00:00:00.5", Type.TIMESTAMP, 1_767_225_600_500),
        ("yesterday", Type.TIMESTAMP, None),
    ],
)
def test_a_value_that_does_not_fit_its_column_is_null(given: object, kind: Type, expected: object) -> None:
    assert read(given, kind) == expected
