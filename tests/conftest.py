"""The broker that tests share: started when the first test asks for it, one for the whole session."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping

import pytest

from reorderer.kafka.broker import EmbeddedKafka
from tests.kafka_tools import Kafka, create_topic

CONTAINER_SETTINGS = {
    "auto.create.topics.enable": "false",
    "group.min.session.timeout.ms": "1000",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}
"""What testcontainers' broker needs to behave as the embedded one."""


def pytest_configure() -> None:
    """Take Ctrl-C even where we were started in the background: what the tests start would ignore it as well."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    """One real broker for the session: embedded, or testcontainers' if REORDERER_TEST_BROKER asks for it."""
    kind = os.environ.get("REORDERER_TEST_BROKER", "embedded")
    if kind == "embedded":
        with EmbeddedKafka() as cluster:
            yield Kafka(cluster.bootstrap)
    elif kind == "testcontainers":
        yield from _container()
    else:
        pytest.fail(f"REORDERER_TEST_BROKER is {kind!r}; choose 'embedded' or 'testcontainers'", pytrace=False)


def _container() -> Iterator[Kafka]:
    from testcontainers.community.kafka import KafkaContainer

    if shutil.which("docker") is None or subprocess.run(["docker", "version"], capture_output=True).returncode != 0:
        pytest.fail("no Docker engine answers; start one or unset REORDERER_TEST_BROKER", pytrace=False)
    container = KafkaContainer().with_kraft()
    for name, value in CONTAINER_SETTINGS.items():
        container.with_env(f"KAFKA_{name.upper().replace('.', '_')}", value)
    with container:
        yield Kafka(container.get_bootstrap_server())


@pytest.fixture
def make_topic(kafka: Kafka) -> Callable[..., str]:
    """Return a function that creates a topic whose name starts as given and is used by no other test."""

    def make(start: str = "topic", partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        return create_topic(kafka.bootstrap, f"{start}-{uuid.uuid4().hex[:8]}", partitions, config)

    return make
