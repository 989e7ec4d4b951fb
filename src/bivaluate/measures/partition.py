"""Solutions as groups of rows and columns: silhouette, modularity, information kept, variance explained.

Rows that lie in the same biclusters form a class, and so do columns; rows in no bicluster form one of their own. That
makes a partition of any solution, overlapping or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._types import Floats
from bivaluate.measures._blocks import CONSTANT, in_range, is_constant_row
from bivaluate.measures.cover import member_classes
from bivaluate.measures.measure import COL_SCALE, COL_SHIFT, SCALE, SHIFT, UNIT, measure
from bivaluate.solution import Biclustering


@measure("bisilhouette", "BiSil", "bisilhouette",
    "How much nearer rows are to their own bicluster than to the nearest other one, over its columns.",
    level="solution", direction="high", range=(-1.0, 1.0), of_matrix=True,
    invariances=[SHIFT, SCALE, COL_SHIFT, COL_SCALE],
    reference="Orme, Rodosthenous & Evangelou 2025, Multi-view biclustering via non-negative matrix tri-factorisation")  # fmt: skip
def bisilhouette(X: Any, solution: Biclustering) -> float:
    """Mean bisilhouette of the biclusters: how much nearer rows are to each other than to rows of other biclusters.

    Columns of X are standardised. For bicluster k and its row i, over the columns of k: a_i is the mean Euclidean
    distance to the other rows of k (0 for a single row), b_i the mean distance to the rows of that other bicluster, of
    different rows, whose mean b is smallest; s_i = (b_i − a_i)/max(a_i, b_i), and the bisilhouette of k is the mean of
    its s_i. High is better; in [−1, 1]. The authors add random row clusters where there are fewer than three; here all
    rows outside k take their place where no other bicluster has different rows, so that the value is reproducible. 0
    for a bicluster of all rows; NaN without biclusters.

    Examples
    --------
    >>> round(bisilhouette(X, S), 6)
    -0.199291
    """
    each = bisilhouettes(X, solution)
    return float(each.mean()) if len(each) else float("nan")


def bisilhouettes(X: Floats, solution: Biclustering) -> Floats:
    """Return the bisilhouette of each bicluster."""
    from scipy.spatial.distance import cdist

    X, _ = in_range(X, axis=0)
    varies = ~is_constant_row(X.T)
    centred = X - X.mean(axis=0)
    spread = centred.std(axis=0, ddof=1) if len(X) > 1 else np.ones(X.shape[1])
    standardised = np.where(varies, centred / np.where(varies, spread, 1.0), 0.0)
    scores = np.zeros(len(solution))
    for k, bicluster in enumerate(solution):
        others = [b.rows for b in solution if not np.array_equal(b.rows, bicluster.rows)]
        outside = np.setdiff1d(np.arange(len(X)), bicluster.rows)
        if not others:
            others = [outside] if len(outside) else []
        if not others:
            continue
        columns = standardised[:, bicluster.cols]
        mine = columns[bicluster.rows]
        r = len(mine)
        a = cdist(mine, mine).sum(axis=1) / max(1, r - 1)
        away = [cdist(mine, columns[rows]).mean(axis=1) for rows in others]
        b = min(away, key=lambda distances: float(distances.mean()))
        largest = np.maximum(a, b)
        scores[k] = float(np.where(largest > 0, (b - a) / np.where(largest > 0, largest, 1.0), 0.0).mean())
    return scores


@measure("modularity", "Q", "bipartite modularity",
    "Weight inside the biclusters beyond what row and column sums put there; non-negative data only.",
    level="solution", direction="high", range=(-1.0, 1.0), of_matrix=True,
    invariances=[SCALE], reference="Barber 2007, doi:10.1103/PhysRevE.76.066102")  # fmt: skip
def bipartite_modularity(X: Any, solution: Biclustering) -> float:
    """Bipartite modularity: weight inside the biclusters beyond what row and column sums alone put there.

    Q = (1/T) Σ over cells in at least one bicluster of (x_ij − x_i·x_j/T), T the sum of X. High is better; in [−1, 1];
    0 for the whole matrix. For non-negative data (counts, links); NaN where a value is negative or all are 0. Not
    changed by scaling X.

    Examples
    --------
    >>> X = np.kron(np.eye(2), np.ones((2, 3)))
    >>> bipartite_modularity(X, Biclustering([([0, 1], [0, 1, 2]), ([2, 3], [3, 4, 5])], X.shape))
    0.5
    """
    X, _ = in_range(X)
    total = float(X.sum())
    if X.min() < 0 or total <= 0:
        return float("nan")
    covered = np.zeros(solution.shape, dtype=np.bool_)
    for bicluster in solution:
        covered[np.ix_(bicluster.rows, bicluster.cols)] = True
    by_chance = (X.sum(axis=1) / total) @ covered @ (X.sum(axis=0) / total)
    return float(X.sum(where=covered)) / total - float(by_chance)


@measure("information_kept", "MI kept", "mutual information kept",
    "Share of the mutual information of rows and columns that their classes keep; non-negative data only.",
    level="solution", direction="high", range=UNIT, of_matrix=True,
    invariances=[SCALE], reference="Dhillon, Mallela & Modha 2003, doi:10.1145/956750.956764")  # fmt: skip
def mutual_information_kept(X: Any, solution: Biclustering) -> float:
    """Share of the mutual information between rows and columns that their classes keep.

    X/T is read as a joint distribution; classes are rows, and columns, that lie in the same biclusters. High is better;
    in [0, 1]; 0 for one class of rows or of columns. For non-negative data (counts); NaN where a value is negative, or
    where rows and columns are independent. Not changed by scaling X.

    Examples
    --------
    >>> X = np.kron(np.eye(2), np.ones((2, 3)))
    >>> round(mutual_information_kept(X, Biclustering([([0, 1], [0, 1, 2])], X.shape)), 6)
    1.0
    """
    X, _ = in_range(X)
    if X.min() < 0 or not X.sum() > 0:
        return float("nan")
    whole = _mutual_information(X)
    if whole <= 1e-12:
        return float("nan")
    return min(1.0, _mutual_information(_class_sums(X, solution)[0]) / whole)


@measure("block_r2", "R²", "block R²",
    "Share of the variance that the means of the blocks of the partition explain.", level="solution",
    direction="high", range=UNIT, of_matrix=True, invariances=[SHIFT, SCALE],
    reference="Govaert & Nadif 2013, doi:10.1002/9781118649480")  # fmt: skip
def block_r_squared(X: Any, solution: Biclustering) -> float:
    """Share of the variance of X that the means of the blocks of the partition explain: R² = 1 − SS within/SS total.

    Blocks are the crossings of the classes of rows and columns. High is better; in [0, 1]; grows with the number of
    classes. NaN for a constant matrix. Not changed by shifting or scaling X.

    Examples
    --------
    >>> X = np.kron([[1.0, 2.0], [3.0, 5.0]], np.ones((2, 3)))
    >>> block_r_squared(X, Biclustering([([0, 1], [0, 1, 2])], X.shape))
    1.0
    """
    X, _ = in_range(X)
    centred = X - X.mean()
    total = float((centred**2).sum())
    if total <= (CONSTANT * np.abs(X).max()) ** 2 * X.size:
        return float("nan")
    sums, counts = _class_sums(centred, solution)
    return min(1.0, float((sums**2 / counts).sum()) / total)


def _class_sums(X: Floats, solution: Biclustering) -> tuple[Floats, Floats]:
    """Return sums and numbers of cells of the crossings of row and column classes."""
    rows, cols = member_classes(solution.row_masks), member_classes(solution.col_masks)
    n_rows, n_cols = rows.max() + 1, cols.max() + 1
    by_rows = np.zeros((n_rows, X.shape[1]))
    np.add.at(by_rows, rows, X)
    sums = np.zeros((n_cols, n_rows))
    np.add.at(sums, cols, by_rows.T)
    return sums.T, np.outer(np.bincount(rows), np.bincount(cols)).astype(np.float64)


def _mutual_information(joint: Floats) -> float:
    p = joint / joint.sum()
    expected = np.outer(p.sum(axis=1), p.sum(axis=0))
    positive = p > 0
    return float((p[positive] * np.log(p[positive] / expected[positive])).sum())
