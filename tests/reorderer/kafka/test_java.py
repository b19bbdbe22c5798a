"""A missing or wrong Java gives one sentence with the fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from reorderer.errors import SetupError
from reorderer.kafka.java import Java, find_java, parse_version
from tests.processes import run_module


def fake_java(folder: Path, version: str, exit_code: int = 0) -> Path:
    """Make an executable that answers `java -version` as given, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    java = folder / "java"
    java.write_text(f"#!/bin/sh\necho '{version}' >&2\nexit {exit_code}\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('Picked up _JAVA_OPTIONS: -Xmx1g\nopenjdk version "21.0.2" 2024-01-16 LTS', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('openjdk version "11"', 11),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
    ],
)
def test_the_feature_version_is_read_from_every_vendors_answer(text: str, version: int | None) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize("version", [17, 21])
def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    home = fake_java(tmp_path / "home" / "bin", f'openjdk version "{version}.0.1"')
    fake_java(tmp_path / "path", 'openjdk version "11.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_java() == Java(home, version)


def test_without_java_home_the_java_on_the_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = fake_java(tmp_path, 'openjdk version "17.0.15"')
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_java() == Java(java, 17)


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "16", "18.0.1", "25"])
def test_any_other_version_is_refused_with_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    fake_java(tmp_path, f'openjdk version "{version}"')
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"^Java 17 or 21 is needed, but '.*/java' .* is Java \d+; install"):
        find_java()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"PATH": "/nonexistent", "JAVA_HOME": ""}, "no Java found"),
        (
            {"JAVA_HOME": "/nonexistent/jdk"},
            "JAVA_HOME is '/nonexistent/jdk', but there is no executable",
        ),
    ],
)
def test_a_missing_java_is_one_line_and_exit_code_1(settings: dict[str, str], message: str) -> None:
    done = run_module("reorderer.kafka.java", env=settings)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"reorderer: {message}")


def test_a_java_that_does_not_answer_is_an_error_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, "Unable to locate a Java Runtime.", exit_code=1)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"cannot read the version of '.*/java'"):
        find_java()
