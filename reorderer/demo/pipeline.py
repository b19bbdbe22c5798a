"""The whole pipeline as processes of this machine: broker, generator, reorderer, query; gone when the demo is gone."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Self

from reorderer.demo.observation import Observation
from reorderer.errors import SetupError
from reorderer.kafka.broker import EmbeddedKafka
from reorderer.kafka.committed import held_tuples
from reorderer.kafka.tail import Tail
from reorderer.kafka.topics import Cluster, raw_config
from reorderer.kafka.writer import write_values
from reorderer.records import Topics
from reorderer.watchdog import Guarded

TOPIC = "body"
OUTPUT = "vitals"
GROUP = "demo"
BROKEN_VALUES = (b"", b"not json", b'{"Id": 3}', b'{"Id": 3, "ts": "noon"}', b"\xff\xfe")
"""What a faulty sensor might send: each of them belongs in the dead topic."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the demonstration runs: how much of it, and the quality asked for."""

    seconds: int
    rate: int
    partitions: int
    delay: str
    quality: tuple[str, ...]


class Child:
    """A command of ours, run as a process that ends with this one, its output kept in a log."""

    def __init__(self, name: str, arguments: Sequence[str], folder: Path) -> None:
        self.name, self.log = name, folder / f"{name}.log"
        self._process = Guarded([sys.executable, "-m", *arguments], log=self.log)

    def running(self) -> bool:
        """Tell whether it still runs; raise if it has failed."""
        code = self._process.poll()
        if code:
            tail = self.log.read_text(errors="replace").strip().splitlines()[-1:]
            raise SetupError(f"{self.name} ended with exit code {code}: {''.join(tail)}", hint=f"its log is {self.log}")
        return code is None

    def stop(self) -> None:
        """Ask it to finish what it does, and wait for its end."""
        self._process.stop()


class Pipeline:
    """A running pipeline and what can be seen of it. Leaving the context ends every process of it."""

    def __init__(self, options: Options, folder: Path, tell: Callable[[str], None]) -> None:
        self._options, self._folder, self._tell = options, folder, tell
        self._stack = ExitStack()
        self.seen = Observation(Topics.of(TOPIC), OUTPUT, options.partitions)
        self._output_followed = False

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _start(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self._tell("starting a Kafka broker")
        self._bootstrap = self._stack.enter_context(EmbeddedKafka(logs=self._folder)).bootstrap
        self._make_topics()
        self._tail = self._stack.enter_context(Tail(self._bootstrap))
        for topic in (TOPIC, *self.seen.topics.outputs):
            self._tail.follow(topic, self._options.partitions)
        self._tell("starting the reorderer, the query on Spark and the sensors")
        self.reorderer = self._child("reorderer", *self._reorderer())
        self.query = self._child("query", *self._query())
        write_values(self._bootstrap, TOPIC, BROKEN_VALUES)
        self.sensors = self._child("sensors", *self._sensors())

    def _make_topics(self) -> None:
        self._cluster = Cluster(self._bootstrap)
        self._cluster.create_stream(self.seen.topics, self._options.partitions, raw_config())

    def _child(self, name: str, *arguments: str) -> Child:
        child = Child(name, [*arguments, "--bootstrap-servers", self._bootstrap], self._folder)
        self._stack.callback(child.stop)
        return child

    def _reorderer(self) -> tuple[str, ...]:
        return ("reorderer", "run", "--topic", TOPIC, "--group", GROUP, *self._options.quality)

    def _query(self) -> tuple[str, ...]:
        text = resources.files("reorderer.demo").joinpath("animals.csql").read_text(encoding="utf-8")
        file = self._folder / "animals.csql"
        file.write_text(text, encoding="utf-8")
        return ("spark_jobs", "run", str(file), "--checkpoint", str(self._folder / "checkpoint"))

    def _sensors(self) -> tuple[str, ...]:
        options = self._options
        return (
            *("reorderer", "generate", "body", "--topic", TOPIC, "--duration", f"{options.seconds}s"),
            *("--rate", str(options.rate), "--delay", options.delay),
        )

    def look(self) -> None:
        """Read what the topics have got since the last look, and raise if a process has failed."""
        for child in (self.reorderer, self.query):
            if not child.running():
                raise SetupError(f"{child.name} ended before its time", hint=f"its log is {child.log}")
        self._follow_output()
        for record in self._tail.read():
            self.seen.see(*record)

    def _follow_output(self) -> None:
        """Follow the output topic from when the query has made it."""
        if self._output_followed:
            return
        found = self._cluster.find(OUTPUT)
        if found:
            self._tail.follow(OUTPUT, found[OUTPUT].partitions)
            self._output_followed = True

    def all_answered(self, last_ms: int) -> bool:
        """Tell whether everything up to an event time has been released, and every window that ends by then is out."""
        clean, output = self.seen.clean_until_ms, self.seen.output_until_ms
        return clean is not None and output is not None and clean > last_ms and output > last_ms

    def settle(self) -> int:
        """Stop the processes in the direction of the data, read every topic to its end; return what is held."""
        self.reorderer.stop()
        self.query.stop()
        for record in self._tail.read_to_end():
            self.seen.see(*record)
        return held_tuples(self._bootstrap, GROUP, TOPIC, self._options.partitions)
