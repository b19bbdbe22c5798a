"""Tests of the adapters to Kafka that need no broker."""
