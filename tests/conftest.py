"""Situations that several rooms test. What needs an optional dependency says so: `@pytest.mark.extra("parquet")`."""

import functools
import importlib
import importlib.util
import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SOURCE = Path(importlib.util.find_spec("bivaluate").origin).parent

# Tests run side by side: threads of libraries would wait for each other. Read when NumPy is first imported, after this.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# No example fails for taking long: machines are busy. How many are tried stands here; single tests say less.
settings.register_profile("steady", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

PACKAGES = {
    "parquet": "pyarrow",
    "anndata": "anndata",
    "zarr": "zarr",
    "mudata": "mudata",
    "rdata": "rdata",
    "excel": "openpyxl",
    "dask": "distributed",
    "graph": "sknetwork",
    "plots": "marsilea",
    "tables": "narwhals",
}


def pytest_runtest_setup(item):
    for marker in item.iter_markers("extra"):
        for extra in marker.args:
            if importlib.util.find_spec(PACKAGES[extra]) is None:
                pytest.skip(f'needs {PACKAGES[extra]}: pip install "bivaluate[{extra}]"')


@functools.cache
def modules_with(name, within):
    """Modules of bivaluate, or of a part of it, in which a name of a limit is known."""
    paths = [path for path in SOURCE.rglob("*.py") if re.search(rf"\b{name}\b", path.read_text(encoding="utf-8"))]
    names = [".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in paths]
    found = [importlib.import_module(module) for module in names if module.startswith(f"bivaluate.{within}")]
    return [module for module in found if isinstance(getattr(module, name, None), int | float)]


def set_limits(patch, within="", **values):
    """Make small data large: set limits (numbers in capitals) wherever bivaluate, or a part of it, reads them."""
    for name, value in values.items():
        holders = modules_with(name, within)
        assert holders, f"bivaluate.{within} has no limit {name}"
        for module in holders:
            patch.setattr(module, name, value)


@pytest.fixture
def limits(monkeypatch):
    """Return how limits are set for the test."""
    return functools.partial(set_limits, monkeypatch)


@contextmanager
def limited(**values):
    """Set limits for a block of code."""
    with pytest.MonkeyPatch.context() as patch:
        set_limits(patch, **values)
        yield


@pytest.fixture
def without(monkeypatch):
    """Hide packages, as if they were not installed."""

    @contextmanager
    def hidden(*packages):
        with monkeypatch.context() as patch:
            for package in packages:
                patch.setitem(sys.modules, package, None)
            yield

    return hidden


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Return an empty folder that temporary files are written to."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def started_as(monkeypatch):
    """Set the words that this process was started with."""
    return lambda *words: monkeypatch.setattr("sys.argv", [str(word) for word in words])


@pytest.fixture
def no_own_measures(monkeypatch):
    """Forget the measures of a user's own after the test."""
    monkeypatch.setattr("bivaluate.measures.own.Records.own", {})


@pytest.fixture
def terminal(monkeypatch):
    """Set how wide the terminal is, and let it show everything."""

    def of(width):
        from bivaluate.cli import tables

        monkeypatch.setattr(tables.out, "width", width)
        monkeypatch.setattr(tables.err, "quiet", False)

    return of


@pytest.fixture
def tried(monkeypatch):
    """Return the list of files that were tried in a process of their own, without starting any."""
    asked = []
    monkeypatch.setattr("bivaluate.io.trial.check", lambda kind, *_: asked.append(kind))
    return asked
