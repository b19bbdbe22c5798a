"""The state beside a committed offset."""

from __future__ import annotations

import pytest

from reorderer.checkpoint import Checkpoint
from reorderer.errors import StateError

SETTINGS: dict[str, str | int | None] = {
    "timestamp": "field:ts",
    "unit": "millis",
    "arrival": "broker",
    "max_future_ms": 5,
}


def test_a_state_that_cannot_be_committed_is_refused_before_it_is_sent() -> None:
    with pytest.raises(StateError, match=r"takes 5\d\d\d bytes, and 4096 can be committed"):
        Checkpoint("id", 7, SETTINGS, 0, "x" * 5_000).encode()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "5", '"x"', "null"])
def test_metadata_of_another_program_is_refused(text: str) -> None:
    with pytest.raises(StateError, match="carries no state of ours"):
        Checkpoint.decode(text)


def test_a_state_of_a_later_version_is_refused() -> None:
    with pytest.raises(StateError, match="version 2, this program reads version 1"):
        Checkpoint.decode(Checkpoint("id", 7, SETTINGS, 0, None).encode().replace('"version":1', '"version":2'))


def test_a_recreated_topic_is_refused() -> None:
    with pytest.raises(StateError, match="re-created: its id is 'new', the state's is 'old'"):
        Checkpoint("old", 7, SETTINGS, 0, None).check("new", SETTINGS)


@pytest.mark.parametrize("name", ["timestamp", "unit", "arrival"])
def test_a_changed_source_of_time_is_refused(name: str) -> None:
    with pytest.raises(StateError, match=f"{name} was '{SETTINGS[name]}' and is now 'other'"):
        Checkpoint("id", 7, SETTINGS, 0, None).check("id", SETTINGS | {name: "other"})


def test_other_settings_may_change() -> None:
    Checkpoint("id", 7, SETTINGS, 0, None).check("id", SETTINGS | {"max_future_ms": 9})
