"""A source's bracket: Partition, Window and Frequency over its scan, and what it asks of the reorderer."""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.csql.edges import edge
from spark_jobs.csql.plan import Disorder, Frequency, Partition, Plan, Scan, Span, Window
from spark_jobs.csql.scope import Scope
from spark_jobs.csql.syntax import Source, WindowClause
from spark_jobs.errors import QueryError


def bind_window(plan: Plan, source: Source) -> Plan:
    """Return the source under its window; raise QueryError where the clauses of the bracket do not fit."""
    clause = source.window
    if clause is None:
        return plan
    _check_slide(clause)
    _check_wattr(plan, clause)
    plan = _with_disorder(plan, clause)
    frequency = clause.frequency
    if frequency is not None and frequency.partition:
        scope = Scope(edge(plan).schema)
        plan = Partition(plan, tuple(scope.resolve(column) for column in frequency.partition), frequency.at)
    if clause.range is not None:
        plan = Window(plan, clause.range, clause.at)
    if frequency is not None:
        origin_ms = (frequency.origin_ms or 0) % frequency.every.amount
        return Frequency(plan, frequency.every, "sets" if clause.range else "rows", origin_ms, frequency.at)
    if clause.slide is not None:
        return Frequency(plan, clause.slide, "sets", _slide_origin(clause.slide), clause.slide_at)
    return plan


def _slide_origin(slide: Span) -> int:
    """Extent i ends before (i + 1) s (003): its snapshot is one millisecond before each multiple of s."""
    return slide.amount - 1 if slide.unit == "ms" else 0


def _check_slide(clause: WindowClause) -> None:
    if clause.slide is None:
        return
    if clause.frequency is not None:
        raise QueryError("SLIDE and FREQUENCY in one bracket", hint="keep one of them", at=clause.slide_at)
    if clause.range is None:
        raise QueryError("SLIDE without RANGE", hint="add RANGE, the length of the window", at=clause.slide_at)
    if clause.slide.unit != clause.range.unit:
        hint = "use FREQUENCY, which may have another unit than RANGE"
        raise QueryError("SLIDE and RANGE in different units", hint=hint, at=clause.slide_at)


def _check_wattr(plan: Plan, clause: WindowClause) -> None:
    if clause.wattr is None:
        return
    if not isinstance(plan, Scan) or plan.stream.timestamp is None:
        raise QueryError("WATTR is for declared streams", hint="results are ordered by `at`", at=clause.wattr.at)
    column = Scope(edge(plan).schema).resolve(clause.wattr)
    if column.name != plan.stream.timestamp:
        hint = f"the timestamp of '{plan.stream.name}' is '{plan.stream.timestamp}'"
        raise QueryError(f"WATTR must be the timestamp column, not '{column.name}'", hint=hint, at=clause.wattr.at)


def _with_disorder(plan: Plan, clause: WindowClause) -> Plan:
    disorder = Disorder(clause.dratio, clause.slack, clause.bsize)
    if disorder == Disorder():
        return plan
    if not isinstance(plan, Scan) or plan.stream.topic is None:
        hint = "put them on the stream that reads the raw topic"
        raise QueryError("SLACK, DRATIO and BSIZE need a raw topic", hint=hint, at=clause.at)
    if clause.slack is not None and clause.slack.amount == 0 and clause.dratio is None:
        hint = "add DRATIO, or give SLACK a length"
        raise QueryError("SLACK 0 without DRATIO", hint=hint, at=clause.at)
    return replace(plan, disorder=disorder)
