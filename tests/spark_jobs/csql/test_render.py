"""Expressions as Spark SQL."""

from __future__ import annotations

import pytest

from spark_jobs.csql.plan import Project
from spark_jobs.csql.program import load
from spark_jobs.csql.render import to_spark
from tests.spark_jobs.csql.running import DECLARATIONS


@pytest.mark.parametrize(
    ("expression", "spark"),
    [
        ("x + 1", "TRY_ADD(CAST(`x` AS BIGINT), 1)"),
        ("x * 1.5", "`x` * CAST(1.5 AS DOUBLE)"),
        ("x / ts", "`x` / NULLIF(`ts`, 0)"),
        ("NOT (g = 'it''s' OR x IS NULL)", "NOT ((`g` = 'it\\'s') OR (`x` IS NULL))"),
        ("x IN (1, 2)", "`x` IN (1, 2)"),
        ("g LIKE 'a%'", "`g` LIKE 'a%'"),
        ("CASE WHEN x > 1 THEN g ELSE 'b' END", "CASE WHEN `x` > 1 THEN `g` ELSE 'b' END"),
        ("CAST(g AS TIMESTAMP)", "TRY_CAST(`g` AS BIGINT)"),
        ("COALESCE(g, UPPER('c'))", "COALESCE(`g`, UPPER('c'))"),
        ("-x", "-`x`"),
        ("g || 'z'", "`g` || 'z'"),
    ],
)
def test_an_expression_becomes_spark_sql(expression: str, spark: str) -> None:
    (query,) = load(DECLARATIONS + f"SELECT {expression} AS v FROM S").queries
    assert isinstance(query.plan, Project)
    assert to_spark(query.plan.outputs[0].expression, lambda column: column.name) == spark
