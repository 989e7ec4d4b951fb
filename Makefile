PYTHON ?= python3
BIN := .venv/bin
LEAN := .venv-lean/bin

.PHONY: help demo replicate test test-lean lint type bench attack site docs clean
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

.venv-demo/.installed: pyproject.toml
	@echo "installing bivaluate and what it needs into .venv-demo (about a minute) …"
	@$(PYTHON) -m venv .venv-demo
	@.venv-demo/bin/python -m pip install --quiet --disable-pip-version-check .
	@touch $@

DATA := yeast:01_alpha_factor
demo: .venv-demo/.installed  ## judge biclusters of a real matrix, write a page, and say what to type next
	@mkdir -p demo-output
	@echo "looking for 6 biclusters in $(DATA) (fetched once, 19 MB) with LAS …"
	@.venv-demo/bin/bivaluate run $(DATA) --algorithm las -k 6 --out demo-output/las.json
	@echo "judging them …"
	@.venv-demo/bin/bivaluate score $(DATA) demo-output/las.json --report demo-output/report.html
	@echo "The page: demo-output/report.html. Next, with a file of your own:"
	@echo "  .venv-demo/bin/bivaluate find YOUR_MATRIX.csv -o found.json --report page.html"
	@echo "  .venv-demo/bin/bivaluate score YOUR_MATRIX.csv YOUR_BICLUSTERS --report page.html"

replicate: .venv-demo/.installed  ## reproduce the paper in its quick form and write the report
	.venv-demo/bin/bivaluate replicate --out replication-output

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

site: .venv/.installed  ## build the documentation site into site/, every tutorial and figure run anew
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	rm -rf .cache
	$(BIN)/mkdocs build --strict

MINUTES := 2
attack: .venv/.installed  ## read mutated files of every format for MINUTES (2) and count what goes wrong
	$(BIN)/python -m tests.attack --minutes $(MINUTES)

docs: .venv/.installed  ## write the generated parts of README and docs
	$(BIN)/python docs/generate.py

clean:  ## remove environments and caches
	rm -rf .venv .venv-lean .mypy_cache .ruff_cache .pytest_cache .hypothesis .venv-demo demo-output replication-output site
