PYTHON ?= python3
BIN := .venv/bin
LEAN := .venv-lean/bin

.PHONY: help demo replicate test test-lean test-lowest lint type bench size attack site docs coverage dist lock clean
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
	@echo "finding what is there, with the algorithms that fit the data …"
	@.venv-demo/bin/bivaluate find $(DATA) --out demo-output/found.json --report demo-output/found.html
	@echo "The pages: demo-output/report.html and demo-output/found.html. Next, with a file of your own:"
	@echo "  .venv-demo/bin/bivaluate find YOUR_MATRIX.csv -o found.json --report page.html"
	@echo "  .venv-demo/bin/bivaluate score YOUR_MATRIX.csv YOUR_BICLUSTERS --report page.html"

replicate: .venv-demo/.installed  ## reproduce the paper in its quick form and write the report
	.venv-demo/bin/bivaluate replicate --out replication-output

test: lint type .venv/.installed  ## set everything up and run all checks and tests
	$(BIN)/python -m pytest -n 2 --dist worksteal
	$(MAKE) --no-print-directory test-lean

# What can differ where extras are missing; tests/test_architecture.py sees to it that nothing else imports one.
LEAN_TESTS := tests/io tests/cli tests/plots tests/datasets/test_real.py tests/algorithms/test_called.py \
  tests/test_anndata_objects.py tests/test_any_source.py tests/test_what_users_have.py tests/test_architecture.py tests/test_evaluation.py \
  tests/test_matrix.py tests/test_notebook.py tests/test_packaging.py tests/test_solution.py \
  tests/test_docs.py::test_readme_commands_work_as_typed tests/test_docs.py::test_readme_examples_run
test-lean: .venv-lean/.installed  ## tests of what can differ without extras, in an environment without any
	BIVALUATE_REQUIRE_BROWSER=0 $(LEAN)/python -m pytest -n 2 --dist worksteal $(LEAN_TESTS)

.venv-lowest/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet uv
	.venv-lowest/bin/python -m uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct '.[test]'
	touch $@

test-lowest: .venv-lowest/.installed  ## tests of what computes, with the lowest versions that pyproject.toml allows
	.venv-lowest/bin/python -m pytest -n 2 tests/measures tests/chance tests/judge tests/algorithms

lint: .venv/.installed  ## check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: .venv/.installed  ## check types
	$(BIN)/mypy

bench: .venv/.installed  ## measure ratios against peers, both sides in one run (BENCH="--minutes 20" for less), and write them
	$(BIN)/python -m pip install --quiet polars
	$(BIN)/python -m benchmarks $(BENCH)
	$(BIN)/python docs/generate.py

site: .venv/.installed  ## build the documentation site into site/, every tutorial and figure run anew; tutorials as notebooks in site/notebooks
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	rm -rf .cache
	$(BIN)/mkdocs build --strict
	mkdir -p site/notebooks
	for page in docs/tutorials/*.py; do $(BIN)/jupytext --quiet --to ipynb --output site/notebooks/$$(basename $$page .py).ipynb $$page; done

# Kernels are counted where they run as Python: each once more on small data, with compilation switched off.
coverage: .venv/.installed  ## measure which statements the tests run, kernels included, and write it into the docs
	$(BIN)/python -m pip install --quiet 'coverage>=7.6'
	rm -f .coverage .coverage.*
	$(BIN)/python -m coverage run -m pytest -n 0
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m tests.uncompiled > /dev/null
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage json --quiet -o .coverage.json
	$(BIN)/python -c "import json; found = json.load(open('.coverage.json'))['totals']; json.dump({key: found[key] for key in ('percent_covered', 'num_statements')}, open('docs/coverage.json', 'w'))"
	$(BIN)/python docs/generate.py

# README's commands, typed one after the other in an empty folder by the installed wheel
TYPED = mkdir -p $(1) && cd $(1) && export PATH="$(CURDIR)/.venv-dist/bin:$$PATH" && set -e && \
  sed -n 's/^\(bivaluate [^\#]*\).*/\1/p' $(CURDIR)/README.md | grep -v tcp: | while read -r line; do echo "$$line"; $$line < /dev/null > /dev/null; done
dist: .venv/.installed  ## build what a package index takes, check it, and use it in a clean environment as README says, without and with extras
	$(BIN)/python -m pip install --quiet build twine
	rm -rf dist .venv-dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet dist/*.whl
	test "$$(du -sm .venv-dist | cut -f1)" -lt 750
	$(call TYPED,dist/core)
	.venv-dist/bin/python -m pip install --quiet "$$(echo dist/*.whl)[all]" multiqc snakemake
	$(call TYPED,dist/trial)
	cd dist/trial && ../../.venv-dist/bin/bivaluate score expression.csv solution.json --mqc scores_mqc.json
	.venv-dist/bin/multiqc --quiet --outdir dist/trial/multiqc dist/trial
	grep -q bivaluate_scores dist/trial/multiqc/multiqc_report.html
	sed -n '/^rule score/,/^"""/{/^"""/d;p}' packaging/snakemake/wrapper.py \
	  | sed -e 's|\["las.json", "qubic.blocks"\]|["solution.json"]|' -e 's|file:|file:$(CURDIR)/|' > dist/trial/Snakefile
	cd dist/trial && PATH="$(CURDIR)/.venv-dist/bin:$$PATH" snakemake --cores 1 --quiet all
	test -s dist/trial/scores.csv
	PATH="$(CURDIR)/.venv-dist/bin:$$PATH" $(BIN)/python -m pytest tests/test_packaging.py -k workflows

lock: .venv/.installed  ## write the versions the container is built from
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/python -m piptools compile --quiet --extra all --strip-extras --no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file packaging/requirements.lock pyproject.toml
	sed -i '/^bivaluate @/d' packaging/requirements.lock

size:  ## count lines of code (no docstrings, comments, blanks) of every room, and all of them
	@$(PYTHON) benchmarks/size.py src/bivaluate

MINUTES := 2
attack: .venv/.installed  ## read mutated files of every format for MINUTES (2) in each mode and count what goes wrong
	$(BIN)/python -m tests.attack --minutes $(MINUTES)
	$(BIN)/python -m tests.attack --minutes $(MINUTES) --untrusted

docs: .venv/.installed  ## write the generated parts of README and docs
	$(BIN)/python docs/generate.py

clean:  ## remove environments and caches
	rm -rf .venv .venv-lean .venv-dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .venv-demo demo-output replication-output site
