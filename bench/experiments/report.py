"""Tables and pictures of the experiments."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.experiments.papers import Experiment, percent
from bench.experiments.runs import Case, Result

COLUMNS = (
    "x",
    "series",
    "bound",
    "runs",
    "kept",
    "drop_ratio",
    "used",
    "early",
    "mean_held",
    "mean_wait_ms",
    "wait_ratio",
)
LABELS = {
    "drop_ratio": "dropped (%)",
    "used": "drops / allowed",
    "mean_held": "buffer (tuples, mean)",
    "mean_wait_ms": "mean wait (ms)",
    "wait_ratio": "mean wait / hindsight",
}
MARKERS = "osD^vP*Xh"


@dataclass(frozen=True)
class Row:
    """The runs of one place in a figure, averaged; `kept` counts those within the bound."""

    x: float | str
    series: str
    bound: float
    runs: int
    kept: int
    drop_ratio: float
    used: float
    early: float
    mean_held: float
    mean_wait_ms: float
    wait_ratio: float


def rows(experiment: Experiment, results: Mapping[Case, Result]) -> list[Row]:
    """Return a row for each place, in the order of the entries."""
    places: dict[tuple[float | str, str, float], list[Result]] = {}
    for entry in experiment.entries:
        places.setdefault((entry.x, entry.series, entry.case.bound), []).append(results[entry.case])
    return [
        Row(
            *place,
            len(found),
            sum(one.kept for one in found),
            fmean(one.drop_ratio for one in found),
            fmean(one.used for one in found),
            fmean(one.early for one in found),
            fmean(one.mean_held for one in found),
            fmean(one.mean_wait_ms for one in found),
            fmean(one.wait_ratio for one in found),
        )
        for place, found in places.items()
    ]


def write_csv(path: Path, table: list[Row]) -> None:
    """Write the table with all its digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([getattr(row, column) for column in COLUMNS] for row in table)


def markdown(experiment: Experiment, table: list[Row]) -> Iterator[str]:
    """Yield the lines of a section: heading, picture, table, one line a series."""
    yield from (f"## {experiment.title}", f"![{experiment.title}]({experiment.name}.png)", "")
    yield f"| {experiment.x_label} | estimator | bound | kept | dropped | early | buffer | mean wait | x hindsight |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in table:
        wait = _number(row.mean_wait_ms, ",.0f", " ms")
        kept = f"{row.kept} of {row.runs}" if row.kept == row.runs else f"**{row.kept} of {row.runs}**"
        cells = (
            _cell(row.x),
            row.series,
            percent(row.bound),
            kept,
            f"{100 * row.drop_ratio:.3f} %",
            f"{100 * row.early:.0f} %",
        )
        yield "| " + " | ".join((*cells, f"{row.mean_held:,.0f}", wait, _number(row.wait_ratio, ".2f"))) + " |"
    yield ""
    yield f"All digits: [{experiment.name}.csv]({experiment.name}.csv)"
    yield ""
    yield from summary(table)


def summary(table: list[Row]) -> Iterator[str]:
    """Yield a line for each series: how often the bound was kept, and the means."""
    for series in dict.fromkeys(row.series for row in table):
        mine = [row for row in table if row.series == series]
        kept, runs = sum(row.kept for row in mine), sum(row.runs for row in mine)
        waits = [row.wait_ratio for row in mine if not math.isnan(row.wait_ratio)]
        wait = f", wait {fmean(waits):.2f} x hindsight" if waits else ""
        drops, held = 100 * fmean(row.drop_ratio for row in mine), fmean(row.mean_held for row in mine)
        yield f"- {series}: bound kept in {kept} of {runs}; mean {drops:.3f} % dropped, {held:,.0f} tuples held{wait}"
    yield ""


def draw(path: Path, experiment: Experiment, table: list[Row]) -> None:
    """Write the picture: a panel for each result shown."""
    figure = Figure(figsize=(5.2 * len(experiment.shown), 4), layout="constrained")
    for axes, shown in zip(figure.subplots(1, len(experiment.shown), squeeze=False)[0], experiment.shown, strict=True):
        _panel(axes, shown, experiment, table)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize="small")
    figure.suptitle(experiment.title)
    figure.savefig(path, dpi=80, metadata={"Software": None})


def _panel(axes: Axes, shown: str, experiment: Experiment, table: list[Row]) -> None:
    xs = list(dict.fromkeys(row.x for row in table))
    named = any(isinstance(x, str) for x in xs)
    scale = 100 if shown == "drop_ratio" else 1
    for series, marker in zip(dict.fromkeys(row.series for row in table), MARKERS, strict=False):
        mine = [row for row in table if row.series == series]
        places = [xs.index(row.x) if named else row.x for row in mine]
        values = [scale * getattr(row, shown) for row in mine]
        axes.plot(places, values, marker=marker, markersize=4, linewidth=0.0 if named else 0.9, label=series)
    axes.set(xlabel=experiment.x_label, ylabel=LABELS[shown])
    if named:
        axes.set_xticks(range(len(xs)), [str(x) for x in xs], rotation=90, fontsize=7)
    elif experiment.log_x:
        axes.set_xscale("log")
    if shown == "used":
        axes.axhline(1, color="black", linestyle=":", linewidth=0.9)
        axes.set_yscale("symlog", linthresh=0.1)
        axes.set_ylim(bottom=0)
    elif shown == "wait_ratio":
        axes.axhline(1, color="black", linestyle=":", linewidth=0.9)
        axes.set_yscale("log")


def _cell(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:g}"


def _number(value: float, form: str, unit: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:{form}}{unit}"
