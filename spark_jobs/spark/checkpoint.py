"""The folder that a query restarts from: what it belongs to, Spark's own checkpoint, and its log.

::

    DIR/query.json   the query, its topics' partition counts, and an id: a checkpoint serves one query over one input
    DIR/spark/       Spark's checkpoint: offsets/, commits/, state/, ...
    DIR/spark.log    what the JVM had to say
    DIR/lock         held by the process that runs the query
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_jobs.errors import SetupError

REBUILD = "--rebuild starts anew and leaves out results up to the last output punctuation"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """An opened checkpoint; this process holds its lock."""

    folder: Path
    identity: str
    rebuilt: bool
    lock: int

    @property
    def spark(self) -> Path:
        """Spark's own checkpoint."""
        return self.folder / "spark"

    def watermark_ms(self, batch: int) -> int:
        """Return the watermark of a batch as the offset log has it: it is the same when the batch is repeated."""
        path = self.spark / "offsets" / str(batch)
        try:
            return int(json.loads(path.read_text(encoding="utf-8").split("\n")[1])["batchWatermarkMs"])
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise SetupError(f"checkpoint file '{path}' is damaged: {error!r}", hint=REBUILD) from error

    def unfinished(self) -> int | None:
        """Return the batch that was begun and not finished, which Spark will repeat; None if there is none."""
        begun, finished = _newest(self.spark / "offsets"), _newest(self.spark / "commits")
        return begun if begun > finished else None

    def finished(self) -> int | None:
        """Return the newest finished batch; None before the first."""
        newest = _newest(self.spark / "commits")
        return None if newest < 0 else newest

    def close(self) -> None:
        """Give the lock back."""
        os.close(self.lock)


def open_checkpoint(folder: Path, query: str, partitions: Mapping[str, int], *, rebuild: bool = False) -> Checkpoint:
    """Return the checkpoint of this very query, made if the folder is missing or empty; else raise."""
    lock = _lock(folder)
    try:
        if rebuild:
            _clear(folder)
        found = _open(folder, query, dict(partitions), rebuild)
    except BaseException:
        os.close(lock)
        raise
    return Checkpoint(folder, found["id"], found["rebuilt"], lock)


def _open(folder: Path, query: str, partitions: dict[str, int], rebuilt: bool) -> dict[str, Any]:
    path = folder / "query.json"
    if not path.exists():
        if (folder / "spark").exists():
            raise SetupError(f"checkpoint '{folder}' has lost its '{path.name}'", hint=REBUILD)
        kept = {"version": 1, "id": uuid.uuid4().hex, "rebuilt": rebuilt, "query": query, "partitions": partitions}
        _write(path, kept)
        return kept
    found = _read(path)
    if found["query"] != query:
        raise SetupError(
            f"checkpoint '{folder}' belongs to another query ('{path}' has its plan)",
            hint=f"use another folder; or {REBUILD}",
        )
    for topic, count in partitions.items():
        before = found["partitions"].get(topic)
        if before != count:
            raise SetupError(
                f"topic '{topic}' has {count} partitions, checkpoint '{folder}' was made with {before}", hint=REBUILD
            )
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if {"id", "rebuilt", "query", "partitions"} <= found.keys():
            return found
    except (OSError, ValueError, AttributeError) as error:
        raise SetupError(f"checkpoint file '{path}' is damaged: {error!r}", hint=REBUILD) from error
    raise SetupError(f"checkpoint file '{path}' is damaged", hint=REBUILD)


def _write(path: Path, content: dict[str, Any]) -> None:
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(content, indent=1), encoding="utf-8")
    temporary.replace(path)


def _lock(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise SetupError(f"checkpoint '{folder}' cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise SetupError(f"checkpoint '{folder}' is in use by another process") from error
    return lock


def _clear(folder: Path) -> None:
    """Remove what this module and Spark keep in the folder, and nothing else."""
    shutil.rmtree(folder / "spark", ignore_errors=True)
    (folder / "query.json").unlink(missing_ok=True)


def _newest(log: Path) -> int:
    """Return the newest entry of one of Spark's logs, -1 if there is none."""
    return max((int(path.name) for path in log.glob("[0-9]*") if path.name.isdigit()), default=-1)
