"""The grammar of statements: CREATE STREAM, CREATE STREAM ... AS, and queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot.tokenizer_core import TokenType

from spark_jobs.csql.algebra import AlgebraParser, starts_plan
from spark_jobs.csql.cursor import Cursor, suggest
from spark_jobs.csql.expression_parser import RESERVED, parse_column, parse_expression, parse_type
from spark_jobs.csql.expressions import Column, Expression
from spark_jobs.csql.plan import Plan, Stream
from spark_jobs.csql.syntax import (
    Block,
    ColumnDefinition,
    CreateQuery,
    CreateStream,
    FrequencyClause,
    Item,
    Option,
    Query,
    Source,
    Star,
    Statement,
    WindowClause,
)
from spark_jobs.csql.window_parser import parse_frequency, parse_window

_AFTER_SOURCE = RESERVED | {"KEY"}
_JOINS = ("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "OUTER", "NATURAL")
_MISPLACED = {
    "ORDER": "results come in sequence order",
    "LIMIT": "a continuous query has no end; pick rows with [FREQUENCY n Tuples]",
    "UNION": "there is MINUS alone",
    "EXCEPT": "CSQL writes MINUS",
    "INTERSECT": "there is MINUS alone; an intersection is a join",
    "ON": "write the condition in WHERE",
}


def statements(text: str, streams: Mapping[str, Stream]) -> Iterator[Statement]:
    """Yield the statements of a text, separated by semicolons; raise QueryError where it is none.

    An algebra plan is bound at once, against the streams declared by the statements before it.
    """
    cursor = Cursor(text)
    while True:
        while cursor.take(TokenType.SEMICOLON):
            pass
        if cursor.done:
            return
        yield _statement(cursor, streams)
        if not cursor.done and not cursor.is_type(TokenType.SEMICOLON):
            _unfinished(cursor)


def _unfinished(cursor: Cursor) -> None:
    hint = _MISPLACED.get(cursor.word())
    if cursor.is_word("CREATE", "SELECT"):
        hint = "end a statement with a semicolon"
    cursor.expected("the end of the statement", hint=hint)


def _statement(cursor: Cursor, streams: Mapping[str, Stream]) -> Statement:
    at = cursor.at
    if cursor.is_word("SELECT") or cursor.is_type(TokenType.L_PAREN) or starts_plan(cursor):
        return CreateQuery("", (), _query_or_plan(cursor, streams), at)
    if not cursor.take_word("CREATE"):
        cursor.expected("CREATE STREAM or SELECT", hint=suggest(cursor.word(), ["CREATE", "SELECT"]))
    cursor.need_word("STREAM", hint="CSQL creates streams: CREATE STREAM name ...")
    name_at = cursor.at
    name = cursor.name("a stream's name", RESERVED)
    if cursor.is_type(TokenType.L_PAREN):
        columns, key = _definitions(cursor)
        return CreateStream(name, columns, key, _options(cursor), name_at)
    options = _options(cursor)
    if not cursor.take_word("AS"):
        cursor.expected("( or AS after the stream's name")
    return CreateQuery(name, options, _query_or_plan(cursor, streams), name_at)


def _query_or_plan(cursor: Cursor, streams: Mapping[str, Stream]) -> Query | Plan:
    return AlgebraParser(cursor, streams).plan() if starts_plan(cursor) else _query(cursor)


def _definitions(cursor: Cursor) -> tuple[tuple[ColumnDefinition, ...], tuple[Column, ...]]:
    cursor.need(TokenType.L_PAREN, "(")
    columns: list[ColumnDefinition] = []
    key: tuple[Column, ...] = ()
    while True:
        at = cursor.at
        if cursor.is_word("PRIMARY") and cursor.is_word("KEY", ahead=1):
            if key:
                cursor.fail("PRIMARY KEY stands twice")
            key = _primary_key(cursor)
        else:
            name = cursor.name("a column's name", RESERVED - {"KEY", "FROM"})
            columns.append(ColumnDefinition(name, parse_type(cursor), at))
            if cursor.is_word("PRIMARY"):
                cursor.fail("PRIMARY KEY takes a list", hint=f"write PRIMARY KEY ({name}) behind the columns")
        if not cursor.take(TokenType.COMMA):
            break
    cursor.need(TokenType.R_PAREN, "',' or ')'")
    return tuple(columns), key


def _primary_key(cursor: Cursor) -> tuple[Column, ...]:
    cursor.need_word("PRIMARY", "KEY")
    cursor.need(TokenType.L_PAREN, "(")
    columns = _column_list(cursor)
    cursor.need(TokenType.R_PAREN, ")")
    return columns


def _column_list(cursor: Cursor) -> tuple[Column, ...]:
    columns = [parse_column(cursor)]
    while cursor.take(TokenType.COMMA):
        columns.append(parse_column(cursor))
    return tuple(columns)


def _options(cursor: Cursor) -> tuple[Option, ...]:
    if not cursor.take_word("WITH"):
        return ()
    cursor.need(TokenType.L_PAREN, "(")
    options = []
    while True:
        at = cursor.at
        name = cursor.name("an option")
        cursor.need(TokenType.EQ, "=")
        value_at = cursor.at
        value = cursor.need(TokenType.STRING, "a quoted value", hint=f"write {name} = '...'").text
        options.append(Option(name.lower(), value, at, value_at))
        if not cursor.take(TokenType.COMMA):
            break
    cursor.need(TokenType.R_PAREN, "',' or ')'")
    return tuple(options)


def _query(cursor: Cursor) -> Query:
    cursor.deeper()
    at = cursor.at
    blocks = [_block(cursor)]
    while cursor.take_word("MINUS"):
        blocks.append(_block(cursor))
    cursor.higher()
    return Query(tuple(blocks), at)


def _block(cursor: Cursor) -> Block:
    at = cursor.at
    if cursor.take(TokenType.L_PAREN):
        cursor.fail(
            "a block of MINUS stands without parentheses", at=at, hint="A MINUS B MINUS C is (A MINUS B) MINUS C"
        )
    cursor.need_word("SELECT")
    distinct = cursor.take_word("DISTINCT")
    items, frequency = _items(cursor)
    cursor.need_word("FROM", hint="a column is named with AS" if cursor.is_name(RESERVED) else None)
    sources = _sources(cursor)
    key = _join_key(cursor)
    where, window = _where(cursor)
    if window is not None:
        sources = _with_window(cursor, sources, window)
    group = _column_list(cursor) if cursor.take_word("GROUP", "BY") else ()
    having = parse_expression(cursor) if cursor.take_word("HAVING") else None
    return Block(distinct, items, frequency, sources, key, where, group, having, at)


def _items(cursor: Cursor) -> tuple[tuple[Item, ...], FrequencyClause | None]:
    items: list[Item] = []
    frequency: FrequencyClause | None = None
    while True:
        at = cursor.at
        expression = _star(cursor) or parse_expression(cursor)
        frequency = _frequency(cursor, frequency)
        name = _output_name(cursor, expression)
        frequency = _frequency(cursor, frequency)
        items.append(Item(expression, name, at))
        if not cursor.take(TokenType.COMMA):
            return tuple(items), frequency


def _star(cursor: Cursor) -> Star | None:
    at = cursor.at
    if cursor.take(TokenType.STAR):
        return Star("", at)
    if cursor.is_name(RESERVED) and cursor.is_type(TokenType.DOT, ahead=1) and cursor.is_type(TokenType.STAR, ahead=2):
        source = cursor.name("a source")
        cursor.take(TokenType.DOT)
        cursor.take(TokenType.STAR)
        return Star(source, at)
    return None


def _output_name(cursor: Cursor, expression: Expression | Star) -> str:
    at = cursor.at
    if not cursor.take_word("AS"):
        return ""
    if isinstance(expression, Star):
        cursor.fail("* takes no name", at=at)
    return cursor.name("a column's name after AS")


def _frequency(cursor: Cursor, before: FrequencyClause | None) -> FrequencyClause | None:
    if not cursor.is_type(TokenType.L_BRACKET):
        return before
    at = cursor.at
    clause = parse_frequency(cursor)
    if before is not None:
        cursor.fail("a SELECT clause has one FREQUENCY", at=at)
    return clause


def _sources(cursor: Cursor) -> tuple[Source, ...]:
    sources = [_source(cursor)]
    while cursor.take(TokenType.COMMA):
        sources.append(_source(cursor))
    if cursor.is_word(*_JOINS):
        cursor.fail(
            f"{cursor.word()} is not part of CSQL", hint="list the sources with commas, write the condition in WHERE"
        )
    return tuple(sources)


def _source(cursor: Cursor) -> Source:
    at = cursor.at
    if cursor.take(TokenType.L_PAREN):
        query = _query(cursor)
        cursor.need(TokenType.R_PAREN, ")")
        cursor.need_word("AS", hint="a nested query needs a name: (SELECT ...) AS name")
        alias = cursor.name("a name after AS", RESERVED)
        if cursor.is_name(_AFTER_SOURCE):
            alias = cursor.name("an alias")
        return Source(query, alias, _window(cursor), at)
    stream = cursor.name("a stream or a nested query", RESERVED)
    alias = stream
    if cursor.take_word("AS"):
        alias = cursor.name("an alias after AS", RESERVED)
    elif cursor.is_name(_AFTER_SOURCE) and not cursor.is_word(*_JOINS):
        alias = cursor.name("an alias")
    return Source(stream, alias, _window(cursor), at)


def _window(cursor: Cursor) -> WindowClause | None:
    return parse_window(cursor) if cursor.is_type(TokenType.L_BRACKET) else None


def _join_key(cursor: Cursor) -> tuple[Expression, ...]:
    if not (cursor.is_word("KEY") and cursor.is_type(TokenType.L_PAREN, ahead=1)):
        return ()
    cursor.take_word("KEY")
    cursor.take(TokenType.L_PAREN)
    parts = [parse_expression(cursor)]
    while cursor.take(TokenType.COMMA):
        parts.append(parse_expression(cursor))
    cursor.need(TokenType.R_PAREN, ")")
    return tuple(parts)


def _where(cursor: Cursor) -> tuple[Expression | None, WindowClause | None]:
    if not cursor.take_word("WHERE"):
        return None, None
    window = _window(cursor)
    return parse_expression(cursor), window


def _with_window(cursor: Cursor, sources: tuple[Source, ...], window: WindowClause) -> tuple[Source, ...]:
    """Give the bracket after WHERE (001, query 1(a)) to the only source."""
    (first, *others) = sources
    if others:
        cursor.fail("this bracket could belong to several sources", at=window.at, hint="put it behind its source")
    if first.window is not None:
        cursor.fail("the source has a bracket already", at=window.at)
    return (Source(first.stream, first.alias, window, first.at),)
