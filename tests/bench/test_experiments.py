"""The experiments, in their quick form."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.processes import run_module

FIGURES = (
    *("000-figure-5", "002-figure-5", "002-figure-6a", "002-figure-6b", "002-figure-7a", "002-figure-7b"),
    *("003-figure-7", "003-figure-7-lengths", "003-figure-8", "beyond"),
)


def test_every_figure_gets_a_table_and_a_picture(tmp_path: Path) -> None:
    done = run_module("bench.experiments", "--quick", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "RESULTS.md").read_text()
    assert f"`python -m bench.experiments --quick --out {tmp_path}`" in text
    for name in FIGURES:
        assert f"({name}.png)" in text
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        with (tmp_path / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert "budget" in {row["series"].split(",")[0] for row in rows}, name
        assert all(0 <= float(row["drop_ratio"]) <= 1 and float(row["mean_held"]) > 0 for row in rows), name
