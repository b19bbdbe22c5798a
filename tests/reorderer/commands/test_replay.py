"""`reorderer replay` and `reorderer generate STREAM`, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reorderer.cli import main

KEYS = {
    "tuples",
    "dropped",
    "drop_ratio",
    "worst_drop_ratio_after_warmup",
    "mean_wait_ms",
    "p99_wait_ms",
    "max_held",
    "warmup_tuples",
    "punctuations",
    "hindsight_mean_wait_ms",
}


@pytest.fixture
def trace(tmp_path: Path) -> str:
    path = str(tmp_path / "trace.csv")
    options = ["--count", "30000", "--rate", "1000", "--set", "mu=400", "--set", "sigma=100", "--set", "mu_after=900"]
    assert main(["generate", "regime", "--seed", "4", *options, "--out", path]) == 0
    return path


def test_json_has_every_measure_and_out_accounts_for_every_tuple(
    trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "happened.jsonl"
    assert main(["replay", trace, "--dratio", "1%", "--json", "--out", str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    facts = [json.loads(line) for line in out.read_text().splitlines()]
    assert set(found) >= KEYS
    assert found["tuples"] == 30_000
    assert found["drop_ratio"] == found["dropped"] / 30_000 <= 0.01
    assert sorted(fact.get("release", fact.get("late")) for fact in facts if "punctuation" not in fact) == list(
        range(30_000)
    )
    assert sum("late" in fact for fact in facts) == found["dropped"]
    assert sum("punctuation" in fact for fact in facts) == found["punctuations"]
    times = [fact["at_ms"] for fact in facts]
    assert times == sorted(times)


def test_without_json_it_prints_a_table(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", trace, "--slack", "2s"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["estimator", "slack"]
    assert lines[1].startswith("tuples")
    assert "30,000" in lines[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dratio", "1%", "--estimator", "bugdet"], "did you mean 'budget'"),
        (["--dratio", "101%"], "bad ratio '101%'"),
        (["--dratio", "nan"], "nan"),
        ([], "neither DRATIO nor SLACK"),
        (["--slack", "0s"], "SLACK 0 without DRATIO"),
    ],
)
def test_wrong_options_are_one_line_and_exit_2(
    trace: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", trace, *options]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert message in errors[-1]


def test_set_goes_with_a_stream_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "body", "--set", "mu=1", "--count", "5", "--out", str(tmp_path / "x.csv")]) == 2
    assert "goes with a stream" in capsys.readouterr().err
