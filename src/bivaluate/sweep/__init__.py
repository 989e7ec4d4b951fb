"""Sweeps over data sets, algorithms, K and seeds: plan, run, resume, load, choose."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bivaluate.sweep.load import Run, load_run
    from bivaluate.sweep.plan import Cell, Plan
    from bivaluate.sweep.run import Sweep
    from bivaluate.sweep.search import KSelection, select_k
    from bivaluate.sweep.select import Selection

_HOME = {
    "Cell": "plan",
    "KSelection": "search",
    "Plan": "plan",
    "Run": "load",
    "Selection": "select",
    "Sweep": "run",
    "load_run": "load",
    "select_k": "search",
}

__all__ = ["Cell", "KSelection", "Plan", "Run", "Selection", "Sweep", "load_run", "select_k"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"bivaluate.sweep.{_HOME[name]}"), name)
    raise AttributeError(f"module 'bivaluate.sweep' has no attribute {name!r}")
