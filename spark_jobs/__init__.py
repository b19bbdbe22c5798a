"""CSQL queries over clean topics, evaluated on Spark."""

__version__ = "0.1.0"
