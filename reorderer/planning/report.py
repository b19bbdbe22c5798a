"""A plan as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reorderer.planning.plan import Attempt, Plan, Point, Stream

_SHOWN = 10


def lines(plan: Plan) -> Iterator[str]:
    """Yield the lines of the report."""
    yield from _heading(plan.stream)
    yield ""
    yield "a constant slack, chosen in hindsight"
    yield from _table(("slack", "drops", "mean wait", "p99 wait", "max held"), map(_row, _thinned(plan.curve)))
    yield ""
    yield "the smallest constant slack for a bound"
    rows = [(percent(point.bound or 0.0), *_row(point)) for point in plan.bounds]
    yield from _table(("bound", "slack", "drops", "mean wait", "p99 wait", "max held"), rows)
    yield ""
    yield "what each estimator would have done, warm-up included (x: its mean wait as a multiple of hindsight's)"
    columns = ("bound", "estimator", "drops", "", "mean wait", "x", "p99 wait", "max held")
    least = {point.bound: point.measures.mean_wait_ms for point in plan.bounds}
    yield from _table(columns, [_attempt_row(attempt, least[attempt.bound]) for attempt in plan.attempts])
    for attempt in plan.attempts:
        if attempt.refused:
            yield f"  {attempt.estimator} at {percent(attempt.bound)}: {attempt.refused}"


def percent(ratio: float) -> str:
    """Return a share of one as people write it.

    >>> [percent(ratio) for ratio in (0.05, 0.01, 0.005, 0.0001, 0.012345, 0.0)]
    ['5 %', '1 %', '0.5 %', '0.01 %', '1.23 %', '0 %']
    """
    return f"{ratio * 100:.3g} %"


def duration(ms: float) -> str:
    """Return a duration as people write it.

    >>> [duration(ms) for ms in (0, 59.6, 1234, 90_000, 7_200_000, -20)]
    ['0 ms', '60 ms', '1.23 s', '90.0 s', '2.00 h', '-20 ms']
    """
    size = abs(ms)
    if size < 999.5:
        return f"{ms:.0f} ms"
    if size < 9_995:
        return f"{ms / 1_000:.2f} s"
    return f"{ms / 1_000:.1f} s" if size < 3_600_000 else f"{ms / 3_600_000:.2f} h"


def _heading(stream: Stream) -> Iterator[str]:
    over = f" in {stream.partitions} partitions" if stream.partitions > 1 else ""
    delays = (stream.least_delay_ms, stream.median_delay_ms, stream.largest_delay_ms)
    least, median, largest = map(duration, delays)
    yield f"{stream.source}: {stream.tuples:,} tuples{over} over {duration(stream.seconds * 1_000)}"
    yield (
        f"{percent(stream.out_of_order)} out of order; delays from {least} to {largest}, half of them below {median}"
    )
    if stream.dead or stream.future:
        yield f"left out: {stream.dead:,} unreadable, {stream.future:,} too far in the future"


def _row(point: Point) -> tuple[str, ...]:
    found = point.measures
    waits = duration(found.mean_wait_ms), duration(found.p99_wait_ms)
    return duration(point.slack_ms), percent(found.drop_ratio), *waits, f"{found.max_held:,}"


def _attempt_row(attempt: Attempt, least_ms: float) -> tuple[str, ...]:
    head = percent(attempt.bound), attempt.estimator
    found = attempt.measures
    if found is None:
        return (*head, "-", "refused", "-", "-", "-", "-")
    verdict = "kept" if found.within(attempt.bound) else "BROKEN"
    times = f"{found.mean_wait_ms / least_ms:.2f}" if least_ms > 0 else "-"
    waits = duration(found.mean_wait_ms), times, duration(found.p99_wait_ms)
    return (*head, percent(found.drop_ratio), verdict, *waits, f"{found.max_held:,}")


def _thinned(points: Sequence[Point]) -> list[Point]:
    """Return some of the points, the first and the last among them."""
    last = len(points) - 1
    chosen = {round(last * i / (_SHOWN - 1)) for i in range(_SHOWN)}
    return [point for i, point in enumerate(points) if i in chosen]


def _table(columns: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> Iterator[str]:
    cells = [columns, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for row in cells:
        yield "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
