"""The core of one partition: arrays of tuples in; released and late tuples and punctuations out, as they happen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from reorderer.core.assemble import Before, Cutter, Mark, future_mark, interleave, late_marks, passing_marks, step_marks
from reorderer.core.boundaries import Boundaries
from reorderer.core.buffer import Buffer, Leaving
from reorderer.core.config import CoreConfig
from reorderer.core.estimators import make
from reorderer.core.events import Batch, Event, Future, Ints, M, check_batch
from reorderer.core.frontier import Frontier, Piece
from reorderer.core.limits import Limits
from reorderer.core.state import CoreState, Counters
from reorderer.errors import UsageError


class Reorderer(Generic[M]):
    """Holds the tuples of one partition until their order is settled; generic in the message, which it never looks
    into.

    What comes out is a function of the tuples and the configuration: batch cuts, restarts and heartbeats change
    nothing but when it comes out, and the idle punctuations in between. Time is an argument, never read.

    >>> reorderer = Reorderer[str](CoreConfig(slack_ms=100))
    >>> at = np.array([1000, 1010, 1250])
    >>> for event in reorderer.process(Batch(np.array([990, 960, 1200]), at, np.array([0, 1, 2]), ["b", "a", "c"])):
    ...     print(getattr(event, "messages", None) or event.until_ms)
    900
    ['a', 'b']
    1100
    >>> reorderer.frontier, reorderer.held
    ((1150, 0), 1)
    """

    def __init__(self, config: CoreConfig, state: CoreState | None = None) -> None:
        self.config = config
        state = state or CoreState()
        identity = (config.estimator_name, config.dratio, dict(config.options))
        same = identity == (state.estimator, state.bound, dict(state.options))
        self._estimator = make(config, state.estimator_state if same else None)
        self._frontier = Frontier(config, self._estimator, state)
        if not same:
            self._frontier.forget_policy()
        self._counters = Counters(**{name: getattr(state.counters, name) for name in Counters.__slots__})
        self._cutter = Cutter(Boundaries(config), config.dratio, state.punctuation_seq, state.punctuated_ms)
        self._position = state.position
        self._next_offset = state.next_offset
        self._announced_ms = state.punctuated_ms
        self._rebuilt_offset = -1
        self._buffer = Buffer[M]()
        self._limits = Limits(config, self._frontier, self._buffer)

    # --- what happens ----------------------------------------------------------------------------------------------

    def process(self, batch: Batch[M]) -> list[Event[M]]:
        """Judge the tuples, each new; return what happened, in order. O(1) amortised per tuple."""
        self._check(batch)
        kept, futures = self._split_future(batch)
        clock_ms = self._clock(kept.arrival_ms)
        events: list[Event[M]] = []
        begin = 0
        while begin < len(kept):
            end, limited = self._limits.reach(begin, kept.size, len(kept))
            part = slice(begin, end)
            size = None if kept.size is None else kept.size[part]
            piece = Piece(kept.ts_ms[part], kept.arrival_ms[part], clock_ms[part], kept.offset[part], size)
            ahead = [(step - begin, event) for step, event in futures if begin <= step < end]
            messages = kept.messages if end - begin == len(kept) else kept.messages[part]
            events += self._pass(piece, messages, ahead, limited=limited)
            begin = end
        events += [event for step, event in futures if step >= len(kept)]
        read = int(batch.offset[-1]) + 1 if len(batch) else 0
        self._position = max(self._position, read, batch.position or 0)
        return events

    def advance(self, now_ms: int) -> list[Event[M]]:
        """Let a silence up to the wall time `now_ms` pass; return what it releases and an idle heartbeat, if it moves.

        To be called only while the partition is idle (spec, section 4). It changes no verdict: the tuple that ends the
        silence would move the frontier at least as far.
        """
        silence = self._frontier.silence(now_ms - self.config.clock_skew_ms)
        if silence is None or silence.until_ms <= self._frontier.ts_ms:
            return []
        self._frontier.move_to(silence.until_ms)
        facts = silence.slack_ms, self.drop_ratio, self._next_offset, now_ms
        run = self._buffer.release(silence.until_ms)
        marks = self._marks_within(run, *facts)
        events = interleave(run, np.full(len(run.messages), now_ms), marks)
        until_ms = self._cutter.boundaries.last_one(silence.until_ms)
        if until_ms > max(self._announced_ms, self._cutter.last_ms):
            self._announced_ms = until_ms
            events.append(self._cutter.beat(until_ms, *facts))
        return events

    def flush(self) -> list[Event[M]]:
        """End a finite trace: release all that is held and close with a punctuation behind it."""
        last_ms = self._buffer.last_ts_ms
        if last_ms is None:
            return []
        clock_ms = self._frontier.clock_ms or 0
        self._frontier.move_to(last_ms + 1)
        facts = self.slack_ms, self.drop_ratio, self._next_offset, clock_ms
        run = self._buffer.release(last_ms + 1)
        marks = self._marks_within(run, *facts)
        if last_ms + 1 > self._cutter.last_ms:
            marks.append(Mark(0, 1, len(run.messages), self._cutter.cut(last_ms + 1, *facts)))
        return interleave(run, np.full(len(run.messages), clock_ms), marks)

    def rebuild(self, batch: Batch[M]) -> None:
        """Hold again, after a restart, those tuples below the position that were held; nothing else changes."""
        check_batch(batch)
        if not len(batch):
            return
        if int(batch.offset[-1]) >= self._position or int(batch.offset[0]) <= self._rebuilt_offset:
            raise UsageError(
                f"offset {int(batch.offset[-1])} does not belong to the rebuild", hint=f"it ends at {self._position}"
            )
        self._rebuilt_offset = int(batch.offset[-1])
        if self.config.unsorted:
            return
        kept, _ = self._split_future(batch, count=False)
        f, o = self.frontier
        keep = (kept.ts_ms > f) | ((kept.ts_ms == f) & (kept.offset >= o))
        self._hold(kept, keep)

    # --- what is so ------------------------------------------------------------------------------------------------

    def state(self) -> CoreState:
        """Return the snapshot to commit with what was handed out so far."""
        frontier = self._frontier
        return CoreState(
            frontier.ts_ms,
            frontier.offset,
            position=self._position,
            next_offset=self._next_offset,
            clock_ms=frontier.clock_ms,
            policy=frontier.policy,
            late_since_decision=frontier.late_since_decision,
            last_slack_ms=frontier.last_slack_ms,
            punctuation_seq=self._cutter.seq,
            punctuated_ms=self._cutter.last_ms,
            counters=Counters(**{name: getattr(self._counters, name) for name in Counters.__slots__}),
            estimator=self.config.estimator_name,
            bound=self.config.dratio,
            options=dict(self.config.options),
            estimator_state=self._estimator.state(),
            held=self.held,
            held_hash=self.held_hash,
        )

    @property
    def frontier(self) -> tuple[int, int]:
        """The point (f, o): every tuple of the partition below it is done. (-2^53, 0) before the first move."""
        return self._frontier.ts_ms, self._frontier.offset

    @property
    def position(self) -> int:
        """The raw offset to be read next."""
        return self._position

    @property
    def held(self) -> int:
        """Tuples in the buffer."""
        return self._buffer.held

    @property
    def held_bytes(self) -> int:
        """Their size, as far as the batches told it."""
        return self._buffer.held_bytes

    @property
    def held_hash(self) -> int:
        """The 64-bit digest of their offsets."""
        return self._buffer.held_hash

    @property
    def oldest_needed_offset(self) -> int | None:
        """The smallest offset held, from which a restart must read; None if nothing is held. O(p-nodes)."""
        return self._buffer.least_offset

    @property
    def slack_ms(self) -> int:
        """The slack in force: K, or the cap where the frontier stands still."""
        return self._frontier.slack_ms

    @property
    def moving(self) -> bool:
        """Whether the estimator lets the frontier follow the clock; it does not while it warms up."""
        return self._frontier.policy.slack_ms is not None

    @property
    def clock_ms(self) -> int | None:
        """The arrival clock: the latest arrival so far."""
        return self._frontier.clock_ms

    @property
    def counters(self) -> Counters:
        """The totals; a live object, not to be changed."""
        return self._counters

    @property
    def drop_ratio(self) -> float:
        """Late tuples as a share of all judged so far."""
        return self._counters.drop_ratio

    # --- inside ----------------------------------------------------------------------------------------------------

    def _check(self, batch: Batch[M]) -> None:
        check_batch(batch)
        if len(batch) and int(batch.offset[0]) < self._position:
            raise UsageError(
                f"offset {int(batch.offset[0])} is below the position {self._position}",
                hint="rebuild takes such tuples",
            )
        if self.config.max_bytes is not None and batch.size is None:
            raise UsageError("a byte limit is set and the batch has no sizes")

    def _split_future(self, batch: Batch[M], *, count: bool = True) -> tuple[Batch[M], list[tuple[int, Future[M]]]]:
        """Take out the tuples too far ahead of their arrival; return them with the count of those kept before each."""
        if self.config.max_future_ms is None:
            return batch, []
        ahead = batch.ts_ms - batch.arrival_ms > self.config.max_future_ms
        if not ahead.any():
            return batch, []
        kept = np.flatnonzero(~ahead)
        which = np.flatnonzero(ahead)
        steps = np.searchsorted(kept, which)
        futures = []
        for group in np.split(which, np.flatnonzero(steps[1:] != steps[:-1]) + 1):
            messages = [batch.messages[i] for i in group.tolist()]
            event = Future(messages, batch.ts_ms[group], batch.offset[group], batch.arrival_ms[group])
            futures.append((int(np.searchsorted(kept, group[0])), event))
        self._counters.future += len(which) if count else 0
        size = None if batch.size is None else batch.size[kept]
        messages = [batch.messages[i] for i in kept.tolist()]
        return Batch(batch.ts_ms[kept], batch.arrival_ms[kept], batch.offset[kept], messages, size), futures

    def _clock(self, arrival_ms: Ints) -> Ints:
        """Return the running maximum of the arrivals, counting the steps back."""
        if not len(arrival_ms):
            return arrival_ms
        clock_ms = np.maximum.accumulate(arrival_ms)
        if self._frontier.clock_ms is not None:
            clock_ms = np.maximum(clock_ms, self._frontier.clock_ms)
        self._counters.arrival_steps_back += int(np.count_nonzero(arrival_ms < clock_ms))
        return clock_ms

    def _pass(
        self, piece: Piece, messages: Sequence[M], ahead: list[tuple[int, Future[M]]], *, limited: bool
    ) -> list[Event[M]]:
        """Take one piece through the core: judge, hold, release, and tell it as events."""
        before = Before(self._next_offset, self._counters.tuples, self._counters.late)
        walk = self._limits.walk(piece, self._counters) if limited else None
        self._frontier.judge(piece, self._counters, walk)
        run, steps = self._let_pass(piece, messages) if self.config.unsorted else self._reorder(piece, messages)
        marks: list[Mark[M]] = [
            future_mark(step, index, event)
            for (step, event), index in zip(ahead, np.searchsorted(steps, [s for s, _ in ahead]).tolist(), strict=True)
        ]
        if self.config.unsorted:
            marks += passing_marks(piece, self._cutter, before)
        else:
            marks += step_marks(piece, run.ts_ms, self._cutter, before)
        marks += late_marks(piece, messages, np.searchsorted(steps, np.flatnonzero(piece.late), "right"), marks)
        self._next_offset = int(piece.offset[-1]) + 1
        return interleave(run, piece.clock_ms[steps], marks)

    def _reorder(self, piece: Piece, messages: Sequence[M]) -> tuple[Leaving[M], Ints]:
        """Hold what is not late, release what the frontier has passed; return it with the step that released each."""
        batch = Batch(piece.ts_ms, piece.arrival_ms, piece.offset, messages, piece.size)
        self._hold(batch, ~piece.late if piece.late.any() else None)
        run = self._buffer.release(*self.frontier)
        if piece.release_steps is not None:
            return run, np.array(piece.release_steps, np.int64)
        return run, np.searchsorted(piece.before, run.ts_ms, "right")

    def _let_pass(self, piece: Piece, messages: Sequence[M]) -> tuple[Leaving[M], Ints]:
        """SLACK 0: return what is not late, in arrival order."""
        steps = np.flatnonzero(~piece.late)
        return Leaving(piece.ts_ms[steps], piece.offset[steps], [messages[i] for i in steps.tolist()]), steps

    def _hold(self, batch: Batch[M], keep: NDArray[np.bool_] | None) -> None:
        if keep is None:
            self._buffer.insert(batch.ts_ms, batch.offset, batch.messages, batch.size)
            return
        messages = list(compress(batch.messages, keep.tolist()))
        size = None if batch.size is None else batch.size[keep]
        self._buffer.insert(batch.ts_ms[keep], batch.offset[keep], messages, size)

    def _marks_within(
        self, run: Leaving[M], slack_ms: int, drop_ratio: float, position: int, at_ms: int
    ) -> list[Mark[M]]:
        """Return the punctuations between tuples that left without a tuple arriving."""
        crossed = self._cutter.boundaries.crossed(self._cutter.last_ms, run.ts_ms)
        indexes = np.searchsorted(run.ts_ms, crossed).tolist()
        return [
            Mark(0, 1, index, self._cutter.cut(until_ms, slack_ms, drop_ratio, position, at_ms))
            for until_ms, index in zip(crossed, indexes, strict=True)
        ]
