"""CSQL queries over clean topics, evaluated on Spark."""
