"""Sweeps over data sets, algorithms, K and seeds: plan, run, resume, load, choose."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bivaluate.experiment.load import Run, load_run
    from bivaluate.experiment.plan import Cell, Plan
    from bivaluate.experiment.run import Sweep

_HOME = {"Cell": "plan", "Plan": "plan", "Run": "load", "load_run": "load", "Sweep": "run"}

__all__ = ["Cell", "Plan", "Run", "Sweep", "load_run"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"bivaluate.experiment.{_HOME[name]}"), name)
    raise AttributeError(f"module 'bivaluate.experiment' has no attribute {name!r}")
