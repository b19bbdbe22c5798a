"""Mutated queries: an error or a plan, never a traceback. `CSQL_FUZZ=100000` runs the long version."""

from __future__ import annotations

import os
import random
import re

import pytest

from spark_jobs.csql.program import Program, load
from spark_jobs.csql.reference.engine import run
from spark_jobs.csql.reference.inputs import Line
from spark_jobs.errors import QueryError
from tests.spark_jobs.csql.paper_queries import QUERIES
from tests.spark_jobs.csql.running import DECLARATIONS

RUNS = int(os.environ.get("CSQL_FUZZ", "2000"))
QUERIES_OF_S_AND_R = [
    "SELECT DISTINCT g FROM S [RANGE 5 Seconds] WHERE x BETWEEN 1 AND 5 AND g LIKE 'a%' OR x IS NOT NULL;",
    "SELECT CASE WHEN x > 1 THEN -x ELSE ABS(x) END AS z, CAST(x AS STRING) || 'b' AS w FROM S [RANGE 3 Tuples]",
    "SELECT x FROM S [RANGE 5 Seconds] MINUS SELECT y FROM R [RANGE 3 Seconds] MINUS SELECT y FROM R [RANGE 1 Hour]",
    "SELECT S.x, R.y FROM S [RANGE 1 Second FREQUENCY 2 Seconds], R [RANGE 1 Second] WHERE S.g = R.g",
    "CREATE STREAM T AS SELECT g, COUNT(*) AS c FROM S [RANGE 4 Tuples] GROUP BY g; SELECT * FROM T WHERE c > 1;",
]
CONTINUOUS = "CREATE STREAM C (v INT, w DOUBLE, PRIMARY KEY (v)) WITH (clean = 'c', kind = 'continuous'); "
SEEDS = [
    *(declarations + text for declarations, text in QUERIES.values()),
    *(DECLARATIONS + text for text in QUERIES_OF_S_AND_R),
    CONTINUOUS + "SELECT SUM(v / w) FROM C",
]
WORDS = sorted({word for seed in SEEDS for word in re.findall(r"\w+|[^\w\s]", seed)})
PIECES = re.compile(r"\w+|\s+|[^\w\s]")


def mutate(text: str, rng: random.Random) -> str:
    """Return the text with a few pieces dropped, doubled, swapped or replaced, or a character broken."""
    pieces = PIECES.findall(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(pieces))
        match rng.randrange(8):
            case 0:
                pieces[at] = ""
            case 1:
                pieces[at] *= rng.choice([2, 3, 50])
            case 2:
                other = rng.randrange(len(pieces))
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case 3:
                pieces[at] = rng.choice(WORDS)
            case 4:
                pieces[at] = pieces[at][:-1] + chr(rng.choice([0, 34, 39, 96, 0xE9, 0x1F600, rng.randrange(32, 127)]))
            case 5:
                pieces = pieces[:at] or pieces
            case _:
                numbers = [index for index, piece in enumerate(pieces) if piece.isdigit()]
                pieces[rng.choice(numbers or [at])] = rng.choice(["0", "1", "7", "60", "2000"])
    return "".join(pieces)


def refusal(text: str) -> str | None:
    """Return what is said against a text, None where it is a program."""
    try:
        load(text)
    except QueryError as error:
        return str(error)
    return None


def test_a_mutated_query_is_an_error_with_a_caret_or_a_plan() -> None:
    said = []
    for seed in range(RUNS):
        rng = random.Random(seed)
        said.append(refusal(mutate(rng.choice(SEEDS), rng)))
    refused = [text for text in said if text is not None]
    assert [text for text in refused if text.count("\n") != 2 or not text.endswith("^")] == []
    assert 0.5 < len(refused) / RUNS < 0.95


def inputs(program: Program) -> dict[str, list[Line]]:
    """Return twenty rows for every stream."""
    lines: dict[str, list[Line]] = {}
    for stream in program.streams:
        marks = [{"op": "+", "from": at, "at": at, "key": [at]} for at in range(20)]
        values = [dict.fromkeys((field.name for field in stream.fields), at) for at in range(20)]
        lines[stream.name] = [(0, at, {**marks[at], **values[at]}) for at in range(20)]
    return lines


def test_a_mutated_query_that_is_a_plan_can_be_evaluated() -> None:
    evaluated = 0
    for seed in range(RUNS // 4):
        rng = random.Random(-seed)
        text = mutate(rng.choice(SEEDS), rng)
        if refusal(text) is None:
            program = load(text)
            evaluated += bool(run(program, inputs(program)).rows)
    assert evaluated > RUNS // 100


@pytest.mark.parametrize("part", ["(", "NOT ", "- ", "x + ", "x = 1 AND ", "CASE WHEN "])
def test_a_very_deep_query_is_refused(part: str) -> None:
    assert refusal(DECLARATIONS + "SELECT x FROM S WHERE " + part * 5000 + "x > 1")
