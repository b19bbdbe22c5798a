"""The codec reads two times of a record and lets everything else pass; what it cannot read is dead, never an error."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from confluent_kafka import Message
from hypothesis import given
from hypothesis import strategies as st

import schemas
from reorderer.config import Arrival, RunConfig, Timestamp
from reorderer.kafka.codec import Codec, Decoded, RawMessage
from reorderer.records import Headers, Topics

ARRIVAL_MS = 1_700_000_009_000
TS_MS = 1_700_000_000_000


def message(value: bytes | None, headers: Headers | None = None) -> RawMessage:
    made = Message(
        topic="t",
        partition=0,
        offset=3,
        key=b"k",
        value=value,
        headers=cast("Any", headers),
        timestamp=(2, ARRIVAL_MS),
    )
    return cast("RawMessage", made)


def decode(
    raw: RawMessage, timestamp: str = "ts", unit: str = "millis", arrival: str = "broker", **more: Any
) -> Decoded:
    config = RunConfig(
        "b", Topics.of("t"), "g", timestamp=Timestamp.parse(timestamp, unit), arrival=Arrival.parse(arrival), **more
    )
    return Codec(config).decode([raw], now_ms=42)


def fate(decoded: Decoded) -> str | int:
    """Return the event time of the one tuple, or its disposition if it is dead."""
    assert len(decoded.ts_ms) + len(decoded.dead) == 1
    return decoded.ts_ms[0] if decoded.ts_ms else decoded.dead[0].disposition


@pytest.mark.parametrize("headers", [None, [("trace", b"\x00"), ("trace", None)]])
def test_a_tuple_passes_with_its_bytes_untouched(headers: Headers | None) -> None:
    value = b' { "ts" : 1700000000000, "caf\\u00e9": 1e2 } '
    decoded = decode(message(value, headers))
    assert decoded == Decoded([TS_MS], [ARRIVAL_MS], [3], [(b"k", value, headers)], [])


@pytest.mark.parametrize(
    ("value", "disposition"),
    [
        (None, "no_timestamp"),
        (b"", "malformed"),
        (b"\xff\xfe", "malformed"),
        (b'{"ts": 1700000000000', "malformed"),
        (b'{"ts": NaN}', "malformed"),
        (b"[1700000000000]", "malformed"),
        (b"null", "malformed"),
        (b'"ts"', "malformed"),
        (b"[" * 100_000, "malformed"),
        (b"{}", "no_timestamp"),
        (b'{"TS": 1700000000000}', "no_timestamp"),
        (b'{"ts": null}', "no_timestamp"),
        (b'{"ts": true}', "no_timestamp"),
        (b'{"ts": "1700000000000"}', "no_timestamp"),
        (b'{"ts": {}}', "no_timestamp"),
        (b'{"ts": 0}', "no_timestamp"),
        (b'{"ts": -5}', "no_timestamp"),
        (b'{"ts": 9007199254740992}', "no_timestamp"),
        (b'{"ts": 9223372036854775808}', "no_timestamp"),
        (b'{"ts": 1e300}', "no_timestamp"),
        (b'{"ts": 1700000000000, "__punctuation__": {"until": 5}}', "reserved"),
        (b'{"__punctuation__": {"until": 5}}', "reserved"),
        (b'{"ts": 1700000000000, "a": {"__punctuation__": 1}}', TS_MS),
        (b'{"ts": 1700000000000.9}', TS_MS),
        (b'{"ts": 253402300799000}', 253402300799000),
    ],
)
def test_every_value_is_a_tuple_or_dead_with_the_right_disposition(value: bytes | None, disposition: str | int) -> None:
    assert fate(decode(message(value))) == disposition
    assert fate(decode(message(value, [("trace", b"1")]))) == disposition


def test_a_raw_header_of_ours_is_reserved() -> None:
    assert fate(decode(message(b'{"ts": 1700000000000}', [("reorderer.kind", b"x")]))) == "reserved"


def test_a_value_above_the_limit_is_oversize() -> None:
    value = b'{"ts": 1700000000000}'
    assert fate(decode(message(value), max_value_bytes=len(value))) == TS_MS
    assert fate(decode(message(value), max_value_bytes=len(value) - 1)) == "oversize"


@pytest.mark.parametrize(
    ("unit", "written", "ms"),
    [
        ("seconds", 1_700_000_000, TS_MS),
        ("seconds", 1_700_000_000.123, TS_MS + 123),
        ("millis", TS_MS, TS_MS),
        ("micros", 1_700_000_000_123_999, TS_MS + 123),
        ("nanos", 1_700_000_000_123_999_999, TS_MS + 123),
        ("rfc3339", "2023-11-14T22:13:20.123Z", TS_MS + 123),
        ("rfc3339", "2023-11-14T23:13:20.123456+01:00", TS_MS + 123),
        ("rfc3339", "2023-11-14T22:13:20", "no_timestamp"),
        ("rfc3339", "yesterday", "no_timestamp"),
        ("rfc3339", 1_700_000_000, "no_timestamp"),
        ("nanos", True, "no_timestamp"),
        ("seconds", "5", "no_timestamp"),
    ],
)
def test_event_time_is_read_in_its_unit(unit: str, written: Any, ms: int | str) -> None:
    assert fate(decode(message(json.dumps({"ts": written}).encode()), unit=unit)) == ms


def test_a_dotted_path_leads_into_the_value() -> None:
    assert fate(decode(message(b'{"meta": {"at": 5}}'), "meta.at")) == 5
    assert fate(decode(message(b'{"meta": 7}'), "meta.at")) == "no_timestamp"
    assert fate(decode(message(b'{"meta": [7]}'), "meta.at")) == "no_timestamp"


def test_a_header_gives_the_event_time_and_the_value_stays_opaque() -> None:
    assert fate(decode(message(b"\x00avro", [("at", b"1"), ("at", b"77")]), "header:at")) == 77
    assert fate(decode(message(None, [("at", b"77")]), "header:at")) == 77
    for wrong in (None, b"", b"x", b"\xff", b"-3"):
        assert fate(decode(message(b"\x00avro", [("at", wrong)]), "header:at")) == "no_timestamp"
    assert fate(decode(message(b"\x00avro"), "header:at")) == "no_timestamp"
    assert fate(decode(message(b'{"__punctuation__": 1}', [("at", b"77")]), "header:at")) == "reserved"


def test_the_record_timestamp_can_be_the_event_time() -> None:
    decoded = decode(message(b"\x00avro"), "record", arrival="wall")
    assert (decoded.ts_ms, decoded.arrival_ms) == ([ARRIVAL_MS], [42])


def test_arrival_comes_from_the_record_a_header_or_the_wall_clock() -> None:
    value = b'{"ts": 5}'
    assert decode(message(value), arrival="broker").arrival_ms == [ARRIVAL_MS]
    assert decode(message(value), arrival="record").arrival_ms == [ARRIVAL_MS]
    assert decode(message(value), arrival="wall").arrival_ms == [42]
    assert decode(message(value, [("got", b"99")]), arrival="header:got").arrival_ms == [99]
    assert fate(decode(message(value), arrival="header:got")) == "no_timestamp"


@given(
    value=st.none() | st.binary(max_size=60),
    headers=st.none() | st.lists(st.tuples(st.text(), st.none() | st.binary())),
)
def test_no_bytes_make_it_fail_and_what_is_dead_says_why(value: bytes | None, headers: Headers | None) -> None:
    decoded = decode(message(value, headers))
    assert len(decoded.records) + len(decoded.dead) == 1
    assert all(dead.reason for dead in decoded.dead)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(), lambda inner: st.lists(inner)))
def test_any_json_timestamp_is_usable_or_dead(ts: Any) -> None:
    value = json.dumps({"ts": ts}).encode()
    decoded = decode(message(value))
    if decoded.ts_ms:
        record = schemas.describe(b"k", value, decoded.ts_ms[0], [("reorderer.offset", b"3")])
        assert schemas.problems("clean", record) == []
