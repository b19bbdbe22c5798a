"""The papers' experiments, made again: `python -m bench.experiments`, or `make experiments`."""
