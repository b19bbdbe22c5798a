"""What every client of ours is told: one place for librdkafka's settings, and where its log goes."""

from __future__ import annotations

import logging
from typing import Any

from reorderer.config import RunConfig

LOG = logging.getLogger("reorderer.kafka")
LOG.addHandler(logging.NullHandler())  # librdkafka repeats itself; our own errors say it once

CONNECT_TIMEOUT_S = 10.0
"""How long a cluster may take to answer for the first time."""

TRANSACTION_TIMEOUT_MS = 10_000


def client(bootstrap_servers: str) -> dict[str, Any]:
    """Return the settings that every client shares."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "client.id": "reorderer",
        "logger": LOG,
        "socket.connection.setup.timeout.ms": 5_000,
        "reconnect.backoff.max.ms": 1_000,
        # A topic made a moment ago is looked up again soon.
        "topic.metadata.refresh.sparse": True,
    }


def raw_writer(bootstrap_servers: str) -> dict[str, Any]:
    """Return the settings of a producer that plays the sensors: no loss, no reordering within a device."""
    return client(bootstrap_servers) | {
        "enable.idempotence": True,
        "linger.ms": 5,
        "queue.buffering.max.messages": 500_000,
        "queue.buffering.max.kbytes": 262_144,
        "delivery.timeout.ms": 30_000,
        "delivery.report.only.error": True,
    }


def raw_consumer(config: RunConfig) -> dict[str, Any]:
    """Return the settings of the consumer of the raw topic."""
    static = {} if config.instance_id is None else {"group.instance.id": config.instance_id}
    return (
        client(config.bootstrap_servers)
        | static
        | {
            "group.id": config.group,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "partition.assignment.strategy": "cooperative-sticky",
            "session.timeout.ms": config.session_timeout_ms,
            "heartbeat.interval.ms": min(3_000, config.session_timeout_ms // 3),
            "enable.partition.eof": True,
            # The default of 500 ms would let an empty partition wait that long before its end is seen.
            "fetch.wait.max.ms": 100,
            # With the defaults librdkafka stalls for a second whenever its queue is full.
            "queued.min.messages": 1_000_000,
            "queued.max.messages.kbytes": 65_536,
            "fetch.queue.backoff.ms": 1,
        }
    )


def transactional_producer(config: RunConfig, transactional_id: str) -> dict[str, Any]:
    """Return the settings of the producer of clean, late and dead."""
    return client(config.bootstrap_servers) | {
        "transactional.id": transactional_id,
        # Readers of clean wait for a dead instance's transaction until then.
        "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
        "delivery.timeout.ms": TRANSACTION_TIMEOUT_MS,
        "linger.ms": 20,
        "batch.num.messages": 100_000,
        "queue.buffering.max.messages": 2_000_000,
        "queue.buffering.max.kbytes": 1_048_576,
        "delivery.report.only.error": True,
        # What a topic can take is the broker's to say.
        "message.max.bytes": 1_000_000_000,
    }
