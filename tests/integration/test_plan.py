"""`reorderer plan --topic` on a real broker."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from reorderer.cli import main
from tests.kafka_tools import Kafka, Outgoing, produce

pytestmark = pytest.mark.broker


def planned(kafka: Kafka, capsys: pytest.CaptureFixture[str], tmp_path: Path, *options: str) -> dict[str, object]:
    out = ("--out", str(tmp_path / "plan.png"), "--json", "--bounds", "1%", "--estimators", "maxdelay")
    assert main(["plan", "--bootstrap-servers", kafka.bootstrap, *out, *options]) == 0
    plan: dict[str, object] = json.loads(capsys.readouterr().out)
    return plan


def test_the_last_minutes_of_every_partition_are_planned_for(
    kafka: Kafka, make_topic: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = make_topic("plan", partitions=3)
    now_ms = time.time_ns() // 1_000_000
    old = [Outgoing(b'{"at": 1}', partition=0, timestamp_ms=now_ms - 3_600_000)]
    recent = [
        Outgoing(
            json.dumps({"at": (arrived_ms - 40 * (i % 5)) / 1_000}).encode(),
            partition=i % 2,
            timestamp_ms=arrived_ms,
        )
        for i, arrived_ms in enumerate(range(now_ms - 60_000, now_ms - 50_000, 10))
    ]
    dead = [Outgoing(b"not JSON", partition=1, timestamp_ms=now_ms)]
    produce(kafka.bootstrap, topic, [*old, *recent, *dead])
    plan = planned(
        kafka, capsys, tmp_path, "--topic", topic, "--minutes", "10", "--timestamp", "at", "--unit", "seconds"
    )
    assert plan["stream"] == {
        "source": topic,
        "partitions": 2,
        "tuples": 1_000,
        "seconds": 9.99,
        "out_of_order": 0.6,  # every 20 ms a tuple, in turn 0, 80, 160, 40 and 120 ms late: three are overtaken
        "least_delay_ms": 0,
        "median_delay_ms": 80,
        "largest_delay_ms": 160,
        "dead": 1,
        "future": 0,
    }
    assert plan["bounds"][0]["slack_ms"] == 160  # type: ignore[index]  # a fifth of the tuples is that late
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_a_quiet_topic_a_missing_one_and_unreadable_records_are_told(
    kafka: Kafka, make_topic: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    quiet = make_topic("quiet", config={"message.timestamp.type": "LogAppendTime"})
    options = ["plan", "--bootstrap-servers", kafka.bootstrap, "--minutes", "5", "--topic"]
    assert main([*options, quiet]) == 2
    assert capsys.readouterr().err.endswith(
        f"reorderer: no tuple in the last 5 minutes of '{quiet}'; read more with --minutes\n"
    )
    produce(kafka.bootstrap, quiet, [b'{"time": 1}'])
    assert main([*options, quiet]) == 2
    assert capsys.readouterr().err.endswith(
        f"reorderer: no tuple in the last 5 minutes of '{quiet}' (1 records have no usable field:ts); "
        "check --timestamp and --unit\n"
    )
    assert main([*options, "nowhere"]) == 1
    assert capsys.readouterr().err == (
        "reorderer: there is no topic 'nowhere'; check --topic and --bootstrap-servers\n"
    )


def test_an_unreachable_broker_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--topic", "t", "--minutes", "1", "--bootstrap-servers", "127.0.0.1:1"]) == 1
    assert capsys.readouterr().err.startswith("reorderer: no Kafka broker answers at '127.0.0.1:1'; ")
