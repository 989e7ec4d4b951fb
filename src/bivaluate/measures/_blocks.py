"""The formulas of one block in NumPy: VE, MSR, missing cells, constant rows, standardised rows.

With rows standardised over the columns (mean 0, standard deviation 1)::

    VE  = mean |standardise(A) − standardise(A.mean(axis=0))|
    MSR = mean (A − A.mean(axis=1)[:, None] − A.mean(axis=0) + A.mean())²

`block_values` computes both at once. Where rounding would cost digits, `_engine.careful` takes over, and
`_engine.missing` where cells are missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from bivaluate._types import Flags, Floats, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bivaluate.solution import Biclustering


EPS = float(np.finfo(np.float64).eps)
# A row is constant when max - min <= CONSTANT * max|x|.
CONSTANT = 32 * EPS
# Below these shares of the data the quick formulas lose digits and the careful ones take over.
SMALL_SPREAD = 1e-6
SMALL_RESIDUE = 1e-6
# Outside this range of max|x| squares overflow or underflow.
TINY, HUGE = 1e-140, 1e150


def in_range(A: Floats, axis: int | None = None) -> tuple[Floats, NDArray[np.int32]]:
    """Return values whose squares neither overflow nor underflow, and the powers of two that they were divided by.

    Values of ordinary size stay as they are. With an axis, every line along it has a power of its own.

    >>> in_range(np.array([[1e200, 1.0]]), axis=0)[0].max() < 2, in_range(np.ones((2, 3)))[1]
    (np.True_, array([[0]], dtype=int32))
    """
    low, high = (bound.reduce(A, axis=axis, keepdims=True) for bound in (np.fmin, np.fmax))
    largest = np.fmax(high, -low)
    exponent = np.where((largest >= HUGE) | ((largest <= TINY) & (largest > 0)), np.frexp(largest)[1], 0)
    return (np.ldexp(A, -exponent) if exponent.any() else A), exponent


def times_power(value: float, exponent: int) -> float:
    """Return value times 2 to the exponent; infinite where that is too large.

    >>> times_power(0.5, 3), times_power(0.5, 3000)
    (4.0, inf)
    """
    with np.errstate(over="ignore"):
        return float(np.ldexp(value, exponent))


def virtual_error_value(A: Floats) -> float:
    """Return VE of one block by the formula: a single row or column gives 0.

    >>> round(virtual_error_value(np.array([[1.0, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]])), 6)
    0.104551
    """
    return block_values(A)[0]


def residue(A: Floats) -> Floats:
    """Return a_ij − a_iJ − a_Ij + a_IJ; rows are centred first, so that large offsets cost no digits."""
    centred = A - A.mean(axis=1, keepdims=True)
    return np.asarray(centred - centred.mean(axis=0, keepdims=True))


def block_values(A: Floats) -> tuple[float, float]:
    """Return VE and MSR of one finite block by the formula."""
    if min(A.shape) == 1:
        return 0.0, 0.0
    if found := quick_values(A):
        return found
    from bivaluate.measures._engine.careful import careful_block

    return careful_block(A)[:2]


def quick_values(A: Floats) -> tuple[float, float] | None:
    """Return VE and MSR of one finite block; None where its digits need care, as they do where a row is constant."""
    r, c = A.shape
    largest = max(float(np.maximum.reduce(A, None)), -float(np.minimum.reduce(A, None)))
    if not TINY < largest < HUGE or r == 1 or c == 1:
        return None
    Y = A - np.add.reduce(A, 1, keepdims=True) / c  # A - A.mean(axis=1, keepdims=True)
    variance = np.vecdot(Y, Y) / c  # (Y**2).mean(axis=1)
    pattern = np.add.reduce(Y, 0) / r  # Y.mean(axis=0)
    pattern_variance = float(pattern @ pattern) / c
    msr = float(np.add.reduce(variance)) / r - pattern_variance  # ((Y - pattern)**2).mean()
    floor = (SMALL_SPREAD * largest) ** 2
    if (
        float(np.minimum.reduce(variance)) <= floor
        or pattern_variance <= floor
        or msr <= SMALL_RESIDUE * (msr + pattern_variance)
    ):
        return None
    # np.abs(Y / sqrt(variance)[:, None] - pattern / sqrt(pattern_variance)).mean(), in place
    Y *= (1.0 / np.sqrt(variance))[:, None]
    Y -= pattern * (1.0 / math.sqrt(pattern_variance))
    np.abs(Y, out=Y)
    return float(np.add.reduce(Y, None)) / (r * c), msr


def block_values_missing(A: Floats) -> tuple[float, float]:
    """Return VE and MSR of one block over its observed cells; NaN where none are left.

    Rows with fewer than 2 observed cells are dropped, then columns with none. Means and deviations are over
    observed cells, and residues are averaged over observed cells (the volume of FLOC).
    """
    A = observed_part(A)
    if A.size == 0:
        return math.nan, math.nan
    if min(A.shape) == 1 or not np.isnan(A).any():
        return block_values(A)
    from bivaluate.measures._engine.missing import observed_block

    return observed_block(A)


def error_floors(A: Floats) -> tuple[float, float]:
    """Return the largest VE and MSR of a block that may be nothing but rounding, of its size and its rows' spreads.

    VE: 32·eps·mean over rows that vary of max|x|/sd; MSR: (32·eps·max|x|)².
    """
    shares, varies, largest = floor_sums(A)
    return CONSTANT * shares / max(varies, 1.0), residue_floor(largest)


def floor_sums(A: Floats) -> tuple[float, float, float]:
    """Return what `error_floors` needs of some rows: Σ max|x|/sd of those that vary, their number, max|x|."""
    largest = np.fmax.reduce(np.abs(A), axis=1)
    varies = ~is_constant_row(A)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        share = largest[varies] / np.nanstd(A[varies], axis=1) if varies.any() else np.zeros(1)
        return float(share.sum()), float(varies.sum()), float(np.fmax.reduce(largest))


def floors_from(sums: Iterable[tuple[float, float, float]]) -> tuple[float, float]:
    """Return the floors from those sums of all rows."""
    shares, varies, largest = np.array(list(sums)).T
    with np.errstate(over="ignore", invalid="ignore"):
        return CONSTANT * float(shares.sum() / max(varies.sum(), 1.0)), residue_floor(float(np.fmax.reduce(largest)))


def residue_floor(largest: float) -> float:
    """Return the largest MSR that may be nothing but rounding, for values up to this size: (32·eps·max|x|)²."""
    return (CONSTANT * largest) * (CONSTANT * largest)


def observed_part(A: Floats) -> Floats:
    """Drop rows with fewer than two observed cells, then columns with none.

    >>> observed_part(np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, 3.0], [4.0, np.nan, 5.0]]))
    array([[1., 2.],
           [4., 5.]])
    """
    seen = ~np.isnan(A)
    if seen.all():
        return A
    rows = seen.sum(axis=1) >= 2
    return np.asarray(A[np.ix_(rows, seen[rows].any(axis=0))])


def is_constant_row(A: Floats) -> Flags:
    """Rows whose spread is at most 32·eps·max|x|; missing cells are ignored.

    >>> is_constant_row(np.array([[0.1, 0.1, 0.1], [1.0, 2.0, 3.0]]))
    array([ True, False])
    """
    return is_constant_range(np.fmin.reduce(A, axis=1), np.fmax.reduce(A, axis=1))


def constant_row_counts(block: Callable[[Ints, Ints], Floats], solution: Biclustering) -> Ints:
    """Number of constant rows of every merger, K x K; the diagonal holds the biclusters.

    A row of B_k that is constant over the union of columns is constant over the columns of B_k, so only the
    constant rows of the biclusters themselves are looked at again. Every row of a one-column bicluster is constant;
    its mergers are not looked at (0). `block` gives the values of some rows and columns.
    """
    constant = [_constant_rows(block, b.rows, b.cols) for b in solution]
    sizes = np.array([len(rows) for rows in constant], dtype=np.int64)
    looked_at = [k for k, b in enumerate(solution) if len(b.cols) > 1 and sizes[k]]
    counts = np.diag(sizes)
    if not looked_at:
        return counts
    candidates = np.unique(np.concatenate([constant[k] for k in looked_at]))
    values = [block(candidates, b.cols) for b in solution]
    low = np.stack([np.fmin.reduce(A, axis=1) for A in values])
    high = np.stack([np.fmax.reduce(A, axis=1) for A in values])
    member = np.stack([np.isin(candidates, b.rows, assume_unique=True) for b in solution])
    own = np.zeros(counts.shape, dtype=np.int64)
    in_both = np.zeros(counts.shape, dtype=np.int64)
    for k in looked_at:
        at = np.searchsorted(candidates, constant[k])
        still = is_constant_range(np.fmin(low[k, at], low[:, at]), np.fmax(high[k, at], high[:, at]))
        own[k], in_both[k] = still.sum(axis=1), (still & member[:, at]).sum(axis=1)
    pairs = own + own.T - np.maximum(in_both, in_both.T)
    one_column = np.array([len(b.cols) == 1 for b in solution])
    pairs[one_column] = pairs[:, one_column] = 0
    np.fill_diagonal(pairs, sizes)
    return np.asarray(pairs)


def _constant_rows(block: Callable[[Ints, Ints], Floats], rows: Ints, cols: Ints) -> Ints:
    """Return the rows that are constant over the columns; the first and the last column rule out most."""
    first, last = block(rows, cols[[0, -1]]).T
    rows = rows[is_constant_range(first, last)]
    return rows[is_constant_row(block(rows, cols))] if len(rows) else rows


def is_constant_range(low: Floats, high: Floats) -> Flags:
    """Whether lines between `low` and `high`, in either order, are constant: a spread of at most 32·eps·max|x|."""
    return np.asarray(~(np.abs(high - low) > CONSTANT * np.fmax(np.abs(low), np.abs(high))))


@np.errstate(over="ignore", invalid="ignore")  # what overflows is computed again with care
def standardise(values: Floats, axis: int = -1) -> Floats:
    """Return values of mean 0 and population standard deviation 1 along `axis`, over the observed cells.

    A constant line becomes zeros, and so do missing cells.

    >>> standardise(np.array([[1.0, 2.0, 3.0], [0.1, 0.1, 0.1], [1.0, np.nan, 3.0]])).round(4)
    array([[-1.2247,  0.    ,  1.2247],
           [ 0.    ,  0.    ,  0.    ],
           [-1.    ,  0.    ,  1.    ]])
    """
    seen = ~np.isnan(values) if math.isnan(float(values.sum())) else None
    filled = values if seen is None else np.where(seen, values, 0.0)
    n = values.shape[axis] if seen is None else np.maximum(seen.sum(axis=axis, keepdims=True), 1)
    mean = filled.sum(axis=axis, keepdims=True) / n
    centred = filled - mean if seen is None else np.where(seen, filled - mean, 0.0)
    sd = np.sqrt((centred**2).sum(axis=axis, keepdims=True) / n)
    # only such lines can be constant, or have squares that overflow or underflow
    doubtful = ~((sd > CONSTANT * (np.abs(mean) + np.sqrt(n) * sd)) & (sd > TINY) & (sd < HUGE))
    standard = np.asarray(np.divide(centred, sd, out=centred, where=~doubtful))
    if doubtful.any():
        at = np.moveaxis(doubtful, axis, -1)[..., 0]
        np.moveaxis(standard, axis, -1)[at] = _standardise_carefully(np.moveaxis(values, axis, -1)[at])
    return standard


def _standardise_carefully(rows: Floats) -> Floats:
    constant = is_constant_row(rows)[:, None]
    rows = np.where(constant, 0.0, rows)
    seen = ~np.isnan(rows)
    exponent = np.frexp(np.fmax.reduce(np.abs(rows), axis=1, keepdims=True))[1]
    rows = np.ldexp(np.where(seen, rows, 0.0), -exponent)
    n = seen.sum(axis=1, keepdims=True)
    for _ in range(2):
        rows = np.where(seen, rows - rows.sum(axis=1, keepdims=True) / n, 0.0)
        rows /= np.where(constant, 1.0, np.abs(rows).max(axis=1, keepdims=True))
    return np.asarray(rows / np.where(constant, 1.0, np.sqrt((rows**2).sum(axis=1, keepdims=True) / n)))
