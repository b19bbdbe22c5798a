"""The streams of the papers' experiments, and some that are hard in other ways: whole, seeded, in arrival order.

Tuples are made by a Poisson process of `rate` a second (paper 002, section 3.1); a stream differs from the others in
the delays it draws. A delay below zero is kept where it says so: such a tuple carries a time ahead of its arrival.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from reorderer.delays import Ints, Slice
from reorderer.errors import UsageError

Floats = NDArray[np.float64]
START_MS = 1_700_000_000_000
DEVICES = 100
_MOST_MS = 1e12


def constant(
    rng: np.random.Generator, event_ms: Floats, *, mu: float = 3_000.0, sigma: float = 1_000.0, clip: float = 0.0
) -> Floats:
    """Normal delays that never change (002, figure 6a); negative ones are kept unless `clip` is 1."""
    delay_ms = rng.normal(mu, sigma, len(event_ms))
    return np.maximum(delay_ms, 0.0) if clip else delay_ms


def changing(
    rng: np.random.Generator, event_ms: Floats, *, mu_max: float = 6_000.0, sigma_max: float = 5_000.0
) -> Floats:
    """Normal delays, not below zero, with mean and deviation drawn anew every 1, 3 or 5 s (002, section 4)."""
    drawn = int(event_ms[-1] // 1_000) + 2
    ends_ms = np.cumsum(rng.choice([1_000.0, 3_000.0, 5_000.0], drawn))
    which = np.searchsorted(ends_ms, event_ms, "right")
    mu, sigma = rng.uniform(0, mu_max, drawn)[which], rng.uniform(0, sigma_max, drawn)[which]
    return np.maximum(rng.normal(mu, sigma), 0.0)


def pareto(rng: np.random.Generator, event_ms: Floats, *, scale: float = 100.0, alpha: float = 1.5) -> Floats:
    """Pareto delays: P(delay > x) = (scale / x)^alpha from `scale` on. Some tuples come after hours."""
    return scale * (1.0 - rng.random(len(event_ms))) ** (-1.0 / alpha)


def mixture(
    rng: np.random.Generator,
    event_ms: Floats,
    *,
    mu: float = 500.0,
    sigma: float = 100.0,
    rare: float = 0.002,
    rare_mu: float = 15_000.0,
    rare_sigma: float = 3_000.0,
) -> Floats:
    """Short normal delays, and a share `rare` of very long ones."""
    is_rare = rng.random(len(event_ms)) < rare
    delay_ms = np.where(is_rare, rng.normal(rare_mu, rare_sigma, len(event_ms)), rng.normal(mu, sigma, len(event_ms)))
    return np.maximum(delay_ms, 0.0)


def regime(
    rng: np.random.Generator,
    event_ms: Floats,
    *,
    mu: float = 1_000.0,
    sigma: float = 300.0,
    mu_after: float = 4_000.0,
    sigma_after: float = 300.0,
    at: float = 0.5,
) -> Floats:
    """Normal delays, not below zero, that change once and for good after the share `at` of the tuples."""
    after = np.arange(len(event_ms)) >= at * len(event_ms)
    return np.maximum(rng.normal(np.where(after, mu_after, mu), np.where(after, sigma_after, sigma)), 0.0)


def burst(
    rng: np.random.Generator,
    event_ms: Floats,
    *,
    mu: float = 300.0,
    sigma: float = 60.0,
    every: float = 5_000.0,
    length: float = 400.0,
    share: float = 1.0,
) -> Floats:
    """Now and then a link stalls: the share of tuples that uses it arrives together when it is free again."""
    delay_ms = np.maximum(rng.normal(mu, sigma, len(event_ms)), 0.0)
    begin_ms = rng.exponential(every)
    while begin_ms < event_ms[-1]:
        end_ms = begin_ms + rng.exponential(length)
        first, last = np.searchsorted(event_ms, [begin_ms, end_ms])
        stalled = rng.random(last - first) < share
        delay_ms[first:last] += np.where(stalled, end_ms - event_ms[first:last], 0.0)
        begin_ms = end_ms + rng.exponential(every)
    return delay_ms


def daily_dump(
    rng: np.random.Generator,
    event_ms: Floats,
    *,
    mu: float = 300.0,
    sigma: float = 60.0,
    period: float = 20_000.0,
    share: float = 0.001,
) -> Floats:
    """A share of the tuples is kept by its devices and uploaded at once at the end of each period."""
    kept = rng.random(len(event_ms)) < share
    until_ms = (np.floor(event_ms / period) + 1) * period - event_ms
    usual_ms = np.maximum(rng.normal(mu, sigma, len(event_ms)), 0.0)
    return np.where(kept, until_ms, 0.0) + usual_ms


STREAMS: dict[str, Callable[..., Floats]] = {
    "constant": constant,
    "changing": changing,
    "pareto": pareto,
    "mixture": mixture,
    "regime": regime,
    "burst": burst,
    "daily-dump": daily_dump,
}
"""Each draws the delays of tuples made at given milliseconds since the start, increasing."""


def parameters(name: str) -> dict[str, float]:
    """Return what can be set of a stream, with the defaults.

    >>> parameters("pareto")
    {'scale': 100.0, 'alpha': 1.5}
    """
    if name not in STREAMS:
        near = difflib.get_close_matches(name, STREAMS, 1)
        raise UsageError(
            f"unknown stream {name!r}", hint=f"did you mean {near[0]!r}?" if near else f"one of {', '.join(STREAMS)}"
        )
    return {
        parameter.name: parameter.default
        for parameter in inspect.signature(STREAMS[name]).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


def make(
    name: str,
    *,
    seed: int,
    tuples: int = 1_000_000,
    rate: float = 10_000.0,
    start_ms: int = START_MS,
    settings: Mapping[str, float] | None = None,
) -> Slice:
    """Return the stream, in arrival order; the same arguments give the same tuples.

    >>> stream = make("regime", seed=1, tuples=1000, rate=100)
    >>> len(stream), bool((stream.arrival_ms[1:] >= stream.arrival_ms[:-1]).all())
    (1000, True)
    """
    settings = settings or {}
    _check(name, tuples, rate, settings)
    rng = np.random.default_rng(seed)
    event_ms = np.cumsum(rng.exponential(1_000.0 / rate, tuples))
    delay_ms = np.clip(STREAMS[name](rng, event_ms, **settings), -_MOST_MS, _MOST_MS)
    device, seq = _number(rng, tuples)
    ts_ms = start_ms + np.rint(event_ms).astype(np.int64)
    arrival_ms = start_ms + np.rint(event_ms + delay_ms).astype(np.int64)
    order = np.argsort(arrival_ms, kind="stable")
    return Slice(ts_ms, arrival_ms, device, seq).take(order)


def slices(stream: Slice, size: int = 50_000) -> Iterator[Slice]:
    """Yield the stream piece by piece."""
    for begin in range(0, len(stream), size):
        yield stream.take(slice(begin, begin + size))


def readings(tuples: Slice) -> list[bytes]:
    """Return the tuples as values of records: JSON with device, seq and ts."""
    rows = zip(tuples.device.tolist(), tuples.seq.tolist(), tuples.ts_ms.tolist(), strict=True)
    return [b'{"device":%d,"seq":%d,"ts":%d}' % row for row in rows]


def settings_of(texts: Sequence[str]) -> dict[str, float]:
    """Return parameters written as NAME=VALUE.

    >>> settings_of(["alpha=1.2", "scale=50"])
    {'alpha': 1.2, 'scale': 50.0}
    """
    settings = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            settings[name.strip()] = float(value)
        except ValueError:
            raise UsageError(f"bad parameter {text!r}", hint="write NAME=VALUE, such as alpha=1.2") from None
    return settings


def _check(name: str, tuples: int, rate: float, settings: Mapping[str, float]) -> None:
    known = parameters(name)
    for setting, value in settings.items():
        if setting not in known:
            raise UsageError(f"the stream {name!r} has no parameter {setting!r}", hint=f"it has {', '.join(known)}")
        if not -_MOST_MS < value < _MOST_MS:
            raise UsageError(f"bad value {value!r} for {setting!r}")
        if value < 0 and not setting.startswith("mu"):
            raise UsageError(f"{setting!r} is {value!r}", hint="it cannot be negative")
        if value == 0 and setting in ("alpha", "scale", "every", "length", "period"):
            raise UsageError(f"{setting!r} is 0", hint="it must be positive")
    if tuples < 1 or not 0 < rate < 1e9:
        raise UsageError(f"a stream of {tuples!r} tuples at {rate!r} a second", hint="both must be positive")


def _number(rng: np.random.Generator, tuples: int) -> tuple[Ints, Ints]:
    """Return a device for each tuple, and its number among the tuples of that device."""
    device = rng.integers(0, DEVICES, tuples)
    order = np.argsort(device, kind="stable")
    firsts = np.searchsorted(device[order], np.arange(DEVICES))
    seq = np.empty(tuples, np.int64)
    seq[order] = np.arange(tuples) - firsts[device[order]]
    return device, seq
