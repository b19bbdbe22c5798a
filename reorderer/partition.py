"""One raw partition: its core, its position, and the way back to both after a restart."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reorderer.checkpoint import Checkpoint
from reorderer.config import RunConfig
from reorderer.core.config import CoreConfig
from reorderer.core.events import Batch, Event, Future, Punctuation
from reorderer.core.reorder import Reorderer
from reorderer.core.state import CoreState
from reorderer.errors import StateError
from reorderer.kafka.codec import Codec, Dead, Decoded, RawMessage
from reorderer.records import Record


@dataclass(frozen=True, slots=True)
class Outcome:
    """What reading some raw records gave: the core's events as they happened, and the dead in offset order."""

    events: list[Event[Record]]
    dead: list[Dead]


class Partition:
    """Judges the records of one raw partition, each exactly once over the lives of all processes.

    Until the position of a restored state is reached it only fills the core's buffer again (`settled` is False).
    """

    def __init__(
        self, number: int, config: RunConfig, topic_id: str, *, start: int = 0, restored: Checkpoint | None = None
    ) -> None:
        self.number = number
        self._topic_id = topic_id
        self._config = config
        self._codec = Codec(config)
        self._restored = restored
        self.position = start if restored is None else restored.position
        self._dead = 0 if restored is None else restored.dead
        self.settled = restored is None
        state = None if restored is None else CoreState.from_json(restored.core)
        self.core: Reorderer[Record] = Reorderer(core_config(config), state)
        self.last: Punctuation | None = None if state is None else _punctuation_of(state)

    def read(self, messages: Sequence[RawMessage], now_ms: int) -> Outcome:
        """Judge the next messages; those below the position of a restored state are only held again."""
        if not self.settled:
            cut = bisect_left(messages, self.position, key=lambda message: message.offset())
            self._rebuild(messages[:cut], now_ms)
            messages = messages[cut:]
            if not messages:
                return Outcome([], [])
            self._settle()
        decoded = self._codec.decode(messages, now_ms)
        self.position = messages[-1].offset() + 1
        return self._outcome(self.core.process(_batch(decoded, self.position)), decoded.dead)

    def reach(self, end: int) -> None:
        """Take note that there is nothing more to read up to `end`: all that was held must be held again by now."""
        if self.settled:
            return
        if end < self.position:
            raise StateError(
                f"partition {self.number} ends at offset {end}, below the position {self.position} already judged",
                hint="the raw topic was truncated; give the service a new --group and new output topics",
            )
        self._settle()

    def advance(self, now_ms: int) -> Outcome:
        """Let time pass on a partition that is silent at wall time `now_ms`."""
        return self._outcome(self.core.advance(now_ms), [])

    def repeated(self) -> Punctuation | None:
        """Return the last punctuation as a heartbeat; None if there has been none."""
        return None if self.last is None else replace(self.last, seq=None, idle=True)

    def checkpoint(self) -> tuple[int, str]:
        """Return the offset to commit (the smallest still needed, else the position) and the state beside it."""
        oldest = self.core.oldest_needed_offset
        state = Checkpoint(
            self._topic_id, self.position, self._config.classification, self._dead, self.core.state().to_json()
        )
        return self.position if oldest is None else oldest, state.encode()

    def books(self) -> dict[str, int]:
        """Return how many records there ever were, and where they are: in = clean + late + dead + held."""
        counters, held = self.core.counters, self.core.held
        return {
            "in": counters.tuples + counters.future + self._dead,
            "clean": counters.tuples - counters.late - held,
            "late": counters.late,
            "dead": counters.future + self._dead,
            "held": held,
        }

    def _rebuild(self, messages: Sequence[RawMessage], now_ms: int) -> None:
        if messages:
            self.core.rebuild(_batch(self._codec.decode(messages, now_ms), messages[-1].offset() + 1))

    def _settle(self) -> None:
        """Check that exactly the offsets held at the checkpoint are held again."""
        assert self._restored is not None
        before, now = CoreState.from_json(self._restored.core), self.core.state()
        if (now.held, now.held_hash) != (before.held, before.held_hash):
            raise StateError(
                f"partition {self.number} held {before.held} tuples below offset {self.position}, "
                f"and {now.held} were found again (hash {now.held_hash:016x}, not {before.held_hash:016x})",
                hint="raw records were deleted or compacted; give the service a new --group and new output topics",
            )
        self.settled = True
        self._restored = None

    def _outcome(self, events: list[Event[Record]], dead: list[Dead]) -> Outcome:
        self._dead += len(dead)
        kept: list[Event[Record]] = []
        for event in events:
            if isinstance(event, Future):
                dead = dead + _futures(event)
                continue
            if isinstance(event, Punctuation):
                self.last = event
            kept.append(event)
        return Outcome(kept, sorted(dead, key=lambda each: each.offset))


def core_config(config: RunConfig) -> CoreConfig:
    """Return the core's settings; on the wall clock no tuple is from the future, as a re-read would judge otherwise."""
    quality = config.quality
    return CoreConfig(
        dratio=quality.drop_ratio,
        slack_ms=quality.slack_ms,
        slack_tuples=quality.slack_tuples,
        bsize=quality.buffer_tuples,
        estimator=quality.estimator,
        max_slack_ms=quality.max_slack_ms,
        max_future_ms=None if config.arrival.source == "wall" else quality.max_future_ms,
        idle_after_ms=quality.idle_after_ms,
        clock_skew_ms=quality.clock_skew_ms,
    )


def _batch(decoded: Decoded, position: int) -> Batch[Record]:
    return Batch(
        np.array(decoded.ts_ms, dtype=np.int64),
        np.array(decoded.arrival_ms, dtype=np.int64),
        np.array(decoded.offset, dtype=np.int64),
        decoded.records,
        position=position,
    )


def _futures(event: Future[Record]) -> list[Dead]:
    rows = zip(event.ts_ms.tolist(), event.offset.tolist(), event.arrival_ms.tolist(), strict=True)
    return [
        Dead(record, offset, arrival_ms, "future", f"{ts_ms - arrival_ms} ms ahead of its arrival")
        for record, (ts_ms, offset, arrival_ms) in zip(event.messages, rows, strict=True)
    ]


def _punctuation_of(state: CoreState) -> Punctuation | None:
    """Return the promise that the frontier of a restored state makes; None if there is none."""
    if state.frontier_ms <= 0:
        return None
    return Punctuation(
        until_ms=state.frontier_ms,
        slack_ms=state.last_slack_ms or 0,
        drop_ratio=state.counters.drop_ratio,
        bound=state.bound,
        position=state.position,
        seq=None,
        idle=True,
        at_ms=state.clock_ms or 0,
    )
