"""The embedded broker is a real Kafka, serves from the moment it is there, and never stays behind."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.admin._metadata import PartitionMetadata

from reorderer.errors import SetupError, UsageError
from reorderer.kafka import broker
from reorderer.kafka.broker import EmbeddedKafka
from reorderer.kafka.detached import start_mark
from reorderer.kafka.node import free_ports
from tests.kafka_tools import Kafka, Outgoing, create_topic, produce, read_topic
from tests.processes import ROOT, await_end, await_true

pytestmark = pytest.mark.broker


def test_what_is_produced_is_read_back_byte_for_byte_in_order(kafka: Kafka, make_topic: Callable[..., str]) -> None:
    topic = make_topic("bytes", partitions=2)
    sent = [
        Outgoing(b"%d" % i, key=b"k", partition=i % 2, timestamp_ms=1_000 + i, headers=[("h", b"\x00\xff")])
        for i in range(10)
    ]
    produce(kafka.bootstrap, topic, sent)
    read = read_topic(kafka.bootstrap, topic)
    assert [(r.partition, r.offset, r.timestamp_ms, r.key, r.value, r.headers) for r in read] == [
        (p, i // 2, 1_000 + i, b"k", b"%d" % i, (("h", b"\x00\xff"),)) for p in (0, 1) for i in range(p, 10, 2)
    ]


def test_read_committed_sees_committed_transactions_only(kafka: Kafka, make_topic: Callable[..., str]) -> None:
    topic = make_topic("transactions")
    _transact(kafka.bootstrap, topic, b"aborted", commit=False)
    _transact(kafka.bootstrap, topic, b"committed")
    assert [r.value for r in read_topic(kafka.bootstrap, topic)] == [b"committed"]
    assert [r.value for r in read_topic(kafka.bootstrap, topic, "read_uncommitted")] == [b"aborted", b"committed"]


def test_a_killed_parent_leaves_no_jvm_and_no_data_behind() -> None:
    program = (
        "from reorderer.kafka.broker import EmbeddedKafka; import time\n"
        "with EmbeddedKafka() as cluster: print(cluster.pid(1), cluster.nodes[0].folder, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid, folder = parent.stdout.readline().split()
    assert start_mark(int(pid)) is not None
    parent.kill()
    parent.communicate()
    await_end(int(pid))
    await_true(lambda: not Path(folder).exists(), "the removal of its data")


def test_three_brokers_lose_no_acknowledged_record_when_one_is_killed_and_comes_back() -> None:
    with EmbeddedKafka(3) as cluster:
        topic = create_topic(cluster.bootstrap, "kept", partitions=3)
        _transact(cluster.bootstrap, topic, b"before")
        port = cluster.nodes[0].port
        cluster.kill_broker(1)
        produce(cluster.bootstrap, topic, [b"while it is gone"] * 30)
        _transact(cluster.bootstrap, topic, b"still")
        assert len(read_topic(cluster.bootstrap, topic)) == 32
        cluster.start_broker(1)
        assert cluster.nodes[0].port == port
        assert _replicas(cluster.bootstrap, topic) == [3, 3, 3]
        assert _setting(cluster.bootstrap, topic, "min.insync.replicas") == "2"
        await_true(
            lambda: _in_sync(cluster.bootstrap, topic) == [3, 3, 3], "the return of broker 1 to the replicas in sync"
        )
        cluster.stop_broker(2)
        produce(cluster.bootstrap, topic, [b"after"])
        assert len(read_topic(cluster.bootstrap, topic)) == 33


def test_data_stay_over_a_kill_and_a_restart_in_a_named_folder(tmp_path: Path) -> None:
    with EmbeddedKafka(data=tmp_path / "data") as cluster:
        topic = create_topic(cluster.bootstrap, "kept")
        produce(cluster.bootstrap, topic, [b"1"])
        cluster.kill_broker(1)
        cluster.start_broker(1)
        produce(cluster.bootstrap, topic, [b"2"])
    with EmbeddedKafka(data=tmp_path / "data") as cluster:
        assert [record.value for record in read_topic(cluster.bootstrap, topic)] == [b"1", b"2"]
    with pytest.raises(UsageError, match=r"are those of a cluster of 1, not of 3"):
        EmbeddedKafka(3, data=tmp_path / "data").start()


def test_a_port_taken_by_another_process_meanwhile_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        offers = [[taken, *free_ports(1)]]
        monkeypatch.setattr(broker, "free_ports", lambda count: offers.pop() if offers else free_ports(count))
        with EmbeddedKafka() as cluster:
            assert offers == []
            assert cluster.nodes[0].port != taken
            assert create_topic(cluster.bootstrap, "served") == "served"


def test_a_named_port_in_use_is_an_error_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        with pytest.raises(SetupError, match=f"^port {taken} is in use; stop the server that has it"):
            EmbeddedKafka(port=taken).start()


def test_a_broker_that_cannot_start_is_an_error_that_names_its_log() -> None:
    cluster = EmbeddedKafka(properties={"num.io.threads": "none"})
    with pytest.raises(SetupError, match=r"num\.io\.threads.*its log is '.*broker-1\.log'"):
        cluster.start()
    assert cluster.logs is not None
    assert "num.io.threads" in (cluster.logs / "broker-1.log").read_text()


def _transact(bootstrap: str, topic: str, value: bytes, *, commit: bool = True) -> None:
    """Write one record in one transaction."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(topic, value)
    producer.flush(60)
    (producer.commit_transaction if commit else producer.abort_transaction)(60)


def _replicas(bootstrap: str, topic: str) -> list[int]:
    return [len(partition.replicas) for partition in _partitions(bootstrap, topic)]


def _in_sync(bootstrap: str, topic: str) -> list[int]:
    return [len(partition.isrs) for partition in _partitions(bootstrap, topic)]


def _partitions(bootstrap: str, topic: str) -> list[PartitionMetadata]:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    return list(admin.list_topics(topic, timeout=30).topics[topic].partitions.values())


def _setting(bootstrap: str, topic: str, name: str) -> str | None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    value = admin.describe_configs([resource])[resource].result()[name].value
    return None if value is None else str(value)
