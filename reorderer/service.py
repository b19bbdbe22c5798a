"""The loop of one instance: poll, judge, write, commit; and the one way back after anything went wrong."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Final

from reorderer.checkpoint import Checkpoint
from reorderer.config import RunConfig
from reorderer.core.events import Late, Punctuation, Released
from reorderer.errors import ClusterError, StateError
from reorderer.kafka.errors import SessionLost
from reorderer.kafka.idle import IdleWatch
from reorderer.kafka.sink import Refused, Sink
from reorderer.kafka.source import Committed, Source, has_committed_records
from reorderer.partition import Outcome, Partition

LOG = logging.getLogger("reorderer.service")

POLL_S: Final = 0.05
"""A batch waits this long to fill up."""
HEARTBEAT_S: Final = 0.2
"""Silent partitions are looked at this often."""
REPEAT_S: Final = 0.9
"""A partition without a new punctuation gets its last one again: after a restart Spark waits for it (spec, 6)."""
MAX_RESTARTS: Final = 10
"""Restarts without a commit between them, before giving up."""


class Service:
    """Moves the records of the partitions that the group assigns to this instance, each exactly once."""

    def __init__(self, config: RunConfig, topic_id: str) -> None:
        self._config = config
        self._topic_id = topic_id
        self.partitions: dict[int, Partition] = {}
        self.transactions = 0
        self.restarts = 0
        self._in_transaction: set[int] = set()
        self._began_s = 0.0
        self._punctuated_s: dict[int, float] = {}
        self._looked_s = 0.0
        self._active_s = time.monotonic()
        self._lost: str | None = None
        self._fruitless = 0
        self._stopping = False
        # The same for every producer of this process, so that each one ends what its predecessor left open.
        self._transactional_id = f"{config.group}-{config.instance_id or uuid.uuid4()}"
        self._refused: Refused = set()
        self._sink = Sink(config, self._transactional_id, self._refused)
        self._source = Source(config, self)
        self._idle = IdleWatch(config.bootstrap_servers, config.topics.raw)

    def stop(self) -> None:
        """Let `run` return after the transaction that is open."""
        self._stopping = True

    def run(self, each_loop: Callable[[], None] = lambda: None) -> None:
        """Work until stopped, or until silent for long enough if so configured; then leave the group."""
        try:
            while not self._stopping and not self._silent_long_enough():
                self._guarded_step()
                each_loop()
            self._finish()
        finally:
            try:
                self._sink.abort()
            finally:
                self._source.close()

    # --- what the group tells us (called inside poll) ---

    def assigned(self, committed: Mapping[int, Committed | None]) -> Mapping[int, int]:
        """Take partitions over, each where its committed state stands; return where to read."""
        starts = {}
        for number, found in committed.items():
            self.partitions[number] = self._fresh(number) if found is None else self._restored(number, found)
            starts[number] = self.partitions[number].position if found is None else found.offset
            self._punctuated_s[number] = time.monotonic()
        self._active_s = time.monotonic()
        return starts

    def revoked(self, partitions: list[int]) -> None:
        """Commit what is open, then let the partitions go."""
        try:
            self._commit()
        except SessionLost as lost:
            self._lost = str(lost)
        self._drop(partitions)

    def lost(self, partitions: list[int]) -> None:
        """Let the partitions go; what is open is not ours to commit any more."""
        self._lost = "partitions were lost to another instance"
        self._drop(partitions)

    # --- the loop ---

    def _guarded_step(self) -> None:
        try:
            self._step()
        except SessionLost as lost:
            self._restart(lost)

    def _step(self) -> None:
        batches = self._source.poll(self._patience_s())
        if self._lost is not None:
            raise SessionLost(self._lost)
        now_ms = time.time_ns() // 1_000_000
        for number, messages in batches.items():
            if (partition := self.partitions.get(number)) is not None:
                self._active_s = time.monotonic()
                self._write(partition, partition.read(messages, now_ms))
        for number, end in self._source.ends.items():
            self.partitions[number].reach(end)
        self._let_time_pass(now_ms)
        self._repeat_punctuations()
        if self._sink.is_open and self._due():
            self._commit()

    def _write(self, partition: Partition, outcome: Outcome) -> None:
        """Write what a settled partition yielded; from here on its position is part of the transaction."""
        if not partition.settled:
            return
        self._open()
        number = partition.number
        self._in_transaction.add(number)
        for event in outcome.events:
            if isinstance(event, Released):
                partition.unwritable += self._sink.released(number, event)
                self._active_s = time.monotonic()
            elif isinstance(event, Punctuation):
                self._punctuate(number, event)
            elif isinstance(event, Late):
                self._sink.late(number, event)
        self._sink.dead(number, outcome.dead)

    def _let_time_pass(self, now_ms: int) -> None:
        """Advance the partitions that the broker says are at their end; ask it again now and then."""
        if not self._config.heartbeats:
            return
        asked_ms, silent = self._idle.silent(self._source.ends)
        for number in silent:
            outcome = self.partitions[number].advance(asked_ms)
            if outcome.events:
                self._write(self.partitions[number], outcome)
        if time.monotonic() - self._looked_s >= HEARTBEAT_S:
            self._looked_s = time.monotonic()
            self._idle.ask(self._source.ends, now_ms)

    def _repeat_punctuations(self) -> None:
        now_s = time.monotonic()
        for number, partition in self.partitions.items():
            if partition.settled and now_s - self._punctuated_s[number] >= REPEAT_S:
                self._punctuated_s[number] = now_s
                if (punctuation := partition.repeated()) is not None:
                    self._write(partition, Outcome([punctuation], []))

    def _punctuate(self, number: int, punctuation: Punctuation) -> None:
        self._sink.punctuation(number, punctuation)
        self._punctuated_s[number] = time.monotonic()

    # --- transactions ---

    def _open(self) -> None:
        if not self._sink.is_open:
            self._sink.begin(self._source.group_metadata())
            self._began_s = time.monotonic()

    def _due(self) -> bool:
        age_ms = (time.monotonic() - self._began_s) * 1_000
        return age_ms >= self._config.transaction_ms or self._sink.written >= self._config.transaction_records

    def _patience_s(self) -> float:
        if not self._sink.is_open:
            return POLL_S
        left_s = self._config.transaction_ms / 1_000 - (time.monotonic() - self._began_s)
        return min(max(left_s, 0.001), POLL_S)

    def _commit(self) -> None:
        if not self._sink.is_open:
            return
        self._sink.commit({number: self.partitions[number].checkpoint() for number in self._in_transaction})
        self._in_transaction.clear()
        self.transactions += 1
        self._fruitless = 0
        if self._sink.singly:
            self._sink = Sink(self._config, self._transactional_id, self._refused)

    def _finish(self) -> None:
        try:
            self._commit()
        except SessionLost as lost:
            LOG.warning("the last transaction was given up (%s); its tuples are read again by the next run", lost)

    def _restart(self, why: SessionLost) -> None:
        """Abort, and take every partition up again from its committed state; nothing is sent again from memory."""
        while True:
            self._fruitless += 1
            self.restarts += 1
            if self._fruitless > MAX_RESTARTS:
                raise ClusterError(f"gave up after {MAX_RESTARTS} attempts: {why}")
            LOG.warning("starting again from the committed offsets: %s", why)
            try:
                self._lost = None
                self._in_transaction.clear()
                singly = self._sink.refused_batch
                self._sink.abort()
                # The outcome may be unknown: only a new producer is safe from what is still on its way.
                self._sink = Sink(self._config, self._transactional_id, self._refused, singly=singly)
                self._source.restart(list(self.partitions))
            except SessionLost as lost:
                why = lost
                time.sleep(min(0.1 * 2**self._fruitless, 5.0))
            else:
                return

    # --- partitions ---

    def _restored(self, number: int, committed: Committed) -> Partition:
        checkpoint = Checkpoint.decode(committed.metadata)
        checkpoint.check(self._topic_id, self._config.classification)
        return Partition(number, self._config, self._topic_id, restored=checkpoint)

    def _fresh(self, number: int) -> Partition:
        clean = self._config.topics.clean
        if has_committed_records(self._config.bootstrap_servers, clean, number):
            raise StateError(
                f"group {self._config.group!r} has no offset for partition {number}, but {clean!r} has records there",
                hint="was it written by another --group, or did the offsets expire? Choose new output topics",
            )
        low, high = self._source.bounds(number)
        start = low if self._config.start == "earliest" else high
        return Partition(number, self._config, self._topic_id, start=start)

    def _drop(self, partitions: list[int]) -> None:
        for number in partitions:
            self.partitions.pop(number, None)
            self._in_transaction.discard(number)
            self._punctuated_s.pop(number, None)

    def _silent_long_enough(self) -> bool:
        limit_s = self._config.until_idle_s
        if limit_s is None or not self.partitions or not self.partitions.keys() <= self._source.ends.keys():
            return False
        return time.monotonic() - self._active_s >= limit_s
