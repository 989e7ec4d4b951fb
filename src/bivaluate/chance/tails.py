"""When are values too heavy-tailed or too tied to be taken as they are, and what replaces them: normal scores of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_values
from bivaluate.chance.assumptions import KURTOSIS_LIMIT, SKEW_LIMIT
from bivaluate.measures._blocks import midranks

Floats = NDArray[np.float64]

# One value in more than this share of the cells (the zeros of counts): differences say little, ranks with ties say more.
TIE_LIMIT = 0.25
_CELLS_LOOKED_AT = 100_000
_VALUES_LOOKED_AT = 2000


def needs_ranks(X: Floats, sample: Floats | None = None) -> bool:
    """Whether rows are better replaced by normal scores: heavy tails, heavy skew, or one value in every fourth cell.

    Skewness and kurtosis are those of the cells without row and column means, rows at variance 1, beyond the limits
    the chance correction states for them, widened by about three standard errors. Looks at no more than about
    100,000 cells, in rows evenly spread, and for ties at the :func:`sorted_sample`, which may be given.

    >>> rng = np.random.default_rng(0)
    >>> needs_ranks(rng.normal(size=(100, 30))), needs_ranks(rng.standard_t(2, size=(100, 30)))
    (False, True)
    """
    if _most_common(sorted_sample(X) if sample is None else sample) > TIE_LIMIT:
        return True
    part = X[:: -(-X.size // _CELLS_LOOKED_AT)]
    if math.isnan(float(part.sum())):
        seen = np.isfinite(part)
        count = np.maximum(seen.sum(axis=1, keepdims=True), 1)
        filled = np.where(seen, part, 0.0)
        rows = np.where(seen, filled - filled.sum(axis=1, keepdims=True) / count, 0.0)
    else:
        seen, count = None, part.shape[1]
        rows = part - part.sum(axis=1, keepdims=True) / count
    spread = np.sqrt(np.einsum("ij,ij->i", rows, rows)[:, None] / count)
    varies = spread > 1e-12 * np.abs(part[:, :1])
    rows *= np.where(varies, 1 / np.where(varies, spread, 1.0), 0.0)
    rows -= rows.sum(axis=0) / (len(rows) if seen is None else np.maximum(seen.sum(axis=0), 1))
    if seen is not None:
        rows[~seen] = 0.0
    n_cells = rows.size if seen is None else max(1, int(seen.sum()))
    squares = rows * rows
    variance = float(squares.sum()) / n_cells
    if variance <= 0:
        return False
    skew = float((squares * rows).sum()) / n_cells / variance**1.5
    kurtosis = float((squares * squares).sum()) / n_cells / variance**2 - 3
    error = 3 / math.sqrt(n_cells)
    return abs(skew) > SKEW_LIMIT + 3 * error or kurtosis > KURTOSIS_LIMIT + 5 * error


def normal_scores(X: Any) -> Floats:
    """Replace each row by the normal scores of its mid-ranks, Φ⁻¹((rank − 1/2)/m); missing cells stay missing.

    >>> normal_scores([[1, 100, np.nan, 10]]).round(4)
    array([[-0.9674,  0.9674,     nan,  0.    ]])
    """
    from scipy.special import ndtri

    values = check_values(X, "omit")
    seen = np.isfinite(values)
    if seen.all():
        return np.asarray(ndtri((midranks(values) - 0.5) / values.shape[1]))
    ranks = midranks(np.where(seen, values, np.inf))  # missing cells come last and get no rank
    count = np.maximum(seen.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(seen, ndtri(np.where(seen, ranks - 0.5, 0.5 * count) / count), np.nan))


def lost_to_ties(scores: Floats) -> float:
    """Variance that ties take out of normal scores: nothing can be known about the order within a tie.

    >>> lost_to_ties(normal_scores([[1, 2, 3, 4]])), round(lost_to_ties(normal_scores([[1, 1, 1, 4]])), 4)
    (0.0, 0.3054)
    """
    seen = np.isfinite(scores)
    lengths, times = np.unique(seen.sum(axis=1), return_counts=True)
    full = sum(
        float(times[k] * (normal_scores(np.arange(float(length))[None]) ** 2).sum())
        for k, length in enumerate(lengths)
        if length
    )
    kept = float((scores[seen] ** 2).sum()) if not seen.all() else float((scores**2).sum())
    return max(0.0, full - kept) / max(1, int(seen.sum()))


def spacing(X: Floats, sample: Floats | None = None) -> float:
    """Smallest difference between two distinct values: what data recorded as counts, or rounded, can resolve.

    Differences up to 32·eps·max|x| are rounding. Looks at the :func:`sorted_sample`, which may be given; 0 where all of
    it is equal.

    >>> spacing(np.array([[0.0, 2.0, 6.0]]))
    2.0
    """
    values = sorted_sample(X) if sample is None else sample
    if not len(values):
        return 0.0
    gaps = np.diff(values)
    gaps = gaps[gaps > 32 * np.finfo(np.float64).eps * max(abs(values[0]), abs(values[-1]))]
    return float(gaps.min()) if len(gaps) else 0.0


def _most_common(values: Floats) -> float:
    """Return the share of the most common of sorted values, 0 where all are equal."""
    if not len(values) or values[0] == values[-1]:
        return 0.0
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1], [True]]))
    return float(np.diff(starts).max()) / len(values)


def sorted_sample(X: Floats) -> Floats:
    """Return some 2000 observed values in order; the step shares no factor with the number of columns.

    >>> sorted_sample(np.array([[3.0, np.nan], [1.0, 2.0]]))
    array([1., 2., 3.])
    """
    step = max(1, X.size // _VALUES_LOOKED_AT)
    while math.gcd(step, X.shape[1]) > 1:
        step += 1
    sample = np.sort(X.reshape(-1)[::step])
    return np.asarray(sample[: np.searchsorted(sample, np.inf)])  # missing cells are sorted last
