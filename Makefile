# Everything a newcomer or CI runs. Each target does its own set-up; a second run downloads nothing.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
CACHE  := $(or $(REORDERER_CACHE),.cache)
SHELL  := /bin/bash
.DEFAULT_GOAL := help

KAFKA_JARS := $(CACHE)/jars/kafka
SPARK_JARS := $(CACHE)/jars/spark-kafka
SOURCES    := reorderer spark_jobs schemas tests bench

.PHONY: help setup demo test check lint format types imports bench experiments chart lock clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  \033[1m%-12s\033[0m %s\n", $$1, $$2}'

demo: setup  ## Run the whole pipeline on an embedded broker and watch it (about a minute)
	@$(PY) -m reorderer demo $(ARGS)

test: setup  ## Run every test: unit, property, doctest, and integration on a real broker and Spark
	@$(PY) -m pytest $(ARGS)

check: lint types imports test  ## Format, lint, types, import directions and all tests: what CI runs

lint: setup  ## Check formatting and lint
	@$(PY) -m ruff format --check $(SOURCES)
	@$(PY) -m ruff check $(SOURCES)

format: setup  ## Format the code and fix what can be fixed
	@$(PY) -m ruff format $(SOURCES)
	@$(PY) -m ruff check --fix $(SOURCES)

types: setup  ## Check types, strictly
	@$(PY) -m mypy

imports: setup  ## Check the direction of imports
	@$(VENV)/bin/lint-imports --cache-dir $(CACHE)/import-linter

bench: setup  ## Run the benchmarks (bench/bench_*.py); tables on the terminal
	@set -e; for program in bench/bench_*.py; do echo "== $$program"; $(PY) "$$program"; done

chart:  ## Check the Helm chart (there is none yet: this says so and fails)
	@echo "helm/ holds no chart yet, so there is nothing to check" >&2; exit 1

experiments: setup  ## Run the papers' experiments; tables and pictures in docs/experiments
	@$(PY) -m bench.experiments $(ARGS)

lock: setup  ## Resolve requirements.lock anew from pyproject.toml
	@$(VENV)/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --upgrade \
	  --custom-compile-command "make lock" --extra dev pyproject.toml -o requirements.lock

clean:  ## Remove the virtual environment, the cache and everything made
	@rm -rf $(VENV) .cache build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis spark-warehouse
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up: a virtual environment from the lock, and the JVM jars ---------------------------------------------

setup: $(VENV)/.ready $(KAFKA_JARS)/.ready $(SPARK_JARS)/.ready  ## Do only the set-up that every target does first

$(VENV)/.ready: requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed and there is no $(PYTHON): install it, or name it with make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is %d.%d: install it, or name it with make PYTHON=python3.12" % sys.version_info[:2])'
	@$(PYTHON) -m reorderer.kafka.java
	@echo "[setup 1/3] installing the locked Python packages into $(VENV) (some 2 minutes, once)"
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(KAFKA_JARS)/.ready: $(VENV)/.ready
	@echo "[setup 2/3] the Kafka broker's jars (45 MB, some 40 seconds, once)"
	@$(PY) -m reorderer.kafka.jars kafka $(KAFKA_JARS)
	@touch $@

$(SPARK_JARS)/.ready: $(VENV)/.ready
	@echo "[setup 3/3] Spark's Kafka connector (10 MB, some 20 seconds, once)"
	@$(PY) -m reorderer.kafka.jars spark-connector $(SPARK_JARS)
	@touch $@
