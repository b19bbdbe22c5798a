"""Reads a clean topic: one Kafka source a partition, and a watermark that is exactly the smallest punctuation.

Spark's watermark column is `until`, which only punctuations have. Tuples are what is left `where("until IS NULL")`. The
filter must refer to the watermark column and to nothing else: Spark moves any other below the watermark, where it would
take the punctuations away before they count (spec, 8).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name every Spark program uses
from pyspark.sql.types import StructType

from spark_jobs.csql.plan import Field, Stream
from spark_jobs.csql.types import Type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

TS = "_ts_ms"
POSITION = "_position"
"""A tuple's place in the stream's sequence order: (ts, ordinal of an output topic, partition, offset)."""

WATERMARK_DELAY = "1 millisecond"
"""With no delay Spark would drop rows that equal the watermark."""

JSON_TYPES = {
    Type.INT: "long",
    Type.BIGINT: "long",
    Type.DOUBLE: "double",
    Type.STRING: "string",
    Type.BOOLEAN: "boolean",
    Type.TIMESTAMP: "string",
    Type.NULL: "void",
}
"""How a field is read from JSON. An INT is held wide, so that sums do not overflow; a TIMESTAMP may be text."""


def read_tuples(
    spark: SparkSession,
    stream: Stream,
    partitions: int,
    bootstrap_servers: str,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return the stream's tuples: its columns as c0, c1, ..., `_ts_ms`, `_position`, `_partition`, `_offset`.

    The watermark is one millisecond below the smallest punctuation of its partitions.
    """
    sources = [
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("kafka.isolation.level", "read_committed")
        .option("assign", json.dumps({stream.clean: [partition]}))
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .options(**(options or {}))
        .load()
        for partition in range(partitions)
    ]
    return union([tuples(source, stream) for source in sources])


def union(sources: Sequence[DataFrame]) -> DataFrame:
    """Return the union of the partitions; its watermark is the smallest of theirs."""
    return reduce(lambda left, right: left.unionByName(right), sources)


def tuples(records: DataFrame, stream: Stream) -> DataFrame:
    """Return the tuples among one partition's records, with the punctuations as their watermark."""
    text = F.col("value").cast("string")
    kind = _header("reorderer.kind")
    marked = records.select(
        F.when(kind == "punctuation", _until(text)).alias("until"),
        F.when(kind.isNull(), F.from_json(text, _schema(stream))).alias("fields"),
        F.unix_millis("timestamp").alias(TS),
        F.coalesce(_header("csql.seq").cast("bigint"), F.lit(0)).alias("ordinal"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
    )
    watermarked = marked.withWatermark("until", WATERMARK_DELAY).where("until IS NULL")
    columns = [_column(stream, field).alias(f"c{place}") for place, field in enumerate(stream.fields)]
    position = F.struct(TS, "ordinal", "_partition", "_offset").alias(POSITION)
    return watermarked.select(*columns, TS, position, "_partition", "_offset")


def _schema(stream: Stream) -> StructType:
    schema = StructType()
    for field in stream.fields:
        schema = schema.add(field.name, JSON_TYPES[field.type])
    return schema


def _column(stream: Stream, field: Field) -> Column:
    if field.name == stream.timestamp:
        return F.col(TS)
    value = F.col("fields").getField(field.name)
    if field.type is not Type.TIMESTAMP:
        return value
    return F.coalesce(value.try_cast("bigint"), F.unix_millis(value.try_cast("timestamp")))


def _until(text: Column) -> Column:
    return F.timestamp_millis(F.get_json_object(text, "$.__punctuation__.until").cast("bigint"))


def _header(name: str) -> Column:
    """Return the first header of that name as text, or null."""
    found = F.filter("headers", lambda header: header["key"] == name)
    return F.try_element_at(found, F.lit(1))["value"].cast("string")
