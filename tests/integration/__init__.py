"""Tests of whole processes on a real broker."""
