"""Measures that compare a bicluster with the rest of its matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bivaluate._check import check_int, check_values
from bivaluate._types import Flags, Floats
from bivaluate.measures._blocks import in_range, is_constant_row, residue, times_power
from bivaluate.measures.measure import COL_SCALE, COL_SHIFT, REAL, SCALE, SHIFT, measure
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Bicluster, Biclustering

OFFSET = 0.01


@measure("ri", "RI", "relevance index",
    "How much less the columns vary within the bicluster than in the whole matrix; grows with columns.",
    direction="high", range=REAL, compute=lambda w: _relevance_of_all(w),
    invariances=[SHIFT, SCALE, COL_SHIFT, COL_SCALE],
    reference="Yip, Cheung & Ng 2004, HARP, doi:10.1109/TKDE.2004.74")  # fmt: skip
def relevance_index(X: Any, rows: ArrayLike, cols: ArrayLike, *, ddof: int = 0) -> float:
    """Relevance index of HARP: RI = Σ over columns of B of (1 − Var(column within B)/Var(column in X)).

    High is better; in (−∞, c]; c when every column is constant within the bicluster. Not changed by shifting or
    scaling columns. Columns constant in X are ignored.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Data matrix.
    rows, cols : array-like of int
        Members of the bicluster.
    ddof : {0, 1}
        Divide sums of squares by n, or by n − 1; NaN for one row then.

    Examples
    --------
    >>> round(relevance_index(X, [0, 1, 2], [0, 1, 2, 3]), 6)
    1.773772
    """
    values, _ = in_range(check_values(X), axis=0)
    check_int("ddof", ddof, 0, 1)
    block = Biclustering([(rows, cols)], values.shape)[0]
    if len(block.rows) <= ddof:
        return float("nan")
    columns = values[:, block.cols]
    inside, everywhere = block.of(values).var(axis=0, ddof=ddof), columns.var(axis=0, ddof=ddof)
    return _relevance(inside, everywhere, ~is_constant_row(columns.T))


def _relevance(within: Floats, overall: Floats, varies: Flags) -> float:
    return float((1 - within[varies] / overall[varies]).sum()) if varies.any() else float("nan")


@dataclass(frozen=True)
class DifferentialCoexpression:
    """Scores of Chia and Karuturi: `sb`, `ts`, and the effects in (1) and outside (2) the bicluster's columns."""

    sb: float
    ts: float
    row_effect: tuple[float, float]
    col_effect: tuple[float, float]
    error: tuple[float, float]


def differential_coexpression(X: Any, rows: ArrayLike, cols: ArrayLike) -> DifferentialCoexpression:
    """Differential co-expression of the bicluster's rows, inside its columns (1) against outside (2).

    E = Σ residue²/((r−1)(c−1)); T = mean_i a_iJ² − E/c; B = mean_j a_Ij² − E/r, floored at 0;
    SB = log[max(T₁+a, B₁+a)/max(T₂+a, B₂+a)], TS = log[(T+a)/(B+a)] of the stronger side, a = 0.01.
    High SB: the rows go together in the bicluster's columns and not elsewhere. NaN with fewer than two rows,
    columns, or columns outside. R's biclust uses E₁ on both sides; here each side has its own.

    References
    ----------
    Chia BKH, Karuturi RKM (2010). Differential co-expression framework to quantify goodness of biclusters and
    compare biclustering algorithms. Algorithms Mol Biol 5:23. doi:10.1186/1748-7188-5-23
    """
    values = check_values(X)
    return _differential(values, Biclustering([(rows, cols)], values.shape)[0])


@measure("chia_karuturi", "SB", "differential co-expression score",
    "How much more strongly the rows go together inside the bicluster's columns than outside.", direction="high",
    range=REAL, reference="Chia & Karuturi 2010, doi:10.1186/1748-7188-5-23",
    compute=lambda w: w.masked(np.array([_differential(w.X, b).sb for b in w.solution], dtype=np.float64)))  # fmt: skip
def chia_karuturi(X: Any, rows: ArrayLike, cols: ArrayLike) -> float:
    """SB of :func:`differential_coexpression`. High is better; any real number.

    Examples
    --------
    >>> round(chia_karuturi(X, [0, 1, 2], [0, 1, 2, 3]), 6)
    1.966388
    """
    return differential_coexpression(X, rows, cols).sb


def _differential(X: Floats, block: Bicluster) -> DifferentialCoexpression:
    outside = np.setdiff1d(np.arange(X.shape[1]), block.cols, assume_unique=True)
    if len(block.rows) < 2 or len(block.cols) < 2 or len(outside) < 2:
        nothing = (float("nan"), float("nan"))
        return DifferentialCoexpression(float("nan"), float("nan"), nothing, nothing, nothing)
    part, exponent = in_range(X[block.rows])
    power = 2 * exponent.item()
    if power < 0:  # beside the offset values as small as that are nothing anyway
        part, power = X[block.rows], 0
    every = np.arange(len(part))
    effects = zip(_effects(part[np.ix_(every, block.cols)]), _effects(part[np.ix_(every, outside)]), strict=True)
    (t1, t2), (b1, b2), errors = effects
    sb = _log(max(t1, b1), power) - _log(max(t2, b2), power)
    ts = _log(t1, power) - _log(b1, power) if sb > 0 else _log(t2, power) - _log(b2, power)
    sides = [(times_power(one, power), times_power(two, power)) for one, two in ((t1, t2), (b1, b2), errors)]
    return DifferentialCoexpression(sb, ts, *sides)


def _log(effect: float, power: int) -> float:
    """Return the logarithm of an effect that was divided by 2 to the power, plus the offset, divided likewise."""
    total = effect + times_power(OFFSET, -power)
    return float(np.log(total)) if total else math.log(OFFSET) - power * math.log(2)


def _effects(A: Floats) -> tuple[float, float, float]:
    r, c = A.shape
    error = float((residue(A) ** 2).sum() / ((r - 1) * (c - 1)))
    row_effect = float((A.mean(axis=1) ** 2).mean()) - error / c
    col_effect = float((A.mean(axis=0) ** 2).mean()) - error / r
    return max(row_effect, 0.0), max(col_effect, 0.0), error


def _relevance_of_all(workspace: Workspace) -> Floats:
    X, _ = in_range(workspace.X, axis=0)
    overall = np.array([np.nanvar(column) if np.isfinite(column).any() else 0.0 for column in X.T])
    varies = ~is_constant_row(X.T)
    scores = [_relevance(b.of(X).var(axis=0), overall[b.cols], varies[b.cols]) for b in workspace.solution]
    return workspace.masked(np.array(scores, dtype=np.float64))
