"""`csql run` on Spark, as a user meets it when something is wrong: one message, a non-zero exit, no stack trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_jobs.cli import main
from tests.processes import run_module

STREAM = "CREATE STREAM S (k STRING, ts TIMESTAMP) WITH (topic = 's');"
QUERY = "SELECT k FROM S [RANGE 10 Seconds, FREQUENCY 5 Seconds];"


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        (STREAM, (), "no query in"),
        (STREAM + QUERY + QUERY, (), "has 2 queries; choose with --query: q1, q2"),
        (STREAM + QUERY, ("--query", "hot"), "no query 'hot' in"),
        (STREAM + "SELECT kk FROM S [RANGE 10 Seconds, FREQUENCY 5 Seconds];", (), "unknown column 'kk'"),
        (STREAM + "SELECT k FROM T [RANGE 10 Seconds, FREQUENCY 5 Seconds];", (), "unknown stream 'T'"),
        (STREAM + "SELECT k FROM S [RANGE 10 Tuples, FREQUENCY 5 Seconds];", (), "cannot run RANGE in tuples yet"),
    ],
)
def test_a_wrong_query_is_told_before_anything_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, options: tuple[str, ...], told: str
) -> None:
    file = tmp_path / "query.csql"
    file.write_text(text)
    where = ("--bootstrap-servers", "127.0.0.1:1", "--checkpoint", str(tmp_path / "ck"))
    assert main(["run", str(file), *where, *options]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "ck").exists()


def test_a_broker_that_does_not_answer_gives_one_line_and_exit_1(tmp_path: Path) -> None:
    file = tmp_path / "query.csql"
    file.write_text(STREAM + QUERY)
    where = ("--bootstrap-servers", "127.0.0.1:1", "--checkpoint", str(tmp_path / "ck"))
    ended = run_module("spark_jobs", "run", str(file), *where)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("csql: no Kafka broker answers at '127.0.0.1:1'")
    assert ended.stderr.count("\n") == 1
