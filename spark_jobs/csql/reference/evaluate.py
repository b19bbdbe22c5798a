"""The evaluator: a plan over in-memory sequences gives snapshots or lifetimes, one function a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from spark_jobs.csql.edges import Monotonicity, edge
from spark_jobs.csql.expressions import Column
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
    Window,
)
from spark_jobs.csql.reference import continuous, snapshots, windows
from spark_jobs.csql.reference.relational import projected
from spark_jobs.csql.reference.rows import Lives, Result, Row, Snapshot, Snapshots, as_sequence, timed_rows
from spark_jobs.csql.reference.values import is_true
from spark_jobs.errors import QueryError


@dataclass
class Evaluator:
    """Evaluates plans over the rows of streams, up to and including the last timestamp of all inputs.

    `inputs` holds each stream's rows under its name, records by ("", column). `ignored` counts positives whose key
    was alive (004, 2.2).
    """

    inputs: Mapping[str, Result]
    end_ms: int
    ignored: int = 0

    def evaluate(self, plan: Plan) -> Result:
        """Return the result of the plan; on class-4 edges a positive whose key is alive is ignored."""
        result = self._node(plan)
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
                below = self.evaluate(plan.child)
                if isinstance(below, Lives):
                    return continuous.aggregate_lives(plan, below)
                return snapshots.aggregate(plan, below)
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
        below, columns = _unpartitioned(plan.child)
        rows = timed_rows(self.evaluate(below))
        lives = [windows.lifetimes(each, plan.length).items for each in windows.partition(rows, columns)]
        return Lives(tuple(life for items in lives for life in items))

    def _jump(self, plan: Frequency) -> Result:
        """F over sets (001, 4.4), substream by substream."""
        every, origin_ms, end_ms = plan.every.amount, plan.origin_ms, self.end_ms
        if not isinstance(plan.child, Window):
            return self._jump_over(plan)
        length = plan.child.length
        below, columns = _unpartitioned(plan.child.child)
        found: list[Snapshots] = []
        for rows in windows.partition(timed_rows(self.evaluate(below)), columns):
            if plan.every.unit == "tuples":
                found.append(windows.jump_by_tuples(rows, length, every))
            elif length.unit == "tuples":
                found.append(windows.jump_tuples_in_time(rows, length.amount, every, origin_ms, end_ms))
            else:
                found.append(windows.jump_in_time(windows.lifetimes(rows, length), every, origin_ms, end_ms))
        return Snapshots(tuple(snapshot for each in found for snapshot in each.items))

    def _jump_over(self, plan: Frequency) -> Result:
        """A time-based frequency over any other result: what is alive at its instants."""
        if plan.every.unit == "tuples":
            raise QueryError("a frequency of sets in tuples must stand right above its window", at=plan.at)
        below = self.evaluate(plan.child)
        if isinstance(below, Lives):
            return windows.jump_in_time(below, plan.every.amount, plan.origin_ms, self.end_ms)
        kept = [each for each in below.items if (each.at_ms - plan.origin_ms) % plan.every.amount == 0]
        return Snapshots(tuple(kept))

    def _sample(self, plan: Frequency) -> Result:
        """F over rows (001, 4.3), substream by substream."""
        below, columns = _unpartitioned(plan.child)
        substreams = windows.partition(timed_rows(self.evaluate(below)), columns)
        picks = [windows.sample(rows, plan.every, plan.origin_ms, self.end_ms) for rows in substreams]
        return Snapshots(tuple(snapshot for each in picks for snapshot in each.items))

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


def _unpartitioned(plan: Plan) -> tuple[Plan, tuple[Column, ...]]:
    return (plan.child, plan.columns) if isinstance(plan, Partition) else (plan, ())


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
