"""What a configuration may say."""

from __future__ import annotations

from typing import Any

import pytest

from reorderer.core.config import CoreConfig
from reorderer.errors import UsageError


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "neither DRATIO nor SLACK is given"),
        ({"slack_tuples": 0}, "SLACK 0 without DRATIO"),
        ({"slack_ms": 0}, "SLACK 0 without DRATIO"),
        ({"slack_ms": 1, "slack_tuples": 1}, "as a duration and in tuples"),
        ({"slack_ms": -1}, "slack_ms -1 is not an integer from 0"),
        ({"slack_ms": 1.5}, "slack_ms 1.5 is not an integer"),
        ({"slack_ms": 1, "bsize": 0}, "bsize 0 is not an integer from 1"),
        ({"slack_ms": 1, "max_bytes": True}, "max_bytes True is not an integer"),
        ({"slack_ms": 1, "windows": ((0, 0),)}, "window period 0"),
        ({"dratio": 1.01}, "drop ratio 1.01 is not within 0 and 1"),
        ({"dratio": -0.01}, "drop ratio -0.01 is not within 0 and 1"),
        ({"dratio": float("nan")}, "drop ratio nan is not a number"),
        ({"dratio": "1%"}, "drop ratio '1%' is not a number; a fraction from 0 to 1: 0.01 is 1 %"),
        ({"dratio": True}, "drop ratio True is not a number"),
        ({"dratio": 0.01, "estimator": "slack"}, "the estimator 'slack' needs a SLACK above 0"),
        ({"slack_ms": 5, "estimator": "vseq"}, "the estimator 'vseq' needs a DRATIO"),
    ],
)
def test_nonsense_is_refused_with_the_value_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CoreConfig(**settings)


@pytest.mark.parametrize("dratio", [0, 0.0, 1e-9, 1, 1.0])
def test_bounds_from_0_to_100_percent_are_bounds(dratio: float) -> None:
    assert CoreConfig(dratio=dratio).estimator_name == "budget"


def test_slack_caps_the_estimator_and_max_slack_caps_slack() -> None:
    assert CoreConfig(dratio=0.01).cap_ms == 3_600_000
    assert CoreConfig(dratio=0.01, slack_ms=50).cap_ms == 50
    assert CoreConfig(slack_ms=50, max_slack_ms=20).cap_ms == 20
    assert CoreConfig(dratio=0.01, slack_tuples=0).cap_ms == 3_600_000
