"""How unlikely a level is: blocks that are raised, and blocks whose rows stay near one profile."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bivaluate._check import check_real, check_values
from bivaluate._types import Floats
from bivaluate.chance.moments import log_choose
from bivaluate.measures._blocks import standardise
from bivaluate.measures.measure import COL_SCALE, COL_SHIFT, REAL, ROW_SCALE, ROW_SHIFT, SCALE, SHIFT, UNIT, measure
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Bicluster, Biclustering


@measure("las", "LAS", "LAS score",
    "How far the mean is above what a search of noise would find, in nats; detects raised blocks only.",
    direction="high", range=REAL, compute=lambda w: _each(w, lambda X: partial(_las, standardise(X, axis=0))), invariances=[SHIFT, SCALE, COL_SHIFT, COL_SCALE],
    reference="Shabalin et al. 2009, doi:10.1214/09-AOAS239")  # fmt: skip
def las_score(X: Any, rows: ArrayLike, cols: ArrayLike) -> float:
    """Score of Large Average Submatrices: −log[C(n, r)·C(m, c)·Φ(−τ√(rc))], τ the mean of the block in standardised X.

    Columns of X are standardised (mean 0, variance 1; constant columns become 0). High is better; any real number;
    above 0 the mean is higher than a search of normal noise would find. Detects raised blocks only, of any pattern.
    Not changed by shifting columns or scaling them by positive factors.

    See Also
    --------
    bicluster_significance

    Examples
    --------
    >>> round(las_score(X, [0, 1, 2], [0, 1, 2, 3]), 6)
    -4.415098
    """
    values = check_values(X)
    return _las(standardise(values, axis=0), Biclustering([(rows, cols)], values.shape)[0])


def _las(standardised: Floats, bicluster: Bicluster) -> float:
    from scipy.special import log_ndtr

    r, c = bicluster.shape
    mean = float(bicluster.of(standardised).mean())
    n, m = standardised.shape
    return -float(log_ndtr(-mean * math.sqrt(r * c))) - log_choose(n, r) - log_choose(m, c)


@measure("bsig", "BSig", "bicluster significance",
    "Probability that as many rows stay near the column means by chance; optimistic.", range=UNIT,
    compute=lambda w: _each(w, lambda X: partial(_significance, X)), invariances=[SHIFT, SCALE, COL_SHIFT, COL_SCALE],
    reference="Henriques & Madeira 2018, doi:10.1007/s10618-017-0521-2")  # fmt: skip
def bicluster_significance(
    X: Any, rows: ArrayLike, cols: ArrayLike, *, tolerance: float = 0.5, corrected: bool = False
) -> float:
    """Probability that r or more of n rows stay near the bicluster's column means by chance (BSig).

    p_φ = Π over columns of the share of all rows within ± δ_j/2 of the column mean of the block, δ_j = `tolerance`
    times the range of the column; p = P(Binomial(n, p_φ) ≥ r). Low is better; in [0, 1]. The pattern is taken from the
    data and the columns are taken to be independent, which makes it optimistic. Not changed by shifting or scaling
    columns. Meant for constant columns; additive and order-preserving blocks need other patterns.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Data matrix without missing cells.
    rows, cols : array-like of int
        Members of the bicluster, counted from 0.
    tolerance : float, default=0.5
        Width of the band around the pattern, as a share of the range of each column.
    corrected : bool, default=False
        Multiply by the number C(m, c) of sets of columns, at most 1.

    Raises
    ------
    MatrixError
        If `X` is not a matrix of finite numbers.
    ParameterError
        If `tolerance` is negative.
    SolutionError
        If the members do not fit `X`.

    See Also
    --------
    las_score

    Examples
    --------
    >>> round(bicluster_significance(X, [0, 1, 2], [0, 1, 2, 3]), 6)
    0.000534
    """
    values = check_values(X)
    check_real("tolerance", tolerance, 0.0)
    bicluster = Biclustering([(rows, cols)], values.shape)[0]
    p = _significance(values, bicluster, tolerance)
    return min(1.0, p * math.exp(log_choose(values.shape[1], len(bicluster.cols)))) if corrected else p


def _significance(X: Floats, bicluster: Bicluster, tolerance: float = 0.5) -> float:
    from scipy.special import bdtrc

    columns = X[:, bicluster.cols]
    pattern = columns[bicluster.rows].mean(axis=0)
    half = tolerance * np.ptp(columns, axis=0) / 2
    near = np.abs(columns - pattern) <= half + 1e-12 * np.abs(columns).max()
    chance = float(near.mean(axis=0).prod())
    return float(bdtrc(len(bicluster.rows) - 1, len(X), chance))


@measure("msa", "MSA", "maximal standard area",
    "Area between the highest and lowest standardised rows; order-dependent: for ordered columns.",
    range=(0.0, math.inf), invariances=[SHIFT, SCALE, ROW_SHIFT, ROW_SCALE], order_dependent=True,
    reference="Giraldez et al. 2007, Evolutionary search of biclusters by minimal intrafluctuation")  # fmt: skip
def maximal_standard_area(A: Any) -> float:
    """Maximal standard area: the area between the highest and the lowest of the standardised rows, along the columns.

    Rows are standardised; w_j is the difference between the largest and the smallest value of column j; MSA = Σ over
    neighbouring columns of (w_j + w_{j+1})/2. Low is better; ≥ 0; grows with the number of columns. Depends on their
    order: for ordered columns (time, dose) only. Constant rows become 0. NaN for one row or one column. Not changed by
    shifting rows or scaling them by positive factors.

    See Also
    --------
    bivaluate.virtual_error

    Examples
    --------
    >>> round(maximal_standard_area([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.792711
    """
    values = check_values(A, name="A")
    if min(values.shape) < 2:
        return float("nan")
    rows = standardise(values)
    width = np.ptp(rows, axis=0)
    return float((width[:-1] + width[1:]).sum() / 2)


def _each(workspace: Workspace, make: Any) -> Floats:
    """Return what the function made for the cells gives of each bicluster; NaN throughout where cells are missing."""
    if workspace.has_missing:
        return np.full(len(workspace.solution), np.nan)
    return np.array([*map(make(workspace.X), workspace.solution)], dtype=np.float64)
