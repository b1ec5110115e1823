# The vocabulary of the project. Each target sets up what it needs first; after the first set-up
# nothing asks the network, until pyproject.toml changes.
VENV := .venv
PY := $(VENV)/bin/python
RUNTIME := $(VENV)/.runtime
STAMP := $(VENV)/.installed
COMPILED := build/compiled
SOURCES := $(shell find src -type f -not -path '*/__pycache__/*' -not -path '*.egg-info/*')
BASE_PYTHON ?= python3
# uv installs in a sixth of pip's time. pip does it where uv cannot be had or fails, and where pip
# was told of an index of its own (PIP_INDEX_URL, pip.conf), of which uv knows nothing.
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
UV := UV_FIND_LINKS="$$PIP_FIND_LINKS" $(VENV)/bin/uv pip install --quiet --python $(PY)
INSTALL = { ! $(PY) -m pip config list | grep -q index && $(UV) --no-build-isolation --editable '$(1)'; } \
	|| $(PIP) --no-build-isolation --editable '$(1)'
# Two for each core: half of the time of a test is waiting for servers and disks, and each process
# collects all tests, for 10 s of a processor. Each has neighbouring tests, which share servers and
# browsers, until it takes some of another's.
WORKERS ?= $(shell expr 2 '*' `getconf _NPROCESSORS_ONLN`)
PYTEST := $(VENV)/bin/pytest -n $(WORKERS) --dist worksteal
# Whole systems, hostile requests, and the laws (of hypothesis) of everything else run on the
# compiled modules; all other tests on the modules as they stand in src. The night runs them on both.
# What takes long by itself comes first: at the end one process would run it, and the others wait.
SESSIONS := tests/security tests/package tests/compat tests/conformance tests/crash tests/deploy tests/fuzz tests/wire_limits
LAWS = $(shell grep -rls hypothesis tests --include='test_*.py' $(SESSIONS:tests/%=--exclude-dir=%))
APART := $(SESSIONS:%=--ignore=%)
UNITS := $(APART) -m 'not hypothesis and not night'
COMPILED_TESTS = $(SESSIONS) $(LAWS) -m '(session or hypothesis) and not night'
# With this set, as images of containers have it, every process of a test compiles what it imports.
unexport PYTHONDONTWRITEBYTECODE
PYTEST_ARGS ?=
SECONDS ?= 30

.PHONY: bench-search cluster cluster-stop fetch near sessions units wheel wheels protobuf night help setup compile serve check format test docs demo bench bench-cluster bench-quick fuzz clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

$(RUNTIME): pyproject.toml
	@$(BASE_PYTHON) -c 'import sys; sys.exit("widerow needs Python 3.11 or newer: make BASE_PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	$(BASE_PYTHON) -m venv $(VENV)
	@echo 'Installing into $(VENV) (once) ...'
	$(PIP) 'setuptools>=77'
	-$(PIP) uv
	$(call INSTALL,.)
	@touch $(RUNTIME)

$(STAMP): $(RUNTIME)
	$(call INSTALL,.[dev])
	@touch $(STAMP)

# A copy of the package with the hot modules compiled, never in src: an edited module must not go
# on running as it was. Without a C compiler the copy is plain Python, and there is no stamp.
$(COMPILED)/.stamp: $(RUNTIME) pyproject.toml setup.py $(SOURCES)
	@$(PY) -m tools.compile

setup: $(STAMP) ## create .venv and install everything

compile: $(COMPILED)/.stamp ## compile the hot modules into build/compiled

wheel: $(COMPILED)/.stamp ## build the package, compiled, into dist
	@mkdir -p dist && rm -f dist/*.whl
	cp $(COMPILED)/*.whl dist/

wheels: $(RUNTIME) ## build a compiled wheel for each Python that is here, and a plain one, into dist
	@$(PY) -m tools.wheels

# A start does not wait for the compiler: what is not compiled is plain this time, and compiled for
# the next one in the background (build.log).
serve: $(RUNTIME) ## start widerow on 127.0.0.1:8087 with its data in ./widerow-data
	@if $(MAKE) --question --no-print-directory $(COMPILED)/.stamp; then \
		exec env PYTHONPATH=$(COMPILED) $(VENV)/bin/widerow serve --path widerow-data; \
	else \
		$(PY) -m tools.compile --background; \
		exec $(VENV)/bin/widerow serve --path widerow-data; \
	fi

check: $(STAMP) ## format, lint, types, import contracts, tidy, planted defects that fit
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy $(wildcard src tests tools examples bench)
	$(VENV)/bin/lint-imports --no-logo
	$(PY) -m tools.tidy
	$(PY) -m tools.teeth --fit

format: $(STAMP) ## rewrite the sources in the project's shape
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

test: units $(if $(PYTEST_ARGS),,sessions) ## run the tests (PYTEST_ARGS='-x tests/unit/keys' runs those alone)

units: $(STAMP) ## run all tests but the sessions and laws, on the modules as they stand in src (WORKERS=0: one process)
	$(PYTEST) $(or $(PYTEST_ARGS),$(UNITS))

sessions: $(STAMP) $(COMPILED)/.stamp ## run sessions of SDKs, stores, crashes and the wheel, and all laws, on the compiled modules
	@if [ ! -e $(COMPILED)/.stamp ]; then \
		echo 'SKIPPED: compiled modules, because nothing could be compiled (see above); the sessions run plain'; \
		set -ex; $(PYTEST) $(COMPILED_TESTS); \
	else \
		set -ex; export PYTHONPATH='$(CURDIR)/$(COMPILED)'; $(PYTEST) $(COMPILED_TESTS); \
	fi

# Maven runs for seconds: less than the optimising compiler of Java needs to be of use.
fetch: export MAVEN_OPTS ?= -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
fetch: $(STAMP) ## fetch what the sessions need: HBase, SDKs and drivers of Java, Node and Go
	$(PY) -m tools.fetch

near: $(STAMP) ## check and test what changed since main, and what depends on it (a minute)
	@$(PY) -m tools.near

docs: $(STAMP) ## build the documentation into build/site, to be opened from there
	$(PY) -m tools.build_site

demo: $(STAMP) ## start a server, run the student-card example against it, stop
	$(PY) examples/student_cards.py --own-server

cluster: $(STAMP) ## start a real HBase of three servers and two widerow servers on it (Java 17, Maven)
	$(PY) -m tools.cluster.run start

cluster-stop: $(STAMP) ## end what make cluster started; the data stays
	$(PY) -m tools.cluster.run stop

bench: $(STAMP) $(COMPILED)/.stamp ## measure everything, write bench/RESULTS.md and bench/charts (twenty-five minutes)
	PYTHONPATH=$(COMPILED) $(PY) -m bench.run --report

bench-quick: $(STAMP) $(COMPILED)/.stamp ## measure reads, writes and start-up (one minute)
	PYTHONPATH=$(COMPILED) $(PY) -m bench.run --quick

bench-search: $(STAMP) $(COMPILED)/.stamp ## measure search indexes beside other engines, write bench/SEARCH.md (nine minutes; Java 17, Maven)
	$(VENV)/bin/pip install --quiet tantivy
	mvn --quiet -f bench/search_peer dependency:copy-dependencies
	PYTHONPATH=$(COMPILED):. $(PY) -m bench.search_report $(PARTS)

bench-cluster: $(STAMP) $(COMPILED)/.stamp ## measure servers over HBase and PostgreSQL, write bench/CLUSTER.md (five minutes)
	PYTHONPATH=$(COMPILED):. $(PY) -m bench.cluster --report

protobuf: $(STAMP) ## run the dialect's tests under the oldest and the newest protobuf
	$(PY) -m tools.protobuf_range

fuzz: $(STAMP) ## look for inputs that break an invariant (make fuzz SECONDS=75 for each target)
	$(PY) -m tests.fuzz.run --seconds $(SECONDS)

night: $(STAMP) $(COMPILED)/.stamp ## run every test, crash and attack suite at full volume (two hours; as root for all of them)
	-$(PY) -m tools.debian --night
	PYTHONPATH='$(CURDIR)/$(COMPILED)' $(PY) -m tools.night

clean: ## remove everything that a target made, except data
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
