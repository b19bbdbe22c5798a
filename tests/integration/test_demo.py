"""`reorderer demo` as a person runs it: it balances its books, and whatever ends it leaves nothing running."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from tests.processes import await_true

MARK = "REORDERER_TEST_MARK"


class Demo:
    """A running demo whose processes, children of children too, carry a mark in their environment."""

    def __init__(self, cache: Path, *arguments: str) -> None:
        self.mark = uuid.uuid4().hex
        self.output = cache / "demo-output.txt"
        jars = Path(os.environ.get("REORDERER_CACHE", ".cache")).absolute() / "jars"
        (cache / "jars").symlink_to(jars)
        with self.output.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "reorderer", "demo", "--plain", *arguments],
                env={**os.environ, MARK: self.mark, "REORDERER_CACHE": str(cache), "PYTHONUNBUFFERED": "1"},
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a terminal's Ctrl-C reaches the whole foreground group: so does ours
            )

    def text(self) -> str:
        return self.output.read_text()

    def wait_for(self, pattern: str) -> None:
        def shown() -> bool:
            assert self.process.poll() is None, self.text()
            return re.search(pattern, self.text()) is not None

        await_true(shown, f"{pattern!r} on the screen", within_s=120)

    def processes(self) -> list[str]:
        """Return the command of every process that carries the mark."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (folder / "environ").read_bytes():
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:200])
            except OSError:
                continue  # it has ended, or is not ours to read
        return found

    def await_all_gone(self) -> None:
        await_true(lambda: not self.processes(), f"the end of {self.processes()}")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache of its own, so that no other run shares the demo's folder."""
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder


linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up in /proc")


@linux
def test_the_demo_balances_its_books_shows_results_and_leaves_nothing_running(cache: Path) -> None:
    demo = Demo(cache, "--seconds", "12", "--rate", "500")
    assert demo.process.wait(timeout=200) == 0, demo.text()
    text = demo.text()
    books = re.search(r"([\d,]+) = ([\d,]+) \+ ([\d,]+) \+ ([\d,]+) \+ ([\d,]+): balanced", text)
    assert books is not None, text
    tuples_in, *places = (int(number.replace(",", "")) for number in books.groups())
    assert tuples_in == sum(places) == 12 * 500 + 5
    assert places[2] == 5  # the broken values, all in the dead topic
    assert int(re.search(r"results of vitals\s+([\d,]+)", text).group(1).replace(",", "")) >= 2, text  # type: ignore[union-attr]  # a missing line fails the test just as well
    demo.await_all_gone()


@linux
@pytest.mark.parametrize(
    ("moment", "signum"),
    [
        ("starting a Kafka broker", signal.SIGINT),
        ("starting the reorderer", signal.SIGINT),
        (r"sensors send: raw [1-9]", signal.SIGINT),
        (r"sensors send: raw [1-9]", signal.SIGTERM),
        (r"sensors send: raw [1-9]", signal.SIGKILL),
    ],
)
def test_a_demo_that_is_ended_leaves_no_process_behind(cache: Path, moment: str, signum: signal.Signals) -> None:
    demo = Demo(cache, "--seconds", "60", "--rate", "500")
    demo.wait_for(moment)
    os.killpg(demo.process.pid, signum)
    assert demo.process.wait(timeout=60) != 0
    demo.await_all_gone()
