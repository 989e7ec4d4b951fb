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
    "Evaluation": "metrics.evaluate",
    "evaluate": "metrics.evaluate",
    "solution_scorer": "metrics.evaluate",
    "mean_squared_residue": "metrics.residue",
    "average_squared_residue": "metrics.residue",
    "virtual_error": "metrics.virtual_error",
    "average_virtual_error": "metrics.virtual_error",
    "normalised_virtual_error": "metrics.normalised",
    "normalised_virtual_errors": "metrics.normalised",
    "normalised_squared_residue": "metrics.normalised",
    "normalised_squared_residues": "metrics.normalised",
    "normalised_virtual_error_coverage": "metrics.coverage",
    "coverage_ratio": "metrics.coverage",
    "adjusted_virtual_error": "metrics.chance",
    "chance_table": "metrics.chance",
    "coherent_coverage": "metrics.chance",
    "compare": "metrics.compare",
    "propose_pruning": "metrics.prune",
    "Plan": "experiment",
    "Sweep": "experiment",
    "load_run": "experiment",
    "select_k": "experiment",
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
    from bivaluate.experiment import Plan, Sweep, load_run, select_k
    from bivaluate.io import read_matrix, read_solution, write_matrix, write_solution
    from bivaluate.matrix import Matrix
    from bivaluate.metrics.chance import adjusted_virtual_error, chance_table, coherent_coverage
    from bivaluate.metrics.compare import compare
    from bivaluate.metrics.coverage import coverage_ratio, normalised_virtual_error_coverage
    from bivaluate.metrics.evaluate import Evaluation, evaluate, solution_scorer
    from bivaluate.metrics.normalised import (
        normalised_squared_residue,
        normalised_squared_residues,
        normalised_virtual_error,
        normalised_virtual_errors,
    )
    from bivaluate.metrics.prune import propose_pruning
    from bivaluate.metrics.residue import average_squared_residue, mean_squared_residue
    from bivaluate.metrics.virtual_error import average_virtual_error, virtual_error
    from bivaluate.report import build_report
    from bivaluate.solution import Bicluster, Biclustering

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
