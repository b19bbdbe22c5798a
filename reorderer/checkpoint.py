"""What is committed beside a raw offset: all that a restart needs, in less than 4 KiB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from reorderer.errors import StateError

VERSION = 1
MAX_BYTES = 4_096
"""A broker's default for `offset.metadata.max.bytes`."""

_FIXED = ("timestamp", "unit", "arrival")
"""The classification settings that cannot change under a committed state."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A partition's state at `position`: every raw record below it has been judged, none from it on.

    `classification` is the settings under which they were judged, `dead` how many of them could not be read, and
    `core` the core's own state (frontier, counters, estimator, count and hash of the offsets still held).
    """

    topic_id: str
    position: int
    classification: Mapping[str, str | int | None]
    dead: int
    core: Any

    def encode(self) -> str:
        """Return the state as it is committed.

        >>> Checkpoint.decode(Checkpoint("x", 7, {}, 2, [1]).encode())
        Checkpoint(topic_id='x', position=7, classification={}, dead=2, core=[1])
        """
        content = orjson.dumps(
            {
                "version": VERSION,
                "topic_id": self.topic_id,
                "position": self.position,
                "classification": dict(self.classification),
                "dead": self.dead,
                "core": self.core,
            }
        )
        if len(content) >= MAX_BYTES:
            raise StateError(f"the state of a partition takes {len(content)} bytes, and {MAX_BYTES} can be committed")
        return content.decode()

    @classmethod
    def decode(cls, text: str) -> Checkpoint:
        """Return the state that was committed."""
        try:
            content = orjson.loads(text)
            version = content.pop("version")
        except (ValueError, AttributeError, KeyError, TypeError) as error:
            raise StateError(
                f"the committed offset carries no state of ours but {text[:40]!r}",
                hint="another program committed to this consumer group: give the service a --group of its own",
            ) from error
        if version != VERSION:
            raise StateError(f"the committed state has version {version!r}, this program reads version {VERSION}")
        return cls(**content)

    def check(self, topic_id: str, classification: Mapping[str, str | int | None]) -> None:
        """Refuse to go on over another topic, or with event times or arrivals read in another way."""
        if topic_id != self.topic_id:
            raise StateError(
                f"the raw topic was re-created: its id is {topic_id!r}, the state's is {self.topic_id!r}",
                hint="give the service a new --group and new output topics",
            )
        for name in _FIXED:
            if self.classification.get(name) != classification.get(name):
                raise StateError(
                    f"{name} was {self.classification.get(name)!r} and is now {classification.get(name)!r}",
                    hint="clean was judged by the old one; give the service a new --group and new output topics",
                )
