"""Search a matrix for its most coherent block of a given shape: what an algorithm could find where nothing is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_int, check_values
from bivaluate._errors import ParameterError
from bivaluate.measures._blocks import standardise
from bivaluate.solution import Bicluster

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_REFINEMENTS = 2
_CELLS_AT_ONCE = 4_000_000


def search_block(
    X: Any, n_rows: int, n_cols: int, *, rng: np.random.Generator, restarts: int = 60, steps: int = 80
) -> tuple[Bicluster, float]:
    """Return the block of this shape with the lowest virtual error that a greedy search finds, and its VE.

    Each restart draws columns and a row at random and takes the rows that correlate best with it; then columns
    are exchanged one at a time, rows are chosen again, and the exchange is kept if VE falls.
    """
    values = check_values(X)
    n, m = values.shape
    check_int("n_rows", n_rows, 2, n)
    check_int("n_cols", n_cols, 2, m)
    at_once = max(1, min(restarts, _CELLS_AT_ONCE // (n * n_cols)))
    by_column = np.ascontiguousarray(values.T)
    best: tuple[Bicluster, float] | None = None
    for start in range(0, restarts, at_once):
        rows, cols, ve = _climb(by_column, n_rows, n_cols, min(at_once, restarts - start), steps, rng)
        lowest = int(ve.argmin())
        if best is None or ve[lowest] < best[1]:
            best = Bicluster(np.sort(rows[lowest]), np.sort(cols[lowest])), float(ve[lowest])
    if best is None:
        raise ParameterError(f"restarts is {restarts}; it must be at least 1.")
    return best


def _climb(
    by_column: Floats, n_rows: int, n_cols: int, restarts: int, steps: int, rng: np.random.Generator
) -> tuple[Counts, Counts, Floats]:
    m, n = by_column.shape
    order = np.argsort(rng.random((restarts, m)), axis=1)
    each = np.arange(restarts)
    pattern = by_column[order[:, :n_cols], rng.integers(n, size=restarts)[:, None]]
    rows, ve = _choose_rows(by_column[order[:, :n_cols]], pattern, n_rows)
    for _ in range(steps if n_cols < m else 0):
        trial = order.copy()
        out, into = rng.integers(n_cols, size=restarts), rng.integers(n_cols, m, size=restarts)
        trial[each, out], trial[each, into] = order[each, into], order[each, out]
        cells = by_column[trial[:, :n_cols]]
        pattern = np.take_along_axis(cells, rows[:, None, :], axis=2).mean(axis=2)
        trial_rows, trial_ve = _choose_rows(cells, pattern, n_rows)
        better = trial_ve < ve
        order[better], rows[better], ve[better] = trial[better], trial_rows[better], trial_ve[better]
    return rows, order[:, :n_cols], ve


def _choose_rows(cells: Floats, pattern: Floats, n_rows: int) -> tuple[Counts, Floats]:
    """Choose the rows that follow the pattern best, then those that follow their mean; `cells` is (restarts, c, n)."""
    standard = standardise(cells, axis=1)
    for _ in range(_REFINEMENTS):
        likeness = np.einsum("sc,scn->sn", standardise(pattern), standard)
        rows = np.argpartition(-likeness, n_rows - 1, axis=1)[:, :n_rows]
        pattern = np.take_along_axis(cells, rows[:, None, :], axis=2).mean(axis=2)
    chosen = np.take_along_axis(standard, rows[:, None, :], axis=2)
    # VE of each start's block: its standardised rows against the standardised mean row
    return rows, np.abs(chosen - standardise(pattern)[:, :, None]).mean(axis=(1, 2))
