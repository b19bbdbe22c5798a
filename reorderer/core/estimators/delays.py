"""Delays counted in buckets that grow with the delay, and what can be read from the counts.

Bucket j holds the delays in [EDGES[j], EDGES[j+1]), measured from the first delay of the stream: one millisecond wide
near it, then growing by 6 % a bucket, out to an hour on either side. So a stream whose clock is hours off, or whose
delays are negative, is counted as finely as any other. All counts are integers.
"""

from __future__ import annotations

import base64
import zlib

import numpy as np
from numpy.typing import NDArray

from reorderer.core.events import Ints

Floats = NDArray[np.float64]

_STEPS = np.unique(np.floor(1.06 ** np.arange(0.0, 261.0)).astype(np.int64))
EDGES: Ints = np.concatenate((-_STEPS[::-1], [0], _STEPS))
LOWER: Floats = EDGES.astype(np.float64)
WIDTH: Floats = np.append(np.diff(LOWER), 1.0)
MIDDLE: Floats = LOWER + WIDTH / 2
BUCKETS = len(EDGES)


def count(delay_ms: Ints) -> Ints:
    """Return how many of the delays fall into each bucket; what lies outside all falls into the outermost.

    >>> counts = count(np.array([0, 1, 1, -4]))
    >>> [(int(EDGES[j]), int(counts[j])) for j in np.flatnonzero(counts)]
    [(-4, 1), (0, 1), (1, 2)]
    """
    bucket = np.searchsorted(EDGES, delay_ms, "right") - 1
    return np.bincount(np.maximum(bucket, 0), minlength=BUCKETS)


def beyond(counts: Ints | Floats) -> Floats:
    """Return, for each edge, how many delays lie at or above it."""
    tail: Floats = np.cumsum(counts[::-1], dtype=np.float64)[::-1]
    return tail


def in_flight(counts: Ints | Floats, span_ms: float) -> Floats:
    """Return, for each edge x, how many tuples are under way with a delay beyond x, x after their event.

    By Little's law that is the rate of such arrivals times the mean time beyond x, so the sum of (delay - x)+ over the
    arrivals of a span, divided by the span.
    """
    excess = np.cumsum((counts * MIDDLE)[::-1])[::-1] - LOWER * beyond(counts)
    flying: Floats = np.maximum(excess, 0.0) / span_ms
    return flying


def least(curve: Floats, allowance: float) -> float:
    """Return the smallest delay at which a falling curve over the edges is within the allowance.

    >>> least(beyond(count(np.arange(16))), 4.0)
    12.0
    """
    over = BUCKETS - int(np.searchsorted(curve[::-1], allowance, "right"))
    if not over:
        return float(LOWER[0])
    j = over - 1
    ahead = float(curve[over]) if over < BUCKETS else 0.0
    return float(LOWER[j] + WIDTH[j] * (curve[j] - allowance) / (curve[j] - ahead))


def pack(counts: Ints) -> str:
    """Return the counts as a short string, without loss: the bytes of one weight side by side compress well."""
    planes = counts.astype("<i8").view(np.uint8).reshape(-1, 8).T
    return base64.b85encode(zlib.compress(planes.tobytes(), 9)).decode()


def unpack(text: str) -> Ints:
    """Return the counts that `pack` wrote.

    >>> unpack(pack(np.array([0, 3, 0, 1 << 40]))).tolist()
    [0, 3, 0, 1099511627776]
    """
    planes = np.frombuffer(zlib.decompress(base64.b85decode(text)), np.uint8).reshape(8, -1)
    return np.ascontiguousarray(planes.T).view("<i8").ravel().astype(np.int64)
