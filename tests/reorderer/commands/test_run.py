"""The options of `reorderer run` that are refused before a broker is asked."""

from __future__ import annotations

import pytest

from reorderer.cli import build_parser, main
from reorderer.commands.run import configured


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "neither DRATIO nor SLACK is given"),
        (["--slack", "soon"], "bad quantity 'soon'"),
        (["--slack", "2 weeks"], "unknown unit in duration '2 weeks'"),
        (["--slack", "1.5 tuples"], "'1.5 tuples' is not a whole number of tuples"),
        (["--slack", "0s"], "SLACK 0 without DRATIO"),
        (["--dratio", "200%"], "bad ratio '200%'"),
        (["--slack", "1s", "--timestamp", "record"], "the record timestamp cannot be both"),
        (["--slack", "1s", "--unit", "days"], "unknown timestamp unit 'days'"),
        (["--slack", "1s", "--arrival", "never"], "cannot take a time from 'never'"),
        (["--slack", "1s", "--transaction", "0ms"], "--transaction 0 is below 1"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_2(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--topic", "t", *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"reorderer: {message}")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "heartbeats"),
    [
        ([], True),
        (["--arrival", "wall"], True),
        (["--arrival", "record"], False),
        (["--arrival", "header:got"], False),
        (["--arrival", "record", "--heartbeats", "on"], True),
        (["--heartbeats", "off"], False),
    ],
)
def test_silence_is_only_idleness_where_no_arrival_can_be_before_now(options: list[str], heartbeats: bool) -> None:
    args = build_parser().parse_args(["run", "--topic", "t", "--slack", "1s", *options])
    assert configured(args).heartbeats is heartbeats


def test_slack_is_a_duration_or_a_number_of_tuples() -> None:
    for text, expected in (("2s", (2_000, None)), ("500 Tuples", (None, 500))):
        quality = configured(build_parser().parse_args(["run", "--topic", "t", "--slack", text])).quality
        assert (quality.slack_ms, quality.slack_tuples) == expected
