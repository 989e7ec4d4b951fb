"""Residue of Cheng and Church: how far a block is from rows and columns that simply add up; and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._check import check_values
from bivaluate.measures._blocks import block_values, in_range, residue, times_power
from bivaluate.measures.measure import ADDITIVE, ROW_SHIFT, SCALE, SHIFT, measure
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

_CHENG_CHURCH = "Cheng & Church 2000, Biclustering of expression data, ISMB 8:93-103"


@measure("msr", "MSR", "mean squared residue",
    "How far the block is from rows and columns that simply add up; blind to scaling patterns.",
    formula=r"\mathrm{MSR}(B)=\frac{1}{|I||J|}\sum_{i\in I,\,j\in J}\left(a_{ij}-a_{iJ}-a_{Ij}+a_{IJ}\right)^2",
    compute=lambda w: w.masked(w.finite_msr), invariances=ADDITIVE, reference=_CHENG_CHURCH, default=True)  # fmt: skip
def mean_squared_residue(A: Any) -> float:
    """Mean squared residue of one bicluster (H in Cheng and Church 2000).

    MSR = 1/(rc) · Σ (a_ij − a_iJ − a_Ij + a_IJ)², with row means a_iJ, column means a_Ij and grand mean a_IJ.

    Low is better; ≥ 0; 0 for additive blocks a_ij = μ + α_i + β_j. Not changed by shifting rows or columns;
    scales with the square. A perfect scaling block s_i·p_j has MSR Var(s)·Var(p). A block of one row or one
    column has MSR 0 whatever it holds; :func:`bivaluate.evaluate` leaves it undefined.

    See Also
    --------
    average_squared_residue, bivaluate.virtual_error

    Examples
    --------
    >>> round(mean_squared_residue([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.315972
    """
    # (residue(A) ** 2).mean(), guarded against lost digits
    return block_values(check_values(A, name="A"))[1]


@measure("asr", "ASR", "average squared residue",
    "Mean of MSR over the biclusters; biased towards small blocks.",
    formula=r"\mathrm{ASR}=\frac{1}{K}\sum_k\mathrm{MSR}(B_k)", level="solution", main_rank=5,
    compute=lambda w: w.mean(w.finite_msr), invariances=ADDITIVE, reference=_CHENG_CHURCH, default=True)  # fmt: skip
def average_squared_residue(X: Any, solution: Biclustering, **options: Any) -> float:
    """Average squared residue of a solution: ASR = 1/K · Σ MSR(B_k).

    Low is better; ≥ 0. NaN if no bicluster is defined.

    See Also
    --------
    mean_squared_residue

    Examples
    --------
    >>> round(average_squared_residue(X, S), 6)
    1.255787
    """
    workspace = Workspace.of(X, solution, **options)
    return workspace.mean(workspace.finite_msr)


@measure("var", "VAR", "variance (sum of squares)",
    "Sum of squared deviations from the block's mean: 0 only for a constant block; grows with size.",
    invariances=[SHIFT],
    reference="Hartigan 1972, Direct clustering of a data matrix, doi:10.1080/01621459.1972.10481214")  # fmt: skip
def sum_of_squares(A: Any, *, normalise: bool = False) -> float:
    """Hartigan's variance of one bicluster: VAR = Σ (a_ij − a_IJ)².

    Low is better; ≥ 0; 0 only for a constant block. Not changed by a shift of the whole block. It is a sum and
    grows with the block.

    Examples
    --------
    >>> sum_of_squares([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]])
    50.0625
    """
    values, exponent = in_range(check_values(A, name="A"))
    total = float(((values - values.mean()) ** 2).sum())
    return times_power(total / values.size if normalise else total, 2 * exponent.item())


@measure("mar", "MAR", "mean absolute residue",
    "MSR with absolute values in place of squares: less swayed by single cells.", invariances=ADDITIVE,
    reference="Yang et al. 2003, Enhanced biclustering on expression data (FLOC), doi:10.1109/BIBE.2003.1188969")  # fmt: skip
def mean_absolute_residue(A: Any) -> float:
    """Mean absolute residue of one bicluster (FLOC): MAR = 1/(rc) · Σ |a_ij − a_iJ − a_Ij + a_IJ|.

    Low is better; ≥ 0; 0 for additive blocks. Not changed by shifting rows or columns. 0 by the formula for one
    row or one column; :func:`bivaluate.evaluate` leaves those undefined.

    Examples
    --------
    >>> mean_absolute_residue([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]])
    0.4375
    """
    values, exponent = in_range(check_values(A, name="A"))
    return times_power(float(np.abs(residue(values)).mean()), exponent.item())


@measure("msr_u", "MSR_u", "corrected mean squared residue",
    "Sum of squared residues over its degrees of freedom, so that small blocks are no longer favoured.", invariances=ADDITIVE,
    reference="Di Iorio, Chiaromonte & Cremona 2020, On the bias of H-scores, doi:10.1093/bioinformatics/btaa060")  # fmt: skip
def corrected_squared_residue(A: Any) -> float:
    """Sum of squared residues over its degrees of freedom: MSR_u = MSR · rc/((r − 1)(c − 1)).

    Low is better; ≥ 0. In noise of variance σ² its mean is σ² whatever the shape, where plain MSR favours small
    blocks. It is the residual mean square of a two-way analysis of variance. NaN for one row or one column.

    Examples
    --------
    >>> round(corrected_squared_residue([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.631944
    """
    values, exponent = in_range(check_values(A, name="A"))
    freedom = (values.shape[0] - 1) * (values.shape[1] - 1)
    if not freedom:
        return float("nan")
    return times_power(float((residue(values) ** 2).sum() / freedom), 2 * exponent.item())


@measure("smsr", "SMSR", "scaling mean squared residue",
    "How far the block is from a product of a row and a column factor; not for centred data.", invariances=[SCALE],
    reference="Mukhopadhyay, Maulik & Bandyopadhyay 2009, doi:10.1142/S0219720009004370")  # fmt: skip
def scaling_squared_residue(A: Any) -> float:
    """Scaling mean squared residue: SMSR = 1/(rc) · Σ (a_iJ·a_Ij − a_ij·a_IJ)²/(a_iJ²·a_Ij²).

    Low is better; ≥ 0; 0 for blocks s_i·p_j, and that 0 survives any rescaling of rows and columns. Not changed by
    scaling the whole block, but changed by every shift: never use it on centred data. NaN if a row mean or a
    column mean is 0.

    Examples
    --------
    >>> round(scaling_squared_residue([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.011024
    """
    values = check_values(A, name="A")
    scale = np.abs(values).max()
    if scale == 0:
        return float("nan")
    values = values / scale
    rows, cols = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
    rounding = 4 * np.finfo(np.float64).eps
    if (np.abs(rows) <= rounding).any() or (np.abs(cols) <= rounding).any():
        return float("nan")
    return float(((1 - values * values.mean() / (rows * cols)) ** 2).mean())


@measure("mmse", "MMSE", "minimal mean squared error",
    "What the best common pattern, scaled and shifted per row with any sign, leaves unexplained.",
    invariances=[SHIFT, ROW_SHIFT],
    reference="Chen, Liu & Zeng 2015, Measuring the quality of linear patterns, doi:10.1016/j.ymeth.2015.04.005")  # fmt: skip
def minimal_squared_error(A: Any) -> float:
    """Minimal mean squared error: MMSE = (‖D‖² − s₁(D)²)/(rc), D the block with its row means taken out.

    s₁ is the largest singular value: what is left after the best rank-one pattern. Low is better; ≥ 0; 0 when
    every row is an affine image of one pattern, whatever the sign. Not changed by shifting rows. 0 by the formula
    for one row or one column; :func:`bivaluate.evaluate` leaves those undefined.

    Examples
    --------
    >>> round(minimal_squared_error([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.025847
    """
    values, exponent = in_range(check_values(A, name="A"))
    singular = np.linalg.svd(values - values.mean(axis=1, keepdims=True), compute_uv=False)
    return times_power(float((singular[1:] ** 2).sum() / values.size), 2 * exponent.item())
