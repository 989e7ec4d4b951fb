"""Are these biclusters any good? Score, compare, choose and show biclustering solutions."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module that defines it. Modules load when a name is first used, so importing costs nothing.
_PUBLIC = {
    "Bicluster": "solution",
    "Biclustering": "solution",
    "Matrix": "matrix",
    "Evaluation": "evaluation",
    "evaluate": "evaluation",
    "solution_scorer": "evaluation",
    "mean_squared_residue": "measures.residue",
    "average_squared_residue": "measures.residue",
    "virtual_error": "measures.virtual_error",
    "average_virtual_error": "measures.virtual_error",
    "normalised_virtual_error": "measures.normalised",
    "normalised_virtual_errors": "measures.normalised",
    "normalised_squared_residue": "measures.normalised",
    "normalised_squared_residues": "measures.normalised",
    "normalised_virtual_error_coverage": "measures.coverage",
    "coverage_ratio": "measures.coverage",
    "adjusted_virtual_error": "chance.measures",
    "chance_table": "chance.measures",
    "coherent_coverage": "chance.measures",
    "compare": "measures.compare",
    "propose_pruning": "judge.prune",
    "Plan": "sweep",
    "Sweep": "sweep",
    "load_run": "sweep",
    "select_k": "sweep",
    "build_report": "report",
    "read_matrix": "io",
    "read_solution": "io",
    "write_matrix": "io",
    "write_solution": "io",
    "BivaluateError": "_errors",
    "BivaluateWarning": "_errors",
    "DegenerateWarning": "_errors",
    "EmptyBiclusterWarning": "_errors",
    "FileError": "_errors",
    "FormatError": "_errors",
    "MatrixError": "_errors",
    "MissingExtraError": "_errors",
    "NullModelWarning": "_errors",
    "ParameterError": "_errors",
    "RunError": "_errors",
    "SolutionError": "_errors",
}

if TYPE_CHECKING:
    from bivaluate._errors import (
        BivaluateError,
        BivaluateWarning,
        DegenerateWarning,
        EmptyBiclusterWarning,
        FileError,
        FormatError,
        MatrixError,
        MissingExtraError,
        NullModelWarning,
        ParameterError,
        RunError,
        SolutionError,
    )
    from bivaluate.chance.measures import adjusted_virtual_error, chance_table, coherent_coverage
    from bivaluate.evaluation import Evaluation, evaluate, solution_scorer
    from bivaluate.io import read_matrix, read_solution, write_matrix, write_solution
    from bivaluate.judge.prune import propose_pruning
    from bivaluate.matrix import Matrix
    from bivaluate.measures.compare import compare
    from bivaluate.measures.coverage import coverage_ratio, normalised_virtual_error_coverage
    from bivaluate.measures.normalised import (
        normalised_squared_residue,
        normalised_squared_residues,
        normalised_virtual_error,
        normalised_virtual_errors,
    )
    from bivaluate.measures.residue import average_squared_residue, mean_squared_residue
    from bivaluate.measures.virtual_error import average_virtual_error, virtual_error
    from bivaluate.report import build_report
    from bivaluate.solution import Bicluster, Biclustering
    from bivaluate.sweep import Plan, Sweep, load_run, select_k

__all__ = [
    "Bicluster",
    "Biclustering",
    "BivaluateError",
    "BivaluateWarning",
    "DegenerateWarning",
    "EmptyBiclusterWarning",
    "Evaluation",
    "FileError",
    "FormatError",
    "Matrix",
    "MatrixError",
    "MissingExtraError",
    "NullModelWarning",
    "ParameterError",
    "Plan",
    "RunError",
    "SolutionError",
    "Sweep",
    "__version__",
    "adjusted_virtual_error",
    "average_squared_residue",
    "average_virtual_error",
    "build_report",
    "chance_table",
    "coherent_coverage",
    "compare",
    "coverage_ratio",
    "evaluate",
    "load_run",
    "mean_squared_residue",
    "normalised_squared_residue",
    "normalised_squared_residues",
    "normalised_virtual_error",
    "normalised_virtual_error_coverage",
    "normalised_virtual_errors",
    "propose_pruning",
    "read_matrix",
    "read_solution",
    "select_k",
    "solution_scorer",
    "virtual_error",
    "write_matrix",
    "write_solution",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(importlib.import_module(f"bivaluate.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'bivaluate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
