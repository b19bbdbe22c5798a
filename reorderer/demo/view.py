"""What a person sees: a live table on a terminal, one line a second elsewhere, and the books at the end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from reorderer.demo.observation import Observation, PartitionView


@dataclass(frozen=True, slots=True)
class Moment:
    """An observation at a time: what the view draws."""

    seen: Observation
    stage: str
    elapsed_s: float
    now_ms: int
    raw_per_s: float
    clean_per_s: float


def live(moment: Moment) -> RenderableType:
    """Return the live picture: a row a partition, the rates, the newest results."""
    rates = f"raw {moment.raw_per_s:,.0f}/s → clean {moment.clean_per_s:,.0f}/s"
    title = f"[bold]{moment.stage}[/]   {moment.elapsed_s:.0f} s   {rates}"
    return Panel(Group(_partitions(moment), Text(), _results(moment.seen)), title=title, title_align="left")


def plain(moment: Moment) -> str:
    """Return the same in one line."""
    seen, totals = moment.seen, moment.seen.totals
    lag = "-" if seen.clean_until_ms is None else f"{(moment.now_ms - seen.clean_until_ms) / 1000:.1f} s"
    return (
        f"{moment.elapsed_s:5.1f} s  {moment.stage}: raw {totals.raw:,} ({moment.raw_per_s:,.0f}/s), "
        f"clean {totals.clean:,}, late {totals.late:,} ({_quality(seen)}), dead {totals.dead:,}, "
        f"in flight {totals.in_flight:,}, slack {_slack(seen)}, frontier {lag} behind, results {seen.result_count:,}"
    )


def summary(seen: Observation, held: int, names: dict[str, str]) -> RenderableType:
    """Return the books: what came in, where it went, what was promised, and where to look next."""
    totals = seen.totals
    books = Table(title="the books", title_justify="left", show_header=False, box=None, padding=(0, 2))
    for label, count in (
        ("tuples in", totals.raw),
        ("clean", totals.clean),
        ("late", totals.late),
        ("dead", totals.dead),
        ("held", held),
    ):
        books.add_row(label, f"{count:>10,}")
    books.add_row("balance", verdict(totals, held))
    books.add_row("drop ratio", _quality(seen))
    books.add_row(f"results of {seen.output}", f"{seen.result_count:,}")
    where = Table(title="where to look next", title_justify="left", show_header=False, box=None, padding=(0, 2))
    for label, place in names.items():
        where.add_row(label, place)
    return Group(books, Text(), where)


def balanced(totals: PartitionView, held: int) -> bool:
    """True if every tuple is in exactly one place."""
    return totals.raw == totals.clean + totals.late + totals.dead + held


def verdict(totals: PartitionView, held: int) -> str:
    """Say whether the books balance.

    >>> verdict(PartitionView(raw=10, clean=8, late=1), held=1)
    '10 = 8 + 1 + 0 + 1: balanced'
    >>> verdict(PartitionView(raw=10, clean=8, late=1), held=0)
    '10 ≠ 8 + 1 + 0 + 0: NOT balanced'
    """
    same = balanced(totals, held)
    sides = f"{totals.clean:,} + {totals.late:,} + {totals.dead:,} + {held:,}"
    return f"{totals.raw:,} {'=' if same else '≠'} {sides}: {'balanced' if same else 'NOT balanced'}"


def _partitions(moment: Moment) -> Table:
    table = Table(box=None, padding=(0, 2))
    for heading in (
        "partition",
        "raw",
        "clean",
        "late",
        "dead",
        "in flight",
        "slack",
        "frontier behind",
        "drop ratio / bound",
    ):
        table.add_column(heading, justify="left" if heading == "partition" else "right")
    for number, view in enumerate(moment.seen.views):
        said = view.punctuation or {}
        table.add_row(
            str(number),
            *(f"{count:,}" for count in (view.raw, view.clean, view.late, view.dead, view.in_flight)),
            _duration(said.get("slack_ms")),
            _duration(moment.now_ms - said["until"]) if said else "-",
            _ratio(said),
        )
    return table


def _results(seen: Observation) -> Table:
    table = Table(
        title=f"newest of {seen.result_count:,} results ({seen.output})", title_justify="left", box=None, padding=(0, 2)
    )
    columns = [name for name in (seen.results[-1] if seen.results else {}) if name != "at"]
    for heading in ("at", *columns):
        table.add_column(heading)
    for row in list(seen.results)[::-1]:
        table.add_row(clock(row["at"]), *(_cell(row.get(name)) for name in columns))
    return table


def clock(at_ms: int) -> str:
    """Return an instant as a time of day.

    >>> clock(1_700_000_000_123)
    '22:13:20.123'
    """
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%H:%M:%S.%f")[:-3]


def _cell(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _duration(ms: int | None) -> str:
    return "-" if ms is None else f"{ms / 1000:.2f} s"


def _ratio(said: dict[str, Any]) -> str:
    if said.get("drop_ratio") is None:
        return "-"
    bound = said.get("bound")
    return f"{said['drop_ratio']:.3%} / {'none' if bound is None else format(bound, '.2%')}"


def _quality(seen: Observation) -> str:
    bounds = {view.punctuation["bound"] for view in seen.views if view.punctuation is not None} - {None}
    promised = f"promised {max(bounds):.2%}" if bounds else "no bound"
    return f"{seen.drop_ratio:.3%}, {promised}"


def _slack(seen: Observation) -> str:
    slacks = [view.punctuation["slack_ms"] for view in seen.views if view.punctuation is not None]
    known = [slack for slack in slacks if slack is not None]
    return _duration(max(known)) if known else "-"
