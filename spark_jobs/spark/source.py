"""Reads a clean topic: one Kafka source a partition, and a watermark that is exactly the smallest punctuation.

Spark's watermark column is `until`, which only punctuations have. Tuples are what is left `where("until IS NULL")`: that
filter must refer to the watermark column and to nothing else, or Spark moves it below the watermark, where it would take
the punctuations away before they count (spec, 8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

TS = "_ts_ms"
POSITION = "_position"
"""A tuple's place in the stream's sequence order: (ts, ordinal of an output topic, partition, offset)."""

WATERMARK_DELAY = "1 millisecond"
"""With no delay Spark would drop rows that equal the watermark."""


@dataclass(frozen=True, slots=True)
class CleanTopic:
    """Where a stream's tuples are to be read, and how many partitions there are for the life of the checkpoint."""

    topic: str
    partitions: int
    schema: StructType


def read_tuples(
    spark: SparkSession, clean: CleanTopic, bootstrap_servers: str, options: Mapping[str, str] | None = None
) -> DataFrame:
    """Return the stream's tuples: its columns, `_ts_ms` and `_position`; the watermark is the smallest punctuation - 1."""
    sources = [
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("kafka.isolation.level", "read_committed")
        .option("assign", f'{{"{clean.topic}":[{partition}]}}')
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .options(**(options or {}))
        .load()
        for partition in range(clean.partitions)
    ]
    return union([tuples(source, clean.schema) for source in sources])


def union(sources: Sequence[DataFrame]) -> DataFrame:
    """Return the union of the partitions; its watermark is the smallest of theirs."""
    return reduce(lambda left, right: left.unionByName(right), sources)


def tuples(records: DataFrame, schema: StructType) -> DataFrame:
    """Return the tuples among one partition's records, typed by `schema`, with the punctuations as their watermark."""
    from pyspark.sql import functions as F  # noqa: N812 - the name every Spark program uses

    value = F.col("value").cast("string")
    marked = records.select(
        F.when(_header("reorderer.kind") == "punctuation", _until(value)).alias("until"),
        F.when(_header("reorderer.kind").isNull(), F.from_json(value, schema)).alias("fields"),
        F.unix_millis("timestamp").alias(TS),
        F.struct(
            F.unix_millis("timestamp").alias("ts"),
            F.coalesce(_header("csql.seq").cast("bigint"), F.lit(0)).alias("ordinal"),
            F.col("partition"),
            F.col("offset"),
        ).alias(POSITION),
    )
    watermarked = marked.withWatermark("until", WATERMARK_DELAY).where("until IS NULL")
    return watermarked.select("fields.*", TS, POSITION)


def _until(value: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.timestamp_millis(F.get_json_object(value, "$.__punctuation__.until").cast("bigint"))


def _header(name: str) -> Column:
    """Return the first header of that name as text, or null."""
    from pyspark.sql import functions as F  # noqa: N812

    found = F.filter("headers", lambda header: header["key"] == name)
    return F.try_element_at(found, F.lit(1))["value"].cast("string")
