"""Tests of the rewrites."""
