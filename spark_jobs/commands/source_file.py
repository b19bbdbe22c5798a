"""A CSQL file from disk, checked; its warnings on standard error."""

from __future__ import annotations

import sys
from pathlib import Path

from spark_jobs.csql.program import Program, load
from spark_jobs.errors import UsageError


def read_text(path: Path) -> str:
    """Return the text of a file; raise UsageError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"'{path}' is not UTF-8 text") from error


def read_program(path: Path) -> Program:
    """Return the checked program of a file; print its warnings."""
    program = load(read_text(path))
    for warning in program.warnings:
        print(f"csql: warning: {warning}", file=sys.stderr)
    if not program.queries and not program.streams:
        raise UsageError(f"'{path}' is empty", hint="declare a stream with CREATE STREAM, then SELECT from it")
    return program
