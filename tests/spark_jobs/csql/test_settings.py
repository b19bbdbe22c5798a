"""What queries ask of the reorderer."""

from __future__ import annotations

import pytest

from spark_jobs.csql.program import load
from spark_jobs.csql.settings import TopicSettings, settings
from spark_jobs.errors import QueryError
from tests.spark_jobs.csql.running import DECLARATIONS


def asked(*queries: str) -> dict[str, TopicSettings]:
    return settings(load(DECLARATIONS + ";".join(queries)).queries)


def test_the_smallest_dratio_and_bsize_of_a_topic_hold() -> None:
    found = asked("SELECT x FROM S [DRATIO 1% BSIZE 50]", "SELECT x FROM S [DRATIO 0.5%]", "SELECT x FROM S [BSIZE 70]")
    assert found == {"s": {"drop_ratio": 0.005, "buffer_tuples": 50}}


def test_slack_holds_only_if_every_query_of_the_topic_sets_it_and_then_the_largest() -> None:
    assert asked("SELECT x FROM S [SLACK 10]", "SELECT x FROM S [SLACK 20]") == {"s": {"slack_tuples": 20}}
    assert asked("SELECT x FROM S [SLACK 10]", "SELECT x FROM S") == {"s": {}}
    assert asked("SELECT x FROM S [SLACK 2 Seconds]") == {"s": {"slack_ms": 2000}}


def test_slack_in_two_units_on_one_topic_is_an_error() -> None:
    with pytest.raises(QueryError, match="SLACK of topic 's' is in time and in tuples"):
        asked("SELECT x FROM S [SLACK 10]", "SELECT x FROM S [SLACK 1 Second]")


def test_punctuations_are_asked_for_right_behind_each_instant() -> None:
    """A snapshot at t is complete at until = t + 1; an extent of SLIDE at the multiple itself."""
    found = asked(
        "SELECT x FROM S [RANGE 9 Seconds FREQUENCY 5 Seconds]",
        "SELECT x FROM S [RANGE 9 Seconds SLIDE 3 Seconds]",
        "SELECT y [FREQUENCY 1 Minute] FROM R [FREQUENCY 2 Tuples]",
    )
    assert found == {"s": {"windows": [(3000, 0), (5000, 1)]}, "r": {"windows": [(60_000, 1)]}}


def test_a_query_over_a_named_result_asks_for_punctuations_of_the_raw_topic_behind_it() -> None:
    found = asked(
        "CREATE STREAM A AS SELECT x FROM S WHERE x > 1", "SELECT x FROM A [RANGE 9 Seconds FREQUENCY 7 Seconds]"
    )
    assert found == {"s": {"windows": [(7000, 1)]}}
