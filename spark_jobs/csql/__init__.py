"""The language: text to plan, checks, rewrites and the reference evaluator. Pure Python, no Spark."""
