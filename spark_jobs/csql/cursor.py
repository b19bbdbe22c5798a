"""A reader of tokens: what stands next, take it, or say what was expected instead."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Never

from sqlglot.tokenizer_core import Token, TokenType

from spark_jobs.csql.dialect import tokenize
from spark_jobs.errors import QueryError

MAX_DEPTH = 100
"""How deep parentheses, functions and nested queries may go."""


class Cursor:
    """The tokens of one text and a place among them.

    >>> cursor = Cursor("SELECT x")
    >>> cursor.take_word("SELECT"), cursor.name("a column"), cursor.done
    (True, 'x', True)
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = tokenize(text)
        self._index = 0
        self._depth = 0

    @property
    def done(self) -> bool:
        """Whether every token is taken."""
        return self._index >= len(self._tokens)

    @property
    def at(self) -> int:
        """The offset of the next token, or of the end of the text."""
        token = self._peek()
        return len(self.text.rstrip()) if token is None else token.start

    def _peek(self, ahead: int = 0) -> Token | None:
        index = self._index + ahead
        return self._tokens[index] if index < len(self._tokens) else None

    def fail(self, message: str, *, at: int | None = None, hint: str | None = None) -> Never:
        """Raise QueryError at an offset (of the next token unless told)."""
        raise QueryError(message, hint=hint, text=self.text, at=self.at if at is None else at)

    def expected(self, what: str, *, hint: str | None = None) -> Never:
        """Raise QueryError: `what` was expected here."""
        token = self._peek()
        written = "" if token is None else self.text[token.start : token.end + 1]
        found = "the end" if token is None else f"'{written if len(written) <= 40 else written[:37] + '...'}'"
        self.fail(f"expected {what}, found {found}", hint=hint)

    def deeper(self) -> None:
        """Count one level of nesting; raise QueryError beyond MAX_DEPTH."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.fail(f"nested more than {MAX_DEPTH} levels deep")

    def higher(self) -> None:
        """Leave one level of nesting."""
        self._depth -= 1

    def is_word(self, *words: str, ahead: int = 0) -> bool:
        """Whether the next token is one of these unquoted words, in any case."""
        token = self._peek(ahead)
        return token is not None and token.token_type == TokenType.VAR and token.text.upper() in words

    def take_word(self, *words: str) -> bool:
        """Take these words if they stand here one after the other."""
        if not all(self.is_word(word, ahead=ahead) for ahead, word in enumerate(words)):
            return False
        self._index += len(words)
        return True

    def need_word(self, *words: str, hint: str | None = None) -> None:
        """Take these words or fail."""
        for word in words:
            if not self.take_word(word):
                self.expected(word, hint=hint)

    def is_type(self, kind: TokenType, ahead: int = 0) -> bool:
        """Whether the next token is of this type."""
        token = self._peek(ahead)
        return token is not None and token.token_type == kind

    def take(self, kind: TokenType) -> Token | None:
        """Take and return the next token if it is of this type."""
        token = self._peek()
        if token is None or token.token_type != kind:
            return None
        self._index += 1
        return token

    def need(self, kind: TokenType, what: str, *, hint: str | None = None) -> Token:
        """Take and return the next token, or fail."""
        token = self.take(kind)
        if token is None:
            self.expected(what, hint=hint)
        return token

    def is_name(self, reserved: frozenset[str] = frozenset(), ahead: int = 0) -> bool:
        """Whether the next token can be a name: quoted, or a word that is not reserved."""
        token = self._peek(ahead)
        if token is None:
            return False
        if token.token_type == TokenType.VAR:
            return token.text.upper() not in reserved
        return token.token_type == TokenType.IDENTIFIER

    def name(self, what: str, reserved: frozenset[str] = frozenset()) -> str:
        """Take and return a name, or fail."""
        token = self._peek()
        if token is None or not self.is_name(reserved):
            self.expected(what)
        if not token.text:
            self.fail("a name cannot be empty")
        self._index += 1
        return token.text

    def word(self) -> str:
        """Return the next token's text in upper case where it is an unquoted word, else ""."""
        token = self._peek()
        return token.text.upper() if token is not None and token.token_type == TokenType.VAR else ""


def suggest(wrong: str, names: list[str] | tuple[str, ...]) -> str | None:
    """Return "did you mean 'x'?" for the nearest name, compared without case, or None.

    >>> suggest("speices", ["Id", "Species"])
    "did you mean 'Species'?"
    """
    spelled = {name.lower(): name for name in names}
    near = get_close_matches(wrong.lower(), list(spelled), n=1, cutoff=0.6)
    return f"did you mean '{spelled[near[0]]}'?" if near else None
