"""A progress line on a terminal; nothing where there is none."""

from __future__ import annotations

import sys
import time
from types import TracebackType

_WIDTH = 24


class Progress:
    """Counts things on one line of stderr, twice a second, and says the total at the end; a bar if it is known."""

    def __init__(self, verb: str, noun: str, total: int | None = None) -> None:
        self._verb = verb
        self._noun = noun
        self._total = total
        self._count = 0
        self._began = self._shown = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or kind is KeyboardInterrupt:
            self._show(end="\n")

    def add(self, count: int) -> None:
        """Count some more."""
        self._count += count
        if sys.stderr.isatty() and time.monotonic() - self._shown >= 0.5:
            self._show(end="")

    def _show(self, end: str) -> None:
        self._shown = time.monotonic()
        rate = self._count / max(self._shown - self._began, 1e-3)
        start = "\r\033[K" if sys.stderr.isatty() else ""
        bar = self._bar() if not end else ""
        line = f"{bar}{self._verb} {self._count:,} {self._noun}, {rate:,.0f} a second"
        print(f"{start}{line}", end=end, file=sys.stderr, flush=True)

    def _bar(self) -> str:
        if not self._total:
            return ""
        done = min(self._count / self._total, 1.0)
        return f"{'━' * round(done * _WIDTH):<{_WIDTH}} {done:4.0%} "
