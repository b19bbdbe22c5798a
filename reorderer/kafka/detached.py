"""A broker that outlives the command that starts it: `reorderer broker start|stop|status`.

What runs is written to `broker.json` in the data folder. A process counts as ours only if its id and its start time are
those written there, so that an id the system has given to another process since is never signalled.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from reorderer.errors import SetupError
from reorderer.kafka.broker import EmbeddedKafka
from reorderer.kafka.node import Node

_STOP_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Running:
    """One broker's process: it runs as long as a process of this id and start time is there."""

    id: int
    bootstrap: str
    pid: int
    started: str

    def is_alive(self) -> bool:
        """Tell whether the very process that was started still runs."""
        return start_mark(self.pid) == self.started

    def signal(self, signum: signal.Signals) -> None:
        """Signal the process if it is still ours."""
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signum)


@dataclass(frozen=True, slots=True)
class State:
    """What was started on a data folder."""

    brokers: tuple[Running, ...]
    logs: str

    @property
    def bootstrap(self) -> str:
        """Return the addresses that clients connect to."""
        return ",".join(broker.bootstrap for broker in self.brokers)

    @property
    def alive(self) -> int:
        """Return how many of the brokers run."""
        return sum(broker.is_alive() for broker in self.brokers)


class Unguarded:
    """A process in a session of its own that stays when this one ends."""

    def __init__(self, command: list[str], *, log: Path, cwd: Path) -> None:
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                start_new_session=True,
            )
        self.pid = self._process.pid
        self.poll, self.terminate, self.wait = self._process.poll, self._process.terminate, self._process.wait

    def kill(self) -> int:
        """End the process with SIGKILL; return its exit code once it is gone."""
        self._process.kill()
        return self._process.wait()


class DetachedKafka(EmbeddedKafka):
    """A cluster that stays: once started, only `stop` ends it."""

    def __init__(self, brokers: int, *, port: int | None, data: Path) -> None:
        super().__init__(brokers, port=port, data=data)
        self._folder = data
        self._running: dict[int, Running] = {}

    def _launch(self, node: Node, jars: Path) -> None:
        command = node.run_command(jars, self._heap_mb)
        self._processes[node.id] = Unguarded(command, log=node.log, cwd=node.folder)
        pid = self.pid(node.id)
        self._running[node.id] = Running(node.id, node.bootstrap, pid, start_mark(pid) or "")
        _write_state(self._folder, State(tuple(self._running.values()), str(self.logs)))


def start(brokers: int, *, port: int | None, data: Path) -> State:
    """Start a cluster on the data folder and return once it serves; SetupError if one runs there already."""
    state = read_state(data)
    if state is not None and state.alive:
        raise SetupError(
            f"a broker runs already at {state.bootstrap} on {str(data)!r}",
            hint="use it, end it with `reorderer broker stop`, or name another folder with --data",
        )
    DetachedKafka(brokers, port=port, data=data).start()
    started = read_state(data)
    assert started is not None
    return started


def stop(data: Path) -> State | None:
    """End what `start` started on the data folder and return what it was; None if there was nothing."""
    state = read_state(data)
    if state is None:
        return None
    for broker in state.brokers:
        broker.signal(signal.SIGTERM)
    deadline = time.monotonic() + _STOP_WITHIN_S
    while state.alive and time.monotonic() < deadline:
        time.sleep(0.05)
    for broker in state.brokers:
        broker.signal(signal.SIGKILL)
    (data / "broker.json").unlink(missing_ok=True)
    return state


def read_state(data: Path) -> State | None:
    """Return what was started on the data folder, or None."""
    try:
        written = json.loads((data / "broker.json").read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    return State(tuple(Running(**broker) for broker in written["brokers"]), written["logs"])


def _write_state(data: Path, state: State) -> None:
    draft = data / "broker.json.new"
    draft.write_text(json.dumps(asdict(state), indent=2))
    draft.rename(data / "broker.json")


def start_mark(pid: int) -> str | None:
    """Return what tells a process from any other that ever has its id; None if it has ended."""
    if Path("/proc/self/stat").exists():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return None if fields[0] == "Z" else fields[19]
    done = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    status, _, started = done.stdout.strip().partition(" ")
    return None if not status or status.startswith("Z") else started.strip()
