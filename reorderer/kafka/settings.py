"""What every client of ours is told: one place for librdkafka's settings, and where its log goes."""

from __future__ import annotations

import logging
from typing import Any

LOG = logging.getLogger("reorderer.kafka")
LOG.addHandler(logging.NullHandler())  # librdkafka repeats itself; our own errors say it once

CONNECT_TIMEOUT_S = 10.0
"""How long a cluster may take to answer for the first time."""


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
