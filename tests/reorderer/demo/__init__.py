"""Tests of the demonstration's parts; the demonstration itself runs in tests/integration."""
