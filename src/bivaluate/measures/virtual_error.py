"""Virtual error: how far the rows of a block are from one common pattern, shift and scale aside."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._check import check_choice, check_values
from bivaluate._types import Floats
from bivaluate.measures._blocks import CONSTANT, standardise, virtual_error_value
from bivaluate.measures.measure import COL_SHIFT, ROW_AFFINE, ROW_SCALE, SCALE, SHIFT, measure
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

_DIVINA = (
    "Divina, Pontes, Giráldez & Aguilar-Ruiz 2012, An effective measure for assessing the quality of biclusters, "
    "Computers in Biology and Medicine 42:245-256, doi:10.1016/j.compbiomed.2011.11.015"
)
_RANGE = (0.0, 2.0)


@measure("ve", "VE", "virtual error",
    "How far the rows are from one common pattern, each row's shift and scale aside: blind to row levels, misled by "
    "column levels.",
    range=_RANGE, formula=r"\mathrm{VE}(B)=\frac{1}{|I||J|}\sum_{i\in I,\,j\in J}\left|\hat b_{ij}-\hat p_j\right|,"
    r"\quad p_j=\frac{1}{|I|}\sum_{i\in I}b_{ij}", compute=lambda w: w.masked(w.ve), invariances=ROW_AFFINE,
    reference=_DIVINA, default=True, of_ve=True)  # fmt: skip
def virtual_error(A: Any, *, pattern: str = "raw", axis: str = "rows") -> float:
    """Virtual error of one bicluster (VE in Divina et al. 2012).

    With the virtual pattern p_j = mean over rows of a_ij, and every row and p standardised over the columns
    (mean 0, population standard deviation 1): VE = 1/(rc) · Σ |â_ij − p̂_j|.

    Low is better; in [0, 2); 0 when every row is a positive affine image of one pattern. Not changed by a
    shift or scaling of the whole block, nor by shifting rows. A constant row (spread ≤ 32·eps·max|x|)
    standardises to zeros, and so does a constant pattern. A block of one row or one column has VE 0 whatever
    it holds, and with two columns standardised rows are ±1, so VE says little.

    Parameters
    ----------
    A : array-like of shape (r, c)
        Values of the bicluster, rows × columns.
    pattern : {"raw", "standardised"}
        The paper's virtual pattern, or the mean of the standardised rows, which no row of large spread
        dominates (key ``ve_standardised``).
    axis : {"rows", "columns"}
        Which lines are standardised and compared: the rows, as the formula is printed, or the columns, with the row
        means as virtual pattern (VEt of Pontes et al. 2010, key ``vet``). Rows are blind to row levels, and column
        levels alone make VE low; with columns it is the other way round.

    Raises
    ------
    MatrixError
        If `A` is not a matrix of finite numbers.
    ParameterError
        If there is no such `pattern` or `axis`.

    See Also
    --------
    average_virtual_error, bivaluate.adjusted_virtual_error

    Examples
    --------
    >>> round(virtual_error([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.104551
    >>> round(virtual_error([[1, 2, 4], [20, 40, 80], [7, 8, 10]]), 12)
    0.0
    """
    values = check_values(A, name="A")
    if check_choice("axis", axis, ("rows", "columns")) == "columns":
        values = np.ascontiguousarray(values.T)
    if check_choice("pattern", pattern, ("raw", "standardised")) == "standardised":
        return standardised_virtual_error(values)
    # np.abs(standardise(A) - standardise(A.mean(axis=0))).mean(), guarded against lost digits
    return virtual_error_value(values)


@measure("avg_ve", "AvgVE", "average virtual error",
    "Mean of VE over the biclusters; biased towards small blocks.", range=_RANGE,
    formula=r"\mathrm{AvgVE}=\frac{1}{K}\sum_k\mathrm{VE}(B_k)", level="solution", main_rank=4,
    compute=lambda w: w.mean(w.ve), invariances=ROW_AFFINE, reference=_DIVINA, default=True, of_ve=True)  # fmt: skip
def average_virtual_error(X: Any, solution: Biclustering, **options: Any) -> float:
    """Average virtual error of a solution: AvgVE = 1/K · Σ VE(B_k).

    Low is better; in [0, 2). NaN if no bicluster is defined.

    See Also
    --------
    virtual_error

    Examples
    --------
    >>> round(average_virtual_error(X, S), 6)
    0.600254
    """
    workspace = Workspace.of(X, solution, **options).along_axis
    return workspace.mean(workspace.ve)


@measure("vet", "VEt", "transposed virtual error",
    "VE along columns (of a solution: ve_axis): blind to column levels, misled by row levels.",
    range=_RANGE, invariances=[SHIFT, SCALE, COL_SHIFT],
    reference="Pontes, Giráldez & Aguilar-Ruiz 2010; 2015, doi:10.1371/journal.pone.0115497")  # fmt: skip
def transposed_virtual_error(A: Any) -> float:
    """Virtual error of the transposed block: VEt(B) = VE(Bᵀ).

    Columns are standardised over the rows and compared with the virtual condition, the row means. Low is better;
    in [0, 2); 0 when every column is a positive affine image of one profile. Not changed by shifting columns.
    Large row offsets drive it to 0 without any pattern: centre rows, or prefer VE when rows are the objects.
    0 by the formula for one row or one column; :func:`bivaluate.evaluate` leaves those undefined.

    Examples
    --------
    >>> round(transposed_virtual_error([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.194095
    """
    return virtual_error(A, axis="columns")


@measure("ve_standardised", "VE_s", "virtual error, standardised pattern",
    "VE against the mean of the standardised rows, so that no row dominates the pattern.", range=_RANGE,
    invariances=[*ROW_AFFINE, ROW_SCALE],
    reference="variant of Divina et al. 2012, doi:10.1016/j.compbiomed.2011.11.015")  # fmt: skip
def standardised_virtual_error(A: Any) -> float:
    """Virtual error against the mean of the standardised rows instead of that of the raw rows.

    Low is better; in [0, 2). In plain VE rows of large spread dominate the virtual pattern; here none does, so
    rescaling single rows (by positive factors) changes nothing. Constant rows count as zeros; a constant pattern
    too. 0 by the formula for one row or one column; :func:`bivaluate.evaluate` leaves those undefined.

    Examples
    --------
    >>> block = np.array([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]])
    >>> round(standardised_virtual_error(block), 6)
    0.101872
    >>> round(standardised_virtual_error(block * [[1], [10], [0.1]]), 6)
    0.101872
    """
    values = check_values(A, name="A")
    if min(values.shape) < 2:
        return 0.0
    rows = standardise(values)
    pattern = rows.mean(axis=0)
    if np.ptp(pattern) <= CONSTANT * np.abs(rows).max():
        return float(np.abs(rows).mean())
    return float(np.abs(rows - standardise(pattern)).mean())


def standardised_profile(A: Any) -> tuple[Floats, Floats]:
    """Return the rows of a bicluster and their virtual pattern, each standardised over the columns.

    The virtual pattern is the mean row. A constant row becomes zeros; missing cells stay missing. The mean absolute
    distance between the two is the virtual error.
    """
    values = np.asarray(A, dtype=np.float64)
    observed = np.isfinite(values)
    count = np.maximum(observed.sum(axis=0), 1)
    pattern = np.where(observed.any(axis=0), np.where(observed, values, 0.0).sum(axis=0) / count, np.nan)
    largest = float(np.abs(values[observed]).max(initial=0.0))
    flat = np.nanmax(pattern, initial=-np.inf) - np.nanmin(pattern, initial=np.inf) <= CONSTANT * largest
    level = np.zeros_like(pattern) if flat else standardise(pattern)
    return np.where(observed, standardise(values), np.nan), np.where(np.isnan(pattern), np.nan, level)
