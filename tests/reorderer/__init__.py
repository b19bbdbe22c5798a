"""Tests of the reorderer package."""
