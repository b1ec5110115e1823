# The vocabulary of the project. Each target sets up what it needs first; after the first set-up
# nothing asks the network, until pyproject.toml changes.
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
BASE_PYTHON ?= python3
WORKERS ?= auto
PYTEST_ARGS ?=

.PHONY: protobuf help setup serve check format test demo bench clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml
	@$(BASE_PYTHON) -c 'import sys; sys.exit("widerow needs Python 3.11 or newer: make BASE_PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	$(BASE_PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMP)

setup: $(STAMP) ## create .venv and install everything

serve: $(STAMP) ## start widerow on 127.0.0.1:8087 with its data in ./widerow-data
	$(VENV)/bin/widerow serve --path widerow-data

check: $(STAMP) ## format, lint, types, import contracts, tidy
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy $(wildcard src tests tools examples bench)
	$(VENV)/bin/lint-imports --no-logo
	$(PY) tools/tidy.py

format: $(STAMP) ## rewrite the sources in the project's shape
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

test: $(STAMP) ## run every test (PYTEST_ARGS='-x tests/unit', WORKERS=0 for one process)
	$(VENV)/bin/pytest -n $(WORKERS) $(PYTEST_ARGS)

demo: $(STAMP) ## start a server, run the student-card example against it, stop
	$(PY) examples/student_cards.py --own-server

bench: $(STAMP) ## measure start-up and the basic operations
	$(PY) bench/startup.py

protobuf: $(STAMP) ## run the dialect's tests under the oldest and the newest protobuf
	$(PY) tools/protobuf_range.py

clean: ## remove everything that a target made, except data
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
