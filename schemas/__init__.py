"""JSON Schemas of every record: the one border between `reorderer` and `spark_jobs`.

A schema describes a Kafka record as a JSON object of its key, value, timestamp and headers (pairs, in order), the way
`describe` shows one. `NAMES` lists them; `examples/` holds records that fit, and records that do not with the reason.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

NAMES = ("raw", "clean", "punctuation", "late", "dead", "output")


@cache
def load(name: str) -> dict[str, Any]:
    """Return the schema of one kind of record.

    >>> load("late")["title"]
    'late record'
    """
    text = resources.files(__name__).joinpath(f"{name}.v1.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def describe(
    key: bytes | None, value: bytes | None, timestamp_ms: int, headers: Iterable[tuple[str, bytes | None]]
) -> dict[str, Any]:
    """Return a Kafka record in the form that the schemas describe.

    >>> describe(b"7", b'{"ts": 5}', 9, [("trace", b"ab")])
    {'key': '7', 'value': {'ts': 5}, 'timestamp_ms': 9, 'headers': [['trace', 'ab']]}
    """
    return {
        "key": _text(key),
        "value": _json(value),
        "timestamp_ms": timestamp_ms,
        "headers": [[name, _text(content)] for name, content in headers],
    }


def problems(name: str, record: dict[str, Any]) -> list[str]:
    """Return what keeps a described record from fitting the schema `name`; nothing if it fits.

    >>> problems("clean", describe(None, b"{}", 5, [("reorderer.offset", b"0")]))
    []
    >>> problems("clean", describe(None, b"{}", 0, [("reorderer.offset", b"0")]))
    ['timestamp_ms: 0 is less than the minimum of 1']
    """
    from jsonschema import Draft202012Validator

    found = Draft202012Validator(load(name)).iter_errors(record)
    return sorted(f"{'.'.join(map(str, error.absolute_path)) or 'record'}: {error.message}" for error in found)


def _text(content: bytes | None) -> str | None:
    if content is None:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return base64.b64encode(content).decode()


def _json(content: bytes | None) -> Any:
    if content is None:
        return None
    try:
        return json.loads(content)
    except ValueError:
        return base64.b64encode(content).decode()
