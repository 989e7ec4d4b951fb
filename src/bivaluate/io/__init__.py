"""Matrices and solutions, in and out of files; one format is one file."""

from __future__ import annotations

from bivaluate.io.h5ad import write_h5ad_results
from bivaluate.io.listing import describe_formats
from bivaluate.io.matrices import MATRIX_FORMATS, read_matrix, write_matrix
from bivaluate.io.solutions import (
    SOLUTION_FORMATS,
    read_members,
    read_solution,
    write_members,
    write_solution,
)

__all__ = [
    "MATRIX_FORMATS",
    "SOLUTION_FORMATS",
    "describe_formats",
    "read_matrix",
    "read_members",
    "read_solution",
    "write_h5ad_results",
    "write_matrix",
    "write_members",
    "write_solution",
]
