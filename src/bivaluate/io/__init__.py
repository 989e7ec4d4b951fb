"""Matrices and solutions, in and out of files; one format is one file."""

from __future__ import annotations

from bivaluate.io.matrices import MATRIX_FORMATS, read_matrix, write_matrix
from bivaluate.io.solutions import SOLUTION_FORMATS, read_solution, write_solution

__all__ = [
    "MATRIX_FORMATS",
    "SOLUTION_FORMATS",
    "read_matrix",
    "read_solution",
    "write_matrix",
    "write_solution",
]
