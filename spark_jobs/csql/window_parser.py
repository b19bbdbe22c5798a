"""The grammar of bracket clauses: windows, frequencies, and what they ask of the reorderer."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sqlglot.tokenizer_core import TokenType

from spark_jobs.csql.cursor import Cursor, suggest
from spark_jobs.csql.expression_parser import MAX_INTEGER, number, parse_column
from spark_jobs.csql.expressions import Column
from spark_jobs.csql.plan import Disorder, Span
from spark_jobs.csql.syntax import FrequencyClause, WindowClause

UNITS = {"MILLISECOND": 1, "SECOND": 1_000, "MINUTE": 60_000, "HOUR": 3_600_000, "TUPLE": 0}
"""Milliseconds of each unit; 0 marks tuples."""

CLAUSES = ("RANGE", "FREQUENCY", "SLIDE", "WATTR", "SLACK", "DRATIO", "BSIZE")


def parse_window(cursor: Cursor) -> WindowClause:
    """Take a bracket behind a source: its items in any order, commas optional."""
    window = WindowClause(cursor.at)
    cursor.need(TokenType.L_BRACKET, "[")
    seen: set[str] = set()
    while not cursor.take(TokenType.R_BRACKET):
        at, clause = cursor.at, cursor.word()
        if clause not in CLAUSES:
            hint = suggest(clause, CLAUSES) if clause else None
            cursor.expected("RANGE, FREQUENCY, SLIDE, WATTR, SLACK, DRATIO, BSIZE or ]", hint=hint)
        if clause in seen:
            cursor.fail(f"{clause} stands twice in one bracket")
        seen.add(clause)
        cursor.take_word(clause)
        window = _with_clause(cursor, window, clause, at)
        if cursor.take(TokenType.COMMA) and cursor.is_type(TokenType.R_BRACKET):
            cursor.expected("RANGE, FREQUENCY, SLIDE, WATTR, SLACK, DRATIO or BSIZE after the comma")
    if not seen:
        cursor.fail("this bracket is empty", at=window.at, hint="write a RANGE or a FREQUENCY, or leave it out")
    return window


def _with_clause(cursor: Cursor, window: WindowClause, clause: str, at: int) -> WindowClause:
    match clause:
        case "RANGE":
            return replace(window, range=parse_span(cursor, clause))
        case "FREQUENCY":
            return replace(window, frequency=_frequency(cursor, at, with_origin=True))
        case "SLIDE":
            return replace(window, slide=parse_span(cursor, clause), slide_at=at)
        case "WATTR":
            return replace(window, wattr=parse_column(cursor))
        case "SLACK":
            return replace(window, slack=_slack(cursor))
        case "DRATIO":
            return replace(window, dratio=_percentage(cursor))
        case _:
            return replace(window, bsize=_count(cursor, "BSIZE"))


def parse_disorder(cursor: Cursor) -> Disorder:
    """Take DRATIO, SLACK and BSIZE where they stand, in this order."""
    dratio = _percentage(cursor) if cursor.take_word("DRATIO") else None
    slack = _slack(cursor) if cursor.take_word("SLACK") else None
    bsize = _count(cursor, "BSIZE") if cursor.take_word("BSIZE") else None
    return Disorder(dratio, slack, bsize)


def parse_frequency(cursor: Cursor) -> FrequencyClause:
    """Take a bracket of the SELECT clause: FREQUENCY alone."""
    cursor.need(TokenType.L_BRACKET, "[")
    at = cursor.at
    if cursor.is_word(*CLAUSES) and not cursor.is_word("FREQUENCY"):
        cursor.fail(f"{cursor.word()} cannot stand in the SELECT clause", hint="put it behind a source, in FROM")
    cursor.need_word("FREQUENCY")
    clause = _frequency(cursor, at, with_origin=False)
    if cursor.is_word("ORIGIN"):
        cursor.fail("ORIGIN cannot stand in the SELECT clause", hint="put it behind a source, in FROM")
    cursor.need(TokenType.R_BRACKET, "]")
    return clause


def _frequency(cursor: Cursor, at: int, *, with_origin: bool) -> FrequencyClause:
    every = parse_span(cursor, "FREQUENCY")
    partition: tuple[Column, ...] = ()
    if cursor.is_word("PARTITIONED", "PARTITION"):
        if not cursor.take_word("PARTITIONED"):
            cursor.expected("PARTITIONED BY")
        cursor.need_word("BY")
        partition = parse_columns(cursor)
    origin_ms = None
    origin_at = cursor.at
    if with_origin and cursor.take_word("ORIGIN"):
        if every.unit == "tuples":
            cursor.fail("ORIGIN has no meaning for a frequency in tuples", at=origin_at)
        origin_ms = parse_milliseconds(cursor)
    return FrequencyClause(every, partition, origin_ms, at)


def parse_columns(cursor: Cursor) -> tuple[Column, ...]:
    """Take columns with commas between them; a comma before a clause of the bracket is not one of them."""
    columns = [parse_column(cursor)]
    while cursor.is_type(TokenType.COMMA) and not cursor.is_word(*CLAUSES, ahead=1):
        cursor.take(TokenType.COMMA)
        columns.append(parse_column(cursor))
    return tuple(columns)


def parse_span(cursor: Cursor, clause: str) -> Span:
    """Take a number and a unit."""
    amount = _count(cursor, clause)
    unit_ms = _unit(cursor, clause)
    if unit_ms * amount > MAX_INTEGER:
        cursor.fail(f"{clause} is too long")
    return Span(amount, "tuples") if unit_ms == 0 else Span(amount * unit_ms, "ms")


def _unit(cursor: Cursor, clause: str) -> int:
    word = cursor.word()
    singular = word.removesuffix("S")
    if singular not in UNITS:
        near = suggest(word, [f"{unit.capitalize()}s" for unit in UNITS]) if word else None
        cursor.expected(f"a unit after {clause}", hint=near or "Milliseconds, Seconds, Minutes, Hours or Tuples")
    cursor.take_word(word)
    return UNITS[singular]


def _count(cursor: Cursor, clause: str) -> int:
    at = cursor.at
    if not cursor.is_type(TokenType.NUMBER):
        cursor.expected(f"a number after {clause}")
    value = number(cursor).value
    if not isinstance(value, int):
        cursor.fail(f"{clause} takes a whole number, not '{value}'", at=at, hint="use a smaller unit")
    if value == 0 and clause != "SLACK":
        cursor.fail(f"{clause} must be at least 1", at=at)
    return value


def _slack(cursor: Cursor) -> Span:
    amount = _count(cursor, "SLACK")
    if cursor.word().removesuffix("S") not in UNITS:
        return Span(amount, "tuples")
    unit_ms = _unit(cursor, "SLACK")
    return Span(amount, "tuples") if unit_ms == 0 else Span(amount * unit_ms, "ms")


def _percentage(cursor: Cursor) -> float:
    at = cursor.at
    if not cursor.is_type(TokenType.NUMBER):
        cursor.expected("a percentage after DRATIO")
    value = number(cursor).value
    assert isinstance(value, int | float)
    if not cursor.take(TokenType.MOD):
        cursor.expected("% after DRATIO", hint=f"write DRATIO {value}%")
    if not 0 <= value < 100:
        cursor.fail(f"DRATIO must lie between 0% and 100%, not '{value}%'", at=at)
    return float(Decimal(repr(value)).scaleb(-2))


def parse_milliseconds(cursor: Cursor) -> int:
    """Take a whole number, with a sign or without."""
    sign = -1 if cursor.take(TokenType.DASH) else 1
    at = cursor.at
    if not cursor.is_type(TokenType.NUMBER):
        cursor.expected("milliseconds after ORIGIN")
    value = number(cursor).value
    if not isinstance(value, int):
        cursor.fail(f"ORIGIN takes whole milliseconds, not '{value}'", at=at)
    return sign * value
