PYTHON ?= python3
BIN := .venv/bin
LEAN := .venv-lean/bin

.PHONY: help demo test test-lean lint type bench docs clean
help:  ## explain the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1\t/' | expand -t 12

.venv/.installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all,dev]'
	touch $@

.venv-lean/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-lean
	$(LEAN)/python -m pip install --quiet --upgrade pip
	$(LEAN)/python -m pip install --quiet --editable '.[test]'
	touch $@

demo: .venv/.installed  ## reproduce the paper in its quick form and say where the report is
	$(BIN)/bivaluate replicate --out demo-output

test: lint type .venv/.installed  ## set everything up and run all checks and tests
	$(BIN)/python -m pytest -n 2
	$(MAKE) --no-print-directory test-lean

test-lean: .venv-lean/.installed  ## tests of what needs no extra, in an environment without any
	BIVALUATE_REQUIRE_BROWSER=0 $(LEAN)/python -m pytest -n 2 tests/test_*.py tests/measures tests/chance tests/judge tests/io tests/datasets tests/algorithms tests/sweep tests/archive tests/cli/test_score.py

lint: .venv/.installed  ## check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: .venv/.installed  ## check types
	$(BIN)/mypy

bench: .venv/.installed  ## measure ratios against peers, both sides in one run
	$(BIN)/python -m benchmarks

docs: .venv/.installed  ## write the generated parts of README and docs
	$(BIN)/python docs/generate.py

clean:  ## remove environments and caches
	rm -rf .venv .venv-lean .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-output
