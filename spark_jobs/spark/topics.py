"""What the cluster has: partition counts, timestamp types, and the output topic made if it is missing."""

from __future__ import annotations

import logging

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public names, exported without saying so
    AdminClient,
    ConfigResource,
    ResourceType,
)
from confluent_kafka.cimpl import NewTopic

from spark_jobs.errors import SetupError

log = logging.getLogger(__name__)

ANSWER_WITHIN_S = 10.0

OUTPUT_SETTINGS = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}
"""A record's timestamp is the instant of the result: of a query over last month's data, the broker's usual retention
of a week would delete every result as it is written."""


class Topics:
    """One connection for questions about topics; raises a `SetupError` naming the servers where none answers."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._servers = bootstrap_servers
        self._admin = AdminClient({"bootstrap.servers": bootstrap_servers}, logger=log)

    def partitions(self) -> dict[str, int]:
        """Return every topic's partition count."""
        try:
            topics = self._admin.list_topics(timeout=ANSWER_WITHIN_S).topics
        except KafkaException as error:
            raise SetupError(
                f"no Kafka broker answers at '{self._servers}' ({error.args[0].str()})",
                hint="is it running, and is --bootstrap-servers right?",
            ) from error
        return {name: len(topic.partitions) for name, topic in topics.items() if topic.error is None}

    def require(self, topic: str, *, stream: str) -> int:
        """Return the partition count of a clean topic whose record timestamps are event times; else raise."""
        count = self.partitions().get(topic)
        if count is None:
            raise SetupError(
                f"topic '{topic}' of stream '{stream}' does not exist",
                hint="start the reorderer first, which makes it, or name another with WITH (clean = '...')",
            )
        if self._setting(topic, "message.timestamp.type") == "LogAppendTime":
            raise SetupError(
                f"topic '{topic}' of stream '{stream}' has message.timestamp.type=LogAppendTime",
                hint="a clean topic keeps event times: set it to CreateTime",
            )
        return count

    def ensure(self, topic: str, partitions: int) -> tuple[int, bool]:
        """Return the partition count of the output topic and whether it was made just now."""
        count = self.partitions().get(topic)
        if count is not None:
            return count, False
        made = self._admin.create_topics(
            [NewTopic(topic, partitions, config=OUTPUT_SETTINGS)],
            operation_timeout=ANSWER_WITHIN_S,
        )
        try:
            made[topic].result(ANSWER_WITHIN_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise SetupError(f"output topic '{topic}' cannot be made ({error.args[0].str()})") from error
            return self.partitions()[topic], False
        return partitions, True

    def _setting(self, topic: str, name: str) -> str | None:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        try:
            answer = self._admin.describe_configs([resource])[resource].result(ANSWER_WITHIN_S)
        except KafkaException as error:
            raise SetupError(f"settings of topic '{topic}' cannot be read ({error.args[0].str()})") from error
        value: str | None = answer[name].value
        return value
