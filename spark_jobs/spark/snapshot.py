"""Time-driven snapshots: at every multiple of FREQUENCY, the query over the tuples with t - RANGE < ts <= t (spec, 5).

Each tuple is given the instants it is alive at, and Spark aggregates by instant and key. The instant is marked as the
event time column, so that Spark emits it in the micro-batch whose watermark reaches it, once, complete. Spark's own
`window()` is not used: it is right-open, and it refuses a RANGE shorter than the FREQUENCY.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from spark_jobs.spark.source import POSITION, TS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

AT = "_at"
NEWEST = "_newest"
KEY = "_key"

Function = Literal["COUNT", "SUM", "AVG", "MIN", "MAX", "LAST"]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of a group under a name of its own; COUNT without an argument counts tuples.

    LAST is the value of the group's last tuple in sequence order.
    """

    name: str
    function: Function
    argument: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A time-driven snapshot of one stream; every expression is Spark SQL.

    `where` and the arguments are over the stream's columns; `having` and `items` over the names of `group_by` and
    `aggregates`.
    """

    range_ms: int
    frequency_ms: int
    origin_ms: int
    where: str | None
    group_by: tuple[tuple[str, str], ...]
    aggregates: tuple[Aggregate, ...]
    having: str | None
    items: tuple[tuple[str, str], ...]


def evaluate(tuples: DataFrame, snapshot: Snapshot) -> DataFrame:
    """Return the rows `_at` (ms), `_newest` (position of the newest tuple behind the row), `_key`, and the items.

    Rows of one instant are to be ordered by `_newest`; no row depends on how micro-batches were cut.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the name every Spark program uses

    chosen = tuples if snapshot.where is None else tuples.where(snapshot.where)
    alive = chosen.withColumn(AT, F.explode(_instants(snapshot))).select("*", _event_time(F.col(AT)))
    keys = [F.expr(sql).alias(name) for name, sql in snapshot.group_by]
    aggregates = [_aggregate(tuples, aggregate).alias(aggregate.name) for aggregate in snapshot.aggregates]
    groups = alive.groupBy("_event_time", *keys).agg(F.max(POSITION).alias(NEWEST), *aggregates)
    kept = groups if snapshot.having is None else groups.where(snapshot.having)
    return kept.select(
        F.unix_millis("_event_time").alias(AT),
        NEWEST,
        F.struct(*[F.col(f"`{name}`") for name, _ in snapshot.group_by]).alias(KEY),
        *[F.expr(sql).alias(name) for name, sql in snapshot.items],
    )


def _instants(snapshot: Snapshot) -> Column:
    """Return the instants t with ts <= t < ts + RANGE, as an array; empty if there is none."""
    from pyspark.sql import functions as F  # noqa: N812

    ts, every, origin = F.col(TS), snapshot.frequency_ms, snapshot.origin_ms
    first = ts + F.pmod(F.lit(origin) - ts, F.lit(every))
    last = ts + snapshot.range_ms - 1
    return F.when(first <= last, F.sequence(first, last, F.lit(every).cast("bigint"))).otherwise(
        F.array().cast("array<bigint>")
    )


def _event_time(at: Column) -> Column:
    """Return the instant as the event time column: what `withWatermark` would mark, with the same delay.

    The watermark comes from the punctuations, which `withWatermark` has seen and which are gone by now.
    """
    from pyspark.sql import functions as F  # noqa: N812

    return F.timestamp_millis(at).alias("_event_time", metadata={"spark.watermarkDelayMs": 1})


def _aggregate(tuples: DataFrame, aggregate: Aggregate) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    if aggregate.argument is None:
        return F.count(F.lit(1))
    argument = F.expr(aggregate.argument)
    match aggregate.function:
        case "COUNT":
            return F.count(argument)
        case "MIN":
            return F.min(argument)
        case "MAX":
            return F.max(argument)
        case "LAST":
            return F.max_by(F.struct(argument.alias("value")), POSITION)["value"]
        case "SUM":
            return _sum(tuples, argument)
        case "AVG":
            return _sum(tuples, argument).cast("double") / F.nullif(F.count(argument), F.lit(0))


def _sum(tuples: DataFrame, argument: Column) -> Column:
    """Return the sum; of binary fractions in sequence order, since their sum depends on the order of addition."""
    from pyspark.sql import functions as F  # noqa: N812

    kind = tuples.select(argument).schema[0].dataType.typeName()
    if kind not in ("float", "double"):
        return F.sum(argument)
    values = F.array_sort(F.collect_list(F.when(argument.isNotNull(), F.struct(POSITION, argument.alias("value")))))
    total = F.aggregate(values, F.lit(0.0), lambda so_far, one: so_far + one["value"].cast("double"))
    return F.when(F.count(argument) > 0, total)
