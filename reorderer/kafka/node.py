"""One broker of an embedded cluster: its settings, its folder, its process."""

from __future__ import annotations

import random
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from reorderer.errors import SetupError
from reorderer.kafka.java import find_java
from reorderer.watchdog import Guarded

HOST = "127.0.0.1"

_JVM = ("-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError", "-Djava.awt.headless=true")
_LOGGING = (
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSS",
)


class Process(Protocol):
    """What a node needs of its process."""

    pid: int

    def poll(self) -> int | None: ...
    def terminate(self) -> None: ...
    def wait(self) -> int: ...
    def kill(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Node:
    """Where a broker lives; all of it stays the same over its restarts."""

    id: int
    port: int
    controller_port: int
    folder: Path
    log: Path

    @property
    def bootstrap(self) -> str:
        """Return `host:port` of the clients' listener."""
        return f"{HOST}:{self.port}"

    @property
    def settings_file(self) -> Path:
        """Return the path of its server.properties."""
        return self.folder / "server.properties"

    def begin_log(self) -> None:
        """Leave the log of the cluster's previous start, if any, beside an empty one."""
        if self.log.is_file():
            self.log.replace(self.log.with_suffix(".previous.log"))

    def write_settings(self, settings: Mapping[str, str]) -> None:
        """Leave the settings in the node's folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.settings_file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))

    def format(self, jars: Path, cluster_id: str, *, remove: Path | None) -> None:
        """Give the node's data the cluster's id, unless they have one; `remove` as for `Guarded`."""
        if (self.folder / "data" / "meta.properties").is_file():
            return
        command = [
            *java_command(jars, heap_mb=128, options=("-XX:TieredStopAtLevel=1",)),
            *("kafka.tools.StorageTool", "format", f"--cluster-id={cluster_id}", "--config", str(self.settings_file)),
        ]
        if Guarded(command, log=self.log, remove=remove).wait() != 0:
            raise SetupError(
                f"cannot format broker {self.id}: {self.last_error()}", hint=f"its log is {str(self.log)!r}"
            )

    def run_command(self, jars: Path, heap_mb: int) -> list[str]:
        """Return the command that runs the broker in the foreground."""
        return [*java_command(jars, heap_mb, (*_JVM, *_LOGGING)), "kafka.Kafka", str(self.settings_file)]

    def last_error(self) -> str:
        """Return the last line of the log that names an error, else its last line."""
        lines = self.log.read_text(errors="replace").splitlines()[-400:] if self.log.is_file() else []
        telling = [line for line in lines if "ERROR" in line or ("Exception" in line and not line.startswith("\t"))]
        return (telling or lines or ["it left no log"])[-1].strip()

    def failed_to_bind(self) -> bool:
        """Tell whether the log says that one of the ports was taken."""
        text = self.log.read_text(errors="replace") if self.log.is_file() else ""
        return "BindException" in text or "Address already in use" in text


def java_command(jars: Path, heap_mb: int, options: Sequence[str] = ()) -> list[str]:
    """Return the start of a command line that runs a class of Kafka's jars."""
    return [str(find_java().path), f"-Xmx{heap_mb}m", *options, "-cp", f"{jars}/*"]


def settings_of(node: Node, nodes: Sequence[Node], extra: Mapping[str, str]) -> dict[str, str]:
    """Return the server properties of one node of a cluster; `extra` overrides them."""
    replicas = min(3, len(nodes))
    internal = {"replication.factor": replicas, "min.isr": max(1, replicas - 1)}
    settings: dict[str, object] = {
        "process.roles": "broker,controller",
        "node.id": node.id,
        "listeners": f"CLIENT://{node.bootstrap},CONTROLLER://{HOST}:{node.controller_port}",
        "advertised.listeners": f"CLIENT://{node.bootstrap}",
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "CLIENT",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": ",".join(f"{n.id}@{HOST}:{n.controller_port}" for n in nodes),
        "log.dirs": node.folder / "data",
        "auto.create.topics.enable": "false",
        # Retention goes by record timestamps, and event times of tests and recorded traces can be years old.
        "log.retention.ms": -1,
        "default.replication.factor": replicas,
        "min.insync.replicas": max(1, replicas - 1),
        "offsets.topic.replication.factor": replicas,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.num.partitions": 4,
        **{f"transaction.state.log.{key}": value for key, value in internal.items()},
        "share.coordinator.state.topic.num.partitions": 1,
        **{f"share.coordinator.state.topic.{key}": value for key, value in internal.items()},
        # Quick reactions: a lone member joins at once, an abandoned transaction ends soon after its time-out,
        # a killed broker is noticed within seconds and tests may use short sessions.
        "group.initial.rebalance.delay.ms": 0,
        "group.min.session.timeout.ms": 1000,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 1000,
        "broker.heartbeat.interval.ms": 1000,
        "broker.session.timeout.ms": 6000,
    }
    return {key: str(value) for key, value in settings.items()} | dict(extra)


def free_ports(count: int) -> list[int]:
    """Return ports nobody listens on, below the range that the kernel gives to outgoing connections.

    A port of that range could become the local end of a client's connection while its broker is down.
    """
    ports: list[int] = []
    for port in random.sample(range(20_000, 32_000), 2_000):
        if is_free(port):
            ports.append(port)
        if len(ports) == count:
            return ports
    raise SetupError("no free port between 20000 and 32000", hint="end some of the servers on this machine")


def is_free(port: int) -> bool:
    """Tell whether a server could listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
