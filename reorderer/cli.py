"""The `reorderer` command: parse, dispatch, and turn every error of ours into one line and an exit code."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from reorderer import __version__
from reorderer.errors import ReordererError

COMMANDS: tuple[str, ...] = ("demo", "plan", "run", "topics", "generate", "replay", "broker")
"""The modules of `reorderer.commands`, in the order of `--help`."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every command in it."""
    parser = argparse.ArgumentParser(prog="reorderer", description="Disorder control for Kafka streams.")
    parser.add_argument("--version", action="version", version=f"reorderer {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"reorderer.commands.{name}").add(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; print an error of ours as one line and return its exit code."""
    args = build_parser().parse_args(argv)
    try:
        code: int = args.run(args)
    except ReordererError as error:
        print(f"reorderer: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return code
