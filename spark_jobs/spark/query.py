"""A running query: started from its checkpoint, watched, stopped between two batches or with an error of ours."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError

from spark_jobs.errors import CsqlError, SetupError
from spark_jobs.records import SnapshotRow
from spark_jobs.spark.checkpoint import Checkpoint
from spark_jobs.spark.sink import Sink
from spark_jobs.spark.snapshot import AT, KEY, NEWEST

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a query has come since it was started; `records` counts tuples and punctuations read."""

    records: int = 0
    records_per_s: float = 0.0
    results: int = 0
    batches: int = 0
    batch_ms: int = 0
    state_rows: int = 0
    until_ms: int = 0
    newest: dict[str, Any] | None = None


class RunningQuery:
    """One streaming query and its sink."""

    def __init__(
        self,
        rows: DataFrame,
        names: Sequence[str],
        checkpoint: Checkpoint,
        sink: Sink,
        *,
        trigger_ms: int,
        log: Path,
    ) -> None:
        self._names, self._checkpoint, self._sink, self._log = names, checkpoint, sink, log
        self._progress = Progress()
        self._failure: CsqlError | None = None
        self._seen = -1
        self._writing = threading.Lock()
        self._counting = threading.Lock()
        self._query = (
            rows.writeStream.foreachBatch(self._write)
            .option("checkpointLocation", str(checkpoint.spark.resolve()))
            .trigger(processingTime=f"{trigger_ms} milliseconds")
            .start()
        )

    def progress(self) -> Progress:
        """Return how far its output has come; raise what stopped it, if anything did."""
        if not self._query.isActive:
            raise self._failure or self._reason()
        return self._progress

    def measure(self) -> Progress:
        """Return how far it has come with the input as Spark has counted it by now."""
        for batch in self._query.recentProgress:
            if batch["batchId"] > self._seen and batch["numInputRows"]:
                self._count(batch)
        return self._progress

    def close(self) -> None:
        """Return when the query has stopped and nothing is being written any more."""
        with self._writing:
            self._query.stop()

    def _write(self, batch: DataFrame, number: int) -> None:
        """Evaluate a batch, once, and write it. (An `orderBy` would evaluate it twice: it samples first.)"""
        try:
            with self._writing:
                rows = [self._row(row) for row in sorted(batch.collect(), key=lambda row: (row[AT], row[NEWEST]))]
                watermark_ms = self._checkpoint.watermark_ms(number)
                self._sink.write(self._checkpoint.identity, number, rows, watermark_ms + 1 if watermark_ms else 0)
        except CsqlError as error:
            self._failure = error
            raise
        except Py4JJavaError as error:
            self._failure = self._stopped(str(error.java_exception))
            raise
        with self._counting:
            self._progress = replace(
                self._progress,
                results=self._progress.results + len(rows),
                batches=self._progress.batches + 1,
                until_ms=self._sink.written.until_ms if self._sink.written else 0,
                newest={"at": rows[-1].at_ms, **rows[-1].columns} if rows else self._progress.newest,
            )

    def _row(self, row: Row) -> SnapshotRow:
        columns = {name: row[f"i{place}"] for place, name in enumerate(self._names)}
        return SnapshotRow(row[AT], tuple(row[KEY]), columns)

    def _count(self, batch: Any) -> None:
        self._seen = batch["batchId"]
        with self._counting:
            self._progress = replace(
                self._progress,
                records=self._progress.records + batch["numInputRows"],
                records_per_s=round(batch["processedRowsPerSecond"], 1),
                batch_ms=batch["durationMs"].get("triggerExecution", 0),
                state_rows=sum(operator["numRowsTotal"] for operator in batch["stateOperators"]),
            )

    def _reason(self) -> CsqlError:
        return self._stopped(str(self._query.exception() or "it ended by itself"))

    def _stopped(self, told: str) -> CsqlError:
        return SetupError(f"the query stopped: {reason(told)}", hint=f"Spark's log is '{self._log}'")


def reason(told: str) -> str:
    """Return the sentence in a failure of Spark that tells what went wrong.

    >>> reason("[STREAM_FAILED] Query [id = a, runId = b] terminated with exception: disk full SQLSTATE: XXKST\\n at x")
    'disk full'
    >>> reason("org.apache.SomeException: Data may have been lost;\\nReason: could not read topic t-1\\nwith group g")
    'could not read topic t-1'
    """
    lines = told.strip().splitlines() or ["unknown"]
    named = [line.removeprefix("Reason: ") for line in lines if line.startswith("Reason: ")]
    first = lines[0].split("terminated with exception: ")[-1].split(" SQLSTATE")[0]
    return named[0] if named else re.sub(r"^([\w$]+\.)+[\w$]+: ", "", first)
