"""What is run: the papers' figures, each with `budget` added, then the streams that the papers did not try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.experiments.runs import Case, Settings, Source
from reorderer.core.estimators import ESTIMATORS

BOUNDS = (0.01, 0.005, 0.001)
LAMBDA = 10_000
LONGEST: Settings = (("w", 1_000_000),)
"""maxdelay whose second largest delay is that of all time: as good as the maximum so far."""


@dataclass(frozen=True)
class Entry:
    """A run and where it stands in a figure; runs of the same place are averaged."""

    series: str
    x: float | str
    case: Case


@dataclass(frozen=True)
class Experiment:
    """A figure: what is along x, and which results are drawn."""

    name: str
    title: str
    x_label: str
    entries: list[Entry]
    shown: tuple[str, ...]
    log_x: bool = False


@dataclass(frozen=True)
class Size:
    """How much is run."""

    tuples: int
    seconds: int
    seeds: int
    sigmas: tuple[int, ...]
    data_sets: int


FULL = Size(tuples=1_000_000, seconds=1_800, seeds=5, sigmas=(1, 2, 3, 4, 5), data_sets=20)
QUICK = Size(tuples=5_000, seconds=60, seeds=1, sigmas=(1,), data_sets=2)


def experiments(size: Size, recorded: Sequence[Path]) -> list[Experiment]:
    """Return all of them, in the order of the report."""
    return [
        adaptive_against_adhoc(size),
        window_of_maxdelay(size),
        drops_over_constant(size),
        drops_over_changing(size),
        buffers_over_constant(size),
        buffers_over_changing(size),
        data_sets(size),
        lengths(size),
        early_disorder(size),
        beyond(size, recorded),
    ]


def percent(bound: float) -> str:
    return f"{bound * 100:g} %"


def adaptive_against_adhoc(size: Size) -> Experiment:
    """000, figure 5."""
    entries = [
        Entry(name, 100 * bound, Case(_sensors(seed, size, 20), name, bound))
        for bound in (0.15, 0.1, 0.05, 0.025, 0.01)
        for name in ("vseq", "adhoc", "budget")
        for seed in range(size.seeds)
    ]
    title = "000, figure 5: adaptive (vseq) against ad hoc, 20 sensors"
    return Experiment("000-figure-5", title, "DRATIO (%)", entries, ("drop_ratio", "mean_held", "mean_wait_ms"))


def window_of_maxdelay(size: Size) -> Experiment:
    """002, figure 5."""
    entries = [
        Entry("maxdelay", w, Case(_changing(seed, size), "maxdelay", 0.01, (("w", w),)))
        for w in (10, 100, 1_000, 10_000, 100_000)
        for seed in range(size.seeds)
    ]
    entries += [
        Entry("budget, D = 1 %", w, Case(_changing(seed, size), "budget", 0.01))
        for w in (10, 100_000)
        for seed in range(size.seeds)
    ]
    title = "002, figure 5: the parameter W of maxdelay, changing streams"
    return Experiment("002-figure-5", title, "W (tuples)", entries, ("mean_held", "drop_ratio"), log_x=True)


def drops_over_constant(size: Size) -> Experiment:
    """002, figure 6 a."""
    entries = [
        Entry(f"{name}, D = {percent(bound)}", sigma, Case(_constant(sigma, size), name, bound))
        for name in ("sampled", "budget")
        for bound in BOUNDS
        for sigma in size.sigmas
    ]
    title = "002, figure 6 a: drops over constant streams"
    return Experiment("002-figure-6a", title, "sigma (s)", entries, ("used", "wait_ratio"))


def drops_over_changing(size: Size) -> Experiment:
    """002, figure 6 b."""
    entries = [
        Entry(name, 100 * bound, Case(_changing(seed, size), name, bound))
        for name in ("sampled", "hybrid", "budget")
        for bound in BOUNDS
        for seed in range(size.seeds)
    ]
    title = "002, figure 6 b: drops over changing streams"
    return Experiment("002-figure-6b", title, "D (%)", entries, ("drop_ratio", "used", "wait_ratio"))


def buffers_over_constant(size: Size) -> Experiment:
    """002, figure 7 a."""
    entries = [
        Entry(name, sigma, Case(_constant(sigma, size), name, 0.001, options))
        for name, options in _for_figure_7()
        for sigma in size.sigmas
    ]
    title = "002, figure 7 a: buffers over constant streams, D = 0.1 %"
    return Experiment("002-figure-7a", title, "sigma (s)", entries, ("mean_held", "used"))


def buffers_over_changing(size: Size) -> Experiment:
    """002, figure 7 b."""
    entries = [
        Entry(name, f"seed {seed}", Case(_changing(seed, size), name, 0.001, options))
        for name, options in _for_figure_7()
        for seed in range(size.seeds)
    ]
    title = "002, figure 7 b: buffers over changing streams, D = 0.1 %"
    return Experiment("002-figure-7b", title, "stream", entries, ("mean_held", "used"))


def data_sets(size: Size) -> Experiment:
    """003, figure 7."""
    sources = [_sensors(100 + i, size, 16 + i % 5) for i in range(size.data_sets)]
    entries = [
        Entry(_label(name, options), f"{16 + i % 5}/{i // 5}", Case(source, name, 0.01, options))
        for name, options in (("vseq", ()), ("maxdelay", LONGEST), ("maxdelay", ()), ("budget", ()))
        for i, source in enumerate(sources)
    ]
    title = "003, figure 7: twenty data sets of 16 to 20 sensors, DRATIO 1 %"
    return Experiment("003-figure-7", title, "sensors/set", entries, ("drop_ratio", "mean_held", "mean_wait_ms"))


def lengths(size: Size) -> Experiment:
    """003, figure 7, with data sets of other lengths: the paper does not tell its own."""
    entries = [
        Entry(
            _label(name, options),
            seconds,
            Case(_sensors(100 + i, size, 16 + i % 5, seconds=seconds), name, 0.01, options),
        )
        for name, options in (("vseq", ()), ("maxdelay", LONGEST), ("maxdelay", ()), ("budget", ()))
        for seconds in (30, 60, 120, 300, 600, 1_800)
        for i in range(size.data_sets)
    ]
    title = "003, figure 7, by length of the data sets, DRATIO 1 %"
    return Experiment("003-figure-7-lengths", title, "length (s)", entries, ("drop_ratio", "mean_held"), log_x=True)


def early_disorder(size: Size) -> Experiment:
    """003, figure 8."""
    entries = [
        Entry(_label(name, options), early, Case(_sensors(200, size, 20, 1_000.0 * early), name, 0.01, options))
        for name, options in (("vseq", ()), ("maxdelay", LONGEST), ("maxdelay", ()), ("budget", ()))
        for early in (0, 1, 2, 5, 10, 20)
    ]
    title = "003, figure 8: large disorder at an early stage, DRATIO 1 %"
    return Experiment("003-figure-8", title, "disorder (s)", entries, ("mean_held", "mean_wait_ms", "drop_ratio"))


def beyond(size: Size, recorded: Sequence[Path]) -> Experiment:
    """Every estimator where delays are not normal."""
    sources = {
        "pareto 1.2": Source("pareto", 1, size.tuples, (("alpha", 1.2),)),
        "pareto 1.8": Source("pareto", 1, size.tuples, (("alpha", 1.8),)),
        **{path.stem: Source(str(path)) for path in recorded},
    }
    entries = [
        Entry(name, f"{label}, {percent(bound)}", Case(source, name, bound))
        for label, source in sources.items()
        for bound in BOUNDS
        for name in ESTIMATORS
    ]
    title = "Beyond the papers: Pareto delays and recorded traces"
    return Experiment("beyond", title, "stream, D", entries, ("used", "wait_ratio"))


def _for_figure_7() -> tuple[tuple[str, Settings], ...]:
    return ("sampled", ()), ("maxdelay", (("w", LAMBDA),)), ("budget", ())


def _label(name: str, options: Settings) -> str:
    return "largest delay" if options == LONGEST else name


def _constant(sigma: int, size: Size) -> Source:
    return Source("constant", sigma, size.tuples, (("sigma", 1_000.0 * sigma),))


def _changing(seed: int, size: Size) -> Source:
    return Source("changing", seed, size.tuples)


def _sensors(seed: int, size: Size, count: int, early: float = 0.0, seconds: int | None = None) -> Source:
    return Source(
        "sensors", seed, min(seconds or size.seconds, size.seconds) * count, (("count", count), ("early", early))
    )
