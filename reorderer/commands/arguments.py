"""Argument types that several commands share."""

from __future__ import annotations

import argparse


def positive(text: str) -> float:
    """Return a number above 0."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not positive")
    return number


def positive_int(text: str) -> int:
    """Return a whole number above 0."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not positive")
    return number
