"""Topics: what there is, and how ours are made."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # documented there, but not re-exported by name
    AdminClient,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from reorderer.errors import ClusterError
from reorderer.kafka import settings
from reorderer.kafka.errors import explained
from reorderer.records import Topics

DEFAULT_MAX_MESSAGE_BYTES = 1_048_588
OUTPUT_ROOM = 4_096
"""How much larger than raw's the records of clean, late and dead may be, for their headers."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as the cluster has it."""

    name: str
    topic_id: str
    partitions: int
    config: Mapping[str, str]

    @property
    def log_append_time(self) -> bool:
        """Whether the broker stamps records when it appends them."""
        return self.config["message.timestamp.type"] == "LogAppendTime"


class Cluster:
    """A cluster that answers. The client lives as long as this object: its futures need it."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._servers = bootstrap_servers
        self._admin = AdminClient(settings.client(bootstrap_servers))
        try:
            self._admin.list_topics(timeout=settings.CONNECT_TIMEOUT_S)
        except KafkaException as error:
            raise ClusterError(
                f"no Kafka broker answers at {bootstrap_servers!r}",
                hint="check --bootstrap-servers, or start one with `reorderer broker start`",
            ) from error

    def find(self, *names: str) -> dict[str, Topic]:
        """Return those of the named topics that exist."""
        existing = [name for name in names if self._exists(name)]
        resources = [ConfigResource(ResourceType.TOPIC, name) for name in existing]
        configs = {
            resource.name: {key: entry.value for key, entry in self._answer(future).items()}
            for resource, future in (self._admin.describe_configs(resources) if resources else {}).items()
        }
        found = {}
        for name, future in (self._admin.describe_topics(TopicCollection(existing)) if existing else {}).items():
            described = self._answer(future)
            found[name] = Topic(name, str(described.topic_id), len(described.partitions), configs[name])
        return found

    def create(self, name: str, partitions: int, config: Mapping[str, str], replication: int = -1) -> bool:
        """Make a topic; return whether it is new. One that exists with another partition count is an error."""
        topic = NewTopic(name, num_partitions=partitions, replication_factor=replication, config=dict(config))
        future = self._admin.create_topics([topic])[name]
        try:
            future.result(timeout=30)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise ClusterError(f"cannot create topic {name!r}: {explained(error.args[0])}") from error
            found = self.find(name)[name]
            if found.partitions != partitions:
                raise ClusterError(
                    f"topic {name!r} exists with {found.partitions} partitions, not {partitions}",
                    hint="choose another name, or the same count",
                ) from error
            return False
        self._await_known(name)
        return True

    def _await_known(self, name: str) -> None:
        """Return once the broker that answers us knows a new topic: it is told of it a little later."""
        deadline_s = time.monotonic() + settings.CONNECT_TIMEOUT_S
        while not self._exists(name):
            if time.monotonic() > deadline_s:
                raise ClusterError(f"topic {name!r} was created but does not appear")
            time.sleep(0.02)

    def create_stream(
        self, topics: Topics, partitions: int, raw: Mapping[str, str], replication: int = -1
    ) -> dict[str, bool]:
        """Make the topics of a stream, clean, late and dead with room for what raw takes; tell which are new."""
        made = {topics.raw: self.create(topics.raw, partitions, raw, replication)}
        config = output_config(self.find(topics.raw)[topics.raw].config)
        return made | {name: self.create(name, partitions, config, replication) for name in topics.outputs}

    def _exists(self, name: str) -> bool:
        # Asking for one topic by name would create it where the broker's auto.create.topics.enable is on.
        return name in self._admin.list_topics(timeout=settings.CONNECT_TIMEOUT_S).topics

    def _answer(self, future: Future[Any]) -> Any:
        try:
            return future.result(timeout=settings.CONNECT_TIMEOUT_S)
        except KafkaException as error:
            raise ClusterError(f"{self._servers!r} refused: {explained(error.args[0])}") from error


def raw_config(*, log_append_time: bool = True) -> dict[str, str]:
    """Return how a raw topic is made: stamped by the broker on arrival, or else by who writes to it."""
    return {"message.timestamp.type": "LogAppendTime" if log_append_time else "CreateTime"}


def output_config(raw: Mapping[str, str]) -> dict[str, str]:
    """Return how clean, late and dead are made for a raw topic of these settings.

    Their records carry event times, of any age, and a few headers more than raw's.
    """
    largest = int(raw.get("max.message.bytes", DEFAULT_MAX_MESSAGE_BYTES)) + OUTPUT_ROOM
    return {"max.message.bytes": str(largest), "message.timestamp.after.max.ms": str(2**63 - 1)}
