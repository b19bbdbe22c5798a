"""Results as the rows users see: `{"query", "at", ...}` of snapshots, `{"query", "op", ...}` of continuous results."""

from __future__ import annotations

from typing import Any

from spark_jobs.csql.reference.rows import FOREVER, Life, Lives, Position, Result, timed_rows


def output_rows(name: str, result: Result, end_ms: int) -> list[dict[str, Any]]:
    """Return the rows of a result in sequence order, up to and including the end."""
    if isinstance(result, Lives):
        return _continuous(name, result, end_ms)
    return [
        {"query": name, "at": each.at_ms, **_columns(each.row.record)}
        for each in timed_rows(result)
        if each.at_ms <= end_ms
    ]


def _continuous(name: str, result: Lives, end_ms: int) -> list[dict[str, Any]]:
    """At one instant negatives come before positives; a negative only where a row ends before its `to`."""
    events: list[tuple[tuple[int, bool, tuple[Position, ...]], dict[str, Any]]] = []
    for life in result.items:
        if life.from_ms <= end_ms:
            events.append(((life.from_ms, True, life.row.order), _positive(name, life)))
        if life.end_ms < life.to_ms and life.end_ms <= end_ms:
            negative = {"query": name, "op": "-", "at": life.end_ms, "key": list(life.row.key)}
            events.append(((life.end_ms, False, life.row.order), negative))
    return [row for _, row in sorted(events, key=lambda event: event[0])]


def _positive(name: str, life: Life) -> dict[str, Any]:
    to_ms = None if life.to_ms >= FOREVER else life.to_ms
    head = {"query": name, "op": "+", "from": life.from_ms, "to": to_ms, "key": list(life.row.key)}
    return {**head, **_columns(life.row.record)}


def _columns(record: Any) -> dict[str, Any]:
    return {column: value for (_, column), value in record.items()}
