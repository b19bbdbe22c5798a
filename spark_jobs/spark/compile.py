"""From a plan of CSQL to what Spark runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_jobs.spark.snapshot import Snapshot

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class Query:
    """A query that Spark can run: its input, its operator, and the text that identifies it in a checkpoint."""

    text: str
    stream: str
    topic: str
    columns: tuple[tuple[str, str], ...]
    snapshot: Snapshot

    def schema(self) -> StructType:
        """Return the type of the stream's values."""
        from pyspark.sql.types import StructType

        schema = StructType()
        for name, kind in self.columns:
            schema = schema.add(name, kind)
        return schema
