"""`csql run` as a process of its own, from a clean topic to the output topic, on a real broker."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spark_jobs.spark.session import QUICK_START
from tests.clean_topic import (
    FOR_EVER,
    START_MS,
    Until,
    body_condition,
    count_and_average,
    results,
    snapshots,
    write_clean,
)
from tests.kafka_tools import Kafka, Record, read_topic, read_until
from tests.processes import ROOT, await_end

pytestmark = [pytest.mark.spark, pytest.mark.broker]

QUERY = """
CREATE STREAM BodyCondition (Id INT, Species STRING, BTemp DOUBLE, ts TIMESTAMP) WITH (clean = '{topic}');
SELECT Species, COUNT(*), AVG(BTemp) FROM BodyCondition [RANGE 10 Seconds, FREQUENCY 5 Seconds] GROUP BY Species;
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(kafka: Kafka, tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts `csql run` on a file; what still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def run(query: str, output: str, *options: str) -> subprocess.Popen[str]:
        file = tmp_path / "query.csql"
        file.write_text(query)
        quick = [option for name, value in QUICK_START.items() for option in ("--conf", f"{name}={value}")]
        command = [sys.executable, "-m", "spark_jobs", "run", str(file), "--bootstrap-servers", kafka.bootstrap]
        command += ["--checkpoint", str(tmp_path / "checkpoint"), "--output-topic", output, "--stats", "json"]
        process = subprocess.Popen(
            [*command, *quick, *options], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def finish(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """Return the progress lines of a process that ends well."""
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    return [json.loads(line) for line in out.splitlines()]


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    told = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(word) for word in told.split()]


def test_the_output_is_the_query_over_the_clean_topic_each_row_once_and_in_order(
    kafka: Kafka, make_topic: Callable[..., str], start: Start
) -> None:
    topic = make_topic("body", 4, FOR_EVER)
    events = body_condition(seed=7, count=3000, partitions=3, spread_ms=60_000)
    # Partition 3 never carries a tuple: its punctuations alone let windows close.
    write_clean(kafka.bootstrap, topic, [*events, Until(START_MS + 120_000, 3)])
    query, output = QUERY.format(topic=topic), f"{topic}.out"
    progress = finish(start(query, output, "--stop-at", str(START_MS + 100_000), "--max-records", "1200"))
    expected = snapshots(events, 10_000, 5_000, count_and_average)
    records = read_topic(kafka.bootstrap, output)
    assert [json.loads(record.value or b"") for record in records if record.key] == expected
    assert len({record.key for record in records if record.key}) == len(expected)
    assert progress[-1]["results"] == len(expected)
    assert progress[-1]["until_ms"] == START_MS + 120_000


def test_killed_in_the_middle_and_started_again_nothing_is_missing_and_nothing_double(
    kafka: Kafka, make_topic: Callable[..., str], start: Start
) -> None:
    topic = make_topic("body", 2, FOR_EVER)
    events = body_condition(seed=11, count=4000, partitions=2, spread_ms=120_000)
    write_clean(kafka.bootstrap, topic, events)
    output = make_topic("hot", 3, FOR_EVER)
    options = ("--stop-at", str(START_MS + 150_000), "--max-records", "400")
    process = start(QUERY.format(topic=topic), output, *options)
    read_until(kafka.bootstrap, output, _some_rows, timeout_s=120)
    below = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    await_end(*below)  # the JVM must not outlive the driver, nor write into its checkpoint
    finish(start(QUERY.format(topic=topic), output, *options))
    records = read_topic(kafka.bootstrap, output)
    expected = snapshots(events, 10_000, 5_000, count_and_average)
    assert results(records) == expected
    assert len([record for record in records if record.key]) == len(expected)
    assert len({record.partition for record in records if record.key}) > 1


def _some_rows(records: list[Record]) -> bool:
    return sum(record.key is not None for record in records) >= 5
