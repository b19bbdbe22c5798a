"""Tests of the commands, each as its users run it."""
