"""Held-out cells: how much better biclusters predict cells they never saw than row and column means do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_int, check_real
from bivaluate._errors import MatrixError, ParameterError
from bivaluate._text import percent
from bivaluate.judge.limits import predicts
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

Floats = NDArray[np.float64]
Refit = Callable[[Floats, int], Biclustering]

_ROUNDS = 4


@dataclass(frozen=True)
class PredictiveGain:
    """How well each K predicts held-out cells; made by :func:`predictive_gain`."""

    k_values: tuple[int, ...]
    gains: Floats

    @property
    def mean(self) -> Floats:
        """Mean gain of each K over the folds."""
        return np.asarray(self.gains.mean(axis=0))

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean gain of each K."""
        return np.asarray(self.gains.std(axis=0, ddof=1) / math.sqrt(len(self.gains)))

    @property
    def best(self) -> int:
        """Position of the K of largest mean gain; the smallest such K."""
        return int(self.mean.argmax())

    @property
    def best_k(self) -> int | None:
        """K of largest mean gain; None where nothing is there."""
        return None if self.nothing else self.k_values[self.best]

    @property
    def nothing(self) -> bool:
        """Whether the best gain is within two standard errors of 0, or below."""
        return not predicts(self.mean[self.best], self.standard_error[self.best])


def predictive_gain(
    X: Any,
    fit: Refit,
    k_values: Iterable[int],
    *,
    folds: int = 5,
    share: float = 0.1,
    random_state: int | Sequence[int] = 0,
    nested: bool = False,
) -> PredictiveGain:
    """Hide cells, fit the rest, predict what was hidden: the gain over row and column means, for each K.

    For the fit, hidden cells are set to row mean + column mean − grand mean of the visible ones, but not below the
    lowest of these, so that counts stay counts. Each bicluster then predicts its hidden cells by an additive fit to its
    visible ones, on top of row and column means.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix of shape (n, m)
        Data matrix; missing cells are never hidden and are set to the means for the fit.
    fit, k_values : callable, iterable of int
        ``fit(X_filled, k)`` returns the Biclustering of k biclusters found in a complete matrix; the k to try.
    folds, share, random_state : int, float, int or sequence of int
        How many disjoint sets of cells are hidden, one at a time, the share of the observed cells in each, the seed.
    nested : bool, default=False
        Whether the first k biclusters of a fit for more are those of a fit for k: one fit per fold then serves all K.

    Returns
    -------
    PredictiveGain
        Gains by fold and K.

    Raises
    ------
    ParameterError, MatrixError
        If more cells are asked for than there are, or a set would hide a whole row or column.

    See Also
    --------
    select_k

    References
    ----------
    Owen AB, Perry PO (2009). Bi-cross-validation. Ann. Appl. Stat. 3:564–594. doi:10.1214/08-AOAS227

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:20, :8] += 3
    >>> predictive_gain(X, lambda X, k: Biclustering([(range(20), range(8))], X.shape), [1]).best_k
    1
    """
    values = Matrix.of(X, "omit").values
    tried = sorted({check_int("k", k, 1) for k in k_values})
    if not tried:
        raise ParameterError("k_values is empty; give at least one number of biclusters.")
    gains = np.empty((check_int("folds", folds, 2), len(tried)))
    for fold, hidden in enumerate(_hidden_sets(values, folds, share, random_state)):
        visible = np.where(hidden, np.nan, values)
        _check_visible(visible, fold)
        background = _background(visible)
        filled = np.where(np.isnan(visible), np.maximum(background, np.nanmin(visible)), visible)
        base = float(((values - background)[hidden] ** 2).sum())
        largest = fit(filled, tried[-1]) if nested else None
        for column, k in enumerate(tried):
            solution = fit(filled, k) if largest is None else largest.select(range(min(k, len(largest))))
            error = float(((values - predicted(visible, solution))[hidden] ** 2).sum())
            gains[fold, column] = 1 - error / base if base > 0 else 0.0
    return PredictiveGain(tuple(tried), gains)


def predicted(visible: Floats, solution: Biclustering) -> Floats:
    """Predict every cell from the visible ones: means and patterns, fitted in turn, each to what the others leave."""
    deviation = np.zeros(visible.shape)
    background = _background(visible)
    for _ in range(_ROUNDS if len(solution) else 0):
        deviation = _deviation(visible - background, solution)
        background = _background(visible - deviation)
    return background + deviation


def _deviation(left: Floats, solution: Biclustering) -> Floats:
    """Fit each bicluster additively to what the means leave; where they overlap, take the mean."""
    sums, counts = np.zeros(left.shape), np.zeros(left.shape)
    for bicluster in solution:
        A = bicluster.of(left)
        seen = np.isfinite(A)
        rows, cols = seen.any(axis=1), seen.any(axis=0)
        if min(rows.sum(), cols.sum()) < 2:
            continue
        filled = fill_missing(A[np.ix_(rows, cols)])
        fitted = filled.mean(axis=1, keepdims=True) + filled.mean(axis=0) - filled.mean()
        at = np.ix_(bicluster.rows[rows], bicluster.cols[cols])
        sums[at] += fitted
        counts[at] += 1
    return np.asarray(sums / np.maximum(counts, 1))


def fill_missing(A: Floats) -> Floats:
    """Put missing cells where the additive fit to the observed cells has them, by alternating until nothing changes."""
    seen = np.isfinite(A)
    per_row, per_col = seen.sum(axis=1), seen.sum(axis=0)
    largest = np.nanmax(np.abs(A))
    rows, cols = np.nansum(A, axis=1) / per_row, np.zeros(A.shape[1])
    for _ in range(200):
        before = cols
        cols = np.where(seen, A - rows[:, None], 0.0).sum(axis=0) / per_col
        rows = np.where(seen, A - cols, 0.0).sum(axis=1) / per_row
        if np.abs(cols - before).max() <= 1e-12 * largest:
            break
    return np.where(seen, A, rows[:, None] + cols)


def _hidden_sets(values: Floats, folds: int, share: float, random_state: Any) -> Iterable[NDArray[np.bool_]]:
    observed = np.flatnonzero(np.isfinite(values))
    check_real("share", share, 0.0, 1.0)
    size = round(share * len(observed))
    if size < 1:
        least = 1 / max(1, len(observed))
        raise ParameterError(f"share is {share:g}: of {len(observed)} known values that hides none; try {least:.2g}.")
    if folds * size > len(observed):
        need = f"{folds} folds of {size} cells each ({percent(share)}) need {folds * size} cells"
        most = f"ask for at most {len(observed) // size} folds, or a smaller share"
        raise ParameterError(f"{need}, but X has {len(observed)}: {most}.")
    order = np.random.default_rng(random_state).permutation(observed)
    for fold in range(folds):
        hidden = np.zeros(values.size, dtype=np.bool_)
        hidden[order[fold * size : (fold + 1) * size]] = True
        yield hidden.reshape(values.shape)


def _check_visible(visible: Floats, fold: int) -> None:
    seen = np.isfinite(visible)
    for axis, what in ((1, "row"), (0, "column")):
        empty = np.flatnonzero(~seen.any(axis=axis))
        if len(empty):
            left = f"fold {fold + 1} leaves {what} {empty[0]} (counted from 0) of X without a visible value"
            raise MatrixError(f"{left}: {visible.shape} is too small, or has too many gaps. Hide a smaller share.")


def _background(visible: Floats) -> Floats:
    """Return row mean + column mean − grand mean of the visible cells."""
    seen = np.isfinite(visible)
    rows = np.where(seen, visible, 0.0).sum(axis=1) / seen.sum(axis=1)
    cols = np.where(seen, visible - rows[:, None], 0.0).sum(axis=0) / seen.sum(axis=0)
    return np.asarray(rows[:, None] + cols)
