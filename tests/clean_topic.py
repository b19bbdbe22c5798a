"""A clean topic as the reorderer would write it, and what a time-driven snapshot over it must be, in plain Python."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Producer

from tests.kafka_tools import Record

START_MS = 1_700_000_000_000
"""A multiple of ten seconds."""

FOR_EVER = {"retention.ms": "-1"}
"""For topics of event times: a broker deletes records whose timestamp is older than its retention, a week."""

SPECIES = ("cow", "pig", "horse", "goat")


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of `BodyCondition` on a partition."""

    ts_ms: int
    partition: int
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Until:
    """A punctuation on a partition."""

    until_ms: int
    partition: int


def body_condition(
    seed: int, count: int, partitions: int, spread_ms: int, start_ms: int = START_MS
) -> list[Tuple | Until]:
    """Return tuples in order of time with many ties, spread over the partitions, a punctuation a second on each."""
    chance = random.Random(seed)
    times = sorted(start_ms + chance.randrange(1, spread_ms) // 20 * 20 + 20 for _ in range(count))
    events: list[Tuple | Until] = []
    due_ms = start_ms + 1000
    for ts_ms in times:
        while ts_ms >= due_ms:
            events += [Until(due_ms, partition) for partition in range(partitions)]
            due_ms += 1000
        fields = {
            "Id": chance.randrange(50),
            "Species": chance.choice(SPECIES),
            "BTemp": chance.choice((None, round(chance.gauss(38.5, 1.0), 2), chance.random() * 10**9)),
            "ts": ts_ms,
        }
        events.append(Tuple(ts_ms, chance.randrange(partitions), fields))
    return events + [Until(start_ms + spread_ms + 60_000, partition) for partition in range(partitions)]


def write_clean(bootstrap: str, topic: str, events: Iterable[Tuple | Until], *, every: int = 500) -> None:
    """Write the events in transactions of `every`; before each one goes another with rubbish, which is aborted."""
    events = list(events)
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": uuid.uuid4().hex, "log_level": 0})
    producer.init_transactions(60)
    for begin in range(0, len(events), every):
        producer.begin_transaction()
        _produce(producer, topic, Tuple(START_MS, 0, {"Species": "unicorn", "BTemp": 1.0}))
        producer.flush(60)
        producer.abort_transaction(60)
        producer.begin_transaction()
        for event in events[begin : begin + every]:
            _produce(producer, topic, event)
        producer.commit_transaction(60)


def _produce(producer: Producer, topic: str, event: Tuple | Until) -> None:
    if isinstance(event, Tuple):
        value, ts_ms, headers = dict(event.fields), event.ts_ms, [("reorderer.offset", b"7")]
    else:
        told = {"until": event.until_ms, "seq": 1, "slack_ms": 5, "drop_ratio": 0.0, "bound": None, "position": 9}
        value, ts_ms = {"__punctuation__": {**told, "idle": False}}, event.until_ms
        headers = [("reorderer.kind", b"punctuation")]
    producer.produce(topic, json.dumps(value), partition=event.partition, timestamp=ts_ms, headers=dict(headers))
    producer.poll(0)


def in_sequence(events: Iterable[Tuple | Until]) -> list[Tuple]:
    """Return the tuples by (ts, partition, offset)."""
    return sorted((one for one in events if isinstance(one, Tuple)), key=lambda one: (one.ts_ms, one.partition))


Group = Sequence[Tuple]


def snapshots(
    events: Iterable[Tuple | Until],
    range_ms: int,
    every_ms: int,
    row: Callable[[Group], Mapping[str, Any] | None],
    *,
    by: Callable[[Tuple], Any] = lambda one: one.fields["Species"],
    origin_ms: int = 0,
    before_ms: int | None = None,
) -> list[dict[str, Any]]:
    """Return every row of every instant below `before_ms`: its groups, each by its last tuple; None leaves one out."""
    tuples = in_sequence(events)
    end_ms = tuples[-1].ts_ms + range_ms
    first_ms = tuples[0].ts_ms + (origin_ms - tuples[0].ts_ms) % every_ms
    rows: list[dict[str, Any]] = []
    for at_ms in range(first_ms, end_ms, every_ms):
        if before_ms is not None and at_ms >= before_ms:
            break
        groups: dict[Any, list[Tuple]] = {}
        for one in tuples:
            if at_ms - range_ms < one.ts_ms <= at_ms:
                groups[by(one)] = [*groups.pop(by(one), []), one]
        found = [row(group) for group in groups.values()]
        rows += [{"at": at_ms, **columns} for columns in found if columns is not None]
    return rows


def count_and_average(group: Group) -> dict[str, Any]:
    """Return the row of the README's query."""
    temperatures = [one.fields["BTemp"] for one in group if one.fields["BTemp"] is not None]
    total = 0.0
    for temperature in temperatures:
        total += temperature
    average = total / len(temperatures) if temperatures else None
    return {"Species": group[0].fields["Species"], "COUNT": len(group), "AVG": average}


def results(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the values of an output topic that are rows, in order of instant and ordinal."""
    rows = [(dict(record.headers), json.loads(record.value or b"null")) for record in records]
    found = [(value["at"], int(headers["csql.seq"]), value) for headers, value in rows if "csql.seq" in headers]
    return [value for _, _, value in sorted(found, key=lambda one: one[:2])]
