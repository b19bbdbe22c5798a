"""Each schema is a schema, takes its valid examples and refuses its invalid ones."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import schemas


def examples(kind: str) -> list[Any]:
    folder = resources.files(schemas).joinpath("examples")
    return [
        pytest.param(name, record, id=f"{name}: {title}")
        for name in schemas.NAMES
        for title, record in json.loads(folder.joinpath(f"{name}.{kind}.json").read_text(encoding="utf-8")).items()
    ]


@pytest.mark.parametrize("name", schemas.NAMES)
def test_every_schema_is_itself_valid(name: str) -> None:
    Draft202012Validator.check_schema(schemas.load(name))


@pytest.mark.parametrize(("name", "record"), examples("valid"))
def test_a_valid_example_fits(name: str, record: dict[str, Any]) -> None:
    assert schemas.problems(name, record) == []


@pytest.mark.parametrize(("name", "record"), examples("invalid"))
def test_an_invalid_example_is_refused(name: str, record: dict[str, Any]) -> None:
    assert schemas.problems(name, record) != []


@pytest.mark.parametrize("name", schemas.NAMES)
def test_each_schema_has_at_least_three_invalid_examples(name: str) -> None:
    assert len([case for case in examples("invalid") if case.values[0] == name]) >= 3


def test_bytes_that_are_not_json_are_described_in_base64() -> None:
    record = schemas.describe(b"\xff", b"\x00\x01\x02", 5, [("reorderer.offset", b"0")])
    assert record == {"key": "/w==", "value": "AAEC", "timestamp_ms": 5, "headers": [["reorderer.offset", "0"]]}
    assert schemas.problems("clean", record) == []
