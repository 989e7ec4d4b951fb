"""Tests that need an optional dependency say so with `@pytest.mark.extra("parquet")`."""

import importlib.util

import pytest

PACKAGES = {
    "parquet": "pyarrow",
    "anndata": "anndata",
    "zarr": "zarr",
    "mudata": "mudata",
    "rdata": "rdata",
    "excel": "openpyxl",
    "dask": "distributed",
    "graph": "sknetwork",
}


def pytest_runtest_setup(item):
    for marker in item.iter_markers("extra"):
        for extra in marker.args:
            if importlib.util.find_spec(PACKAGES[extra]) is None:
                pytest.skip(f'needs {PACKAGES[extra]}: pip install "bivaluate[{extra}]"')
