"""`reorderer plan` on a recorded trace."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from reorderer import planning
from reorderer.cli import main
from reorderer.core.config import CoreConfig
from reorderer.core.estimators import ESTIMATORS
from reorderer.core.replay import replay
from reorderer.core.trace import read_trace

SAMPLE = Path(__file__).parents[2] / "data" / "umts-1-sample.csv"
PNG = b"\x89PNG\r\n"


def planned(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["plan", *options]) == 0
    return capsys.readouterr().out


def test_a_plan_shows_the_curve_the_bounds_and_every_estimator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, picture = tmp_path / "umts.csv", tmp_path / "umts.plan.png"
    trace.write_bytes(SAMPLE.read_bytes())
    text = planned(capsys, str(trace))
    assert text.startswith("umts.csv: 2,000 tuples over 127.3 s\n17.8 % out of order; delays from 31 ms to 4.67 s")
    assert all(f" {name} " in text for name in ESTIMATORS)
    assert picture.read_bytes().startswith(PNG)


def test_json_agrees_with_a_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan.svg"
    plan = json.loads(planned(capsys, str(SAMPLE), "--bounds", "5%,1%", "--json", "--out", str(out)))
    assert out.read_text().startswith("<?xml")
    assert plan["picture"] == str(out)
    assert [row["bound"] for row in plan["bounds"]] == [0.05, 0.01]
    assert len(plan["estimators"]) == 2 * len(ESTIMATORS)
    for row in plan["estimators"]:
        report = replay(read_trace(SAMPLE), CoreConfig(dratio=row["bound"], estimator=row["estimator"]))
        assert (row["dropped"], row["drop_ratio"]) == (report.dropped, report.drop_ratio), row["estimator"]
        assert row["violated"] == (report.drop_ratio > row["bound"])
    for row in plan["bounds"]:
        report = replay(read_trace(SAMPLE), CoreConfig(slack_ms=row["slack_ms"]))
        assert (row["dropped"], row["mean_wait_ms"]) == (report.dropped, report.mean_wait_ms)


def test_an_estimator_that_has_no_slack_for_a_bound_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = (str(SAMPLE), "--bounds", "0%", "--estimators", "vseq,maxdelay", "--out", str(tmp_path / "p.png"))
    text = planned(capsys, *options)
    assert "vseq at 0 %: the estimator 'vseq' has no slack for a drop ratio of 0; use maxdelay or budget" in text
    refused, tried = json.loads(planned(capsys, *options, "--json"))["estimators"]
    assert refused["refused"].startswith("the estimator 'vseq'")
    assert tried["dropped"] > 0


def test_a_time_too_far_ahead_is_left_out_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text("arrival_ms,event_ms\n1000,990\n1010,999999\n1020,1015\n")
    text = planned(capsys, str(trace), "--bounds", "1%", "--estimators", "maxdelay")
    assert text.startswith("t.csv: 2 tuples over 20 ms\n")
    assert "left out: 0 unreadable, 1 too far in the future\n" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "which stream?; give either TRACE.csv or --topic T --minutes N"),
        (["x.csv", "--topic", "t", "--minutes", "5"], "which stream?"),
        (["--topic", "t"], "how much of the topic?; add --minutes N"),
        (["x.csv", "--minutes", "5"], "--minutes goes with --topic"),
        (["nowhere.csv"], "cannot read 'nowhere.csv': No such file or directory"),
        ([str(SAMPLE), "--bounds", "1%,much"], "bad ratio 'much'"),
        ([str(SAMPLE), "--estimators", "bugdet"], "unknown estimator 'bugdet'"),
        ([str(SAMPLE), "--out", "/nowhere/x.png"], "cannot write '/nowhere/x.png'; there is no folder '/nowhere'"),
        ([str(SAMPLE), "--out", "x.xls"], "cannot write 'x.xls' as a picture; name it .png, .svg or .pdf"),
        (["--topic", "t", "--minutes", "1", "--timestamp", "record"], "the record timestamp cannot be both"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_2(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *options]) == 2
    captured = capsys.readouterr()
    last = captured.err.splitlines()[-1]
    assert last.startswith(f"reorderer: {message}")
    assert captured.out == ""


def test_an_empty_trace_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.csv").write_text("arrival_ms,event_ms\n")
    assert main(["plan", str(tmp_path / "empty.csv")]) == 2
    assert "no tuples" in capsys.readouterr().err


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "reorderer.planning.picture", raising=False)
    monkeypatch.delattr(planning, "picture", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    assert main(["plan", str(SAMPLE), "--out", str(tmp_path / "p.png")]) == 1
    assert capsys.readouterr().err == "reorderer: matplotlib is not installed; pip install reorderer[plot]\n"
