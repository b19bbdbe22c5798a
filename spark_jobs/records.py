"""Output records of a query: results in their order, and the punctuations that follow them (spec, 3 and 6)."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import orjson

PUNCTUATION_HEADER = ("reorderer.kind", b"punctuation")
"""What marks a punctuation on clean and output topics alike."""

ORDINAL_HEADER = "csql.seq"
"""Carries the place of a row among the rows of its instant."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it goes to Kafka, but for its topic and partition."""

    key: bytes | None
    value: bytes
    timestamp_ms: int
    headers: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """One row of a snapshot: its instant, what identifies it there, and its columns in the order of the SELECT.

    >>> row = SnapshotRow(5000, ("cow",), {"Species": "cow", "COUNT": 2})
    >>> row.record(0).key, row.record(0).value
    (b'5000["cow"]', b'{"at":5000,"Species":"cow","COUNT":2}')
    """

    at_ms: int
    key: tuple[Any, ...]
    columns: dict[str, Any]

    def record(self, ordinal: int) -> Record:
        """Return the row as the `ordinal`-th of its instant; the same row has the same id in every run."""
        value = orjson.dumps({"at": self.at_ms, **self.columns}, default=str)
        return Record(str(self.at_ms).encode() + self._key(), value, self.at_ms, ((ORDINAL_HEADER, b"%d" % ordinal),))

    def partition(self, count: int) -> int:
        """Return the output partition: one key stays on one partition at every instant.

        >>> {SnapshotRow(at, ("cow",), {}).partition(4) for at in range(1, 9)}
        {2}
        """
        return zlib.crc32(self._key()) % count

    def _key(self) -> bytes:
        return orjson.dumps(self.key, default=str)


def punctuation(until_ms: int) -> Record:
    """Return the promise that no row with `at` < `until_ms` follows.

    >>> punctuation(7).timestamp_ms
    7
    """
    body = {
        "until": until_ms,
        "seq": None,
        "slack_ms": None,
        "drop_ratio": None,
        "bound": None,
        "position": None,
        "idle": False,
    }
    return Record(None, orjson.dumps({"__punctuation__": body}), until_ms, (PUNCTUATION_HEADER,))
