"""Residue of Cheng and Church: how far a block is from rows and columns that simply add up."""

from __future__ import annotations

from typing import Any

from bivaluate._check import check_values
from bivaluate.measures._blocks import mean_squared_residue_value
from bivaluate.measures.measure import COL_SHIFT, ROW_SHIFT, SHIFT, Metric
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering


def mean_squared_residue(A: Any) -> float:
    """Mean squared residue of one bicluster (H in Cheng and Church 2000).

    MSR = 1/(rc) · Σ (a_ij − a_iJ − a_Ij + a_IJ)², with row means a_iJ, column means a_Ij and grand mean a_IJ.

    Low is better; ≥ 0; 0 for additive blocks a_ij = μ + α_i + β_j. Not changed by shifting rows or columns;
    scales with the square. A perfect scaling block s_i·p_j has MSR Var(s)·Var(p). A block of one row or one
    column has MSR 0 whatever it holds.

    Parameters
    ----------
    A
        Values of the bicluster, rows × columns.

    References
    ----------
    Cheng Y, Church GM (2000). Biclustering of expression data. ISMB 8:93–103.

    Examples
    --------
    >>> round(mean_squared_residue([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.315972
    """
    return mean_squared_residue_value(check_values(A, name="A"))


def average_squared_residue(
    X: Any, solution: Biclustering, *, degenerate: str = "nan", missing: str = "raise"
) -> float:
    """Average squared residue of a solution: ASR = 1/K · Σ MSR(B_k).

    Low is better; ≥ 0. Biclusters of one row or one column are left out, unless ``degenerate="formula"``
    counts them as 0; NaN if none is left.

    References
    ----------
    Cheng Y, Church GM (2000). Biclustering of expression data. ISMB 8:93–103.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)
    >>> round(average_squared_residue(X, S), 6)
    1.255787
    """
    workspace = Workspace.of(X, solution, degenerate=degenerate, missing=missing)
    return workspace.mean(workspace.msr)


METRICS = (
    Metric(
        key="msr",
        symbol="MSR",
        name="mean squared residue",
        level="bicluster",
        direction="low",
        range=(0.0, float("inf")),
        summary="How far the block is from rows and columns that simply add up; blind to scaling patterns.",
        function=mean_squared_residue,
        compute=lambda w: w.masked(w.msr),
        invariances=frozenset({SHIFT, ROW_SHIFT, COL_SHIFT}),
        reference="Cheng & Church 2000, Biclustering of expression data, ISMB 8:93-103",
        default=True,
    ),
    Metric(
        key="asr",
        symbol="ASR",
        name="average squared residue",
        level="solution",
        direction="low",
        range=(0.0, float("inf")),
        summary="Mean of MSR over the biclusters; tends to praise small blocks and large K.",
        function=average_squared_residue,
        compute=lambda w: w.mean(w.msr),
        invariances=frozenset({SHIFT, ROW_SHIFT, COL_SHIFT}),
        reference="Cheng & Church 2000, Biclustering of expression data, ISMB 8:93-103",
        default=True,
    ),
)
