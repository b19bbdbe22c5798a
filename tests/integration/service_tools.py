"""The service as a process, raw streams to feed it, and an independent judge of what it writes."""

from __future__ import annotations

import json
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from confluent_kafka import Producer

from tests.kafka_tools import Outgoing, Record

START_MS = 1_700_000_000_000


class ServiceProcess:
    """`python -m reorderer run ...` for as long as the context lasts; its numbers come as JSON."""

    def __init__(self, bootstrap: str, topic: str, *options: str) -> None:
        command = [sys.executable, "-m", "reorderer", "run", "--bootstrap-servers", bootstrap, "--topic", topic]
        self._process = subprocess.Popen(
            [*command, "--stats", "json", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.stats: list[dict[str, Any]] = []
        self.errors = ""
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._readers = [threading.Thread(target=target) for target in (self._read_stdout, self._read_stderr)]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> ServiceProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def wait(self, timeout_s: float = 60) -> dict[str, Any]:
        """Return the last numbers of a process that ends by itself, in good order."""
        code = self._process.wait(timeout_s)
        self._join()
        assert code == 0, self.errors
        assert self.stats[-1]["final"]
        return self.stats[-1]

    def stop(self) -> dict[str, Any]:
        """End it with SIGTERM; return its last numbers."""
        self._process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        """End it with SIGKILL, if it is still there."""
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._join()

    def await_stats(self, enough: Any, timeout_s: float = 60) -> dict[str, Any]:
        """Return the first numbers from now on that are `enough`."""
        deadline = time.monotonic() + timeout_s
        while (left_s := deadline - time.monotonic()) > 0:
            line = self._lines.get(timeout=left_s)
            assert line is not None, f"it ended: {self.errors}"
            snapshot: dict[str, Any] = json.loads(line)
            if enough(snapshot):
                return snapshot
        raise AssertionError(f"not enough: {self.stats[-1:]}")

    def _read_stdout(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self.stats.append(json.loads(line))
                self._lines.put(line)
        self._lines.put(None)

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as text:
            self.errors = text.read()

    def _join(self) -> None:
        for reader in self._readers:
            reader.join()


class SteadyWriter(threading.Thread):
    """Writes tuples a few at a time, so that for a while there is always something on its way."""

    def __init__(self, bootstrap: str, topic: str, tuples: Sequence[Outgoing], a_second: int) -> None:
        super().__init__()
        self._topic, self._tuples = topic, tuples
        self._step = a_second // 50
        self._producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 0})

    def run(self) -> None:
        """Write them all, in order."""
        for i, out in enumerate(self._tuples):
            self._producer.produce(
                self._topic,
                out.value,
                out.key,
                partition=out.partition,
                timestamp=out.timestamp_ms,
                headers=list(out.headers),
            )
            if i % self._step == 0:
                self._producer.poll(0)
                time.sleep(0.02)
        self._producer.flush()


def run_cli(*arguments: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """Return what `reorderer ...` did."""
    command = [sys.executable, "-m", "reorderer", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)


def disordered(
    count: int, *, partitions: int, seed: int, mean_delay_ms: float = 300, every_ms: int = 2
) -> list[Outgoing]:
    """Return tuples in arrival order, the arrival as record timestamp; some with headers, odd keys or no key."""
    rng = random.Random(seed)
    made = [(START_MS + i * every_ms, i) for i in range(count)]
    arriving = sorted((ts_ms + int(rng.expovariate(1 / mean_delay_ms)), ts_ms, i) for ts_ms, i in made)
    return [
        Outgoing(
            json.dumps({"Id": i, "ts": ts_ms, "x": rng.random()}).encode(),
            key=rng.choice([None, b"\xff\x00", b"%d" % (i % 50)]),
            partition=rng.randrange(partitions),
            timestamp_ms=arrival_ms,
            headers=rng.choice([(), (), (("trace", b"%d" % i), ("trace", b"\xfe"))]),
        )
        for arrival_ms, ts_ms, i in arriving
    ]


@dataclass
class Judged:
    """What must be in one clean and late partition, as (key, value, headers, timestamp, raw offset)."""

    clean: list[tuple[Any, ...]] = field(default_factory=list)
    late: list[tuple[Any, ...]] = field(default_factory=list)
    held: int = 0
    frontier_ms: int = 0


def judge(raw: Sequence[Record], slack_ms: int) -> dict[int, Judged]:
    """Return what a fixed slack makes of a raw topic, by the letter of the spec; record timestamps are arrivals."""
    tuples: dict[int, list[tuple[int, Record]]] = defaultdict(list)
    out: dict[int, Judged] = defaultdict(Judged)
    clock_ms: dict[int, int] = defaultdict(int)
    for record in sorted(raw, key=lambda record: (record.partition, record.offset)):
        judged = out[record.partition]
        ts_ms = json.loads(record.value or b"")["ts"]
        clock_ms[record.partition] = max(clock_ms[record.partition], record.timestamp_ms)
        judged.frontier_ms = clock_ms[record.partition] - slack_ms
        if ts_ms < judged.frontier_ms:
            judged.late.append((record.key, record.value, record.headers, record.timestamp_ms, record.offset))
        else:
            tuples[record.partition].append((ts_ms, record))
    for partition, judged in out.items():
        settled = sorted(tuples[partition], key=lambda pair: (pair[0], pair[1].offset))
        released = [(ts_ms, record) for ts_ms, record in settled if ts_ms < judged.frontier_ms]
        judged.clean = [(r.key, r.value, r.headers, ts_ms, r.offset) for ts_ms, r in released]
        judged.held = len(settled) - len(released)
    return dict(out)


def is_punctuation(record: Record) -> bool:
    return record.headers == (("reorderer.kind", b"punctuation"),)


def punctuation(record: Record) -> dict[str, Any]:
    """Return the promise that a record of clean or output makes."""
    body: dict[str, Any] = json.loads(record.value or b"")["__punctuation__"]
    return body


def clean_tuples(records: Sequence[Record], partition: int) -> list[tuple[Any, ...]]:
    """Return the tuples of a clean partition in the form of `Judged`."""
    out = []
    for record in records:
        if record.partition == partition and not is_punctuation(record):
            name, offset = record.headers[-1]
            assert name == "reorderer.offset"
            out.append((record.key, record.value, record.headers[:-1], record.timestamp_ms, int(offset)))
    return out


def late_tuples(records: Sequence[Record], partition: int) -> list[tuple[Any, ...]]:
    """Return the tuples of a late partition in the form of `Judged`."""
    out = []
    for record in records:
        if record.partition == partition:
            ours = dict(record.headers)
            own = tuple(pair for pair in record.headers if not pair[0].startswith(("reorderer.", "__connect.errors.")))
            offset = int(ours["__connect.errors.offset"])
            out.append((record.key, record.value, own, record.timestamp_ms, offset))
    return out


def broken_promises(records: Sequence[Record]) -> list[tuple[Record, int]]:
    """Return the tuples of clean that follow a punctuation which says that none so old will, with its `until`."""
    until_ms: dict[int, int] = defaultdict(int)
    broken = []
    for record in sorted(records, key=lambda record: (record.partition, record.offset)):
        if is_punctuation(record):
            assert punctuation(record)["until"] >= until_ms[record.partition]
            assert punctuation(record)["until"] == record.timestamp_ms
            until_ms[record.partition] = record.timestamp_ms
        elif record.timestamp_ms < until_ms[record.partition]:
            broken.append((record, until_ms[record.partition]))
    return broken
