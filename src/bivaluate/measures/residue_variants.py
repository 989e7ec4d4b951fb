"""Relatives of the mean squared residue: variance, absolute, corrected, scaling and rank-one residues."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_values
from bivaluate.measures._blocks import residue
from bivaluate.measures.measure import COL_SHIFT, ROW_SHIFT, SCALE, SHIFT, Metric

Floats = NDArray[np.float64]


def sum_of_squares(A: Any, *, normalise: bool = False) -> float:
    """Hartigan's variance of one bicluster: VAR = Σ (a_ij − a_IJ)².

    Low is better; ≥ 0; 0 only for a constant block. Not changed by a shift of the whole block. It is a sum and
    grows with the block; ``normalise=True`` divides by the number of cells.

    References
    ----------
    Hartigan JA (1972). Direct clustering of a data matrix. JASA 67:123–129. doi:10.1080/01621459.1972.10481214

    Examples
    --------
    >>> sum_of_squares([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]])
    50.0625
    """
    values = check_values(A, name="A")
    total = float(((values - values.mean()) ** 2).sum())
    return total / values.size if normalise else total


def mean_absolute_residue(A: Any) -> float:
    """Mean absolute residue of one bicluster (FLOC): MAR = 1/(rc) · Σ |a_ij − a_iJ − a_Ij + a_IJ|.

    Low is better; ≥ 0; 0 for additive blocks. Not changed by shifting rows or columns. 0 by the formula for one
    row or one column; :func:`bivaluate.evaluate` leaves those undefined.

    References
    ----------
    Yang J, Wang H, Wang W, Yu P (2003). Enhanced biclustering on expression data. BIBE 2003, 321–327.
    doi:10.1109/BIBE.2003.1188969

    Examples
    --------
    >>> mean_absolute_residue([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]])
    0.4375
    """
    return float(np.abs(residue(check_values(A, name="A"))).mean())


def corrected_squared_residue(A: Any) -> float:
    """Mean squared residue on its degrees of freedom: MSR_u = MSR · rc/((r − 1)(c − 1)).

    Low is better; ≥ 0. In noise of variance σ² its mean is σ² whatever the shape, where plain MSR favours small
    blocks. It is the residual mean square of a two-way analysis of variance. NaN for one row or one column.

    References
    ----------
    Di Iorio J, Chiaromonte F, Cremona MA (2020). On the bias of H-scores for comparing biclusters, and how to
    correct it. Bioinformatics 36:2955–2957. doi:10.1093/bioinformatics/btaa060

    Examples
    --------
    >>> round(corrected_squared_residue([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.631944
    """
    values = check_values(A, name="A")
    freedom = (values.shape[0] - 1) * (values.shape[1] - 1)
    return float((residue(values) ** 2).sum() / freedom) if freedom else float("nan")


def scaling_squared_residue(A: Any) -> float:
    """Scaling mean squared residue: SMSR = 1/(rc) · Σ (a_iJ·a_Ij − a_ij·a_IJ)²/(a_iJ²·a_Ij²).

    Low is better; ≥ 0; 0 for blocks s_i·p_j, and that 0 survives any rescaling of rows and columns. Not changed by
    scaling the whole block, but changed by every shift: never use it on centred data. NaN if a row mean or a
    column mean is 0.

    References
    ----------
    Mukhopadhyay A, Maulik U, Bandyopadhyay S (2009). A novel coherence measure for discovering scaling
    biclusters from gene expression data. J Bioinform Comput Biol 7:853–868. doi:10.1142/S0219720009004370

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


def minimal_squared_error(A: Any) -> float:
    """Minimal mean squared error: MMSE = (‖D‖² − s₁(D)²)/(rc), D the block with its row means taken out.

    s₁ is the largest singular value: what is left after the best rank-one pattern. Low is better; ≥ 0; 0 when
    every row is an affine image of one pattern, whatever the sign. Not changed by shifting rows. 0 by the formula
    for one row or one column; :func:`bivaluate.evaluate` leaves those undefined.

    References
    ----------
    Chen S, Liu J, Zeng T (2015). Measuring the quality of linear patterns in biclusters. Methods 83:18–27.
    doi:10.1016/j.ymeth.2015.04.005

    Examples
    --------
    >>> round(minimal_squared_error([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.025847
    """
    values = check_values(A, name="A")
    singular = np.linalg.svd(values - values.mean(axis=1, keepdims=True), compute_uv=False)
    return float((singular[1:] ** 2).sum() / values.size)


_ADDITIVE = frozenset({SHIFT, ROW_SHIFT, COL_SHIFT})
_TOP = float("inf")

METRICS = (
    Metric(
        key="var",
        symbol="VAR",
        name="variance (sum of squares)",
        level="bicluster",
        direction="low",
        range=(0.0, _TOP),
        summary="Sum of squared deviations from the block's mean: 0 only for a constant block; grows with size.",
        function=sum_of_squares,
        compute=lambda w: w.per_block(sum_of_squares),
        invariances=frozenset({SHIFT}),
        reference="Hartigan 1972, Direct clustering of a data matrix, doi:10.1080/01621459.1972.10481214",
    ),
    Metric(
        key="mar",
        symbol="MAR",
        name="mean absolute residue",
        level="bicluster",
        direction="low",
        range=(0.0, _TOP),
        summary="MSR with absolute values in place of squares: less swayed by single cells.",
        function=mean_absolute_residue,
        compute=lambda w: w.per_block(mean_absolute_residue),
        invariances=_ADDITIVE,
        reference="Yang et al. 2003, Enhanced biclustering on expression data (FLOC), doi:10.1109/BIBE.2003.1188969",
    ),
    Metric(
        key="msr_u",
        symbol="MSR_u",
        name="corrected mean squared residue",
        level="bicluster",
        direction="low",
        range=(0.0, _TOP),
        summary="MSR on its degrees of freedom, so that small blocks are no longer favoured.",
        function=corrected_squared_residue,
        compute=lambda w: w.per_block(corrected_squared_residue),
        invariances=_ADDITIVE,
        reference="Di Iorio, Chiaromonte & Cremona 2020, On the bias of H-scores, doi:10.1093/bioinformatics/btaa060",
    ),
    Metric(
        key="smsr",
        symbol="SMSR",
        name="scaling mean squared residue",
        level="bicluster",
        direction="low",
        range=(0.0, _TOP),
        summary="How far the block is from a product of a row and a column factor; not for centred data.",
        function=scaling_squared_residue,
        compute=lambda w: w.per_block(scaling_squared_residue),
        invariances=frozenset({SCALE}),
        reference="Mukhopadhyay, Maulik & Bandyopadhyay 2009, doi:10.1142/S0219720009004370",
    ),
    Metric(
        key="mmse",
        symbol="MMSE",
        name="minimal mean squared error",
        level="bicluster",
        direction="low",
        range=(0.0, _TOP),
        summary="What the best common pattern, scaled and shifted per row with any sign, leaves unexplained.",
        function=minimal_squared_error,
        compute=lambda w: w.per_block(minimal_squared_error),
        invariances=frozenset({SHIFT, ROW_SHIFT}),
        reference="Chen, Liu & Zeng 2015, Measuring the quality of linear patterns, doi:10.1016/j.ymeth.2015.04.005",
    ),
)
