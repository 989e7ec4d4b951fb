"""The variances of the R package biclust: half the mean distance between rows and between columns.

Written from the published formulas. All but the constant variance look at neighbouring columns and rows, so
they depend on the order in which rows and columns stand in the matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bivaluate._check import check_values
from bivaluate._types import Floats
from bivaluate.measures.measure import ADDITIVE, SCALE, SHIFT, measure

_CHUNK = 1 << 21
_KAISER = "Kaiser & Leisch 2008, A toolbox for bicluster analysis in R, doi:10.5282/ubm/epub.3293"


@measure("constant_variance", "constant_variance", "constant variance",
    "Half the mean distance between rows and between columns: 0 for a constant block.", invariances=[SHIFT],
    reference=_KAISER)  # fmt: skip
def constant_variance(A: Any) -> float:
    """Constant variance: (r·V(rows) + c·V(columns))/(r + c), V = Σ_{i<k} ‖M_i − M_k‖/(n(n − 1)).

    Low is better; ≥ 0; 0 for a constant block. V is half the mean distance between two rows (columns). NaN for
    one row or one column.

    Examples
    --------
    >>> round(constant_variance([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    2.126534
    """
    return _both(check_values(A, name="A"), lambda M: M)


@measure("additive_variance", "additive_variance", "additive variance",
    "Constant variance of differences between neighbours: 0 for additive blocks; order-dependent.",
    invariances=ADDITIVE, order_dependent=True, reference=_KAISER)  # fmt: skip
def additive_variance(A: Any) -> float:
    """Additive variance: :func:`constant_variance` of the differences between neighbouring columns (rows).

    Low is better; ≥ 0; 0 for additive blocks. Depends on the order of rows and columns. NaN for one row or one
    column.

    Examples
    --------
    >>> round(additive_variance([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.83356
    """
    return _both(check_values(A, name="A"), lambda M: np.diff(M, axis=1))


@measure("multiplicative_variance", "multiplicative_variance", "multiplicative variance",
    "Constant variance of ratios of neighbours: 0 for scaling blocks; order-dependent.", invariances=[SCALE],
    order_dependent=True, reference=_KAISER)  # fmt: skip
def multiplicative_variance(A: Any) -> float:
    """Multiplicative variance: :func:`constant_variance` of the ratios of neighbouring columns (rows).

    Low is better; ≥ 0; 0 for blocks s_i·p_j. Depends on the order of rows and columns. NaN if a divisor is 0, and
    for one row or one column.

    Examples
    --------
    >>> round(multiplicative_variance([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.313164
    """
    values = check_values(A, name="A")
    if (values[:, :-1] == 0).any() or (values[:-1] == 0).any():
        return float("nan")
    return _both(values, lambda M: M[:, 1:] / M[:, :-1])


@measure("sign_variance", "sign_variance", "sign variance",
    "Constant variance of the signs of changes between neighbours; order-dependent.", invariances=[SHIFT, SCALE],
    order_dependent=True, reference=_KAISER)  # fmt: skip
def sign_variance(A: Any) -> float:
    """Sign variance: :func:`constant_variance` of the signs of differences between neighbouring columns (rows).

    Low is better; ≥ 0; 0 when all rows rise and fall together and all columns do. Depends on the order of rows
    and columns. NaN for one row or one column.

    Examples
    --------
    >>> round(sign_variance([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.142857
    """
    return _both(check_values(A, name="A"), lambda M: np.sign(np.diff(M, axis=1)))


def _both(A: Floats, transform: Callable[[Floats], Floats]) -> float:
    r, c = A.shape
    if r < 2 or c < 2:
        return float("nan")
    return float((r * _half_mean_distance(transform(A)) + c * _half_mean_distance(transform(A.T))) / (r + c))


def _half_mean_distance(M: Floats) -> float:
    from scipy.spatial.distance import cdist

    n = len(M)
    step = max(1, _CHUNK // n)
    total = sum(float(cdist(M[start : start + step], M).sum()) for start in range(0, n, step))
    return total / 2 / (n * (n - 1))
