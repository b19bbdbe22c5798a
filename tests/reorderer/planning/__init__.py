"""Tests of reorderer.planning."""
