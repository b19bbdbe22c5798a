"""Tests of the reference evaluator."""
