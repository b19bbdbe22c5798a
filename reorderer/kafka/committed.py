"""What a group has committed for a raw topic, as an onlooker reads it."""

from __future__ import annotations

from confluent_kafka import Consumer, TopicPartition

from reorderer.checkpoint import Checkpoint
from reorderer.core.state import CoreState
from reorderer.kafka import settings


def held_tuples(bootstrap_servers: str, group: str, topic: str, partitions: int) -> int:
    """Return how many tuples of the topic the group holds back, by the state beside its committed offsets."""
    consumer = Consumer({**settings.client(bootstrap_servers), "group.id": group, "enable.auto.commit": False})
    try:
        places = consumer.committed([TopicPartition(topic, number) for number in range(partitions)], timeout=30.0)
    finally:
        consumer.close()
    states = [CoreState.from_json(Checkpoint.decode(place.metadata).core) for place in places if place.metadata]
    return sum(state.held for state in states)
