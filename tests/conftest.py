"""Tests that need an optional dependency say so with `@pytest.mark.extra("parquet")`."""

import importlib.util

import pytest
from hypothesis import HealthCheck, settings

# No example fails for taking long: machines are busy.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
}


def pytest_runtest_setup(item):
    for marker in item.iter_markers("extra"):
        for extra in marker.args:
            if importlib.util.find_spec(PACKAGES[extra]) is None:
                pytest.skip(f'needs {PACKAGES[extra]}: pip install "bivaluate[{extra}]"')
