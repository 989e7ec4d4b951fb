"""Which matrices the coherent submatrix search can work on, and their prepared form."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bivaluate.algorithms._coherent_prepare import BENDABLE_SKEW, SEED, is_near_normal, prepare
from bivaluate.algorithms._estimator import Values

FEWEST_COLUMNS = 4
FEWEST_LEVELS = 5


@dataclass(frozen=True)
class Admitted:
    """The rows and columns that vary and their prepared cells; `Z` is None if the search cannot work, for a `reason`."""

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    Z: Values | None = None
    reason: str = ""
    notes: list[str] = field(default_factory=list)


def admit(X: Values, min_rows: int) -> Admitted:
    """Return the part of `X` (NaN where missing) that can be searched, prepared, or the reason why there is none."""
    rows, cols = _varying(X)
    n, m = len(rows), len(cols)
    if m < FEWEST_COLUMNS:
        return Admitted(
            rows,
            cols,
            reason=f"X has {m} column(s) that vary; at least {FEWEST_COLUMNS} are needed to tell a block from the "
            "background of its rows. Nothing is found.",
        )
    if n < 2 * min_rows:
        return Admitted(
            rows,
            cols,
            reason=f"X has {n} row(s) that vary; at least {2 * min_rows} are needed, because a bicluster has at least "
            f"min_rows = {min_rows} and at most half of the rows. Nothing is found.",
        )
    part = X[np.ix_(rows, cols)]
    levels = _median_levels(part)
    if levels < min(FEWEST_LEVELS, m):
        return Admitted(
            rows,
            cols,
            reason=f"Half of the rows of X have at most {levels:g} different values; {FEWEST_LEVELS} are needed, because "
            "the search is for measurements, not for a few levels. Nothing is found.",
        )
    notes = []
    if 2 * levels < m:
        part = spread_ties(part)
        notes.append("Rows have many equal values: each was spread at random over the step to the next larger one.")
    prepared = prepare(part)
    if abs(prepared.skew) >= BENDABLE_SKEW:
        return Admitted(
            rows,
            cols,
            reason=f"The rows of X are too skewed (g = {prepared.skew:.2f}, less than {BENDABLE_SKEW} is needed), and neither a "
            "root nor the logarithm mends it. Take logarithms or ranks first. "
            "Nothing is found.",
        )
    if prepared.transform != "none":
        notes.append(f"Values were transformed to be near normal within rows: {prepared.transform}.")
    if not is_near_normal(prepared.skew, prepared.tail):
        notes.append("Rows are not quite normal, perhaps because many carry biclusters: surrogates were searched, too.")
    return Admitted(rows, cols, prepared.Z, notes=notes)


def spread_ties(X: Values) -> Values:
    """Return counts and other values in steps, spread evenly over the smallest step: equal values are no pattern."""
    values = np.unique(X[~np.isnan(X)])
    step = float(np.diff(values).min())
    return np.asarray(X + step * np.random.default_rng(SEED).random(X.shape))


def _varying(X: Values) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows and columns that vary over each other."""
    rows, cols = np.arange(X.shape[0]), np.arange(X.shape[1])
    while True:
        before = len(rows), len(cols)
        cols = cols[_varies(X[np.ix_(rows, cols)], 0)]
        rows = rows[_varies(X[np.ix_(rows, cols)], 1)]
        if before == (len(rows), len(cols)):
            return rows, cols


def _varies(X: Values, axis: int) -> NDArray[np.bool_]:
    """Return which rows (axis 1) or columns (axis 0) have at least two different values."""
    high = np.where(np.isnan(X), -np.inf, X).max(axis=axis, initial=-np.inf)
    low = np.where(np.isnan(X), np.inf, X).min(axis=axis, initial=np.inf)
    return np.asarray(high > low)


def _median_levels(X: Values) -> float:
    """Return the median number of different values in a row."""
    ordered = np.sort(X, axis=1)
    return float(np.median((np.diff(ordered, axis=1) > 0).sum(axis=1) + 1))
