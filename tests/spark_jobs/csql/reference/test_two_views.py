"""One model, two views: what positives and negatives build up is what a snapshot at that instant shows."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from spark_jobs.csql.edges import Monotonicity, edge
from spark_jobs.csql.plan import Frequency, Span
from tests.spark_jobs.csql.rules.executing import data, execute, plan_of

WINDOWS = st.sampled_from(["[RANGE 2 Milliseconds]", "[RANGE 7 Milliseconds]", "[RANGE 1 Tuple]", "[RANGE 4 Tuples]"])
QUERIES = [
    "SELECT x, g FROM S {0} WHERE x > 1",
    "SELECT g, COUNT(*), SUM(x), MAX(x) FROM S {0} GROUP BY g",
    "SELECT g FROM S {0} GROUP BY g HAVING COUNT(*) > 2",
    "SELECT DISTINCT x FROM S {0}",
    "SELECT x, y FROM S {0}, R {1} WHERE S.g = R.g",
    "SELECT S.g, COUNT(*), MIN(y) FROM S {0}, R {1} WHERE S.x < R.y GROUP BY S.g",
    "SELECT x, g FROM S {0} MINUS SELECT y, g FROM R {1}",
    "SELECT DISTINCT x FROM S {0} MINUS SELECT y FROM R {1}",
    "SELECT DISTINCT N.c FROM (SELECT g, COUNT(*) AS c FROM S {0} GROUP BY g) AS N",
    "SELECT N.c, R.y FROM (SELECT g, COUNT(*) AS c FROM S {0} GROUP BY g) AS N, R {1} WHERE N.g = R.g",
]


def applied(rows: list[dict[str, Any]], last_ms: int) -> dict[int, Counter[tuple[Any, ...]]]:
    """Return the rows alive at each instant, by applying positives and negatives as a consumer of the topic would."""
    alive: dict[str, dict[str, Any]] = {}
    copies: list[dict[str, Any]] = []
    states: dict[int, Counter[tuple[Any, ...]]] = {}
    for now in range(last_ms + 1):
        copies = [row for row in copies if row["to"] is None or row["to"] > now]
        for row in (row for row in rows if row.get("at") == now):
            copies.remove(alive.pop(str(row["key"])))
        for row in (row for row in rows if row.get("from") == now):
            copies.append(row)
            alive[str(row["key"])] = row
        hidden = ("query", "op", "from", "to", "key")
        states[now] = Counter(tuple(value for name, value in row.items() if name not in hidden) for row in copies)
    return states


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(QUERIES), WINDOWS, WINDOWS, st.integers(0, 10_000))
def test_changes_build_up_what_a_snapshot_shows(query: str, first: str, second: str, seed: int) -> None:
    plan = plan_of(query.format(first, second))
    inputs = data(seed, 20)
    last_ms = max(row["ts"] for lines in inputs.values() for _, _, row in lines)
    shown: dict[int, Counter[tuple[Any, ...]]] = {now: Counter() for now in range(last_ms + 1)}
    for row in execute(Frequency(plan, Span(1, "ms"), "sets"), inputs).rows:
        shown[row["at"]][tuple(value for name, value in row.items() if name not in ("query", "at"))] += 1
    assert applied(list(execute(plan, inputs).rows), last_ms) == shown


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(QUERIES), WINDOWS, WINDOWS, st.integers(0, 10_000))
def test_every_change_is_a_change(query: str, first: str, second: str, seed: int) -> None:
    """A negative ends a row before its announced end; no row begins where it ends; times never go back."""
    rows = execute(plan_of(query.format(first, second)), data(seed, 20)).rows
    times = [row["from"] if row["op"] == "+" else row["at"] for row in rows]
    assert times == sorted(times)
    alive: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["op"] == "+":
            assert row["to"] is None or row["from"] < row["to"]
            alive[str(row["key"])] = row
        else:
            ended = alive.pop(str(row["key"]))
            assert ended["from"] < row["at"]
            assert ended["to"] is None or row["at"] < ended["to"]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["SELECT x FROM S WHERE x > 1", *QUERIES]), WINDOWS, WINDOWS, st.integers(0, 10_000))
def test_rows_expire_as_their_monotonicity_class_says(query: str, first: str, second: str, seed: int) -> None:
    """004, 2.2: class 1 never; class 2 after a constant time; class 3 when it was announced; class 4 earlier, too."""
    plan = plan_of(query.format(first, second))
    rows = execute(plan, data(seed, 20)).rows
    negatives = [row for row in rows if row["op"] == "-"]
    lengths = {None if row["to"] is None else row["to"] - row["from"] for row in rows if row["op"] == "+"}
    match edge(plan).monotonicity:
        case Monotonicity.MONOTONIC:
            assert (negatives, lengths <= {None}) == ([], True)
        case Monotonicity.WEAKEST:
            assert (negatives, len(lengths) <= 1, None in lengths) == ([], True, False)
        case Monotonicity.WEAK:
            assert (negatives, None in lengths) == ([], False)
        case Monotonicity.STRICT:
            assert len(negatives) <= len(rows) // 2
