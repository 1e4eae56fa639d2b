# ome-dashboard: `make help` lists the targets. Needs Python 3.11 or later and make; nothing else.
#
# Variables: PYTHON=python3.12 (to make .venv with), PORT=8000, KUBECONFIG=... (follow this cluster instead of the
# demo fleet), DATABASE_URL=postgres://... (PostgreSQL instead of SQLite), WORKERS=auto, ARGS="..." (to pytest).

PYTHON ?= python3
PORT ?= 8000
WORKERS ?= auto
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
RUN_STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-postgresql lint types check format bench soak apiserver lock upgrade clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(RUN_STAMP) ## set up what is missing; serve on http://127.0.0.1:8000/ and follow KUBECONFIG's cluster, or show the demo fleet
	@$(BIN)/python manage.py migrate --verbosity 0
ifndef KUBECONFIG
	@$(BIN)/python manage.py demo --with-past
endif
	@OME_DASHBOARD_PORT=$(PORT) exec $(BIN)/python -m ome_dashboard.run $(if $(KUBECONFIG),--current-context,--declared-only)

test: $(DEV_STAMP) ## imports only go down, then all tests, on SQLite or on the PostgreSQL of DATABASE_URL
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/pytest -n $(WORKERS) --dist loadgroup $(ARGS)

# Who may ask for which address, and what a document allows, is decided before any database is asked.
ALIKE := --ignore=tests/faces/test_url_table.py --ignore=tests/faces/api/test_schemathesis.py

test-postgresql: $(DEV_STAMP) ## the tests of store, people and faces on a PostgreSQL of their own (needs its programs)
	@$(BIN)/python -m tests.postgresql $(BIN)/pytest -n $(WORKERS) --dist loadgroup $(ALIKE) $(ARGS) tests/store tests/people tests/faces tests/soak

lint: $(DEV_STAMP) ## style, and the form of every file
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-cache

types: $(DEV_STAMP) ## mypy --strict
	@$(BIN)/mypy

check: lint types test ## what a change must pass

format: $(DEV_STAMP) ## put every file in form
	@$(BIN)/ruff check --fix-only --exit-zero .
	@$(BIN)/ruff format .

bench: $(DEV_STAMP) ## measure on 10,000 services (RUNS=3, JSON=1 for one JSON object, QUICK=1 for a small fleet, STRICT=1 to fail over a limit)
	@$(BIN)/python -m bench $(if $(RUNS),--runs=$(RUNS)) $(if $(JSON),--json) $(if $(QUICK),--quick) $(if $(STRICT),--strict)

soak: $(DEV_STAMP) ## kill, withdraw and storm for half an hour and see that nothing is lost (ONLY=storm, JSON=1)
	@$(BIN)/python -m tests.soak $(foreach name,$(ONLY),--only $(name)) $(if $(JSON),--json)

apiserver: $(DEV_STAMP) ## build the API server of the tests ahead of them (ten minutes, once; needs Go)
	@$(BIN)/python -m tests.apiserver.build

lock: $(DEV_STAMP) ## pin requirements.txt and requirements-dev.txt again from the .in files
	@$(LOCK) --output-file requirements.txt requirements.in
	@$(LOCK) --output-file requirements-dev.txt requirements-dev.in

upgrade: LOCK += --upgrade
upgrade: lock ## the same, to the newest versions that fit

LOCK = CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options

clean: ## remove what running and testing made; data/ stays
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("ome-dashboard needs Python 3.11 or later; this is %s. Try: make PYTHON=python3.11" % sys.version.split()[0])'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python's venv is missing; on Debian: apt-get install python3-venv" >&2; exit 1; }

$(RUN_STAMP): requirements.txt | $(BIN)/python
	@echo "Installing requirements.txt into $(VENV)" >&2
	@$(PIP) install --require-hashes -r requirements.txt
	@touch $@

$(DEV_STAMP): requirements-dev.txt | $(BIN)/python
	@echo "Installing requirements-dev.txt into $(VENV)" >&2
	@$(PIP) install --require-hashes -r requirements-dev.txt
	@touch $@
