"""The papers' queries over seeded data, against independent Python that never heard of plans."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from spark_jobs.csql.program import load
from spark_jobs.csql.reference.engine import run
from tests.spark_jobs.csql.animals import conditions, pulses, speeds
from tests.spark_jobs.csql.paper_queries import QUERIES

MINUTE = 60_000
Rows = list[dict[str, Any]]


def evaluate(name: str, stream: str, rows: Rows) -> Rows:
    """Return what the paper's query puts out."""
    declarations, text = QUERIES[name]
    program = load(declarations + text)
    lines = {stream: [(0, offset, row) for offset, row in enumerate(rows)]}
    return [{key: value for key, value in row.items() if key != "query"} for row in run(program, lines).rows]


def with_at(at_ms: int, row: dict[str, Any]) -> dict[str, Any]:
    return {"at": at_ms, **row}


@pytest.mark.parametrize("seed", [1, 2])
def test_query_1a_reports_the_last_minutes_horses_at_every_100th_tuple(seed: int) -> None:
    rows = conditions(seed)
    expected = []
    for index in range(99, len(rows), 100):
        now = rows[index]["Timestamp"]
        window = [row for row in rows[: index + 1] if row["Timestamp"] > now - MINUTE]
        expected += [with_at(now, row) for row in window if row["Species"] == "horse"]
    assert expected
    assert evaluate("001 query 1(a)", "BodyCondition", rows) == expected


@pytest.mark.parametrize("seed", [1, 2])
def test_query_1b_reports_every_100th_horse(seed: int) -> None:
    rows = conditions(seed)
    horses = [row for row in rows if row["Species"] == "horse"]
    expected = [with_at(row["Timestamp"], row) for row in horses[99::100]]
    assert expected
    assert evaluate("001 query 1(b)", "BodyCondition", rows) == expected


@pytest.mark.parametrize("seed", [1, 2])
def test_query_1c_reports_every_100th_reading_of_each_horse(seed: int) -> None:
    rows = conditions(seed)
    seen: dict[int, int] = defaultdict(int)
    expected = []
    for row in rows:
        if row["Species"] == "horse":
            seen[row["Id"]] += 1
            if seen[row["Id"]] % 100 == 0:
                expected.append(with_at(row["Timestamp"], row))
    assert expected
    assert evaluate("001 query 1(c)", "BodyCondition", rows) == expected


@pytest.mark.parametrize("seed", [1, 2])
def test_query_2_reports_each_animals_last_sample_of_each_minute(seed: int) -> None:
    rows = conditions(seed, seconds=400)
    seen: dict[int, int] = defaultdict(int)
    last: dict[tuple[int, int], tuple[int, dict[str, Any]]] = {}
    for place, row in enumerate(rows):
        seen[row["Id"]] += 1
        if seen[row["Id"]] % 100 == 0:
            minute = -(-row["Timestamp"] // MINUTE) * MINUTE
            last[minute, row["Id"]] = (place, row)
    picks = sorted((minute, place, row["Id"]) for (minute, _), (place, row) in last.items())
    complete = [pick for pick in picks if pick[0] <= rows[-1]["Timestamp"]]
    expected = [with_at(minute, last[minute, animal][1]) for minute, _, animal in complete]
    assert expected
    assert evaluate("001 query 2", "BodyCondition", rows) == expected


def pulse_rates(rows: Rows) -> Rows:
    """Return every tenth count of the last minute's beats, animal by animal."""
    seen: dict[int, int] = defaultdict(int)
    rates = []
    for index, row in enumerate(rows):
        seen[row["Id"]] += 1
        if seen[row["Id"]] % 10:
            continue
        now = row["Timestamp"]
        beats = [
            beat for beat in rows[: index + 1] if beat["Id"] == row["Id"] and now - MINUTE < beat["Timestamp"] <= now
        ]
        rates.append({"at": now, "Id": row["Id"], "COUNT": len(beats)})
    return rates


@pytest.mark.parametrize("seed", [1, 2])
def test_query_3_reports_every_tenth_pulse_rate_of_each_animal(seed: int) -> None:
    rows = pulses(seed)
    expected = pulse_rates(rows)
    assert expected
    assert evaluate("001 query 3", "Pulse", rows) == expected


@pytest.mark.parametrize("seed", [1, 2])
def test_query_4_reports_each_animals_mean_rate_of_the_last_hour_every_minute(seed: int) -> None:
    rows = pulses(seed, animals=2, seconds=600)
    rates = pulse_rates(rows)
    last: dict[tuple[int, int], tuple[int, float]] = {}
    for place, rate in enumerate(rates):
        hour = [
            past["COUNT"]
            for past in rates[: place + 1]
            if past["Id"] == rate["Id"] and past["at"] > rate["at"] - 3_600_000
        ]
        minute = -(-rate["at"] // MINUTE) * MINUTE
        last[minute, rate["Id"]] = (place, sum(hour) / len(hour))
    ordered = sorted((minute, place, animal, mean) for (minute, animal), (place, mean) in last.items())
    expected = [
        {"at": minute, "Id": animal, "AVG": mean}
        for minute, _, animal, mean in ordered
        if minute <= rows[-1]["Timestamp"]
    ]
    assert expected
    assert evaluate("001 query 4", "Pulse", rows) == expected


def extents(rows: Rows, length: int, slide: int) -> list[tuple[int, Rows]]:
    """Return each extent [end - length, end) that is complete and not empty, with the instant before its end."""
    first, last = rows[0]["ts"], rows[-1]["ts"]
    found = []
    for end in range(first - first % slide, last + 2, slide):
        inside = [row for row in rows if end - length <= row["ts"] < end]
        if inside and end - 1 <= last:
            found.append((end - 1, inside))
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_q1_of_003_reports_fast_vehicles_with_their_last_speed(seed: int) -> None:
    rows = speeds(seed)
    expected = []
    for at_ms, inside in extents(rows, 300_000, 30_000):
        by_vehicle: dict[int, list[float]] = defaultdict(list)
        places: dict[int, int] = {}
        for place, row in enumerate(inside):
            by_vehicle[row["vehID"]].append(row["speed"])
            places[row["vehID"]] = place
        fast = [vehicle for vehicle, each in by_vehicle.items() if sum(each) / len(each) > 80]
        fast.sort(key=places.__getitem__)
        expected += [{"at": at_ms, "vehID": vehicle, "speed": by_vehicle[vehicle][-1]} for vehicle in fast]
    assert expected
    assert evaluate("003 Q1", "Sensors", rows) == expected


@pytest.mark.parametrize("name", ["003 Q2", "003 Q3", "003 Q4"])
def test_q2_to_q4_of_003_report_the_window_at_each_slide(name: str) -> None:
    rows = speeds(3)
    expected = [
        {"at": at_ms, "vehID": row["vehID"], "speed": row["speed"]}
        for at_ms, inside in extents(rows, 300_000, 30_000)
        for row in inside
    ]
    assert evaluate(name, "Sensors", rows) == expected


@pytest.mark.parametrize("name", ["000 Q1", "000 Q2"])
def test_q1_and_q2_of_000_report_the_fastest_of_five_minutes_every_minute(name: str) -> None:
    rows = speeds(4)
    traffic = [{"speed": row["speed"], "timestamp": row["ts"]} for row in rows]
    expected = [
        {"at": at_ms, "MAX": max(row["speed"] for row in inside)} for at_ms, inside in extents(rows, 300_000, 60_000)
    ]
    assert evaluate(name, "Traffic", traffic) == expected


@pytest.mark.parametrize(("name", "length"), [("002 Q1", 30_000), ("002 Q2", 30_000), ("002 Q3", 300_000)])
def test_the_queries_of_002_follow_the_maximum_at_every_instant(name: str, length: int) -> None:
    readings = [{"value": row["speed"], "ts": row["ts"]} for row in speeds(5, seconds=400)]
    found = evaluate(name, "Sensors", readings)
    last = readings[-1]["ts"]
    instants = {row["ts"] for row in readings} | {row["ts"] + length for row in readings}
    shown: dict[str, Any] | None = None
    for now in sorted(instant for instant in instants if instant <= last):
        if shown is not None and shown["to"] <= now:
            shown = None
        for change in found:
            if change.get("at") == now:
                shown = None
            if change.get("from") == now:
                shown = change
        alive = [row["value"] for row in readings if now - length < row["ts"] <= now]
        assert (shown["MAX"] if shown else None) == max(alive, default=None)
    assert [change for change in found if change.get("from", change.get("at")) > last] == []
