"""Tests of the Kafka adapters, on a real broker."""
