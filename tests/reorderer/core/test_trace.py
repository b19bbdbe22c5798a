"""Traces as CSV: rows in any order, and every wrong one named."""

from __future__ import annotations

from pathlib import Path

import pytest

from reorderer.core.trace import parse_trace, read_trace
from reorderer.errors import UsageError


def test_rows_are_sorted_by_arrival_and_ties_kept() -> None:
    trace = parse_trace("seq,arrival_ms,device,event_ms\n0,20,a,5\n1,10,a,7\n2,20,b,1\n3,10,b,2\n")
    assert trace.arrival_ms.tolist() == [10, 10, 20, 20]
    assert trace.ts_ms.tolist() == [7, 2, 5, 1]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("nan,1,a", r"line 3: arrival_ms 'nan' is not a whole number"),
        ("1,inf,a", r"line 3: event_ms 'inf' is not a whole number"),
        ("1,9007199254740992,a", r"line 3: event_ms '9007199254740992' is beyond 2\^53"),
        ("-1,1,a", r"line 3: arrival_ms '-1' is negative"),
        ("1,,a", r"line 3: event_ms '' is missing"),
        ("1", r"line 3: event_ms '' is missing"),
        ("1,x,a", r"line 3: event_ms 'x' is not a number"),
        ("1.5,1,a", r"line 3: arrival_ms '1.5' is not a whole number"),
    ],
)
def test_a_wrong_time_is_named_with_its_line(row: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_trace(f"arrival_ms,event_ms,device\n5,4,a\n{row}\n")


@pytest.mark.parametrize("text", ["", "\n", "arrival_ms,ts\n1,2\n", "1,2\n3,4\n"])
def test_missing_columns_are_named(text: str) -> None:
    with pytest.raises(UsageError, match=r"no column '(arrival|event)_ms'"):
        parse_trace(text)


def test_an_empty_trace_is_an_error() -> None:
    with pytest.raises(UsageError, match="no tuples"):
        parse_trace("arrival_ms,event_ms\n")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_trace(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_trace(tmp_path / "binary.csv")
