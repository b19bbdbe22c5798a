"""What a Kafka error means to us: the one place that sorts them."""

from __future__ import annotations

from confluent_kafka import KafkaError


def explained(error: KafkaError) -> str:
    """Return the error in words, without librdkafka's own prefix."""
    text = error.str() or error.name()
    return text.removeprefix("Local: ").removeprefix("Broker: ")
