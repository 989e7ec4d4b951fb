"""Virtual error: how far the rows of a block are from one common pattern, shift and scale aside."""

from __future__ import annotations

from typing import Any

from bivaluate._check import check_choice, check_values
from bivaluate.measures._blocks import virtual_error_value
from bivaluate.measures.measure import ROW_SHIFT, SCALE, SHIFT, Metric
from bivaluate.measures.virtual_error_variants import standardised_virtual_error
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

_DIVINA = (
    "Divina, Pontes, Giráldez & Aguilar-Ruiz 2012, An effective measure for assessing the quality of biclusters, "
    "Computers in Biology and Medicine 42:245-256, doi:10.1016/j.compbiomed.2011.11.015"
)


def virtual_error(A: Any, *, pattern: str = "raw") -> float:
    """Virtual error of one bicluster (VE in Divina et al. 2012).

    With the virtual pattern p_j = mean over rows of a_ij, and every row and p standardised over the columns
    (mean 0, population standard deviation 1): VE = 1/(rc) · Σ |â_ij − p̂_j|.

    Low is better; in [0, 2); 0 when every row is a positive affine image of one pattern. Not changed by a
    shift or scaling of the whole block, nor by shifting rows. A constant row (spread ≤ 32·eps·max|x|)
    standardises to zeros, and so does a constant pattern. A block of one row or one column has VE 0 whatever
    it holds, and with two columns standardised rows are ±1, so VE says little.

    Parameters
    ----------
    A
        Values of the bicluster, rows × columns.
    pattern
        ``"raw"``, the paper's virtual pattern, or ``"standardised"``: the mean of the standardised rows, which no
        row of large spread dominates (key ``ve_standardised``).

    References
    ----------
    Divina F, Pontes B, Giráldez R, Aguilar-Ruiz JS (2012). An effective measure for assessing the quality of
    biclusters. Computers in Biology and Medicine 42:245–256. doi:10.1016/j.compbiomed.2011.11.015

    Examples
    --------
    >>> round(virtual_error([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.104551
    >>> round(virtual_error([[1, 2, 4], [20, 40, 80], [7, 8, 10]]), 12)
    0.0
    """
    if check_choice("pattern", pattern, ("raw", "standardised")) == "standardised":
        return standardised_virtual_error(A)
    return virtual_error_value(check_values(A, name="A"))


def average_virtual_error(X: Any, solution: Biclustering, *, degenerate: str = "nan", missing: str = "raise") -> float:
    """Average virtual error of a solution: AvgVE = 1/K · Σ VE(B_k).

    Low is better; in [0, 2). Biclusters of one row or one column are left out, unless
    ``degenerate="formula"`` counts them as 0; NaN if none is left.

    References
    ----------
    Divina F, Pontes B, Giráldez R, Aguilar-Ruiz JS (2012). doi:10.1016/j.compbiomed.2011.11.015

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)
    >>> round(average_virtual_error(X, S), 6)
    0.600254
    """
    workspace = Workspace.of(X, solution, degenerate=degenerate, missing=missing)
    return workspace.mean(workspace.ve)


METRICS = (
    Metric(
        key="ve",
        symbol="VE",
        name="virtual error",
        level="bicluster",
        direction="low",
        range=(0.0, 2.0),
        summary="How far the rows are from one common pattern, each row's shift and scale aside.",
        function=virtual_error,
        compute=lambda w: w.masked(w.ve),
        invariances=frozenset({SHIFT, SCALE, ROW_SHIFT}),
        reference=_DIVINA,
        default=True,
    ),
    Metric(
        key="avg_ve",
        symbol="AvgVE",
        name="average virtual error",
        level="solution",
        direction="low",
        range=(0.0, 2.0),
        summary="Mean of VE over the biclusters; tends to praise small blocks and large K.",
        function=average_virtual_error,
        compute=lambda w: w.mean(w.ve),
        invariances=frozenset({SHIFT, SCALE, ROW_SHIFT}),
        reference=_DIVINA,
        default=True,
    ),
)
