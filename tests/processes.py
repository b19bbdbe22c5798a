"""What tests do with processes: run a module of ours, and wait until a process is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from reorderer.kafka.detached import start_mark

ROOT = Path(__file__).parents[1]


def run_module(
    *args: str, env: Mapping[str, str] | None = None, timeout_s: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run `python -m ARGS` in the project folder to its end, with `env` added to the environment."""
    return subprocess.run(
        [sys.executable, "-m", *args],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def await_true(condition: Callable[[], bool], what: str, within_s: float = 30) -> None:
    """Return once the condition holds; fail, naming what was waited for, if it does not in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {within_s} s"
        time.sleep(0.02)


def await_end(*pids: int, within_s: float = 30) -> None:
    """Return once none of the processes runs; fail if one still does after a while."""
    await_true(lambda: all(start_mark(pid) is None for pid in pids), f"the end of {pids}", within_s)
