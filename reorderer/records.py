"""The records that pass between topics: names, headers, and the value of a punctuation (schemas/*.v1.schema.json).

Header names and dispositions are part of the contract with everyone who reads these topics; they only ever grow.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Headers: TypeAlias = list[tuple[str, bytes | None]]
Record: TypeAlias = tuple[bytes | None, bytes | None, Headers | None]
"""What passes through untouched: key, value, headers."""

Disposition: TypeAlias = Literal["late", "malformed", "no_timestamp", "future", "oversize", "reserved", "unwritable"]

RESERVED_FIELD: Final = "__punctuation__"
RESERVED_HEADER: Final = "reorderer."
OFFSET: Final = "reorderer.offset"
DISPOSITION: Final = "reorderer.disposition"
EVENT_MS: Final = "reorderer.event_ms"
LATENESS_MS: Final = "reorderer.lateness_ms"
FRONTIER_MS: Final = "reorderer.frontier_ms"
PUNCTUATION_HEADERS: Final[Headers] = [("reorderer.kind", b"punctuation")]

MAX_TS_MS: Final = 2**53 - 1
"""The largest timestamp that every JSON reader keeps exactly."""

# Kafka Connect's stages: where in the pipeline a record failed.
_STAGES: Final[dict[Disposition, bytes]] = {
    "late": b"TRANSFORMATION",
    "malformed": b"VALUE_CONVERTER",
    "no_timestamp": b"VALUE_CONVERTER",
    "future": b"TRANSFORMATION",
    "oversize": b"VALUE_CONVERTER",
    "reserved": b"VALUE_CONVERTER",
    "unwritable": b"KAFKA_PRODUCE",
}
_CLASSES: Final[dict[Disposition, bytes]] = {
    "late": b"reorderer.Late",
    "malformed": b"reorderer.Malformed",
    "no_timestamp": b"reorderer.NoTimestamp",
    "future": b"reorderer.Future",
    "oversize": b"reorderer.Oversize",
    "reserved": b"reorderer.Reserved",
    "unwritable": b"reorderer.Unwritable",
}


@dataclass(frozen=True, slots=True)
class Topics:
    """The four topics of one stream.

    >>> Topics.of("body")
    Topics(raw='body', clean='body.clean', late='body.late', dead='body.dead')
    """

    raw: str
    clean: str
    late: str
    dead: str

    @classmethod
    def of(cls, raw: str, clean: str | None = None, late: str | None = None, dead: str | None = None) -> Topics:
        """Return the topics of a raw topic: those named, the others after it."""
        return cls(raw, clean or f"{raw}.clean", late or f"{raw}.late", dead or f"{raw}.dead")

    @property
    def outputs(self) -> tuple[str, str, str]:
        """The topics that are written to."""
        return self.clean, self.late, self.dead


def punctuation_value(
    until_ms: int,
    *,
    seq: int | None = None,
    slack_ms: int | None = None,
    drop_ratio: float | None = None,
    bound: float | None = None,
    position: int | None = None,
    idle: bool = False,
) -> bytes:
    """Return the promise that no tuple with `ts < until_ms` follows, as it is written.

    >>> punctuation_value(5, idle=True)[:42]
    b'{"__punctuation__":{"until":5,"seq":null,"'
    """
    body = {
        "until": until_ms,
        "seq": seq,
        "slack_ms": slack_ms,
        "drop_ratio": drop_ratio,
        "bound": bound,
        "position": position,
        "idle": idle,
    }
    return json.dumps({RESERVED_FIELD: body}, separators=(",", ":")).encode()


def late_headers(origin: tuple[str, int, int], ts_ms: int, frontier_ms: int) -> Headers:
    """Return what a late tuple gets beside its own headers; `origin` is its raw topic, partition and offset."""
    lateness_ms = frontier_ms - ts_ms
    return [
        (DISPOSITION, b"late"),
        (EVENT_MS, b"%d" % ts_ms),
        (LATENESS_MS, b"%d" % lateness_ms),
        (FRONTIER_MS, b"%d" % frontier_ms),
        *_connect_errors("late", origin, f"{lateness_ms} ms behind the frontier"),
    ]


def dead_headers(origin: tuple[str, int, int], disposition: Disposition, reason: str) -> Headers:
    """Return what a dead tuple gets beside its own headers."""
    return [(DISPOSITION, disposition.encode()), *_connect_errors(disposition, origin, reason)]


def _connect_errors(disposition: Disposition, origin: tuple[str, int, int], message: str) -> Headers:
    topic, partition, offset = origin
    return [
        ("__connect.errors.topic", topic.encode()),
        ("__connect.errors.partition", b"%d" % partition),
        ("__connect.errors.offset", b"%d" % offset),
        ("__connect.errors.stage", _STAGES[disposition]),
        ("__connect.errors.exception.class.name", _CLASSES[disposition]),
        ("__connect.errors.exception.message", message.encode()),
    ]
