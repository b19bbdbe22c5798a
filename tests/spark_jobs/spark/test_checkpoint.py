"""A checkpoint serves one query over one input, one process at a time, and says what is wrong with it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from spark_jobs.errors import SetupError
from spark_jobs.spark.checkpoint import open_checkpoint


def test_it_keeps_its_id_from_one_start_to_the_next(tmp_path: Path) -> None:
    with closing(open_checkpoint(tmp_path / "ck", "plan", {"t": 3})) as first:
        identity = first.identity
    with closing(open_checkpoint(tmp_path / "ck", "plan", {"t": 3})) as again:
        assert (again.identity, again.rebuilt) == (identity, False)


def test_another_query_is_refused_and_a_rebuild_starts_anew(tmp_path: Path) -> None:
    with closing(open_checkpoint(tmp_path, "plan", {"t": 3})) as first:
        (first.spark / "offsets").mkdir(parents=True)
        (tmp_path / "mine.txt").write_text("kept")
        identity = first.identity
    with pytest.raises(SetupError, match=r"belongs to another query.*--rebuild"):
        open_checkpoint(tmp_path, "another plan", {"t": 3})
    with closing(open_checkpoint(tmp_path, "another plan", {"t": 3}, rebuild=True)) as rebuilt:
        assert rebuilt.rebuilt
        assert rebuilt.identity != identity
        assert not rebuilt.spark.exists()
    assert (tmp_path / "mine.txt").read_text() == "kept"


def test_a_topic_that_has_grown_is_refused(tmp_path: Path) -> None:
    open_checkpoint(tmp_path, "plan", {"t": 3}).close()
    with pytest.raises(SetupError, match=r"topic 't' has 4 partitions, checkpoint .* was made with 3; --rebuild"):
        open_checkpoint(tmp_path, "plan", {"t": 4})


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    with (
        closing(open_checkpoint(tmp_path, "plan", {"t": 3})),
        pytest.raises(SetupError, match="in use by another process"),
    ):
        open_checkpoint(tmp_path, "plan", {"t": 3})


@pytest.mark.parametrize("content", ["", "{", "[]", '{"id": "a"}'])
def test_a_damaged_file_is_named(tmp_path: Path, content: str) -> None:
    open_checkpoint(tmp_path, "plan", {"t": 3}).close()
    (tmp_path / "query.json").write_text(content)
    with pytest.raises(SetupError, match=r"query\.json' is damaged"):
        open_checkpoint(tmp_path, "plan", {"t": 3})


def test_a_lost_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "spark").mkdir()
    with pytest.raises(SetupError, match=r"lost its 'query\.json'"):
        open_checkpoint(tmp_path, "plan", {"t": 3})


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match=r"file/ck' cannot be written"):
        open_checkpoint(tmp_path / "file" / "ck", "plan", {"t": 3})


def test_it_knows_the_watermark_of_a_batch_and_which_batch_is_unfinished(tmp_path: Path) -> None:
    with closing(open_checkpoint(tmp_path, "plan", {"t": 1})) as checkpoint:
        assert (checkpoint.finished(), checkpoint.unfinished()) == (None, None)
        for log, batches in (("offsets", (8, 9, 10)), ("commits", (8, 9))):
            (checkpoint.spark / log).mkdir(parents=True)
            for batch in batches:
                content = (
                    f'v1\n{{"batchWatermarkMs":{batch * 1000},"batchTimestampMs":5,"conf":{{}}}}\n{{"t":{{"0":1}}}}'
                )
                (checkpoint.spark / log / str(batch)).write_text(content)
            (checkpoint.spark / log / f".{batches[-1]}.crc").write_text("")
        assert (checkpoint.finished(), checkpoint.unfinished()) == (9, 10)
        assert checkpoint.watermark_ms(10) == 10_000
        (checkpoint.spark / "offsets" / "10").write_text("v1\n")
        with pytest.raises(SetupError, match="offsets/10' is damaged"):
            checkpoint.watermark_ms(10)
