"""VE and MSR of every bicluster and of every merger of two: the K x K matrices behind NVE and NSR.

The merger (super-bicluster) of two biclusters is the union of their rows by the union of their columns.
Small inputs are answered with plain NumPy, large ones with compiled kernels; the size of the input alone decides.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bivaluate.solution import Biclustering

    Values = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# A row is constant when max - min <= CONSTANT * max|x|.
CONSTANT = 32 * EPS
# Below these shares of the data the quick formulas lose digits and the careful ones take over.
SMALL_SPREAD = 1e-7
SMALL_RESIDUE = 1e-6
# From this many cells of mergers on, compiled kernels answer; a call of NumPy costs as much as so many cells.
KERNEL_CELLS = 1_000_000
CELLS_PER_MERGER = 200
# Outside this range of max|x| squares overflow or underflow.
TINY, HUGE = 1e-140, 1e150


def virtual_error_value(A: Values) -> float:
    """Return VE of one block by the formula: a single row or column gives 0.

    >>> round(virtual_error_value(np.array([[1.0, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]])), 6)
    0.104551
    """
    return block_values(A)[0]


def mean_squared_residue_value(A: Values) -> float:
    """Return MSR of one block by the formula: a single row or column gives 0.

    >>> round(mean_squared_residue_value(np.array([[1.0, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]])), 6)
    0.315972
    """
    return block_values(A)[1]


def merger_matrices(X: Values, solution: Biclustering, n_jobs: int | None = None) -> tuple[Values, Values]:
    """Return the K x K matrices of VE and MSR of all mergers; the diagonal holds the biclusters themselves.

    Parameters
    ----------
    X
        The data, finite float64 in any memory order; never written, never copied.
    solution
        Biclusters of `X`.
    n_jobs
        Number of threads; ``None`` uses every core allowed. The result is the same to the bit.
    """
    K = len(solution)
    if union_cells(solution) + CELLS_PER_MERGER * K * K / 2 < KERNEL_CELLS:
        return _all_pairs(X, solution, block_values)
    from bivaluate.measures._mergers import compiled_merger_matrices

    return compiled_merger_matrices(X, solution, n_jobs)


def union_cells(solution: Biclustering) -> int:
    """Return the number of cells of all biclusters and all mergers, what two of them share counted twice.

    >>> from bivaluate.solution import Biclustering
    >>> union_cells(Biclustering([([0, 1], [0, 1]), ([2], [2, 3])], shape=(3, 4)))
    18
    """
    rows, cols = (sum(b.shape[axis] for b in solution) for axis in (0, 1))
    # the sum over k < l of (r_k + r_l)(c_k + c_l), plus the biclusters themselves
    return (len(solution) - 1) * sum(b.size for b in solution) + rows * cols


def merger_matrices_missing(X: Values, solution: Biclustering) -> tuple[Values, Values]:
    """Return the same matrices where NaN cells of `X` are left out (see `block_values_missing`)."""
    return _all_pairs(X, solution, block_values_missing)


def _all_pairs(
    X: Values, solution: Biclustering, values: Callable[[Values], tuple[float, float]]
) -> tuple[Values, Values]:
    K = len(solution)
    ve, msr = np.empty((K, K)), np.empty((K, K))
    row_masks, col_masks = solution.row_masks, solution.col_masks
    for k in range(K):
        for l in range(k, K):  # noqa: E741
            rows = (row_masks[k] | row_masks[l]).nonzero()[0]
            cols = (col_masks[k] | col_masks[l]).nonzero()[0]
            ve[k, l], msr[k, l] = values(X[rows[:, None], cols])
            ve[l, k], msr[l, k] = ve[k, l], msr[k, l]
    return ve, msr


def block_values(A: Values) -> tuple[float, float]:
    """Return VE and MSR of one finite block by the formula."""
    r, c = A.shape
    if r == 1 or c == 1:
        return 0.0, 0.0
    largest = max(float(np.maximum.reduce(A, None)), -float(np.minimum.reduce(A, None)))
    if not TINY < largest < HUGE:
        return _careful_block_values(A)
    Y = A - np.add.reduce(A, 1, keepdims=True) / c
    variance = np.einsum("ij,ij->i", Y, Y) / c
    pattern = np.add.reduce(Y, 0) / r
    pattern_variance = float(pattern @ pattern) / c
    msr = float(np.add.reduce(variance)) / r - pattern_variance
    floor = (SMALL_SPREAD * largest) ** 2
    if (
        float(np.minimum.reduce(variance)) <= floor
        or pattern_variance <= floor
        or msr <= SMALL_RESIDUE * (msr + pattern_variance)
    ):
        return _careful_block_values(A)
    Y *= (1.0 / np.sqrt(variance))[:, None]
    Y -= pattern * (1.0 / math.sqrt(pattern_variance))
    np.abs(Y, out=Y)
    ve = float(np.add.reduce(Y, None)) / (r * c)
    return ve, msr


def _careful_block_values(A: Values) -> tuple[float, float]:
    """Return VE and MSR where rows, columns or the whole block may carry huge offsets.

    Rows are written as the pattern plus a deviation; both are built from differences of cells, so that offsets
    cancel before anything is squared.
    """
    c = A.shape[1]
    exponent = math.frexp(float(np.abs(A).max()))[1]
    A = np.ldexp(A, -exponent)
    deviation = (A - A[0]) - (A[:, :1] - A[0, 0])
    column = deviation.mean(axis=0)
    deviation -= column
    deviation -= deviation.mean(axis=1, keepdims=True)
    deviation -= deviation.mean(axis=0)
    pattern = A[0] - A[0, 0] + column
    pattern -= pattern.mean()
    pattern -= pattern.mean()
    rows = A - A[:, :1]
    rows -= rows.mean(axis=1, keepdims=True)

    constant = np.ptp(A, axis=1) <= CONSTANT * np.abs(A).max(axis=1)
    sd = np.sqrt(np.mean(rows**2, axis=1))
    sd[constant] = 1.0
    rows[constant] = 0.0
    pattern_sd = math.sqrt(float(np.mean(pattern**2)))
    with np.errstate(over="ignore"):
        msr = float(np.ldexp(np.mean(deviation**2), 2 * exponent))
    if np.ptp(pattern) <= CONSTANT * np.abs(A).max():
        return float(np.mean(np.abs(rows / sd[:, None]))), msr
    difference = rows / sd[:, None] - pattern / pattern_sd
    spread = np.mean(deviation**2, axis=1)
    near = ~constant & (spread < 1e-4 * pattern_sd**2)
    if near.any():
        # 1/sd - 1/pattern_sd from what the row adds to the pattern, not from the difference of two roots
        added = 2.0 * (deviation[near] @ pattern) / c + spread[near]
        factor = -added / (sd[near] * pattern_sd * (sd[near] + pattern_sd))
        difference[near] = pattern * factor[:, None] + deviation[near] / sd[near][:, None]
    return float(np.mean(np.abs(difference))), msr


def block_values_missing(A: Values) -> tuple[float, float]:
    """Return VE and MSR of one block over its observed cells; NaN where none are left.

    Rows with fewer than 2 observed cells are dropped, then columns with none. Means and deviations are over
    observed cells, and residues are averaged over observed cells (the volume of FLOC).
    """
    observed = ~np.isnan(A)
    if observed.all():
        return block_values(A)
    A = A[observed.sum(axis=1) >= 2]
    A = A[:, ~np.isnan(A).all(axis=0)]
    if A.size == 0:
        return math.nan, math.nan
    observed = ~np.isnan(A)
    if A.shape[0] == 1 or A.shape[1] == 1:
        return 0.0, 0.0
    largest = np.fmax.reduce(np.abs(A), axis=1)
    constant = np.fmax.reduce(A, axis=1) - np.fmin.reduce(A, axis=1) <= CONSTANT * largest
    Y = np.where(observed, A - A[observed][0], 0.0)
    count, volume = observed.sum(axis=1), int(observed.sum())
    row_mean, column_mean = Y.sum(axis=1) / count, Y.sum(axis=0) / observed.sum(axis=0)
    rows = np.where(observed, Y - row_mean[:, None], 0.0)
    residue = np.where(observed, rows - column_mean + Y.sum() / volume, 0.0)
    sd = np.sqrt((rows**2).sum(axis=1) / count)
    sd[constant] = 1.0
    rows[constant] = 0.0
    pattern = column_mean - column_mean.mean()
    pattern_sd = math.sqrt(float(np.mean(pattern**2)))
    if np.ptp(column_mean) <= CONSTANT * largest.max():
        pattern, pattern_sd = np.zeros_like(pattern), 1.0
    difference = np.where(observed, rows / sd[:, None] - pattern / pattern_sd, 0.0)
    return float(np.abs(difference).sum()) / volume, float((residue**2).sum()) / volume
