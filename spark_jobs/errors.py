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
    """The text of a query is wrong: the user changes the query."""

    exit_code = 2


class SetupError(CsqlError):
    """Java, Spark, Kafka, a topic or a checkpoint is not as needed."""
