"""Records as the schemas describe them."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import schemas
from reorderer.records import (
    MAX_TS_MS,
    PUNCTUATION_HEADERS,
    Disposition,
    Topics,
    dead_headers,
    late_headers,
    punctuation_value,
)

TIMES_MS = st.integers(1, MAX_TS_MS)
RATIOS = st.floats(0, 1)


@given(
    until_ms=TIMES_MS,
    seq=st.none() | st.integers(0),
    slack_ms=st.integers(0, 3_600_000),
    drop_ratio=RATIOS,
    bound=st.none() | RATIOS,
    position=st.integers(0, 2**63),
    idle=st.booleans(),
)
def test_a_punctuation_fits_its_schema(
    until_ms: int, seq: int | None, slack_ms: int, drop_ratio: float, bound: float | None, position: int, idle: bool
) -> None:
    value = punctuation_value(
        until_ms, seq=seq, slack_ms=slack_ms, drop_ratio=drop_ratio, bound=bound, position=position, idle=idle
    )
    record = schemas.describe(None, value, until_ms, PUNCTUATION_HEADERS)
    assert schemas.problems("punctuation", record) == []
    assert record["value"]["__punctuation__"] == {
        "until": until_ms,
        "seq": seq,
        "slack_ms": slack_ms,
        "drop_ratio": drop_ratio,
        "bound": bound,
        "position": position,
        "idle": idle,
    }


@given(ts_ms=TIMES_MS, behind_ms=st.integers(1, 10**9), offset=st.integers(0, 2**63 - 1))
def test_a_late_record_fits_its_schema_and_says_how_late_it_was(ts_ms: int, behind_ms: int, offset: int) -> None:
    headers = late_headers(("body", 2, offset), ts_ms, ts_ms + behind_ms)
    assert schemas.problems("late", schemas.describe(b"7", b"{}", ts_ms, [("trace", b"ab"), *headers])) == []
    assert dict(headers)["reorderer.lateness_ms"] == b"%d" % behind_ms
    assert dict(headers)["__connect.errors.offset"] == b"%d" % offset


@pytest.mark.parametrize("disposition", [each for each in get_args(Disposition) if each != "late"])
def test_a_dead_record_of_every_disposition_fits_its_schema(disposition: Disposition) -> None:
    headers = dead_headers(("body", 0, 9), disposition, "because")
    assert schemas.problems("dead", schemas.describe(None, b"\xff", 5, headers)) == []


def test_topics_are_named_after_the_raw_one_unless_named() -> None:
    assert Topics.of("t", late="elsewhere") == Topics("t", "t.clean", "elsewhere", "t.dead")
    assert Topics.of("t").outputs == ("t.clean", "t.late", "t.dead")
