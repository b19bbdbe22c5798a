"""Runs a query over a few rows, for tests: rows in, compact results out."""

from __future__ import annotations

from typing import Any

from spark_jobs.csql.program import load
from spark_jobs.csql.reference.engine import run

DECLARATIONS = """
CREATE STREAM S (x INT, g STRING, ts BIGINT) WITH (topic = 's');
CREATE STREAM R (y INT, g STRING, ts BIGINT) WITH (topic = 'r');
"""


def rows(text: str, **streams: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the output rows of a program of S and R over these inputs, each line's offset its place."""
    lines = {
        name: [(value.pop("partition", 0), offset, value) for offset, value in enumerate(map(dict, values))]
        for name, values in streams.items()
    }
    return list(run(load(DECLARATIONS + text), lines).rows)


def s(*tuples: tuple[int, int] | tuple[int, int, str]) -> list[dict[str, Any]]:
    """Return rows of S from (ts, x[, g])."""
    return [{"ts": each[0], "x": each[1], "g": each[2] if len(each) == 3 else "a"} for each in tuples]


def r(*tuples: tuple[int, int] | tuple[int, int, str]) -> list[dict[str, Any]]:
    """Return rows of R from (ts, y[, g])."""
    return [{"ts": each[0], "y": each[1], "g": each[2] if len(each) == 3 else "a"} for each in tuples]


def snapshots(text: str, **streams: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return each row of a snapshot result as (at, column, ...)."""
    return [tuple(value for name, value in row.items() if name != "query") for row in rows(text, **streams)]


def changes(text: str, **streams: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return each row of a continuous result: ("+", from, to, key, column, ...) or ("-", at, key)."""
    return [tuple(value for name, value in row.items() if name != "query") for row in rows(text, **streams)]
