"""The set-up that every `make` target begins with: clear when it cannot work, resumable, and silent once done.

The virtual environment's `python` is a stand-in that writes down what it is asked to do: nothing is installed here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT
from tests.reorderer.kafka.test_java import fake_java

STEPS = [
    "-m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock",
    "-m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .",
    "-m reorderer.kafka.jars kafka .cache/jars/kafka",
    "-m reorderer.kafka.jars spark-connector .cache/jars/spark-kafka",
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A fresh checkout of what the set-up reads."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "reorderer", folder / "reorderer", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder)
    return folder


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def make(checkout: Path, *args: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run make as from a user's shell, whatever make or cache this test itself runs under."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "REORDERER_", "MFLAGS"))
    }
    return subprocess.run(
        ["make", *args], cwd=checkout, env=inherited | settings, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def python(checkout: Path) -> str:
    """A Python whose `venv` makes a stand-in: it notes each step in `steps`; pip fails while `broken` exists."""
    stand_in = script(
        checkout.parent / "stand-in",
        'case "$*" in\n'
        '  *"pip --version") ;;\n'
        '  *) echo "$*" >> steps; case "$*" in *lock) test ! -e broken || exit 1 ;; esac\n'
        '     case "$*" in *jars*) for last; do :; done; mkdir -p "$last" ;; esac ;;\n'
        "esac",
    )
    venv = f'*venv*) for last; do :; done; mkdir -p "$last/bin" && cp {stand_in} "$last/bin/python" ;;'
    return str(script(checkout.parent / "python", f'case "$*" in {venv} *) exec {sys.executable} "$@" ;; esac'))


@pytest.mark.parametrize("target", ["setup", "demo", "test", "check"])
def test_a_wrong_java_is_one_sentence_before_anything_is_installed(checkout: Path, tmp_path: Path, target: str) -> None:
    fake_java(tmp_path / "jdk" / "bin", 'openjdk version "11.0.2"')
    done = make(checkout, target, f"PYTHON={sys.executable}", JAVA_HOME=str(tmp_path / "jdk"))
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert (done.returncode, done.stdout, len(said)) == (2, "", 1)
    assert said[0].startswith(
        f"reorderer: Java 17 or 21 is needed, but '{tmp_path}/jdk/bin/java' (from JAVA_HOME) is Java 11;"
    )
    assert not (checkout / ".venv").exists()


def test_a_missing_python_is_one_sentence(checkout: Path) -> None:
    done = make(checkout, "setup", "PYTHON=python-of-nobody")
    assert done.returncode == 2
    assert done.stderr.startswith("Python 3.11 or newer is needed and there is no python-of-nobody: install it")


def test_an_old_python_is_one_sentence(checkout: Path, tmp_path: Path) -> None:
    old = script(
        tmp_path / "old", f"exec {sys.executable} -c 'import sys; sys.version_info = (3, 10); exec(sys.argv[2])' \"$@\""
    )
    done = make(checkout, "setup", f"PYTHON={old}")
    assert done.returncode == 2
    assert done.stderr.startswith("Python 3.11 or newer is needed, this is 3.10: install it")


def test_each_slow_step_is_announced_and_a_second_run_does_nothing(checkout: Path, python: str) -> None:
    first = make(checkout, "setup", f"PYTHON={python}")
    assert (first.returncode, first.stderr) == (0, "")
    assert [line[:11] for line in first.stdout.splitlines()] == ["[setup 1/3]", "[setup 2/3]", "[setup 3/3]"]
    assert (checkout / "steps").read_text().splitlines() == STEPS
    (checkout / "steps").unlink()
    second = make(checkout, "setup", f"PYTHON={python}")
    assert (second.returncode, second.stderr, (checkout / "steps").exists()) == (0, "", False)


def test_a_set_up_that_failed_is_taken_up_again(checkout: Path, python: str) -> None:
    (checkout / "broken").touch()
    assert make(checkout, "setup", f"PYTHON={python}").returncode == 2
    (checkout / "broken").unlink()
    assert make(checkout, "setup", f"PYTHON={python}").returncode == 0
    assert (checkout / "steps").read_text().splitlines() == [STEPS[0], *STEPS]


def test_a_half_made_environment_is_made_anew(checkout: Path, python: str) -> None:
    script(checkout / ".venv" / "bin" / "python", "exit 1")
    assert make(checkout, "setup", f"PYTHON={python}").returncode == 0
    assert (checkout / "steps").read_text().splitlines() == STEPS


def test_ci_runs_the_documented_check_and_nothing_else() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = [line for line in lines if line and not line.startswith(("#", "set ", "cd "))]
    assert commands == ["make check"]
