"""Delays of a network, and the disorder they make: tuples are made in event time and come out in arrival order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reorderer.errors import UsageError

Ints = NDArray[np.int64]

_PARAMETERS: dict[str, tuple[str, ...]] = {
    "none": (),
    "normal": ("MU", "SIGMA"),
    "exponential": ("MEAN",),
    "pareto": ("SCALE", "ALPHA"),
}


@dataclass(frozen=True, slots=True)
class Slice:
    """Some tuples, one entry of each array a tuple; `seq` numbers the tuples of one device from 0."""

    ts_ms: Ints
    arrival_ms: Ints
    device: Ints
    seq: Ints

    def __len__(self) -> int:
        return len(self.ts_ms)

    def take(self, which: slice | NDArray[np.bool_] | NDArray[np.intp]) -> Slice:
        """Return the chosen tuples, in the chosen order."""
        return Slice(self.ts_ms[which], self.arrival_ms[which], self.device[which], self.seq[which])


@dataclass(frozen=True, slots=True)
class Delay:
    """A distribution of network delays in milliseconds; a draw below zero counts as zero.

    >>> Delay.parse("normal:500,100")
    Delay(kind='normal', parameters=(500.0, 100.0))
    >>> Delay.parse("none").draw(3, np.random.default_rng(1)).tolist()
    [0, 0, 0]
    """

    kind: Literal["none", "normal", "exponential", "pareto"]
    parameters: tuple[float, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Delay:
        """Return the distribution written as `normal:MU,SIGMA`, `exponential:MEAN`, `pareto:SCALE,ALPHA` or `none`."""
        kind, _, rest = text.partition(":")
        if kind not in _PARAMETERS:
            raise UsageError(f"unknown delay {text!r}", hint=f"one of {', '.join(map(_form, _PARAMETERS))}")
        try:
            numbers = tuple(float(part) for part in rest.split(",") if part)
        except ValueError:
            numbers = ()
        unfit = len(numbers) != len(_PARAMETERS[kind]) or not all(0 <= number < 1e12 for number in numbers)
        if unfit or (kind == "pareto" and numbers[1] == 0):
            raise UsageError(f"bad parameters in delay {text!r}", hint=f"write {_form(kind)}, in milliseconds")
        return cls(kind, numbers)  # type: ignore[arg-type]  # a key of _PARAMETERS is one of the literals

    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """Return `n` delays, whole milliseconds."""
        match self.kind, self.parameters:
            case "normal", (mu, sigma):
                delay = rng.normal(mu, sigma, n)
            case "exponential", (mean,):
                delay = rng.exponential(mean, n)
            case "pareto", (scale, alpha):
                delay = scale * (1 + rng.pareto(alpha, n))
            case _:
                delay = np.zeros(n)
        whole: Ints = np.clip(delay, 0, 1e12).astype(np.int64)
        return whole


def _form(kind: str) -> str:
    return ":".join(filter(None, (kind, ",".join(_PARAMETERS[kind]))))


def delayed(made: Iterable[tuple[int, Slice]], delay: Delay, rng: np.random.Generator) -> Iterator[Slice]:
    """Yield the tuples in arrival order.

    `made` gives slots of event time in order: (the end of the slot, the tuples made in it). What arrives after
    the end of its slot waits for a later one; equal arrivals stay in the order of event time and making.
    """
    waiting = _empty()
    for end_ms, tuples in made:
        arrival_ms = tuples.ts_ms + delay.draw(len(tuples), rng)
        sent = Slice(tuples.ts_ms, arrival_ms, tuples.device, tuples.seq)
        waiting = _join(waiting, sent)
        here = waiting.arrival_ms < end_ms
        yield _by_arrival(waiting.take(here))
        waiting = waiting.take(~here)
    yield _by_arrival(waiting)


def _empty() -> Slice:
    none = np.empty(0, dtype=np.int64)
    return Slice(none, none, none, none)


def _join(first: Slice, second: Slice) -> Slice:
    return Slice(
        np.concatenate((first.ts_ms, second.ts_ms)),
        np.concatenate((first.arrival_ms, second.arrival_ms)),
        np.concatenate((first.device, second.device)),
        np.concatenate((first.seq, second.seq)),
    )


def _by_arrival(tuples: Slice) -> Slice:
    return tuples.take(np.lexsort((tuples.ts_ms, tuples.arrival_ms)))
