"""A plan as a picture: drops against waiting."""

from __future__ import annotations

from pathlib import Path

from reorderer.errors import SetupError, UsageError
from reorderer.planning.plan import Plan
from reorderer.planning.report import percent

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
except ImportError as error:
    raise SetupError("matplotlib is not installed", hint="pip install reorderer[plot]") from error

MARKERS = "osD^vP*Xh"


def check(path: Path) -> None:
    """Refuse a path that no picture can be written to, before any work is done for it."""
    if path.suffix.removeprefix(".") not in Figure().canvas.get_supported_filetypes():
        raise UsageError(f"cannot write {str(path)!r} as a picture", hint="name it .png, .svg or .pdf")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {str(path)!r}", hint=f"there is no folder {str(path.parent)!r}")


def save(plan: Plan, path: Path) -> None:
    """Write the picture in the format of the file's suffix."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    _draw(plan, figure.add_subplot())
    try:
        figure.savefig(path, dpi=110)
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror}") from error


def _draw(plan: Plan, axes: Axes) -> None:
    none = 0.5 / plan.stream.tuples  # where "none" stands on a logarithmic axis
    waits = [max(point.measures.mean_wait_ms, 1.0) for point in plan.curve]
    drops = [max(point.measures.drop_ratio, none) for point in plan.curve]
    axes.plot(waits, drops, color="black", label="constant slack, in hindsight")
    for name, marker in zip(dict.fromkeys(attempt.estimator for attempt in plan.attempts), MARKERS, strict=False):
        tried = [a.measures for a in plan.attempts if a.estimator == name and a.measures is not None]
        axes.plot(
            [max(found.mean_wait_ms, 1.0) for found in tried],
            [max(found.drop_ratio, none) for found in tried],
            marker=marker,
            linewidth=0.6,
            label=name,
        )
    for point in plan.bounds:
        axes.axhline(max(point.bound or 0.0, none), color="grey", linestyle=":", linewidth=0.8)
        axes.annotate(
            percent(point.bound or 0.0), (1.01, max(point.bound or 0.0, none)), xycoords=("axes fraction", "data")
        )
    axes.set(
        xlabel="mean wait (ms)",
        ylabel="share of tuples dropped",
        yscale="log",
        xscale="log",
        title=f"{plan.stream.source}: {plan.stream.tuples:,} tuples",
    )
    axes.legend(fontsize="small", loc="lower left")
