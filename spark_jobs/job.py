"""Runs a compiled query against Kafka until it is told to stop: checks, starts, watches, stops."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from spark_jobs.errors import SetupError
from spark_jobs.spark import session, snapshot, source
from spark_jobs.spark.checkpoint import REBUILD, Checkpoint, open_checkpoint
from spark_jobs.spark.compile import Query
from spark_jobs.spark.query import Progress, RunningQuery
from spark_jobs.spark.sink import Sink
from spark_jobs.spark.topics import Topics

PARTITIONS_EVERY_S = 5.0
"""How often the partition count is looked at."""


@dataclass(frozen=True, slots=True)
class JobConfig:
    """Where a query runs and when it ends."""

    bootstrap_servers: str
    checkpoint: Path
    output_topic: str
    output_partitions: int = 1
    trigger_ms: int = 250
    master: str = "local[*]"
    settings: Mapping[str, str] = field(default_factory=dict)
    max_records: int | None = None
    stop_at_ms: int | None = None
    until_idle_s: float | None = None
    report_every_s: float = 1.0
    rebuild: bool = False


class Job:
    """One query, from the checks before its start to its end."""

    def __init__(
        self, query: Query, config: JobConfig, *, tell: Callable[[str], None], report: Callable[[Progress], None]
    ) -> None:
        self._query, self._config = query, config
        self._tell, self._report = tell, report
        self._stop = threading.Event()
        self._running = False

    def stop(self) -> bool:
        """Ask the job to end after the batch in hand, as a signal handler may; return whether it is running yet."""
        self._stop.set()
        return self._running

    def run(self) -> Progress:
        """Return how far the query came when it was told to stop; raise what kept it from running."""
        config, query = self._config, self._query
        topics = Topics(config.bootstrap_servers)
        count = topics.require(query.stream.clean, stream=query.stream.name)
        session.check_java()
        opened = open_checkpoint(config.checkpoint, query.plan, {query.stream.clean: count}, rebuild=config.rebuild)
        with closing(opened) as checkpoint:
            partitions, made = topics.ensure(config.output_topic, config.output_partitions)
            if made:
                self._tell(f"made output topic '{config.output_topic}' ({partitions} partitions, retention.ms=-1)")
            with closing(Sink(config.bootstrap_servers, config.output_topic, partitions)) as sink:
                check_output(sink, checkpoint)
                return self._run(checkpoint, sink, topics, count)

    def _run(self, checkpoint: Checkpoint, sink: Sink, topics: Topics, count: int) -> Progress:
        config, query = self._config, self._query
        log = checkpoint.folder / "spark.log"
        self._tell(f"starting Spark, whose log is '{log}'")
        spark = session.start(f"csql {sink.topic}", log, master=config.master, settings=config.settings)
        try:
            tuples = source.read_tuples(spark, query.stream, count, config.bootstrap_servers, self._options(count))
            rows = snapshot.evaluate(tuples, query.snapshot)
            running = RunningQuery(rows, query.names, checkpoint, sink, trigger_ms=config.trigger_ms, log=log)
            self._tell(f"running: '{query.stream.clean}' ({count} partitions) to '{sink.topic}'")
            with closing(running):
                return self._watch(running, topics, count)
        finally:
            spark.stop()

    def _options(self, count: int) -> dict[str, str]:
        limit = self._config.max_records
        return {} if limit is None else {"maxOffsetsPerTrigger": str(max(1, limit // count))}

    def _watch(self, running: RunningQuery, topics: Topics, count: int) -> Progress:
        """Report until told to stop, until the declared end, or until something is wrong."""
        self._running = True
        progress = Progress()
        now = changed = reported = counted = time.monotonic()
        while not self._stop.is_set():
            self._stop.wait(0.05)
            before, progress, now = progress, running.progress(), time.monotonic()
            if (before.until_ms, before.results) != (progress.until_ms, progress.results):
                changed = now
            if now - reported >= self._config.report_every_s:
                self._report(running.measure())
                reported = now
            if now - counted >= PARTITIONS_EVERY_S:
                self._check_partitions(topics, count)
                counted = now
            if self._at_end(progress, idle_s=now - changed):
                break
        return running.measure()

    def _at_end(self, progress: Progress, *, idle_s: float) -> bool:
        stop_at_ms, until_idle_s = self._config.stop_at_ms, self._config.until_idle_s
        return (stop_at_ms is not None and progress.until_ms > stop_at_ms) or (
            until_idle_s is not None and idle_s >= until_idle_s
        )

    def _check_partitions(self, topics: Topics, count: int) -> None:
        now = topics.partitions().get(self._query.stream.clean)
        if now != count:
            raise SetupError(
                f"topic '{self._query.stream.clean}' has {now or 'no'} partitions, the query was started on {count}",
                hint=REBUILD,
            )


def check_output(sink: Sink, checkpoint: Checkpoint) -> None:
    """Return if what the output topic says it holds goes with the checkpoint; else raise."""
    written = sink.written
    if written is None:
        finished = checkpoint.finished()
        if finished is not None and checkpoint.unfinished() is not None and checkpoint.watermark_ms(finished):
            raise SetupError(
                f"output topic '{sink.topic}' no longer tells which batch it holds, and batch {finished + 1} of "
                f"checkpoint '{checkpoint.folder}' may be in it",
                hint="group offsets expire after 7 days: choose a new --output-topic and --checkpoint",
            )
    elif written.checkpoint != checkpoint.identity and not checkpoint.rebuilt:
        raise SetupError(
            f"output topic '{sink.topic}' holds results of another checkpoint than '{checkpoint.folder}'",
            hint=f"choose another --output-topic; or {REBUILD}",
        )
