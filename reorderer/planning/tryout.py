"""An estimator let loose on a recorded stream, as if it were live."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from reorderer.core.config import CoreConfig
from reorderer.core.events import Batch, Event, Released
from reorderer.core.reorder import Reorderer
from reorderer.planning.fate import LATE, Fate
from reorderer.trace import Ints, Trace

_BATCH = 16_384


def fate_by(trace: Trace, config: CoreConfig, progress: Callable[[int], None] = lambda _: None) -> Fate:
    """Return what the core does to each tuple; none may be further ahead than its `max_future`."""
    core = Reorderer[None](config)
    leaves = np.full(len(trace), LATE, np.int64)
    for begin in range(0, len(trace), _BATCH):
        part = slice(begin, begin + _BATCH)
        offset = np.arange(begin, min(begin + _BATCH, len(trace)))
        batch = Batch(trace.ts_ms[part], trace.arrival_ms[part], offset, [None] * len(offset))
        for released in _released(core.process(batch)):
            leaves[released.offset] = _places(trace, released)
        progress(len(offset))
    for released in _released(core.flush()):
        leaves[released.offset] = len(trace)
    return Fate(trace, leaves)


def _released(events: Iterable[Event[None]]) -> Iterable[Released[None]]:
    return (event for event in events if isinstance(event, Released))


def _places(trace: Trace, released: Released[None]) -> Ints:
    """Return the first tuple at the time of each release, but not one before the released tuple itself came."""
    return np.maximum(np.searchsorted(trace.arrival_ms, released.at_ms), released.offset)
