"""What a session needs of the machine: a Java it runs on, and the Kafka connector."""

from __future__ import annotations

from pathlib import Path

import pyspark
import pytest

from spark_jobs.errors import SetupError
from spark_jobs.spark import session


def a_java(folder: Path, told: str) -> None:
    """Put a `java` into the folder's bin that tells this version."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{told}' >&2\n")
    program.chmod(0o755)


@pytest.mark.parametrize("told", ['openjdk version "17.0.15" 2025-04-15', 'openjdk version "21" 2023-09-19 LTS'])
def test_java_17_and_21_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    a_java(tmp_path, told)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    session.check_java()


@pytest.mark.parametrize(
    ("told", "release"), [('java version "1.8.0_392"', "8"), ('openjdk version "25.0.1"', "25"), ("what", "unknown")]
)
def test_another_java_gives_one_sentence_with_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, release: str
) -> None:
    a_java(tmp_path, told)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SetupError, match=f"needs Java 17 or 21, .* is {release}; install Java 17 or 21"):
        session.check_java()


def test_no_java_gives_one_sentence_with_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SetupError, match=r"no Java found in JAVA_HOME .*; install Java 17 or 21"):
        session.check_java()


def test_cached_jars_are_used_but_for_those_that_spark_brings(tmp_path: Path) -> None:
    folder = tmp_path / "jars" / "spark-kafka"
    folder.mkdir(parents=True)
    for name in ("spark-sql-kafka-0-10_2.13-4.0.0.jar", "kafka-clients-3.9.0.jar", "scala-library-2.13.1.jar"):
        (folder / name).write_bytes(b"")
    jars = session.connector(tmp_path)["spark.jars"].split(",")
    assert [Path(jar).name for jar in jars] == ["kafka-clients-3.9.0.jar", "spark-sql-kafka-0-10_2.13-4.0.0.jar"]


def test_without_cached_jars_the_connector_of_this_pyspark_is_downloaded(tmp_path: Path) -> None:
    coordinate = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"
    assert session.connector(tmp_path) == {"spark.jars.packages": coordinate}
