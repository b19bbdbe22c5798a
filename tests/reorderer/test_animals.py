"""The animals of paper 001, section 7."""

from __future__ import annotations

import itertools
import json
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import schemas
from reorderer.animals import AnimalStream, Herd

START_MS = 1_700_000_000_123


def rows(stream: AnimalStream, length_ms: int) -> list[dict[str, Any]]:
    slots = stream.made(START_MS, START_MS + length_ms)
    return [json.loads(value) for _, tuples in slots for value in stream.values(tuples)]


def test_every_animal_reports_its_body_each_full_second() -> None:
    tuples = rows(AnimalStream("body", Herd(3, seed=1)), 2_500)
    assert [(row["ts"], row["Id"]) for row in tuples] == [
        (1_700_000_000_000 + second * 1_000, animal) for second in (1, 2) for animal in (0, 1, 2)
    ]
    assert {tuple(row) for row in tuples} == {("Id", "Species", "BTemp", "BloodP", "ts")}
    assert all(30 < row["BTemp"] < 45 and 60 < row["BloodP"] < 200 for row in tuples)


def test_a_heart_beats_regularly_at_the_pace_of_its_species() -> None:
    herd = Herd(5, seed=3)
    tuples = rows(AnimalStream("pulse", herd), 60_000)
    for animal in range(5):
        beats = [row["ts"] for row in tuples if row["Id"] == animal]
        gaps = {second - first for first, second in itertools.pairwise(beats)}
        assert max(gaps) - min(gaps) <= 1
        assert min(gaps) <= herd.beat_ms[animal] <= max(gaps)
        assert len(beats) == pytest.approx(60_000 / herd.beat_ms[animal], abs=1)


@pytest.mark.parametrize("kind", ["pulse", "body"])
@pytest.mark.parametrize("rate", [10.0, 5_000.0])
def test_the_rate_is_that_of_the_whole_herd(kind: Literal["pulse", "body"], rate: float) -> None:
    assert len(rows(AnimalStream(kind, Herd(20, seed=2), rate), 20_000)) == pytest.approx(20 * rate, rel=0.05, abs=20)


@given(seed=st.integers(0, 2**63), size=st.integers(1, 40), kind=st.sampled_from(["pulse", "body"]))
def test_slots_hold_their_tuples_in_order_and_number_each_animals_tuples_without_a_gap(
    seed: int, size: int, kind: Literal["pulse", "body"]
) -> None:
    seqs: dict[int, list[int]] = {}
    begin_ms = START_MS
    for end_ms, tuples in AnimalStream(kind, Herd(size, seed)).made(START_MS, START_MS + 3_500):
        assert np.all((begin_ms <= tuples.ts_ms) & (tuples.ts_ms < end_ms))
        assert np.all(np.diff(tuples.ts_ms) >= 0)
        for animal, seq in zip(tuples.device.tolist(), tuples.seq.tolist(), strict=True):
            seqs.setdefault(animal, []).append(seq)
        begin_ms = end_ms
    assert all(numbers == list(range(len(numbers))) for numbers in seqs.values())


@pytest.mark.parametrize("kind", ["pulse", "body"])
def test_values_are_raw_records(kind: Literal["pulse", "body"]) -> None:
    stream = AnimalStream(kind, Herd(7, seed=9))
    for end_ms, tuples in stream.made(START_MS, START_MS + 2_000):
        for value in stream.values(tuples):
            assert schemas.problems("raw", schemas.describe(b"1", value, end_ms, [])) == []
