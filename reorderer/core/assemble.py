"""From what became of each tuple to events in the order they happened."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np

from reorderer.core.boundaries import Boundaries
from reorderer.core.buffer import Leaving
from reorderer.core.events import BOTTOM_MS, Event, Future, Ints, Late, M, Punctuation, Released
from reorderer.core.frontier import Piece

_FUTURE, _PUNCTUATION, _LATE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Mark(Generic[M]):
    """An event to place between released tuples: after the first `index` of them, in its phase of a tuple's step."""

    step: int
    phase: int
    index: int
    event: Event[M]


@dataclass(slots=True)
class Cutter:
    """Numbers the punctuations and remembers the last one cut."""

    boundaries: Boundaries
    bound: float | None
    seq: int = 0
    last_ms: int = BOTTOM_MS

    def cut(self, until_ms: int, slack_ms: int, drop_ratio: float, position: int, at_ms: int) -> Punctuation:
        """Return the next punctuation in sequence."""
        self.last_ms = until_ms
        self.seq += 1
        return Punctuation(until_ms, slack_ms, drop_ratio, self.bound, position, self.seq - 1, idle=False, at_ms=at_ms)

    def beat(self, until_ms: int, slack_ms: int, drop_ratio: float, position: int, at_ms: int) -> Punctuation:
        """Return an idle heartbeat; it takes no sequence number."""
        return Punctuation(until_ms, slack_ms, drop_ratio, self.bound, position, None, idle=True, at_ms=at_ms)


@dataclass(frozen=True, slots=True)
class Before:
    """What stood before a piece: the offset after the last tuple, and the tuples and late ones counted."""

    next_offset: int
    tuples: int
    late: int


def step_marks(piece: Piece, released_ts_ms: Ints, cutter: Cutter, before: Before) -> list[Mark[M]]:
    """Return the punctuations the piece caused, each at its place among the released tuples (sorted by timestamp)."""
    silences = np.array([silence.until_ms for silence in piece.silences.values()], np.int64)
    moves = [piece.before] if piece.release_steps is None else [piece.before, piece.after]
    crossed = cutter.boundaries.crossed(cutter.last_ms, released_ts_ms, silences, *moves)
    return _marks(piece, crossed, np.searchsorted(released_ts_ms, crossed), cutter, before)


def passing_marks(piece: Piece, cutter: Cutter, before: Before) -> list[Mark[M]]:
    """Return the punctuations of a piece whose tuples pass at once: each stands before the tuple that caused it."""
    silences = np.array([silence.until_ms for silence in piece.silences.values()], np.int64)
    crossed = cutter.boundaries.crossed(cutter.last_ms, silences, piece.after)
    passed = np.searchsorted(np.flatnonzero(~piece.late), np.searchsorted(piece.after, crossed))
    return _marks(piece, crossed, passed, cutter, before)


def _marks(piece: Piece, crossed: list[int], indexes: Ints, cutter: Cutter, before: Before) -> list[Mark[M]]:
    steps = np.searchsorted(piece.after, crossed)
    lates = before.late + np.searchsorted(np.flatnonzero(piece.late), steps)
    marks: list[Mark[M]] = []
    for until_ms, step, index, late in zip(crossed, steps.tolist(), indexes.tolist(), lates.tolist(), strict=True):
        drop_ratio = late / (before.tuples + step) if before.tuples + step else 0.0
        punctuation = _cut(piece, until_ms, step, drop_ratio, cutter, before)
        marks.append(Mark(step, _PUNCTUATION, index, punctuation))
    return marks


def _cut(piece: Piece, until_ms: int, step: int, drop_ratio: float, cutter: Cutter, before: Before) -> Punctuation:
    silence = piece.silences.get(step)
    at_ms = int(piece.clock_ms[step])
    if silence is not None and until_ms <= silence.until_ms:
        position = int(piece.offset[step - 1]) + 1 if step else before.next_offset
        return cutter.cut(until_ms, silence.slack_ms, drop_ratio, position, at_ms)
    slack_ms = piece.slacks[bisect_right(piece.slacks, step, key=lambda pair: pair[0]) - 1][1]
    return cutter.cut(until_ms, slack_ms, drop_ratio, int(piece.offset[step]) + 1, at_ms)


def late_marks(piece: Piece, messages: Sequence[M], indexes: Ints, others: list[Mark[M]]) -> list[Mark[M]]:
    """Return the late tuples as events, neighbours in one; `indexes` tells how many were released before each."""
    steps = np.flatnonzero(piece.late)
    if not len(steps):
        return []
    other_times = np.array(sorted(3 * mark.step + mark.phase for mark in others), np.int64)
    groups = np.searchsorted(other_times, 3 * steps + _LATE)
    cuts = np.flatnonzero((indexes[1:] != indexes[:-1]) | (groups[1:] != groups[:-1])) + 1
    marks: list[Mark[M]] = []
    for begin, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(steps)], strict=True):
        which = steps[begin:end]
        event = Late(
            [messages[i] for i in which.tolist()],
            piece.ts_ms[which],
            piece.offset[which],
            piece.arrival_ms[which],
            piece.before[which],
        )
        marks.append(Mark(int(which[0]), _LATE, int(indexes[begin]), event))
    return marks


def future_mark(step: int, index: int, event: Future[M]) -> Mark[M]:
    """Return future tuples that came right before the step-th tuple of the piece."""
    return Mark(step, _FUTURE, index, event)


def interleave(run: Leaving[M], at_ms: Ints, marks: list[Mark[M]]) -> list[Event[M]]:
    """Return the released tuples with the marks in between, all in the order they happened."""
    events: list[Event[M]] = []
    begin = 0
    marks.sort(key=lambda mark: (mark.step, mark.phase, mark.index))
    for mark in marks:
        if mark.index > begin:
            events.append(_slice(run, at_ms, begin, mark.index))
            begin = mark.index
        events.append(mark.event)
    if begin < len(run.messages):
        events.append(_slice(run, at_ms, begin, len(run.messages)))
    return events


def _slice(run: Leaving[M], at_ms: Ints, begin: int, end: int) -> Released[M]:
    part = slice(begin, end)
    return Released(run.messages[part], run.ts_ms[part], run.offset[part], at_ms[part])
