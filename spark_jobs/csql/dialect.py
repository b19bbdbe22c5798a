"""CSQL as a sqlglot dialect: its tokens. Keywords are words to the tokenizer; the parser knows them by their place."""

from __future__ import annotations

import re
from typing import ClassVar

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer as SqlTokenizer

from spark_jobs.errors import QueryError


class Csql(Dialect):
    """SQL's strings, numbers, comments and operators; identifiers quoted by " or `."""

    class Tokenizer(SqlTokenizer):
        """SQL's tokenizer without SQL's keywords."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
        COMMENTS: ClassVar[list[str | tuple[str, str]]] = ["--", ("/*", "*/")]
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            "||": TokenType.DPIPE,
            "<=": TokenType.LTE,
            ">=": TokenType.GTE,
            "<>": TokenType.NEQ,
            "!=": TokenType.NEQ,
        }


_OPENINGS = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/|(?P<open>['"`]|/\*)""", re.DOTALL
)


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text; raise QueryError at a string, name or comment that does not end."""
    try:
        return list(Csql().tokenize(text))
    except TokenError as error:
        unclosed = next((match for match in _OPENINGS.finditer(text) if match["open"]), None)
        at = unclosed.start() if unclosed else 0
        what = {"'": "string", '"': "quoted name", "`": "quoted name", "/*": "comment"}
        found = what[unclosed["open"]] if unclosed else "text"
        raise QueryError(f"this {found} does not end", text=text, at=at) from error
