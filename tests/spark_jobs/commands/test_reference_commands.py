"""`csql check`, `csql explain` and `csql run --engine reference`, from the command line to the output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spark_jobs.cli import main

QUERIES = """
CREATE STREAM Pulse (Id INT, Timestamp TIMESTAMP) WITH (topic = 'pulse');
CREATE STREAM Beats AS
  SELECT Id, COUNT(*) [FREQUENCY 2 Tuples PARTITIONED BY Id] FROM Pulse [RANGE 1 Minute FREQUENCY 1 Tuple DRATIO 1%]
  GROUP BY Id;
SELECT Id, COUNT(*) [FREQUENCY 4 Tuples PARTITIONED BY Id] FROM Pulse [RANGE 1 Minute FREQUENCY 1 Tuple DRATIO 1%]
GROUP BY Id;
"""
ROWS = [{"Id": beat % 2, "Timestamp": 1000 * beat} for beat in range(16)]


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    """A file of queries."""
    path = tmp_path / "animals.csql"
    path.write_text(QUERIES, encoding="utf-8")
    return path


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows, the newest first: order within a file does not count."""
    path.write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)), encoding="utf-8")
    return path


def test_check_tells_what_each_query_puts_out(queries: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(queries)]) == 0
    assert capsys.readouterr().out == ("Beats: snapshot (Id INT, COUNT BIGINT)\nq2: snapshot (Id INT, COUNT BIGINT)\n")


def test_check_prints_the_place_of_a_fault_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.csql"
    path.write_text("CREATE STREAM S (x INT, ts BIGINT) WITH (topic = 's');\nSELECT z FROM S", encoding="utf-8")
    assert main(["check", str(path)]) == 2
    assert capsys.readouterr().err == (
        "csql: line 2, column 8: unknown column 'z'; there is x, ts\n  2 | SELECT z FROM S\n    |        ^\n"
    )


def test_run_writes_one_object_a_line_in_sequence_order(queries: Path, tmp_path: Path) -> None:
    rows = written(tmp_path / "pulse.jsonl", ROWS)
    out = tmp_path / "out.jsonl"
    assert main(["run", str(queries), "--engine", "reference", "--input", f"Pulse={rows}", "--out", str(out)]) == 0
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert found[:2] == [
        {"query": "Beats", "at": 2000, "Id": 0, "COUNT": 2},
        {"query": "Beats", "at": 3000, "Id": 1, "COUNT": 2},
    ]
    assert [(row["at"], row["Id"], row["COUNT"]) for row in found if row["query"] == "q2"] == [
        (6000, 0, 4),
        (7000, 1, 4),
        (14000, 0, 8),
        (15000, 1, 8),
    ]


def test_run_reads_times_as_text_and_several_partitions(
    queries: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    first = written(tmp_path / "p0.jsonl", [{"Id": 1, "Timestamp": "1970-01-01T00:00:01Z"}])
    second = written(tmp_path / "p1.jsonl", [{"Id": 1, "Timestamp": "1970-01-01T01:00:00.500+01:00"}])
    assert main(["run", str(queries), "--input", f"pulse={first}", "--input", f"Pulse={second}"]) == 0
    assert json.loads(capfdbinary.readouterr().out) == {"query": "Beats", "at": 1000, "Id": 1, "COUNT": 2}


def test_run_takes_an_algebra_plan(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    plan = tmp_path / "plan.txt"
    plan.write_text(
        "CREATE STREAM S (x INT, ts BIGINT) WITH (topic = 's');Project[S.x AS x](Frequency[2 Tuples OF ROWS](Scan[S]))",
        encoding="utf-8",
    )
    rows = written(tmp_path / "s.jsonl", [{"x": 1, "ts": 1}, {"x": 2, "ts": 2}, {"x": 3, "ts": 3}])
    assert main(["run", "--plan", str(plan), "--input", f"S={rows}"]) == 0
    assert json.loads(capfdbinary.readouterr().out) == {"query": "q1", "at": 2, "x": 2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "Puls={rows}"], "csql: no stream 'Puls' is declared; did you mean 'Pulse'?\n"),
        (["--engine", "reference"], "csql: stream 'Pulse' is read but has no input; add --input Pulse=FILE.jsonl\n"),
        (["--input", "Pulse={missing}"], "csql: '{missing}' cannot be read: No such file or directory\n"),
        (["--input", "Pulse={broken}"], "csql: line 1 of '{broken}' is no JSON object\n"),
        (
            ["--input", "Pulse={timeless}"],
            "csql: row 0 of input 0 of 'Pulse' has no time in 'Timestamp'; give epoch milliseconds or RFC 3339 text\n",
        ),
    ],
)
def test_run_names_the_input_that_is_wrong(
    queries: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    names = {name: tmp_path / f"{name}.jsonl" for name in ("rows", "missing", "broken", "timeless")}
    written(names["rows"], ROWS)
    names["broken"].write_text("[1]\n", encoding="utf-8")
    names["timeless"].write_text('{"Id": 1}\n', encoding="utf-8")
    assert main(["run", str(queries), *(argument.format(**names) for argument in arguments)]) == 2
    assert capsys.readouterr().err == message.format(**names)


def test_explain_shows_rewrites_with_gains_and_the_reorderers_settings(
    queries: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(queries), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    beats, again = found["queries"]
    assert [rewrite["rule"] for rewrite in beats["rewrites"]] == ["evaluate_at_outer"]
    assert [rewrite["rule"] for rewrite in again["rewrites"]] == ["answer_from_registered"]
    assert all(rewrite["after"] < rewrite["before"] for each in found["queries"] for rewrite in each["rewrites"])
    assert found["reorderer"] == {"pulse": {"drop_ratio": 0.01}}


def test_explain_prints_each_node_with_its_edge_and_operator(
    queries: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = written(tmp_path / "pulse.jsonl", ROWS)
    assert main(["explain", str(queries), "--input", f"Pulse={rows}"]) == 0
    text = capsys.readouterr().out
    assert "rewrites (counted over given rows)\n  evaluate_at_outer       evaluations: 24 -> 8 (-67%)\n" in text
    assert (
        "| continuous, class 2 weakest, non-local, key (Pulse.partition, Pulse.offset) | ranges of event time" in text
    )
    assert text.endswith("reorderer settings\n  pulse: drop_ratio 0.01\n")


def test_explain_draws_a_graph(queries: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(queries), "--dot"]) == 0
    graph = capsys.readouterr().out
    assert graph.startswith("digraph csql {")
    assert graph.count("{") == graph.count("}")
    assert 'q1_0_0_0 [label="Scan[Beats AS Beats]"' in graph


def test_the_reference_engine_loads_neither_spark_nor_kafka(queries: Path, tmp_path: Path) -> None:
    rows = written(tmp_path / "pulse.jsonl", ROWS)
    program = (
        "import sys; from spark_jobs.cli import main; "
        f"code = main(['run', {str(queries)!r}, '--engine', 'reference', '--input', 'Pulse={rows}']); "
        "loaded = {'pyspark', 'pandas', 'numpy', 'confluent_kafka'} & set(sys.modules); "
        "sys.exit(code or (f'loaded {loaded}' if loaded else 0))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
