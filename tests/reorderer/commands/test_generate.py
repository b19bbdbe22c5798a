"""`reorderer generate` to a file."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import pytest

from reorderer.cli import main


def generate(path: Path, *options: str) -> str:
    assert main(["generate", *options, "--out", str(path)]) == 0
    return path.read_text()


def test_a_csv_holds_the_times_of_the_tuples_in_arrival_order(tmp_path: Path) -> None:
    text = generate(tmp_path / "pulse.csv", "pulse", "--count", "500", "--delay", "exponential:3000")
    rows = [{name: int(cell) for name, cell in row.items()} for row in csv.DictReader(text.splitlines())]
    assert list(rows[0]) == ["arrival_ms", "event_ms", "device", "seq"]
    assert len(rows) == 500
    assert [row["arrival_ms"] for row in rows] == sorted(row["arrival_ms"] for row in rows)
    assert any(later["event_ms"] < row["event_ms"] for row, later in itertools.pairwise(rows))


def test_a_jsonl_holds_the_values_of_the_same_tuples(tmp_path: Path) -> None:
    options = ("body", "--animals", "5", "--duration", "10s", "--seed", "4", "--delay", "normal:900,500")
    times = [row.split(",") for row in generate(tmp_path / "body.csv", *options).splitlines()[1:]]
    values = [json.loads(line) for line in generate(tmp_path / "body.jsonl", *options).splitlines()]
    assert [(value["Id"], value["ts"]) for value in values] == [(int(row[2]), int(row[1])) for row in times]
    assert len(values) == 50


def test_a_seed_gives_the_same_file_and_another_seed_another(tmp_path: Path) -> None:
    first, second, other = (
        generate(tmp_path / f"{name}.jsonl", "body", "--count", "300", "--seed", seed)
        for name, seed in (("first", "1"), ("second", "1"), ("other", "2"))
    )
    assert first == second != other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["body"], "where should the tuples go?; give either --topic T or --out FILE"),
        (["body", "--out", "x.jsonl", "--topic", "t"], "where should the tuples go?"),
        (["body", "--out", "x.parquet"], "cannot tell the format of 'x.parquet'"),
        (["body", "--out", "/nowhere/x.csv"], "cannot write '/nowhere/x.csv': No such file or directory"),
        (["body", "--out", "-", "--duration", "5 parsecs"], "unknown unit in duration '5 parsecs'"),
        (["body", "--out", "-", "--delay", "normal:x"], "bad parameters in delay 'normal:x'"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_2(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", *options]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"reorderer: {message}")
    assert captured.err.count("\n") == 1


def test_an_unknown_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["generate", "puls", "--out", "-"])
    assert "'puls'" in capsys.readouterr().err
