"""Every error a user of `reorderer` can meet.

::

    ReordererError                 message + hint; the CLI prints both and exits with `exit_code`
    ├── UsageError                 a wrong option, file or value (exit 2)
    ├── SetupError                 Java, a port, a folder or a download is not as needed
    ├── ClusterError               the cluster does not answer, a topic is missing or unfit
    └── StateError                 what was committed does not fit the topic or the configuration
"""

from __future__ import annotations


class ReordererError(Exception):
    """An error with a lowercase message and, where the user can act, a hint.

    >>> str(UsageError("unknown estimator 'bugdet'", hint="did you mean 'budget'?"))
    "unknown estimator 'bugdet'; did you mean 'budget'?"
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}; {hint}")
        self.message = message
        self.hint = hint


class UsageError(ReordererError):
    """A wrong option, file or value: the user changes the command."""

    exit_code = 2


class SetupError(ReordererError):
    """The machine is not as needed: Java, a port, a folder, a download."""


class ClusterError(ReordererError):
    """The cluster does not answer, or a topic is missing or unfit."""


class StateError(ReordererError):
    """What was committed does not fit the raw topic or the configuration: going on would lose or double tuples."""
