"""Tests of `reorderer`."""
