"""From raw messages to what the core judges: reads the two times of a record and nothing else.

Every record is either a tuple or dead; reading never raises. Values, keys and headers pass through as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import orjson

from reorderer.config import RunConfig, Unit
from reorderer.records import MAX_TS_MS, RESERVED_FIELD, RESERVED_HEADER, Disposition, Headers, Record

_RESERVED_BYTES = b'"__punctuation__"'
_NO_TS = -1
"""What a reader of times returns where there is none that we could use."""


class RawMessage(Protocol):
    """What a consumer hands out for a record (confluent_kafka's own annotations allow more than a broker sends)."""

    def key(self) -> bytes | None: ...
    def value(self) -> bytes | None: ...
    def headers(self) -> Headers | None: ...
    def partition(self) -> int: ...
    def offset(self) -> int: ...
    def timestamp(self) -> tuple[int, int]: ...


@dataclass(frozen=True, slots=True)
class Dead:
    """A record that cannot be read, and why."""

    record: Record
    offset: int
    arrival_ms: int
    disposition: Disposition
    reason: str


@dataclass(frozen=True, slots=True)
class Decoded:
    """A run of raw records of one partition: the tuples, one entry of each list a tuple, and the dead."""

    ts_ms: list[int] = field(default_factory=list)
    arrival_ms: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    dead: list[Dead] = field(default_factory=list)


class Codec:
    """Reads raw messages as the configuration says."""

    def __init__(self, config: RunConfig) -> None:
        self._timestamp = config.timestamp
        self._arrival = config.arrival
        self._limit = config.max_value_bytes
        self._to_ms = _UNITS[config.timestamp.unit]

    def decode(self, messages: Sequence[RawMessage], now_ms: int) -> Decoded:
        """Return the messages of one partition, read; `now_ms` is the arrival where the wall clock gives it."""
        out = Decoded()
        add_ts, add_arrival = out.ts_ms.append, out.arrival_ms.append
        add_offset, add_record = out.offset.append, out.records.append
        in_field = self._timestamp.source == "field" and len(self._timestamp.path) == 1
        name, to_ms, limit = self._timestamp.name, self._to_ms, self._limit
        wall, in_header = self._arrival.source == "wall", self._arrival.source == "header"
        loads = orjson.loads
        for message in messages:
            key, value, headers, offset = message.key(), message.value(), message.headers(), message.offset()
            record_ms = message.timestamp()[1]
            arrival_ms = now_ms if wall else record_ms
            if in_field and headers is None and not in_header and value is not None and limit is None:
                # The common case, inlined: a field of a JSON object, no headers.
                try:
                    content = loads(value)
                    ts_ms = to_ms(content[name])
                    if 0 < ts_ms <= MAX_TS_MS and arrival_ms > 0 and RESERVED_FIELD not in content:
                        add_ts(ts_ms)
                        add_arrival(arrival_ms)
                        add_offset(offset)
                        add_record((key, value, None))
                        continue
                except (ValueError, KeyError, TypeError, OverflowError):
                    pass
            record: Record = (key, value, headers)
            judged = self._read(record, record_ms, arrival_ms)
            if isinstance(judged, tuple):
                add_ts(judged[0])
                add_arrival(judged[1])
                add_offset(offset)
                add_record(record)
            else:
                out.dead.append(Dead(record, offset, max(arrival_ms, 1), judged.disposition, judged.reason))
        return out

    def _read(self, record: Record, record_ms: int, arrival_ms: int) -> tuple[int, int] | _Unfit:
        """Return event time and arrival, or why the record is dead."""
        _, value, headers = record
        headers = headers or []
        if any(name.startswith(RESERVED_HEADER) for name, _ in headers):
            return _Unfit("reserved", f"a header begins with {RESERVED_HEADER!r}")
        if self._limit is not None and value is not None and len(value) > self._limit:
            return _Unfit("oversize", f"the value has {len(value)} bytes, more than {self._limit}")
        ts_ms = self._event_ms(value, headers, record_ms)
        if isinstance(ts_ms, _Unfit):
            return ts_ms
        if not 0 < ts_ms <= MAX_TS_MS:
            return _Unfit("no_timestamp", f"no usable time in {self._timestamp} ({self._timestamp.unit})")
        if self._arrival.source == "header":
            arrival_ms = _header_ms(headers, self._arrival.name)
        if not 0 < arrival_ms <= MAX_TS_MS:
            return _Unfit("no_timestamp", f"no usable arrival in {self._arrival}")
        return ts_ms, arrival_ms

    def _event_ms(self, value: bytes | None, headers: Headers, record_ms: int) -> int | _Unfit:
        if self._timestamp.source != "field":
            if value is not None and _RESERVED_BYTES in value and _is_reserved(value):
                return _Unfit("reserved", f"the value has a field {RESERVED_FIELD!r}")
            return record_ms if self._timestamp.source == "record" else self._header_event_ms(headers)
        if value is None:
            return _Unfit("no_timestamp", "a tombstone has no value")
        try:
            content = orjson.loads(value)
        except ValueError as error:
            return _Unfit("malformed", f"not JSON: {error}")
        if not isinstance(content, dict):
            return _Unfit("malformed", f"not a JSON object: {type(content).__name__}")
        if RESERVED_FIELD in content:
            return _Unfit("reserved", f"the value has a field {RESERVED_FIELD!r}")
        return self._field_ms(content)

    def _field_ms(self, content: Any) -> int:
        try:
            for name in self._timestamp.path:
                content = content[name]
            return self._to_ms(content)
        except (ValueError, KeyError, TypeError, OverflowError):
            return _NO_TS

    def _header_event_ms(self, headers: Headers) -> int:
        content = _header(headers, self._timestamp.name)
        try:
            text = (content or b"").decode()
            return self._to_ms(text if self._timestamp.unit == "rfc3339" else _number(text))
        except (ValueError, TypeError, OverflowError):
            return _NO_TS


@dataclass(frozen=True, slots=True)
class _Unfit:
    disposition: Disposition
    reason: str


def _is_reserved(value: bytes) -> bool:
    try:
        content = orjson.loads(value)
    except ValueError:
        return False
    return isinstance(content, dict) and RESERVED_FIELD in content


def _header(headers: Headers, name: str) -> bytes | None:
    """Return the last header of that name, as Kafka's own clients do."""
    return next((content for found, content in reversed(headers) if found == name), None)


def _header_ms(headers: Headers, name: str) -> int:
    try:
        return int((_header(headers, name) or b"").decode())
    except ValueError:
        return _NO_TS


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def _seconds(number: Any) -> int:
    if type(number) is int:
        return number * 1_000
    return round(_float(number) * 1_000)


def _millis(number: Any) -> int:
    return number if type(number) is int else int(_float(number))


def _micros(number: Any) -> int:
    return number // 1_000 if type(number) is int else int(_float(number) // 1_000)


def _nanos(number: Any) -> int:
    return number // 1_000_000 if type(number) is int else int(_float(number) // 1_000_000)


def _float(number: Any) -> float:
    """Return a JSON number with a fraction; a boolean, a text or anything else is a TypeError."""
    if type(number) is not float:
        raise TypeError(type(number).__name__)
    return number


def _rfc3339(text: Any) -> int:
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError("no offset from UTC")
    return (instant - _EPOCH) // timedelta(milliseconds=1)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS: dict[Unit, Callable[[Any], int]] = {
    "seconds": _seconds,
    "millis": _millis,
    "micros": _micros,
    "nanos": _nanos,
    "rfc3339": _rfc3339,
}
