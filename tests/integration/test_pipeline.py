"""The whole path, as users run it: a raw topic, the service and the query as processes, the output topic.

Event times of this stream run ahead of the clock, so that a slack of two seconds holds nobody up for long:

    now        now + 6 s                              the last window that holds a tuple ends at now + 16 s
    |-- tuples --|
    |    | two seconds behind the clock the frontier follows; some tuples are sent only after it has passed them
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import schemas
from tests.clean_topic import SPECIES, Tuple, count_and_average, snapshots
from tests.integration.service_tools import ServiceProcess, broken_promises, is_punctuation, punctuation, run_cli
from tests.kafka_tools import Kafka, Outgoing, Record, produce, read_topic, read_until
from tests.processes import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.broker]

SILENT = 2
"""The partition that never carries a tuple."""

QUERY = """
CREATE STREAM BodyCondition (Id INT, Species STRING, BTemp DOUBLE, ts BIGINT)
  WITH (topic = '{topic}', timestamp = 'ts');
SELECT Species, COUNT(*), AVG(BTemp) FROM BodyCondition [RANGE 10 Seconds, FREQUENCY 5 Seconds] GROUP BY Species;
"""


@dataclass(frozen=True)
class Outcome:
    """What lies in each topic at the end, and which tuples were sent too late on purpose."""

    raw: list[Record]
    clean: list[Record]
    late: list[Record]
    dead: list[Record]
    output: list[Record]
    sent_late: int
    last_ms: int


def tuples(start_ms: int, seed: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [
        {
            "Id": number % 40,
            "Species": SPECIES[number % 40 % len(SPECIES)],
            "BTemp": round(chance.gauss(38, 1), 2),
            "ts": start_ms + chance.randrange(6_000),
        }
        for number in range(3_000)
    ]


def outgoing(row: dict[str, Any]) -> Outgoing:
    return Outgoing(json.dumps(row).encode(), key=b"%d" % row["Id"], partition=row["Id"] % 2)


@pytest.fixture(scope="module")
def path(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the whole path once."""
    topic, folder = f"path-{time.time_ns()}", tmp_path_factory.mktemp("path")
    made = run_cli("topics", "create", topic, "--partitions", "3", "--bootstrap-servers", kafka.bootstrap)
    assert made.returncode == 0, made.stderr
    with ServiceProcess(kafka.bootstrap, topic, "--slack", "2s") as service:
        start_ms = time.time_ns() // 1_000_000
        rows = tuples(start_ms, seed=5)
        last_ms = max(row["ts"] for row in rows)
        broken = [Outgoing(value, partition=0) for value in (b"broken", b'{"Id": 1}')]
        produce(kafka.bootstrap, topic, [*map(outgoing, rows), *broken])
        with running_query(kafka, topic, folder, last_ms + 10_000) as query:
            read_until(kafka.bootstrap, f"{topic}.clean", passed(start_ms + 1_000))
            too_late = [dict(rows[number], ts=start_ms + number) for number in range(20)]
            produce(kafka.bootstrap, topic, map(outgoing, too_late))
            out, err = query.communicate(timeout=240)
            assert query.returncode == 0, (out, err)
        service.stop()
    topics = {name: read_topic(kafka.bootstrap, f"{topic}.{name}") for name in ("clean", "late", "dead", "out")}
    return Outcome(
        raw=read_topic(kafka.bootstrap, topic),
        clean=topics["clean"],
        late=topics["late"],
        dead=topics["dead"],
        output=topics["out"],
        sent_late=len(too_late),
        last_ms=last_ms,
    )


@contextmanager
def running_query(kafka: Kafka, topic: str, folder: Path, stop_at_ms: int) -> Iterator[subprocess.Popen[str]]:
    file = folder / "query.csql"
    file.write_text(QUERY.format(topic=topic))
    command = [sys.executable, "-m", "spark_jobs", "run", str(file), "--bootstrap-servers", kafka.bootstrap]
    command += ["--checkpoint", str(folder / "checkpoint"), "--output-topic", f"{topic}.out"]
    command += ["--stop-at", str(stop_at_ms), "--stats", "none", "--quick-start"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


def passed(until_ms: int) -> Callable[[list[Record]], bool]:
    """Tell whether the punctuations of both busy partitions have passed an instant."""

    def enough(records: list[Record]) -> bool:
        said = {r.partition for r in records if is_punctuation(r) and punctuation(r)["until"] > until_ms}
        return {0, 1} <= said

    return enough


def test_the_output_is_the_query_over_what_was_sent_in_time(path: Outcome) -> None:
    late = Counter(record.value for record in path.late)
    sent = Counter(record.value for record in path.raw if b'"ts"' in (record.value or b""))
    in_time = [record for record in path.raw if record.value in (sent - late)]
    events = [
        Tuple(row["ts"], record.partition, row) for record in in_time for row in [json.loads(record.value or b"")]
    ]
    expected = snapshots(events, 10_000, 5_000, count_and_average)
    rows = [json.loads(record.value or b"") for record in path.output if record.key is not None]
    assert [row for row in rows if row["at"] <= path.last_ms + 10_000] == expected
    assert len(expected) >= 8


def test_what_came_too_late_is_late_and_what_cannot_be_read_is_dead(path: Outcome) -> None:
    assert len(path.late) == path.sent_late
    assert sorted(record.value or b"" for record in path.dead) == [b"broken", b'{"Id": 1}']


def test_every_tuple_is_in_exactly_one_place(path: Outcome) -> None:
    clean = [record.value for record in path.clean if not is_punctuation(record)]
    assert Counter(record.value for record in path.raw) == Counter(
        clean + [record.value for record in path.late] + [record.value for record in path.dead]
    )


def test_no_punctuation_of_clean_or_output_is_broken(path: Outcome) -> None:
    assert broken_promises(path.clean) == []
    assert broken_promises(path.output) == []


def test_a_partition_that_never_carries_a_tuple_holds_no_window_up(path: Outcome) -> None:
    assert not [record for record in path.raw if record.partition == SILENT]
    said = [record for record in path.clean if record.partition == SILENT]
    assert said
    assert all(is_punctuation(record) for record in said)
    assert max(punctuation(record)["until"] for record in path.output if is_punctuation(record)) > path.last_ms + 10_000


def test_every_record_fits_its_schema(path: Outcome) -> None:
    for name, records in (("late", path.late), ("dead", path.dead), ("clean", path.clean), ("output", path.output)):
        for record in records:
            kind = "punctuation" if is_punctuation(record) else name
            described = schemas.describe(record.key, record.value, record.timestamp_ms, record.headers)
            assert schemas.problems(kind, described) == []
