"""What the parser returns: statements as they are written, names not yet resolved. `at` is an offset in the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from spark_jobs.csql.expressions import Column, Expression
from spark_jobs.csql.plan import Plan, Span
from spark_jobs.csql.types import Type


@dataclass(frozen=True, slots=True)
class Star:
    """`*`, or `source.*`."""

    source: str
    at: int


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a SELECT list; `name` is "" where the text gives none."""

    expression: Expression | Star
    name: str
    at: int


@dataclass(frozen=True, slots=True)
class FrequencyClause:
    """`FREQUENCY n unit [PARTITIONED BY columns] [ORIGIN ms]`."""

    every: Span
    partition: tuple[Column, ...]
    origin_ms: int | None
    at: int


@dataclass(frozen=True, slots=True)
class WindowClause:
    """A bracket behind a source."""

    at: int
    range: Span | None = None
    frequency: FrequencyClause | None = None
    slide: Span | None = None
    slide_at: int = -1
    wattr: Column | None = None
    slack: Span | None = None
    dratio: float | None = None
    bsize: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A stream's name or a nested query, its alias and window."""

    stream: str | Query
    alias: str
    window: WindowClause | None
    at: int


@dataclass(frozen=True, slots=True)
class Block:
    """SELECT ... FROM ... and what may follow."""

    distinct: bool
    items: tuple[Item, ...]
    frequency: FrequencyClause | None
    sources: tuple[Source, ...]
    key: tuple[Expression, ...]
    where: Expression | None
    group: tuple[Column, ...]
    having: Expression | None
    at: int


@dataclass(frozen=True, slots=True)
class Query:
    """Blocks with MINUS between them."""

    blocks: tuple[Block, ...]
    at: int


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column of CREATE STREAM."""

    name: str
    type: Type
    at: int


@dataclass(frozen=True, slots=True)
class Option:
    """`name = 'value'` of a WITH list."""

    name: str
    value: str
    at: int
    value_at: int


@dataclass(frozen=True, slots=True)
class CreateStream:
    """CREATE STREAM name (columns) WITH (options)."""

    name: str
    columns: tuple[ColumnDefinition, ...]
    key: tuple[Column, ...]
    options: tuple[Option, ...]
    at: int


@dataclass(frozen=True, slots=True)
class CreateQuery:
    """CREATE STREAM name [WITH (options)] AS query, or as an algebra plan; name "" for a bare one."""

    name: str
    options: tuple[Option, ...]
    query: Query | Plan
    at: int


Statement: TypeAlias = CreateStream | CreateQuery
