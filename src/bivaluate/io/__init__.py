"""Matrices and solutions, in and out of files; one format is one file."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Public name -> module that defines it; modules load when a name is first used.
_HOME = {
    "describe_formats": "listing",
    "matrix_formats": "matrices",
    "read_matrix": "matrices",
    "write_matrix": "matrices",
    "read_members": "solutions",
    "read_solution": "solutions",
    "solution_formats": "solutions",
    "write_members": "solutions",
    "write_solution": "solutions",
    "write_h5ad_results": "h5ad",
}

if TYPE_CHECKING:
    from bivaluate.io.h5ad import write_h5ad_results
    from bivaluate.io.listing import describe_formats
    from bivaluate.io.matrices import matrix_formats, read_matrix, write_matrix
    from bivaluate.io.solutions import read_members, read_solution, solution_formats, write_members, write_solution

__all__ = [
    "describe_formats",
    "matrix_formats",
    "read_matrix",
    "read_members",
    "read_solution",
    "solution_formats",
    "write_h5ad_results",
    "write_matrix",
    "write_members",
    "write_solution",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"bivaluate.io.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'bivaluate.io' has no attribute {name!r}")
