"""Output records fit the schemas that both packages share."""

from __future__ import annotations

import pytest

from schemas import describe, problems
from spark_jobs.records import Record, SnapshotRow, punctuation


def told(record: Record) -> dict[str, object]:
    return describe(record.key, record.value, record.timestamp_ms, record.headers)


@pytest.mark.parametrize(
    "row",
    [
        SnapshotRow(1, (), {}),
        SnapshotRow(1_700_000_000_000, ("cow", None, 3), {"Species": "cow", "COUNT": 3, "AVG": None}),
        SnapshotRow(1_700_000_000_000, (0, 17), {"näme": 'a "quoted" value', "ok": True, "x": 0.1}),
    ],
)
def test_a_snapshot_row_fits_the_schema_of_output_records(row: SnapshotRow) -> None:
    assert problems("output", told(row.record(4))) == []


def test_a_punctuation_fits_the_schema_of_punctuations() -> None:
    assert problems("punctuation", told(punctuation(1_700_000_000_000))) == []


def test_ids_differ_between_instants_and_between_keys() -> None:
    rows = [SnapshotRow(at_ms, key, {}) for at_ms in (1, 11) for key in (("a",), ("b",), (None,), (1,), ("1",), ())]
    assert len({row.record(0).key for row in rows}) == len(rows)
