"""The evaluator: a plan over in-memory sequences gives snapshots or lifetimes, one function a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from spark_jobs.csql.edges import Monotonicity, edge
from spark_jobs.csql.plan import (
    Aggregate,
    Distinct,
    Frequency,
    Join,
    Minus,
    Partition,
    Plan,
    Project,
    Scan,
    Select,
    Span,
    Window,
)
from spark_jobs.csql.reference import continuous, panes, snapshots, windows
from spark_jobs.csql.reference.relational import projected
from spark_jobs.csql.reference.rows import Lives, Result, Row, Snapshot, Snapshots, Timed, as_sequence, timed_rows
from spark_jobs.csql.reference.values import is_true
from spark_jobs.errors import QueryError


@dataclass
class Evaluator:
    """Evaluates plans over the rows of streams, up to and including the last timestamp of all inputs.

    `inputs` holds each stream's rows under its name, records by ("", column). `ignored` counts positives whose key
    was alive (004, 2.2); `work` counts what the rewrites save.
    """

    inputs: Mapping[str, Result]
    end_ms: int
    ignored: int = 0
    work: Counter[str] = field(default_factory=Counter)

    def evaluate(self, plan: Plan) -> Result:
        """Return the result of the plan; on class-4 edges a positive whose key is alive is ignored."""
        result = self._node(plan)
        if isinstance(result, Lives) and isinstance(plan, Window | Aggregate | Join | Distinct | Minus):
            self.work["evaluations"] += len(result.items)
        if isinstance(result, Lives) and edge(plan).monotonicity is Monotonicity.STRICT:
            result, ignored = continuous.admit(result)
            self.ignored += ignored
        return result

    def _node(self, plan: Plan) -> Result:
        match plan:
            case Scan():
                return self._scan(plan)
            case Select():
                return _filtered(plan, self.evaluate(plan.child))
            case Project():
                return _projection(plan, self.evaluate(plan.child))
            case Window():
                return self._window(plan)
            case Frequency(of="rows"):
                return self._sample(plan)
            case Frequency():
                return self._jump(plan)
            case Partition():
                return self.evaluate(plan.child)
            case Aggregate():
                return self._aggregate(plan)
            case Join():
                return self._join(plan)
            case Distinct():
                below = self.evaluate(plan.child)
                return continuous.distinct_lives(below) if isinstance(below, Lives) else snapshots.distinct(below)
            case Minus():
                return self._minus(plan)
            case _:
                assert_never(plan)

    def _scan(self, plan: Scan) -> Result:
        rows = self.inputs[plan.stream.name]

        def renamed(row: Row) -> Row:
            return replace(row, record={(plan.alias, name): value for (_, name), value in row.record.items()})

        return _mapped(rows, renamed)

    def _window(self, plan: Window) -> Result:
        substreams = self._substreams(plan.child)
        self.work["tuples"] += sum(map(len, substreams))
        lives = [windows.lifetimes(rows, plan.length).items for rows in substreams]
        return Lives(tuple(life for items in lives for life in items))

    def _jump(self, plan: Frequency) -> Result:
        """F over sets (001, 4.4), substream by substream."""
        if not isinstance(plan.child, Window):
            return self._jump_over(plan)
        found = [self._jumps(plan, plan.child.length, rows) for rows in self._substreams(plan.child.child)]
        snapshots = tuple(snapshot for each in found for snapshot in each.items)
        self.work["evaluations"] += len(snapshots)
        return Snapshots(snapshots)

    def _jumps(self, plan: Frequency, length: Span, rows: list[Timed]) -> Snapshots:
        """The snapshots of one substream."""
        every, origin_ms, end_ms = plan.every.amount, plan.origin_ms, self.end_ms
        if plan.drop_unseen:
            rows = windows.seen(rows, length, plan.every, origin_ms)
        self.work["tuples"] += len(rows)
        if plan.of == "picks":
            return windows.jump_at_picks(rows, length.amount, every, origin_ms, end_ms)
        if plan.every.unit == "tuples":
            if plan.drop_unseen:
                return windows.jump_over_seen(rows, length.amount, every)
            return windows.jump_by_tuples(rows, length, every)
        if length.unit == "tuples":
            return windows.jump_tuples_in_time(rows, length.amount, every, origin_ms, end_ms)
        return windows.jump_in_time(windows.lifetimes(rows, length), every, origin_ms, end_ms)

    def _substreams(self, plan: Plan) -> list[list[Timed]]:
        """The rows below, by the columns of a Partition where one stands there."""
        if isinstance(plan, Partition):
            return windows.partition(timed_rows(self.evaluate(plan.child)), plan.columns)
        return [timed_rows(self.evaluate(plan))]

    def _jump_over(self, plan: Frequency) -> Result:
        """A time-based frequency over any other result: what is alive at its instants."""
        if plan.every.unit == "tuples":
            raise QueryError("a frequency of sets in tuples must stand right above its window", at=plan.at)
        below = self.evaluate(plan.child)
        if isinstance(below, Lives):
            jumps = windows.jump_in_time(below, plan.every.amount, plan.origin_ms, self.end_ms)
            self.work["evaluations"] += len(jumps.items)
            return jumps
        kept = [each for each in below.items if (each.at_ms - plan.origin_ms) % plan.every.amount == 0]
        return Snapshots(tuple(kept))

    def _sample(self, plan: Frequency) -> Result:
        """F over rows (001, 4.3), substream by substream."""
        substreams = self._substreams(plan.child)
        picks = [windows.sample(rows, plan.every, plan.origin_ms, self.end_ms) for rows in substreams]
        self.work["evaluations"] += sum(len(each.items) for each in picks)
        return Snapshots(tuple(snapshot for each in picks for snapshot in each.items))

    def _aggregate(self, plan: Aggregate) -> Result:
        if plan.pane_ms is not None:
            return self._panes(plan, plan.pane_ms)
        below = self.evaluate(plan.child)
        if isinstance(below, Lives):
            return continuous.aggregate_lives(plan, below)
        self.work["rows aggregated"] += sum(len(each.rows) for each in below.items)
        return snapshots.aggregate(plan, below)

    def _panes(self, plan: Aggregate, pane_ms: int) -> Result:
        """Aggregate each pane once, then each window from its panes."""
        taken = plan.child
        assert isinstance(taken, Frequency)
        assert isinstance(taken.child, Window)
        found: list[Snapshot] = []
        for rows in self._substreams(taken.child.child):
            self.work["tuples"] += len(rows)
            partials = panes.aggregate_panes(plan, rows, pane_ms, taken.origin_ms)
            self.work["rows aggregated"] += len(rows)
            for at_ms, groups in panes.windows_of(
                partials, taken.child.length.amount, taken.every.amount, taken.origin_ms, self.end_ms
            ):
                self.work["rows aggregated"] += sum(map(len, groups.values()))
                merged = tuple(panes.merged(plan, group) for group in groups.values())
                found.append(Snapshot(at_ms, (), merged))
        self.work["evaluations"] += len(found)
        return Snapshots(tuple(found))

    def _join(self, plan: Join) -> Result:
        left, right = self.evaluate(plan.left), self.evaluate(plan.right)
        if isinstance(left, Lives) and isinstance(right, Lives):
            return continuous.join_lives(plan, left, right)
        return snapshots.join(plan, left, right)

    def _minus(self, plan: Minus) -> Result:
        left, right = self.evaluate(plan.left), self.evaluate(plan.right)
        if isinstance(left, Lives) and isinstance(right, Lives):
            return continuous.minus_lives(left, right)
        assert isinstance(left, Snapshots)
        return snapshots.minus(left, right, edge(plan).instants)


def _filtered(plan: Select, result: Result) -> Result:
    if isinstance(result, Lives):
        return Lives(tuple(life for life in result.items if is_true(plan.condition, life.row.record)))
    kept = (
        Snapshot(each.at_ms, each.driver, tuple(row for row in each.rows if is_true(plan.condition, row.record)))
        for each in result.items
    )
    return Snapshots(tuple(each for each in kept if each.rows))


def _projection(plan: Project, result: Result) -> Result:
    """Project; a nested query (one with an alias) is then a source of its own."""
    mapped = _mapped(result, lambda row: projected(plan, row))
    return as_sequence(mapped) if plan.alias else mapped


def _mapped(result: Result, change: Callable[[Row], Row]) -> Result:
    if isinstance(result, Lives):
        return Lives(tuple(replace(life, row=change(life.row)) for life in result.items))
    return Snapshots(
        tuple(Snapshot(each.at_ms, each.driver, tuple(change(row) for row in each.rows)) for each in result.items)
    )
