"""Time-driven snapshots: at every multiple of FREQUENCY, the query over the tuples with t - RANGE < ts <= t (spec, 5).

Each tuple is given the instants it is alive at, and Spark aggregates by instant and group. The instant is marked as the
event-time column, so Spark emits it in the micro-batch whose watermark reaches it: once, complete, in order of time.
Spark's own `window()` is not used: it is right-open, and it refuses a RANGE shorter than the FREQUENCY.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F  # noqa: N812 - the name every Spark program uses

from spark_jobs.spark.source import POSITION, TS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

AT = "_at"
NEWEST = "_newest"
KEY = "_key"

Function = Literal["COUNT", "SUM", "AVG", "MIN", "MAX", "LAST"]

_EVENT_TIME = "_event_time"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of a group under a name; COUNT without an argument counts tuples, LAST is the last tuple's value."""

    name: str
    function: Function
    argument: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A time-driven snapshot of one stream; expressions are Spark SQL.

    `where`, `group_by` (name and expression) and the aggregates' arguments are over the columns of the tuples; `having`
    and `items` over the names of `group_by` and `aggregates`.
    """

    range_ms: int
    frequency_ms: int
    origin_ms: int
    where: str | None
    group_by: tuple[tuple[str, str], ...]
    aggregates: tuple[Aggregate, ...]
    having: str | None
    items: tuple[str, ...]


def evaluate(tuples: DataFrame, snapshot: Snapshot) -> DataFrame:
    """Return the rows: `_at`, `_newest` (position of the newest tuple behind the row), `_key`, and items i0, i1, ...

    Rows of one instant are ordered by `_newest`; no row depends on how micro-batches were cut.
    """
    chosen = tuples if snapshot.where is None else tuples.where(snapshot.where)
    alive = chosen.select("*", F.explode(_instants(snapshot)).alias(AT)).select("*", _event_time(F.col(AT)))
    keys = [F.expr(sql).alias(name) for name, sql in snapshot.group_by]
    aggregates = [_aggregate(tuples, aggregate).alias(aggregate.name) for aggregate in snapshot.aggregates]
    groups = alive.groupBy(_EVENT_TIME, *keys).agg(F.max(POSITION).alias(NEWEST), *aggregates)
    kept = groups if snapshot.having is None else groups.where(snapshot.having)
    return kept.select(
        F.unix_millis(_EVENT_TIME).alias(AT),
        NEWEST,
        F.struct(*[name for name, _ in snapshot.group_by]).alias(KEY),
        *[F.expr(sql).alias(f"i{place}") for place, sql in enumerate(snapshot.items)],
    )


def _instants(snapshot: Snapshot) -> Column:
    """Return the instants t with ts <= t < ts + RANGE as an array, null if there is none."""
    ts, every = F.col(TS), F.lit(snapshot.frequency_ms).cast("bigint")
    first = ts + F.pmod(F.lit(snapshot.origin_ms).cast("bigint") - ts, every)
    last = ts + F.lit(snapshot.range_ms - 1).cast("bigint")
    return F.when(first <= last, F.sequence(first, last, every))


def _event_time(at: Column) -> Column:
    """Return the instant marked as `withWatermark` marks a column.

    The watermark itself comes from the punctuations, which `withWatermark` has seen and which are gone by now.
    """
    return F.timestamp_millis(at).alias(_EVENT_TIME, metadata={"spark.watermarkDelayMs": 1})


def _aggregate(tuples: DataFrame, aggregate: Aggregate) -> Column:
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
    """Return the sum; of doubles in sequence order, since the last digits of their sum depend on the order."""
    if tuples.select(argument).schema[0].dataType.typeName() != "double":
        return F.sum(argument)
    values = F.array_sort(F.collect_list(F.when(argument.isNotNull(), F.struct(POSITION, argument.alias("value")))))
    total = F.aggregate(values, F.lit(0.0), lambda so_far, one: so_far + one["value"])
    return F.when(F.count(argument) > 0, total)
