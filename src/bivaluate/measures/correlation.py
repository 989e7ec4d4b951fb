"""Coherence as correlation between the rows, or the columns, of a block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bivaluate._check import check_int, check_values
from bivaluate._types import Floats
from bivaluate.measures._blocks import is_constant_row, standardise
from bivaluate.measures.measure import ROW_AFFINE, ROW_SCALE, SCALE, SHIFT, UNIT, measure
from bivaluate.measures.workspace import Workspace

_CHUNK = 1 << 21


@dataclass(frozen=True)
class RowCorrelations:
    """Summary of the correlation matrix of the rows; constant rows are left out, NaN if fewer than two remain."""

    signed: float
    absolute: float
    best: float


def correlate_rows(A: Floats) -> RowCorrelations:
    """Mean correlation, mean absolute correlation, and the largest mean absolute correlation of one row."""
    rows = A[~is_constant_row(A)]
    n = len(rows)
    if n < 2:
        return RowCorrelations(float("nan"), float("nan"), float("nan"))
    rows = standardise(rows) / np.sqrt(rows.shape[1])
    signed = (float((rows.sum(axis=0) ** 2).sum()) - n) / (n * (n - 1))
    sums = np.empty(n)
    step = max(1, _CHUNK // n)
    for start in range(0, n, step):
        sums[start : start + step] = np.abs(rows[start : start + step] @ rows.T).sum(axis=1) - 1
    each = np.clip(sums / (n - 1), 0.0, 1.0)
    return RowCorrelations(max(-1.0, min(1.0, signed)), float(each.mean()), float(each.max()))


@measure("ac", "AC", "average correlation", "Mean correlation between the rows, signed.", direction="high",
    range=(-1.0, 1.0), invariances=[*ROW_AFFINE, ROW_SCALE],
    reference="Nepomuceno, Troncoso & Aguilar-Ruiz 2011, doi:10.1186/1756-0381-4-3")  # fmt: skip
def average_correlation(A: Any) -> float:
    """Average correlation of the rows: AC = mean over pairs i < k of corr(row_i, row_k).

    High is better; in [−1, 1]; signed, rows only. Constant rows are left out; NaN if fewer than two rows remain.
    Not changed by shifting rows or scaling them by positive factors. With two columns every correlation is ±1.

    Examples
    --------
    >>> round(average_correlation([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.981347
    """
    return correlate_rows(check_values(A, name="A")).signed


@measure("acv", "ACV", "average correlation value",
    "Larger of the mean absolute correlations of rows and columns; a row effect alone gives 1.", direction="high",
    range=UNIT, invariances=[SHIFT, SCALE], reference="Teng & Chan 2008, doi:10.1007/s11265-007-0121-2")  # fmt: skip
def average_correlation_value(A: Any) -> float:
    """Average correlation value: ACV = max of the mean absolute correlations of rows and of columns.

    High is better; in [0, 1]. A pure row or column effect gives about 1 without any pattern, and so do two
    columns. Constant rows and columns are left out; a direction with fewer than two is passed over; NaN if both
    are.

    Examples
    --------
    >>> round(average_correlation_value([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.981347
    """
    values = check_values(A, name="A")
    return float(np.fmax(correlate_rows(values).absolute, correlate_rows(values.T).absolute))


@measure("spearman_asr", "ASR_ρ", "average Spearman's rho",
    "Larger of the mean rank correlations of rows and columns (its authors call it ASR).", direction="high",
    range=(-1.0, 1.0), invariances=[SHIFT, SCALE],
    reference="Ayadi, Elloumi & Hao 2009, doi:10.1186/1756-0381-2-9")  # fmt: skip
def average_spearman(A: Any) -> float:
    """Average Spearman's rho (called ASR by its authors): the larger of the mean rank correlations of rows and columns.

    2·max(Σ_{i<k} ρ_ik/(r(r−1)), Σ_{j<l} ρ_jl/(c(c−1))), signed, from mid-ranks. High is better; in [−1, 1].
    Its key is ``spearman_asr``, because ASR also names the average squared residue. Degenerate cases as in
    :func:`average_correlation_value`.

    Examples
    --------
    >>> round(average_spearman([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    1.0
    """
    values = check_values(A, name="A")
    return float(np.fmax(_spearman(values).signed, _spearman(values.T).signed))


@measure("scs", "SCS", "sub-matrix correlation score",
    "1 minus the mean absolute correlation of the best row or column with the others.", range=UNIT,
    invariances=[SHIFT, SCALE], reference="Yang, Dai & Yan 2011, doi:10.1109/TKDE.2010.150")  # fmt: skip
def submatrix_correlation_score(A: Any) -> float:
    """Sub-matrix correlation score: SCS = min(S_row, S_col), S_row = min_i (1 − mean_{k≠i} |corr(row_i, row_k)|).

    Low is better; in [0, 1]; only the best row, or column, counts. Degenerate cases as in
    :func:`average_correlation_value`.

    Examples
    --------
    >>> round(submatrix_correlation_score([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.01593
    """
    values = check_values(A, name="A")
    return float(1 - np.fmax(correlate_rows(values).best, correlate_rows(values.T).best))


@measure("sbm", "SBM", "Spearman biclustering measure",
    "Mean absolute rank correlation of rows times that of columns, thin blocks penalised.", direction="high",
    range=UNIT, compute=lambda w: _sbm(w), invariances=[SHIFT, SCALE],
    reference="Flores et al. 2013, doi:10.1016/j.cmpb.2013.07.025")  # fmt: skip
def spearman_biclustering_measure(A: Any, n_cols: int) -> float:
    """Spearman biclustering measure: SBM = α · mean |ρ| of rows · β · mean |ρ| of columns.

    α = c/m for c ≤ 9 columns out of `n_cols` = m, else 1; β = 1. High is better; in [0, 1]; thin blocks are
    penalised by α. A direction with fewer than two rows (columns) that vary is passed over; NaN if both are.

    Parameters
    ----------
    A : array-like of shape (r, c)
        Values of the bicluster.
    n_cols : int
        Number of columns of the matrix.

    Raises
    ------
    MatrixError
        If `A` is not a matrix of finite numbers.
    ParameterError
        If `n_cols` is smaller than the bicluster.

    Examples
    --------
    >>> round(spearman_biclustering_measure([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]], 6), 6)
    0.622008
    """
    values = check_values(A, name="A")
    check_int("n_cols", n_cols, values.shape[1])
    alpha = values.shape[1] / n_cols if values.shape[1] <= 9 else 1.0
    parts = [_spearman(values).absolute, _spearman(values.T).absolute]
    defined = [part for part in parts if not np.isnan(part)]
    return float(alpha * np.prod(defined)) if defined else float("nan")


def _spearman(A: Floats) -> RowCorrelations:
    from scipy.stats import rankdata

    return correlate_rows(rankdata(A, axis=1))


def _sbm(workspace: Workspace) -> Floats:
    return workspace.per_block(lambda A: spearman_biclustering_measure(A, workspace.shape[1]))
