"""Every error a user of `csql` can meet.

::

    CsqlError                      message + hint; the CLI prints both and exits with `exit_code`
    ├── UsageError                 a wrong option, file or value (exit 2)
    ├── QueryError                 the text of a query is wrong: line, column, a caret (exit 2)
    └── SetupError                 Java, Spark, Kafka, a topic or a checkpoint is not as needed
"""

from __future__ import annotations


class CsqlError(Exception):
    """An error with a lowercase message and, where the user can act, a hint.

    >>> str(UsageError("no query in 'q.csql'", hint="end it with a SELECT"))
    "no query in 'q.csql'; end it with a SELECT"
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}; {hint}")
        self.message = message
        self.hint = hint


class UsageError(CsqlError):
    """A wrong option, file or value: the user changes the command."""

    exit_code = 2


class QueryError(CsqlError):
    """The text of a query is wrong: the user changes the query. Printed with line, column and a caret.

    >>> print(QueryError("unknown column 'Idd'", hint="did you mean 'Id'?", text="SELECT *\\nWHERE Idd = 1", at=15))
    line 2, column 7: unknown column 'Idd'; did you mean 'Id'?
      2 | WHERE Idd = 1
        |       ^
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None, text: str = "", at: int = -1) -> None:
        super().__init__(" ".join(message.splitlines()), hint=hint)
        self.text = text
        self.at = at

    @property
    def line(self) -> int:
        """The line of the fault, from 1."""
        return self.text.count("\n", 0, max(self.at, 0)) + 1

    @property
    def column(self) -> int:
        """The column of the fault, from 1."""
        return max(self.at, 0) - (self.text.rfind("\n", 0, max(self.at, 0)) + 1) + 1

    def __str__(self) -> str:
        summary = super().__str__()
        if self.at < 0:
            return summary
        source = (self.text.split("\n")[self.line - 1]).replace("\t", " ").rstrip("\r")
        margin = " " * len(str(self.line))
        caret = " " * (self.column - 1) + "^"
        return f"line {self.line}, column {self.column}: {summary}\n  {self.line} | {source}\n  {margin} | {caret}"


class SetupError(CsqlError):
    """Java, Spark, Kafka, a topic or a checkpoint is not as needed."""
