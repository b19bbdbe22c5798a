"""A real Apache Kafka in KRaft mode, run from its own jars: one broker, or three with replication."""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from reorderer.errors import SetupError, UsageError
from reorderer.kafka.jars import cache_dir, kafka_jars
from reorderer.kafka.node import Node, Process, free_ports, is_free, settings_of
from reorderer.watchdog import Guarded

ClientSettings = Mapping[str, str | int | float | bool]

_KEPT_LOGS = 50
_ATTEMPTS = 5
_STOP_WITHIN_S = 30.0


class EmbeddedKafka:
    """A Kafka cluster on this machine for as long as the context lasts; it ends with this process at the latest.

    Brokers are numbered from 1. The data live in `data` and stay there, or in a temporary folder that is deleted.
    Without a `port` free ones are chosen; with it the brokers take `port`, `port + 1`, ... `properties` are added
    to every broker's settings (its clients' listener is named CLIENT), `client` to the settings of the client
    that waits for the cluster to be ready.
    """

    def __init__(
        self,
        brokers: int = 1,
        *,
        port: int | None = None,
        data: Path | None = None,
        logs: Path | None = None,
        properties: Mapping[str, str] | None = None,
        client: ClientSettings | None = None,
        heap_mb: int = 512,
        ready_within_s: float = 120,
    ) -> None:
        if brokers not in (1, 3):
            raise UsageError(f"a cluster of {brokers} brokers is not offered", hint="choose 1 or 3")
        self.nodes: tuple[Node, ...] = ()
        self.cluster_id = ""
        self.logs = logs
        self._brokers, self._port = brokers, port
        self._data, self._temporary = data, data is None
        self._properties, self._client = dict(properties or {}), dict(client or {})
        self._heap_mb, self._ready_within_s = heap_mb, ready_within_s
        self._processes: dict[int, Process] = {}

    @property
    def bootstrap(self) -> str:
        """Return the addresses that clients connect to."""
        return ",".join(node.bootstrap for node in self.nodes)

    @property
    def _throwaway(self) -> Path | None:
        return self._data if self._temporary else None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> Self:
        """Return once every broker serves; SetupError, with nothing left running, if that cannot be had."""
        jars = kafka_jars()
        try:
            self._prepare_folders()
            for _ in range(_ATTEMPTS):
                self._lay_out(jars)
                if self._started(jars):
                    return self
        except BaseException:
            self.stop()
            raise
        self.stop()
        raise SetupError(
            f"no broker could take its port in {_ATTEMPTS} attempts", hint=f"the logs are in {str(self.logs)!r}"
        )

    def stop(self) -> None:
        """End every broker; a temporary data folder is deleted."""
        if self._temporary:
            for process in self._processes.values():
                process.kill()
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.wait()
        self._processes.clear()
        if self._throwaway is not None:
            shutil.rmtree(self._throwaway, ignore_errors=True)
            self._data = None

    def pid(self, broker: int) -> int:
        """Return the process id of a running broker's JVM."""
        return self._processes[broker].pid

    def stop_broker(self, broker: int) -> None:
        """End one broker in good order: it hands its partitions over first."""
        process = self._processes.pop(broker)
        process.terminate()
        process.wait()

    def kill_broker(self, broker: int) -> None:
        """End one broker with SIGKILL."""
        self._processes.pop(broker).kill()

    def start_broker(self, broker: int) -> None:
        """Start an ended broker again, on its port and its data; returns once it serves."""
        if broker in self._processes:
            raise UsageError(f"broker {broker} is running")
        self._launch(self.nodes[broker - 1], kafka_jars())
        self._await_ready({broker})

    def _prepare_folders(self) -> None:
        try:
            self._data = self._data or Path(tempfile.mkdtemp(prefix="reorderer-kafka-"))
            self._data.mkdir(parents=True, exist_ok=True)
            self.logs = self.logs or (_fresh_log_folder() if self._temporary else self._data / "logs")
            self.logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SetupError(
                f"cannot write {error.filename!r}: {error.strerror}",
                hint="make it writable, or name another folder (--data, REORDERER_CACHE, TMPDIR)",
            ) from error

    def _lay_out(self, jars: Path) -> None:
        """Choose ports and leave each broker's folder formatted."""
        assert self._data is not None
        assert self.logs is not None
        ports = free_ports(2 * self._brokers)
        if self._port is not None:
            ports[: self._brokers] = _checked_ports(self._port, self._brokers)
        self.nodes = tuple(
            Node(
                id=i + 1,
                port=ports[i],
                controller_port=ports[self._brokers + i],
                folder=self._data / f"broker-{i + 1}",
                log=self.logs / f"broker-{i + 1}.log",
            )
            for i in range(self._brokers)
        )
        self.cluster_id = _cluster_id(self._data, self._brokers)
        for node in self.nodes:
            node.begin_log()
            node.write_settings(settings_of(node, self.nodes, self._properties))
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda node: node.format(jars, self.cluster_id, remove=self._throwaway), self.nodes))

    def _started(self, jars: Path) -> bool:
        """Start all brokers and wait for them; False if another process took one of the chosen ports first."""
        for node in self.nodes:
            self._launch(node, jars)
        try:
            self._await_ready({node.id for node in self.nodes})
        except SetupError:
            if self._port is not None or not any(node.failed_to_bind() for node in self.nodes):
                raise
            for process in self._processes.values():
                process.kill()
            self._processes.clear()
            return False
        return True

    def _launch(self, node: Node, jars: Path) -> None:
        self._processes[node.id] = Guarded(
            node.run_command(jars, self._heap_mb),
            log=node.log,
            cwd=node.folder,
            grace_s=_STOP_WITHIN_S,
            remove=self._throwaway,
        )

    def _await_ready(self, wanted: set[int]) -> None:
        """Return once each of these brokers itself answers that all of them are in the cluster.

        Another broker's answer would not do: it lists a killed broker until that one's session has run out.
        """
        deadline = time.monotonic() + self._ready_within_s
        for node in self.nodes:
            if node.id not in wanted:
                continue
            address: ClientSettings = {"bootstrap.servers": node.bootstrap}
            admin = AdminClient({**address, "reconnect.backoff.max.ms": 250, "log_level": 0, **self._client})
            while not wanted <= _live_brokers(admin, self.cluster_id):
                self._check_alive(wanted)
                if time.monotonic() > deadline:
                    raise SetupError(
                        f"broker {node.id} is not ready after {self._ready_within_s:.0f} s",
                        hint=f"its log is {str(node.log)!r}",
                    )
                time.sleep(0.05)

    def _check_alive(self, wanted: set[int]) -> None:
        for node in self.nodes:
            if node.id in wanted and self._processes[node.id].poll() is not None:
                raise SetupError(f"broker {node.id} ended: {node.last_error()}", hint=f"its log is {str(node.log)!r}")


def _live_brokers(admin: AdminClient, cluster_id: str) -> set[int]:
    """Return the brokers of this cluster that the answering one knows; none if it belongs to another cluster."""
    try:
        cluster = admin.describe_cluster(request_timeout=2).result()
    except KafkaException:
        return set()
    return {broker.id for broker in cluster.nodes} if cluster.cluster_id == cluster_id else set()


def _checked_ports(first: int, count: int) -> list[int]:
    ports = list(range(first, first + count))
    for port in ports:
        if not is_free(port):
            raise SetupError(
                f"port {port} is in use", hint="stop the server that has it, or choose another with --port"
            )
    return ports


def _cluster_id(data: Path, brokers: int) -> str:
    """Return the id of the cluster whose data these are, a new one for a new folder."""
    file = data / "cluster.json"
    if not file.exists():
        # A leading '-' would read as an option: the first letter is fixed.
        made = {"id": "R" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[1:22], "brokers": brokers}
        file.write_text(json.dumps(made))
    cluster = json.loads(file.read_text())
    if cluster["brokers"] != brokers:
        raise UsageError(
            f"the data in {str(data)!r} are those of a cluster of {cluster['brokers']}, not of {brokers}",
            hint="choose another folder, or delete that one",
        )
    return str(cluster["id"])


def _fresh_log_folder() -> Path:
    """Return a folder for the logs of a cluster whose data are not kept; only the newest few are kept of those."""
    root = cache_dir() / "logs"
    root.mkdir(parents=True, exist_ok=True)
    for old in sorted(root.glob("kafka-*"))[: -_KEPT_LOGS + 1]:
        shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=time.strftime("kafka-%Y%m%d-%H%M%S-"), dir=root))
