"""What `csql explain` says: the papers' queries, and the gain of every rewrite on the animals."""

from __future__ import annotations

from typing import Any

import pytest

from spark_jobs.csql.explain import explain
from spark_jobs.csql.explain_text import as_dot, as_text
from spark_jobs.csql.program import load
from spark_jobs.csql.rules.gains import UNITS
from tests.spark_jobs.csql.animals import conditions, pulses
from tests.spark_jobs.csql.paper_queries import ANIMALS, QUERIES

FIRING = {
    "push_selections": "SELECT AVG(BTemp) FROM BodyCondition [RANGE 1 Minute FREQUENCY 1 Minute] WHERE Id = 1",
    "push_frequency": "SELECT P.Id, B.BTemp FROM Pulse P [RANGE 10 Seconds FREQUENCY 30 Seconds], "
    "BodyCondition B [RANGE 2 Seconds FREQUENCY 20 Seconds] WHERE P.Id = B.Id",
    "compose_frequencies": "SELECT * [FREQUENCY 1 Minute PARTITIONED BY Id] FROM BodyCondition "
    "[FREQUENCY 10 Seconds PARTITIONED BY Id]",
    "evaluate_at_outer": QUERIES["001 query 3"][1],
    "drop_unseen": "SELECT AVG(BTemp) FROM BodyCondition [RANGE 30 Tuples FREQUENCY 100 Tuples]",
    "share_panes": "SELECT Id, AVG(BTemp) FROM BodyCondition [RANGE 1 Minute FREQUENCY 20 Seconds] GROUP BY Id",
    "answer_from_registered": f"CREATE STREAM rates AS {QUERIES['001 query 3'][1]}; "
    + QUERIES["001 query 3"][1].replace("10 Tuples", "20 Tuples"),
}


def animals() -> dict[str, list[tuple[int, int, dict[str, Any]]]]:
    rows = {"Pulse": pulses(7), "BodyCondition": conditions(7)}
    return {name: [(0, offset, row) for offset, row in enumerate(each)] for name, each in rows.items()}


def test_every_rewrite_has_a_unit_and_a_case() -> None:
    assert set(FIRING) == set(UNITS)


@pytest.mark.parametrize("rule", FIRING)
def test_a_rewrite_shows_its_gain_in_its_own_unit(rule: str) -> None:
    explanation = explain(load(ANIMALS + FIRING[rule]), animals())
    (found,) = [each for each in explanation["queries"][-1]["rewrites"] if each["rule"] == rule]
    assert found["unit"] == UNITS[rule]
    assert found["after"] < found["before"]
    assert f"{rule:<24}{found['unit']}: {found['before']:,} -> {found['after']:,}" in as_text(explanation)


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_of_the_papers_is_explained(name: str) -> None:
    declarations, text = QUERIES[name]
    explanation = explain(load(declarations + text))
    (query,) = explanation["queries"]
    assert query["before"]["node"].startswith("Project[")
    assert len(explanation["reorderer"]) == 1
    assert as_text(explanation).startswith(("query q1: ", "warning: "))
    assert as_dot(explanation).count("->") == query["text"].count("(\n") + query["text"].count(",\n")


def test_classes_localities_and_keys_stand_on_the_edges() -> None:
    (query,) = explain(load(ANIMALS + "SELECT DISTINCT Species FROM BodyCondition [RANGE 1 Minute] WHERE BTemp > 39"))[
        "queries"
    ]
    edges = []
    node = query["before"]
    while node:
        edges.append((node["node"].partition("[")[0], node["class"], node["local"], node["key"]))
        node = node["inputs"][0] if node["inputs"] else None
    place = ["BodyCondition.partition", "BodyCondition.offset"]
    assert edges == [
        ("Distinct", 3, True, ["Species"]),
        ("Project", 2, True, place),
        ("Select", 2, True, place),
        ("Window", 2, False, place),
        ("Scan", 1, True, place),
    ]
