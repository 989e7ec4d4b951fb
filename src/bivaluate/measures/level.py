"""Where a bicluster lies: the mean of its cells, and that of the same rows in the other columns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bivaluate._types import Floats, Ints
from bivaluate.matrix import Matrix, cut_block
from bivaluate.measures.measure import REAL, measure
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

_REFERENCE = "a mean"


@measure("mean_inside", "inside", "mean inside", "Mean of the values of the bicluster.", direction="none", range=REAL,
    compute=lambda w: w.once(_means)[0], reference=_REFERENCE, default=True)  # fmt: skip
def mean_inside(X: Any, rows: ArrayLike, cols: ArrayLike) -> float:
    """Return the mean of the observed cells of a bicluster.

    Examples
    --------
    >>> mean_inside([[1, 3, 0], [5, 7, 0]], [0, 1], [0, 1]), mean_elsewhere([[1, 3, 0], [5, 7, 0]], [0, 1], [0, 1])
    (4.0, 0.0)
    """
    return float(_means_of(X, rows, cols)[0][0])


@measure("mean_elsewhere", "elsewhere", "mean of the same rows elsewhere",
    "Mean of the rows of the bicluster in the other columns.", direction="none", range=REAL,
    compute=lambda w: w.once(_means)[1], reference=_REFERENCE, default=True)  # fmt: skip
def mean_elsewhere(X: Any, rows: ArrayLike, cols: ArrayLike) -> float:
    """Return the mean of the observed cells of the rows of a bicluster in the columns it leaves out.

    Examples
    --------
    >>> mean_elsewhere([[1, 3, 2], [5, 7, 4]], [0, 1], [0, 1])
    3.0
    """
    return float(_means_of(X, rows, cols)[1][0])


def _means_of(X: Any, rows: ArrayLike, cols: ArrayLike) -> tuple[Floats, Floats]:
    matrix = Matrix.of(X, "omit")
    return _means(Workspace.of(matrix, Biclustering([(rows, cols)], matrix.shape), missing="omit"))


def _means(workspace: Workspace) -> tuple[Floats, Floats]:
    matrix, solution = workspace.matrix, workspace.solution
    sums = np.zeros((4, len(solution)))  # cells and their sum, inside and in whole rows
    if len(solution):
        work = partial(_sums, matrix.sparse and matrix.absent == "zero", solution)
        if matrix.in_memory:
            sums = work(0, np.arange(len(matrix.values)), matrix.values)
        else:
            sums = sum(matrix.map_rows(work, np.flatnonzero(solution.row_masks.any(axis=0))), sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[1] / sums[0], np.where(sums[2] > sums[0], (sums[3] - sums[1]) / (sums[2] - sums[0]), np.nan)


def _sums(zeros: bool, solution: Biclustering, _: int, numbers: Ints, cells: Any) -> Floats:
    """Return number and sum of observed cells of every bicluster, then of its whole rows, as far as these rows go."""
    m, sums = solution.shape[1], np.zeros((4, len(solution)))
    if isinstance(cells, np.ndarray):
        of_rows, in_rows = cells.sum(axis=1), None
        if np.isnan(of_rows).any():
            of_rows, in_rows = np.nansum(cells, axis=1), (~np.isnan(cells)).sum(axis=1)
    else:
        of_rows, in_rows = _stored(cells, zeros)
    every = len(numbers) == solution.shape[0]
    for k, bicluster in enumerate(solution):
        at = bicluster.rows if every else np.flatnonzero(np.isin(numbers, bicluster.rows, assume_unique=True))
        if not len(at):
            continue
        if isinstance(cells, np.ndarray):
            block = cut_block(cells, at, bicluster.cols)
            inside = (block.size, block.sum()) if in_rows is None else (np.isfinite(block).sum(), np.nansum(block))
        else:
            total, count = _stored(cells[at][:, bicluster.cols], zeros)
            inside = count.sum(), total.sum()
        sums[:, k] = *inside, m * len(at) if in_rows is None else in_rows[at].sum(), of_rows[at].sum()
    return sums


def _stored(cells: Any, zeros: bool) -> tuple[Floats, Floats]:
    """Return the sum and the number of observed cells in each row of a sparse matrix; `zeros` are cells not stored."""
    missing = np.isnan(cells.data)
    of_row = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
    total = np.bincount(of_row, np.where(missing, 0.0, cells.data), cells.shape[0]).astype(np.float64)
    gaps = np.bincount(of_row, missing, cells.shape[0])
    return total, (cells.shape[1] if zeros else np.diff(cells.indptr)) - gaps
