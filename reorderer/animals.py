"""The animals of paper 001, section 7: a tuple at each heart beat, and the body's condition every full second.

    Pulse(Id, Timestamp)
    BodyCondition(Id, Species, BTemp, BloodP, Timestamp)

The timestamp is the field `ts`. The herd, its hearts and what its sensors measure are a function of the seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reorderer.delays import Ints, Slice

SLOT_MS = 1_000
"""The herd is simulated slot by slot of event time."""

# Species, resting heart beats a minute, body temperature in °C, systolic blood pressure in mmHg.
_SPECIES = (
    (b"horse", 36.0, 37.9, 118.0),
    (b"wolf", 80.0, 38.6, 130.0),
    (b"deer", 70.0, 38.5, 125.0),
    (b"bear", 55.0, 37.3, 122.0),
    (b"fox", 110.0, 38.7, 128.0),
)


class Herd:
    """Animals numbered from 0, each with a species, a heart and a body of its own."""

    def __init__(self, size: int, seed: int) -> None:
        rng = np.random.default_rng((seed, 0))
        self.size = size
        self.species = np.arange(size) % len(_SPECIES)
        traits = np.array([row[1:] for row in _SPECIES])[self.species]
        self.beat_ms: NDArray[np.float64] = 60_000 / (traits[:, 0] * rng.uniform(0.85, 1.15, size))
        self.phase: NDArray[np.float64] = rng.random(size)
        self.temperature: NDArray[np.float64] = traits[:, 1] + rng.normal(0, 0.3, size)
        self.pressure: NDArray[np.float64] = traits[:, 2] + rng.normal(0, 5, size)


class AnimalStream:
    """One of the two streams of a herd, without delays.

    `rate` is in tuples a second over the whole herd; None keeps the hearts' own pace, and a body's one tuple a second.
    """

    def __init__(self, kind: Literal["pulse", "body"], herd: Herd, rate: float | None = None) -> None:
        self.kind = kind
        self._herd = herd
        natural_ms = herd.beat_ms if kind == "pulse" else np.full(herd.size, 1_000.0)
        scale = 1.0 if rate is None else float((1_000 / natural_ms).sum()) / rate
        self._period_ms = natural_ms * scale
        # Bodies are measured together, on the full second; hearts beat when they beat.
        self._phase = herd.phase if kind == "pulse" else np.zeros(herd.size)

    def made(self, start_ms: int, end_ms: int) -> Iterator[tuple[int, Slice]]:
        """Yield slots of event time from `start_ms` on: (the end of the slot, its tuples by timestamp and animal)."""
        first = self._count(start_ms)
        for slot_ms in range(start_ms, end_ms, SLOT_MS):
            until_ms = min(slot_ms + SLOT_MS, end_ms)
            yield until_ms, self._slot(slot_ms, until_ms, first)

    def values(self, tuples: Slice) -> list[bytes]:
        """Return the tuples as JSON objects."""
        if self.kind == "pulse":
            return [
                b'{"Id":%d,"ts":%d}' % row for row in zip(tuples.device.tolist(), tuples.ts_ms.tolist(), strict=True)
            ]
        herd, device = self._herd, tuples.device
        # A slow wave of some ten minutes and a quick one, different for each animal.
        wave = np.sin(tuples.ts_ms / 97_000 + 6.283 * herd.phase[device])
        ripple = np.sin(tuples.ts_ms / 613 * (1 + herd.phase[device]))
        temperature = herd.temperature[device] + 0.4 * wave + 0.1 * ripple
        pressure = np.rint(herd.pressure[device] + 6 * wave + 3 * ripple).astype(np.int64)
        rows = zip(
            device.tolist(),
            [_SPECIES[i][0] for i in herd.species[device].tolist()],
            temperature.tolist(),
            pressure.tolist(),
            tuples.ts_ms.tolist(),
            strict=True,
        )
        return [b'{"Id":%d,"Species":"%b","BTemp":%.2f,"BloodP":%d,"ts":%d}' % row for row in rows]

    def _count(self, at_ms: int) -> Ints:
        """Return how many tuples each animal has made since the epoch before `at_ms`."""
        return np.ceil(at_ms / self._period_ms - self._phase).astype(np.int64)

    def _slot(self, start_ms: int, end_ms: int, first: Ints) -> Slice:
        begin, counts = self._count(start_ms), self._count(end_ms) - self._count(start_ms)
        device = np.repeat(np.arange(self._herd.size), counts)
        nth = np.arange(len(device)) - np.repeat(np.cumsum(counts) - counts, counts) + begin[device]
        ts_ms = np.clip(((nth + self._phase[device]) * self._period_ms[device]).astype(np.int64), start_ms, end_ms - 1)
        order = np.lexsort((device, ts_ms))
        device, ts_ms, nth = device[order], ts_ms[order], nth[order]
        return Slice(ts_ms, ts_ms, device, nth - first[device])
