"""`reorderer broker` starts a broker that stays, and ends only what it has started."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reorderer.kafka import detached
from reorderer.kafka.detached import Running, State, start_mark
from reorderer.kafka.node import free_ports
from tests.kafka_tools import create_topic, produce, read_topic
from tests.processes import await_end, run_module


def broker(*args: str) -> subprocess.CompletedProcess[str]:
    return run_module("reorderer", "broker", *args)


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder on which nothing runs any more after the test."""
    yield tmp_path / "data"
    detached.stop(tmp_path / "data")


@pytest.mark.broker
def test_start_status_and_stop(data: Path) -> None:
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    assert (done := broker("status", "--data", str(data))).returncode == 1
    assert done.stdout == "not running\n"

    assert broker("start", "--port", str(port), "--data", str(data)).returncode == 0
    status = broker("status", "--json", "--data", str(data))
    report = json.loads(status.stdout)
    pid = report["brokers"][0]["pid"]
    assert status.returncode == 0
    assert report == {
        "status": "running",
        "bootstrap": address,
        "brokers": [{"id": 1, "bootstrap": address, "pid": pid, "running": True}],
        "data": str(data),
        "logs": str(data / "logs"),
    }
    create_topic(address, "kept")
    produce(address, "kept", [b"served"])
    assert [record.value for record in read_topic(address, "kept")] == [b"served"]

    again = broker("start", "--port", str(port), "--data", str(data))
    assert (again.returncode, f"a broker runs already at {address}" in again.stderr) == (1, True)

    assert broker("stop", "--data", str(data)).stdout == f"stopped: {address} (pid {pid})\n"
    await_end(pid)
    assert broker("status", "--data", str(data)).returncode == 1
    assert broker("stop", "--data", str(data)).stdout == "not running\n"


def test_a_port_in_use_is_named_with_the_fix(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = broker("start", "--port", str(port), "--data", str(data))
    assert (done.returncode, done.stderr) == (
        1,
        f"reorderer: port {port} is in use; stop the server that has it, or choose another with --port\n",
    )


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = broker("start", "--port", "0", "--data", str(tmp_path / "file" / "data"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"reorderer: cannot write '{tmp_path}/file/data': Not a directory")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["start", "--colour"], "unrecognized arguments: --colour"),
        (["start", "--brokers", "2"], "invalid choice: 2"),
        (["start", "--port", "http"], "'http' is not a port between 0 and 65533"),
        (["start", "--port", "70000"], "'70000' is not a port between 0 and 65533"),
        (["begin"], "invalid choice: 'begin'"),
        ([], "start|stop|status"),
    ],
)
def test_a_wrong_option_is_exit_code_2_and_named(args: list[str], message: str) -> None:
    done = broker(*args)
    assert done.returncode == 2
    assert message in done.stderr


def test_stop_leaves_a_process_alone_that_only_has_the_same_id(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        stale = Running(1, "127.0.0.1:1", other.pid, started="long ago")
        detached._write_state(tmp_path, State((stale,), logs=""))
        assert broker("status", "--data", str(tmp_path)).stdout == "not running\n"
        broker("stop", "--data", str(tmp_path))
        assert other.poll() is None
        assert list(tmp_path.iterdir()) == []
        other.kill()


def test_a_start_mark_tells_processes_apart_and_ends_with_them() -> None:
    assert start_mark(os.getpid()) == start_mark(os.getpid())
    with subprocess.Popen(["sleep", "600"]) as other:
        assert start_mark(other.pid) is not None
        other.kill()
    assert start_mark(other.pid) is None
