"""The broker that tests share: started when the first test asks for it, one for the whole session."""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping

import pytest

from reorderer.kafka.broker import EmbeddedKafka
from tests.kafka_tools import Kafka, create_topic


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
    import docker

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # testcontainers warns of its own deprecated parts when imported
        from testcontainers.kafka import KafkaContainer
    client = docker.from_env(version="1.41")  # with a version it does not connect yet, so that it can be closed
    try:
        client.ping()
    except docker.errors.DockerException as error:
        pytest.fail(f"no Docker engine answers ({error}); start one or unset REORDERER_TEST_BROKER", pytrace=False)
    finally:
        client.close()
    container = KafkaContainer().with_kraft()
    for name, value in {"AUTO_CREATE_TOPICS_ENABLE": "false", "GROUP_INITIAL_REBALANCE_DELAY_MS": "0"}.items():
        container.with_env(f"KAFKA_{name}", value)
    with container:
        yield Kafka(container.get_bootstrap_server())


@pytest.fixture
def make_topic(kafka: Kafka) -> Callable[..., str]:
    """Return a function that creates a topic whose name starts as given and is used by no other test."""

    def make(start: str = "topic", partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        return create_topic(kafka.bootstrap, f"{start}-{uuid.uuid4().hex[:8]}", partitions, config)

    return make
