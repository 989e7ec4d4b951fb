"""Data to try things on: synthetic scenarios with a known truth, and real matrices fetched on demand."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Block": "generator",
    "make_biclusters": "generator",
    "SCENARIOS": "scenarios",
    "Scenario": "scenarios",
    "get_scenario": "scenarios",
    "make_scenario": "scenarios",
    "planted_table": "planted",
    "fetch": "real",
    "list_datasets": "real",
    "load": "real",
    "load_yeast": "real",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"bivaluate.datasets.{_HOME[name]}"), name)
    raise AttributeError(f"module 'bivaluate.datasets' has no attribute {name!r}")
