"""An estimator let loose on a recorded stream, as if it were live."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reorderer.core.config import CoreConfig
from reorderer.core.events import Event, Late, Released
from reorderer.core.replay import Report, replay
from reorderer.core.trace import Trace
from reorderer.planning.fate import LATE, Fate


def try_out(trace: Trace, config: CoreConfig, progress: Callable[[int], None] = lambda _: None) -> tuple[Fate, Report]:
    """Return what the core does to each tuple, and what that amounts to after warm-up.

    No tuple may be further ahead than the core's `max_future`. A tuple counts as leaving with the first one at the
    time of its release, or with itself if it came after that one.
    """
    leaves = np.full(len(trace), LATE, np.int64)

    def take(events: list[Event[None]]) -> None:
        for event in events:
            if isinstance(event, Released):
                leaves[event.offset] = np.maximum(np.searchsorted(trace.arrival_ms, event.at_ms), event.offset)
            if isinstance(event, Released | Late):
                progress(len(event.offset))

    report = replay(trace, config, take)
    return Fate(trace, leaves), report
