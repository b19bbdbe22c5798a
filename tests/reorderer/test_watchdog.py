"""A command under the watchdog never outlives its parent, and its exit code comes through."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reorderer.watchdog import Guarded
from tests.processes import ROOT, await_end, await_true, run_module

TWO_SLEEPERS = ["sh", "-c", "sleep 600 & echo $! > pids; echo $$ >> pids; mv pids ready; wait"]
"""A command with a child of its own; `ready` then holds both process ids."""


def watch(*options: str, command: list[str], cwd: Path) -> subprocess.Popen[bytes]:
    """Start the watchdog as a program, with a lifeline."""
    argv = [sys.executable, "-m", "reorderer.watchdog", *options, "--", *command]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)})


def await_pids(folder: Path) -> list[int]:
    """Return the process ids of the command once it has written them."""
    await_true((folder / "ready").exists, "the command's start")
    return [int(line) for line in (folder / "ready").read_text().split()]


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 137)])
def test_the_exit_code_is_that_of_the_command(script: str, code: int) -> None:
    guarded = Guarded(["sh", "-c", script])
    assert guarded.wait(30) == code


def test_a_closed_lifeline_ends_the_command_and_its_children(tmp_path: Path) -> None:
    watchdog = watch(command=TWO_SLEEPERS, cwd=tmp_path)
    pids = await_pids(tmp_path)
    watchdog.communicate(timeout=30)
    assert watchdog.returncode == 128 + signal.SIGTERM
    await_end(*pids)


def test_sigterm_ends_the_command_and_its_children(tmp_path: Path) -> None:
    watchdog = watch(command=TWO_SLEEPERS, cwd=tmp_path)
    pids = await_pids(tmp_path)
    watchdog.terminate()
    assert watchdog.wait(30) == 128 + signal.SIGTERM
    watchdog.communicate()
    await_end(*pids)


def test_a_killed_parent_takes_the_command_along_and_its_folder_is_removed(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    program = (
        "import pathlib, sys, time; from reorderer.watchdog import Guarded; path = pathlib.Path(sys.argv[1]);"
        f"Guarded({TWO_SLEEPERS!r}, cwd=path.parent, remove=path); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, str(scratch)], cwd=ROOT)
    pids = await_pids(tmp_path)
    parent.kill()
    parent.wait()
    await_end(*pids)
    await_true(lambda: not scratch.exists(), "the folder's removal")


def test_a_command_that_ignores_sigterm_is_killed_after_the_grace(tmp_path: Path) -> None:
    deaf = ["sh", "-c", "trap '' TERM; echo $$ > pids; mv pids ready; while :; do sleep 600; done"]
    watchdog = watch("--grace", "0.2", command=deaf, cwd=tmp_path)
    (pid,) = await_pids(tmp_path)
    watchdog.communicate(timeout=30)
    assert watchdog.returncode == 128 + signal.SIGKILL
    await_end(pid)


def test_children_that_a_command_leaves_behind_are_ended(tmp_path: Path) -> None:
    leaver = ["sh", "-c", "sleep 600 & echo $! > pids; mv pids ready; exit 3"]
    guarded = Guarded(leaver, cwd=tmp_path)
    assert guarded.wait(30) == 3
    await_end(*await_pids(tmp_path))


def test_the_command_ends_before_its_children_are_told_to(tmp_path: Path) -> None:
    orderly = ["sh", "-c", "trap 'echo leader >> ended; exit 0' TERM; (trap 'echo child >> ended; exit 0' TERM;"]
    orderly[-1] += " touch ready; while :; do sleep 0.05; done) & while :; do sleep 0.05; done"
    guarded = Guarded(orderly, cwd=tmp_path)
    await_true((tmp_path / "ready").exists, "the command's start")
    assert guarded.stop() == 0
    assert (tmp_path / "ended").read_text().split() == ["leader", "child"]


def test_ctrl_c_is_left_to_the_parent(tmp_path: Path) -> None:
    watchdog = watch(command=TWO_SLEEPERS, cwd=tmp_path)
    pids = await_pids(tmp_path)
    watchdog.send_signal(signal.SIGINT)
    watchdog.send_signal(signal.SIGTERM)
    assert watchdog.wait(30) == 128 + signal.SIGTERM
    watchdog.communicate()
    await_end(*pids)


def test_kill_ends_the_whole_group_at_once(tmp_path: Path) -> None:
    guarded = Guarded(TWO_SLEEPERS, cwd=tmp_path)
    pids = await_pids(tmp_path)
    assert guarded.pid in pids
    assert guarded.kill() == 128 + signal.SIGKILL
    await_end(*pids)


def test_a_command_that_cannot_be_run_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="did not start"):
        Guarded([str(tmp_path / "missing")], log=tmp_path / "log")
    assert "cannot run" in (tmp_path / "log").read_text()
    done = run_module("reorderer.watchdog", "--", "/nonexistent/command")
    assert (done.returncode, done.stderr) == (
        127,
        "watchdog: cannot run '/nonexistent/command': No such file or directory\n",
    )
