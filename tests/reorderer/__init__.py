"""Tests of the package `reorderer`."""
