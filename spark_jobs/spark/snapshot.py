"""Time-driven snapshots: at every multiple of FREQUENCY, the query over the tuples with t - RANGE < ts <= t (spec, 5).

Each tuple is given the instants it is alive at, and Spark aggregates by instant and group. The instant is marked as the
event-time column, so Spark emits it in the micro-batch whose watermark reaches it: once, complete, in order of time.
Spark's own `window()` is not used: it is right-open, and it refuses a RANGE shorter than the FREQUENCY.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pandas as pd
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark program uses
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import DoubleType

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
    kept = [_kept(tuples, aggregate).alias(aggregate.name) for aggregate in snapshot.aggregates]
    groups = alive.groupBy(_EVENT_TIME, *keys).agg(F.max(POSITION).alias(NEWEST), *kept)
    finished = [_finished(tuples, aggregate).alias(aggregate.name) for aggregate in snapshot.aggregates]
    rows = groups.select(_EVENT_TIME, NEWEST, *[name for name, _ in snapshot.group_by], *finished)
    chosen_rows = rows if snapshot.having is None else rows.where(snapshot.having)
    return chosen_rows.select(
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


def _kept(tuples: DataFrame, aggregate: Aggregate) -> Column:
    """Return what Spark keeps of a group for the aggregate; `_finished` makes its value of it."""
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
            return F.collect_list(argument) if _is_double(tuples, argument) else F.try_sum(argument)
        case "AVG" if _is_double(tuples, argument):
            return F.collect_list(argument)
        case "AVG":
            exact = argument.cast("decimal(20, 0)")
            return F.struct(F.sum(exact).cast("double").alias("sum"), F.count(argument).alias("count"))


def _finished(tuples: DataFrame, aggregate: Aggregate) -> Column:
    kept = F.col(aggregate.name)
    if aggregate.argument is None or aggregate.function not in ("SUM", "AVG"):
        return kept
    if _is_double(tuples, F.expr(aggregate.argument)):
        total = pandas_udf(exact_sums, DoubleType())(kept)  # type: ignore[call-overload]  # it reads the hints itself
        return F.when(F.size(kept) > 0, total if aggregate.function == "SUM" else total / F.size(kept))
    return kept if aggregate.function == "SUM" else F.when(kept["count"] > 0, kept["sum"] / kept["count"])


def _is_double(tuples: DataFrame, argument: Column) -> bool:
    return tuples.select(argument).schema[0].dataType == DoubleType()


def exact_sums(lists: pd.Series) -> pd.Series:
    """Return the sum of each list, correctly rounded: doubles added one by one would show the order they came in.

    >>> exact_sums(pd.Series([[1e16, 1.0, 1.0, -1e16], [0.1] * 10])).tolist()
    [2.0, 1.0]
    """
    return lists.map(math.fsum)
