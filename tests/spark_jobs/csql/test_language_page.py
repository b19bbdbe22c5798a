"""The language page's examples, executed: what it shows is what comes out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from spark_jobs.csql.program import load
from spark_jobs.csql.reference.engine import run

PAGE = (Path(__file__).parents[3] / "docs" / "csql.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+) ?(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
DECLARATIONS = next(text for language, name, text in BLOCKS if (language, name) == ("csql", "declarations"))
EXAMPLES = [
    (text, BLOCKS[place + 1][2])
    for place, (language, name, text) in enumerate(BLOCKS)
    if language == "csql" and not name
]


def rows(text: str) -> list[dict[str, Any]]:
    """Return the objects of a block, one a line."""
    return [json.loads(line) for line in text.splitlines()]


def result(query: str) -> list[dict[str, Any]]:
    """Return what an example puts out."""
    inputs = {name: list(enumerate(rows(text))) for language, name, text in BLOCKS if language == "jsonl"}
    lines = {name: [(0, offset, row) for offset, row in numbered] for name, numbered in inputs.items()}
    return list(run(load(DECLARATIONS + query), lines).rows)


@pytest.mark.parametrize(("query", "shown"), EXAMPLES)
def test_an_example_of_the_language_page_puts_out_what_it_shows(query: str, shown: str) -> None:
    assert result(query) == rows(shown)
    assert shown


def test_the_page_has_an_example_of_every_clause() -> None:
    queries = " ".join(query for query, _ in EXAMPLES).upper()
    clauses = ["DISTINCT", "KEY", "WHERE", "GROUP BY", "HAVING", "MINUS", "CREATE STREAM", "RANGE", "FREQUENCY"]
    clauses += ["PARTITIONED BY", "ORIGIN", "SLIDE", "WATTR", "SLACK", "DRATIO", "BSIZE"]
    assert [clause for clause in clauses if clause not in queries] == []
