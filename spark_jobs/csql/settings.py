"""What the queries ask of the reorderer, raw topic by raw topic: DRATIO, SLACK, BSIZE and the boundaries of windows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from spark_jobs.csql.plan import Disorder, Frequency, Plan, Scan, inputs, scans
from spark_jobs.csql.program import RegisteredQuery
from spark_jobs.errors import QueryError


class TopicSettings(TypedDict, total=False):
    """The reorderer's settings for one raw topic, named as it names them."""

    drop_ratio: float
    slack_ms: int
    slack_tuples: int
    buffer_tuples: int
    windows: list[tuple[int, int]]


def settings(queries: Iterable[RegisteredQuery]) -> dict[str, TopicSettings]:
    """Return the settings of each raw topic that the queries read.

    The smallest DRATIO; SLACK only if every query on the topic sets it, then the largest; the smallest BSIZE. `windows`
    are (period, origin) in ms: a snapshot at t is complete with a punctuation until t + 1, so that is where one is cut.
    """
    asked: dict[str, list[Disorder]] = {}
    boundaries: dict[str, set[tuple[int, int]]] = {}
    topics_of: dict[str, set[str]] = {}
    for query in queries:
        topics_of[query.name] = set()
        for scan in scans(query.plan):
            if scan.stream.topic is not None:
                asked.setdefault(scan.stream.topic, []).append(scan.disorder)
            topics_of[query.name] |= _raw_topics(scan, topics_of)
        for scan, every_ms, origin_ms in _frequencies(query.plan, ()):
            for topic in _raw_topics(scan, topics_of):
                boundaries.setdefault(topic, set()).add((every_ms, (origin_ms + 1) % every_ms))
    return {topic: _merged(topic, asked[topic], boundaries.get(topic, set())) for topic in sorted(asked)}


def _raw_topics(scan: Scan, topics_of: dict[str, set[str]]) -> set[str]:
    """Return the raw topics behind a scan: its own, or those of the named result it reads."""
    return {scan.stream.topic} if scan.stream.topic is not None else topics_of.get(scan.stream.name, set())


def _frequencies(plan: Plan, above: tuple[Frequency, ...]) -> list[tuple[Scan, int, int]]:
    """Return each scan with every time-based frequency above it."""
    if isinstance(plan, Frequency) and plan.every.unit == "ms":
        above = (*above, plan)
    if isinstance(plan, Scan):
        return [(plan, frequency.every.amount, frequency.origin_ms) for frequency in above]
    return [found for child in inputs(plan) for found in _frequencies(child, above)]


def _merged(topic: str, asked: list[Disorder], boundaries: set[tuple[int, int]]) -> TopicSettings:
    merged: TopicSettings = {}
    ratios = [disorder.dratio for disorder in asked if disorder.dratio is not None]
    sizes = [disorder.bsize for disorder in asked if disorder.bsize is not None]
    slacks = [disorder.slack for disorder in asked if disorder.slack is not None]
    if ratios:
        merged["drop_ratio"] = min(ratios)
    if len(slacks) == len(asked):
        if len({slack.unit for slack in slacks}) > 1:
            raise QueryError(f"SLACK of topic '{topic}' is in time and in tuples", hint="use one unit in all queries")
        largest = max(slack.amount for slack in slacks)
        merged["slack_ms" if slacks[0].unit == "ms" else "slack_tuples"] = largest
    if sizes:
        merged["buffer_tuples"] = min(sizes)
    if boundaries:
        merged["windows"] = sorted(boundaries)
    return merged
