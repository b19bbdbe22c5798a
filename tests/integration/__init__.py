"""Tests on a real broker and a real Spark."""
