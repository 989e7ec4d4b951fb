"""Tests that need an optional dependency say so with `@pytest.mark.extra("parquet")`."""

import importlib.util
import os

import pytest
from hypothesis import HealthCheck, settings

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
