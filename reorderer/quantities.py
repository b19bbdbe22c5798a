"""Durations and ratios as people write them on a command line or in a file."""

from __future__ import annotations

import re

from reorderer.errors import UsageError

_UNIT_MS = {
    "ms": 1,
    "millisecond": 1,
    "s": 1_000,
    "sec": 1_000,
    "second": 1_000,
    "min": 60_000,
    "minute": 60_000,
    "h": 3_600_000,
    "hour": 3_600_000,
}
_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z%]*)\s*")


def duration_ms(text: str) -> int:
    """Return a duration in milliseconds.

    >>> [duration_ms(text) for text in ("2s", "250 ms", "1.5 Minutes", "1h")]
    [2000, 250, 90000, 3600000]
    """
    number, unit = _parts(text, "duration")
    factor = _UNIT_MS.get(unit) or _UNIT_MS.get(unit.removesuffix("s"))
    if factor is None:
        raise UsageError(f"unknown unit in duration {text!r}", hint="write for example 250ms, 2s, 5min or 1h")
    return round(number * factor)


def ratio(text: str) -> float:
    """Return a share of one.

    >>> ratio("1%"), ratio("0.001")
    (0.01, 0.001)
    """
    number, unit = _parts(text, "ratio")
    value = number / 100 if unit == "%" else number
    if unit not in ("", "%") or not 0 <= value <= 1:
        raise UsageError(f"bad ratio {text!r}", hint="write for example 1% or 0.01")
    return value


def tuples(text: str) -> int | None:
    """Return n of `n tuples`, None if the text counts no tuples.

    >>> tuples("500 tuples"), tuples("2s")
    (500, None)
    """
    number, unit = _parts(text, "quantity")
    if unit.removesuffix("s") != "tuple":
        return None
    if number != int(number):
        raise UsageError(f"{text!r} is not a whole number of tuples")
    return int(number)


def _parts(text: str, what: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise UsageError(f"bad {what} {text!r}", hint="a number and a unit, such as 2s or 1%")
    return float(match[1]), match[2].lower()
