"""CAST, and the reading of JSON values into columns: what does not fit is NULL."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any, assert_never

from spark_jobs.csql.types import Type, Value

_INTEGER = re.compile(r"\s*[+-]?\d{1,19}\s*", re.ASCII)
_DOUBLE = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_TRUTHS = {"t": True, "true": True, "y": True, "yes": True, "1": True}
_TRUTHS |= {"f": False, "false": False, "n": False, "no": False, "0": False}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def cast(value: Value, target: Type) -> Value:
    """Return the value as another type, NULL where it cannot be.

    >>> cast("12", Type.INT), cast("12x", Type.INT), cast(2.9, Type.BIGINT), cast(True, Type.STRING)
    (12, None, 2, 'true')
    """
    if value is None:
        return None
    match target:
        case Type.STRING:
            return _text(value)
        case Type.BOOLEAN:
            return value if isinstance(value, bool) else _TRUTHS.get(str(value).strip().lower())
        case Type.DOUBLE:
            return _double(value)
        case Type.INT:
            return _integer(value, 2**31)
        case Type.BIGINT | Type.TIMESTAMP:
            return _integer(value, 2**63)
        case Type.NULL:
            return None
        case _:
            assert_never(target)


def read(value: Any, target: Type) -> Value:
    """Return a value of JSON as a column's type, NULL where it does not fit.

    >>> read(3, Type.DOUBLE), read("3", Type.INT), read("2026-01-01T00:00:00Z", Type.TIMESTAMP)
    (3.0, None, 1767225600000)
    """
    if value is None:
        return None
    match target:
        case Type.STRING:
            return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        case Type.BOOLEAN:
            return value if isinstance(value, bool) else None
        case Type.DOUBLE:
            return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        case Type.INT | Type.BIGINT:
            fits = isinstance(value, int) and not isinstance(value, bool)
            return _integer(value, 2**31 if target is Type.INT else 2**63) if fits else None
        case Type.TIMESTAMP:
            return milliseconds(value)
        case Type.NULL:
            return None
        case _:
            assert_never(target)


def milliseconds(value: Any) -> int | None:
    """Return a time given as epoch milliseconds or RFC 3339 text, else None; text without an offset is UTC."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(milliseconds=1)


def _integer(value: Value, bound: int) -> int | None:
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value):
            return None
        number = int(value)
    else:
        assert value is not None
        if not math.isfinite(value):
            return None
        number = int(value)
    return number if -bound <= number < bound else None


def _double(value: Value) -> float | None:
    if isinstance(value, str):
        return float(value) if _DOUBLE.fullmatch(value) else None
    assert value is not None
    return float(value)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isfinite(value) and value != 0 and not 1e-3 <= abs(value) < 1e7:
        mantissa, _, exponent = f"{value:.17e}".partition("e")
        digits = repr(value).partition("e")[0].replace(".", "").lstrip("-0").rstrip("0") or mantissa
        sign = "-" if value < 0 else ""
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{int(exponent)}"
    return str(value)
