"""Seeded animals: heart beats and body conditions, as the sensors of 001, section 7, would send them."""

from __future__ import annotations

import random
from typing import Any

SPECIES = ("horse", "deer", "boar")
START_MS = 1_700_000_000_000


def pulses(seed: int, animals: int = 4, seconds: int = 240) -> list[dict[str, Any]]:
    """Return a tuple for each heart beat of each animal, in order of time."""
    rng = random.Random(seed)
    beats = []
    for animal in range(animals):
        at_ms = START_MS + rng.randrange(1000)
        while at_ms < START_MS + seconds * 1000:
            beats.append({"Id": animal, "Timestamp": at_ms})
            at_ms += max(1, int(rng.gauss(900 + 150 * animal, 120)))
    return sorted(beats, key=lambda beat: (beat["Timestamp"], beat["Id"]))


def conditions(seed: int, animals: int = 4, seconds: int = 240) -> list[dict[str, Any]]:
    """Return a reading of each animal every full second; some readings lack the blood pressure."""
    rng = random.Random(seed)
    return [
        {
            "Id": animal,
            "Species": SPECIES[animal % len(SPECIES)],
            "BTemp": round(rng.gauss(38, 0.5), 2),
            "BloodP": None if rng.random() < 0.05 else round(rng.gauss(120, 10), 1),
            "Timestamp": START_MS + second * 1000,
        }
        for second in range(seconds)
        for animal in range(animals)
    ]


def speeds(seed: int, vehicles: int = 5, seconds: int = 900) -> list[dict[str, Any]]:
    """Return the speed of each vehicle about every 7 seconds; those with higher numbers drive faster."""
    rng = random.Random(seed)
    readings = []
    for vehicle in range(vehicles):
        at_ms = START_MS + rng.randrange(7000)
        while at_ms < START_MS + seconds * 1000:
            readings.append({"vehID": vehicle, "speed": round(rng.gauss(60 + 10 * vehicle, 8), 1), "ts": at_ms})
            at_ms += rng.randrange(6000, 8000)
    return sorted(readings, key=lambda reading: (reading["ts"], reading["vehID"]))
