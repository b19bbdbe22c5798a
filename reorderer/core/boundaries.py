"""Where punctuations are cut: multiples of `punctuation_every` and the boundaries of declared windows."""

from __future__ import annotations

import numpy as np

from reorderer.core.config import CoreConfig
from reorderer.core.events import Ints


class Boundaries:
    """A union of grids (period, origin) in event time.

    >>> grid = Boundaries(CoreConfig(slack_ms=1, windows=((250, 30),)))
    >>> grid.last(np.array([99, 100, 299, -1])).tolist()
    [30, 100, 280, -100]
    """

    def __init__(self, config: CoreConfig) -> None:
        grids = dict.fromkeys([(config.punctuation_every_ms, 0), *config.windows])
        self._grids = [(period_ms, origin_ms % period_ms) for period_ms, origin_ms in grids]

    def last(self, ts_ms: Ints) -> Ints:
        """Return the last boundary at or before each time."""
        lasts = [ts_ms - (ts_ms - origin_ms) % period_ms for period_ms, origin_ms in self._grids]
        return lasts[0] if len(lasts) == 1 else np.maximum.reduce(lasts)

    def last_one(self, ts_ms: int) -> int:
        """Return the last boundary at or before the time."""
        return max(ts_ms - (ts_ms - origin_ms) % period_ms for period_ms, origin_ms in self._grids)

    def crossed(self, after_ms: int, *rising: Ints) -> list[int]:
        """Return, in order, the boundaries beyond `after_ms` that are the last one of some time in the rising arrays.

        With the released timestamps and the frontier after each tuple's step as input, these are exactly the
        boundaries that separate two tuples or two steps: those in between, with nothing to tell them apart, collapse
        into the last one.
        """
        found: list[int] = []
        for times in rising:
            if not len(times) or self.last_one(int(times[-1])) <= after_ms:
                continue
            lasts = self.last(times[int(np.searchsorted(times, after_ms, "right")) :])
            changes = np.flatnonzero(lasts[1:] != lasts[:-1]) + 1
            found += [int(lasts[0]), *lasts[changes].tolist()]
        return sorted({boundary for boundary in found if boundary > after_ms})
