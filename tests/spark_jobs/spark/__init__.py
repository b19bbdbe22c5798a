"""Tests of the Spark adapters."""
