"""The configuration of the service refuses what cannot work."""

from __future__ import annotations

import pytest

from reorderer.config import Arrival, RunConfig, Timestamp
from reorderer.errors import UsageError
from reorderer.records import Topics


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ts", Timestamp("field", "ts")),
        ("meta.at", Timestamp("field", "meta.at")),
        ("field:record", Timestamp("field", "record")),
        ("record", Timestamp("record", "")),
        ("header:made", Timestamp("header", "made")),
    ],
)
def test_event_time_comes_from_a_field_a_header_or_the_record(text: str, expected: Timestamp) -> None:
    assert Timestamp.parse(text) == expected


@pytest.mark.parametrize("text", ["", "header:", "header", "a..b", "topic:x"])
def test_an_unknown_source_of_event_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"cannot take a time from '{text}'"):
        Timestamp.parse(text)


@pytest.mark.parametrize("text", ["brokr", "header", "header:", "wall:x"])
def test_an_unknown_source_of_arrival_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"cannot take a time from '{text}'; one of broker, record, wall, header:NAME"):
        Arrival.parse(text)


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown timestamp unit 'days'"):
        Timestamp.parse("ts", "days")


@pytest.mark.parametrize("arrival", ["broker", "record"])
def test_the_record_timestamp_is_not_both_event_time_and_arrival(arrival: str) -> None:
    with pytest.raises(UsageError, match="cannot be both the event time and the arrival"):
        RunConfig("b", Topics.of("t"), "g", timestamp=Timestamp.parse("record"), arrival=Arrival.parse(arrival))
