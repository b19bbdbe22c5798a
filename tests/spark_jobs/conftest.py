"""One Spark session for all tests that need one in their own process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Return the session that the tests of a run share."""
    from spark_jobs.spark import session

    started = session.start("tests", tmp_path_factory.mktemp("spark") / "spark.log", settings=session.QUICK_START)
    yield started
    started.stop()
