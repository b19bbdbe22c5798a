"""Tests of the csql commands."""
