"""How co-clustering into blocks looks for labels: some starts, then clusters merged and split while it helps.

A line is a row or a column of the matrix.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bivaluate.algorithms._estimator import Pair, Values

Labels = NDArray[np.int64]
# Lines of each side in which a dense matrix is searched: at most this many, or this many for each cluster.
MOST_LINES, LINES_PER_CLUSTER = 150, 12
# What was found in a part holds for the whole if it keeps this share of what the part did, cell by cell.
AS_PROMISED = 0.9
# A round of merging and splitting counts if it adds more than this share to what the blocks keep.
WORTH_IT = 1e-3
# Starts whose costs differ by no more than this share end alike.
TOLERANCE = 1e-10
SMALLEST = 1e-300
# The entries of a dense matrix, for the kernels: none.
NO_ENTRIES = np.zeros(0), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)


class Coclusters(NamedTuple):
    """Labels of rows and columns and how many have each; the sum of each block and what it keeps of the matrix."""

    rows: Labels
    cols: Labels
    n_rows: Values
    n_cols: Values
    sums: Values
    kept: Values


def best_coclusters(
    X: Any, K: tuple[int, int], kind: str, n_starts: int, max_iter: int, rng: np.random.Generator
) -> Coclusters:
    """Return the co-clusters that keep most of `X` of those that the search meets.

    Of a dense matrix with many lines, a random part is searched; what is found there is the only start for the whole,
    which is searched too if it keeps less than the part promised: then the part was fitted to its noise.
    """
    sizes = [min(n, max(MOST_LINES, LINES_PER_CLUSTER * k)) for n, k in zip(X.shape, K, strict=True)]
    if issparse(X) or tuple(sizes) == X.shape:
        return _searched(X, K, kind, n_starts, max_iter, rng)
    from bivaluate.algorithms._kernels_coclusters import KINDS, relabel

    rows, cols = (np.sort(rng.permutation(n)[:size]) for n, size in zip(X.shape, sizes, strict=True))
    some = X[rows].take(cols, axis=1)
    part = _searched(some, K, kind, n_starts, max_iter, rng)
    lines = lines_of(X)
    # Every line goes to the cluster of the part that suits it.
    place, labels = (KINDS.index(kind),), [np.empty(n, dtype=np.int64) for n in X.shape]
    relabel(*place, one_hot(part.cols, K[1]).T @ X[:, cols].T, part.sums, part.n_rows, part.n_cols, labels[0])
    turned = np.ascontiguousarray(part.sums.T)
    relabel(*place, one_hot(part.rows, K[0]).T @ X[rows], turned, part.n_cols, part.n_rows, labels[1])
    found = coclusters(lines, labels[0][np.newaxis], labels[1][np.newaxis], kind, K, max_iter)
    promised = float(part.kept.sum()) * (X.size / some.size)
    return found if found.kept.sum() > AS_PROMISED * promised else _moved(lines, found, K, kind, max_iter, rng)


def one_hot(labels: Labels, K: int) -> Values:
    """Return 1 where a line has a label, else 0, in a last axis of K labels."""
    return np.asarray(labels[..., np.newaxis] == np.arange(K), dtype=np.float64)


def log(values: Values) -> Values:
    """Return logarithms, that of the smallest number for 0: a cell in a block of zeros costs much, never ∞."""
    return np.asarray(np.log(np.maximum(values, SMALLEST)))


def kept_by_blocks(kind: str, sums: Values, n_rows: Values, n_cols: Values) -> Values:
    """Return what each block keeps of the matrix.

    Of the squares: size (average - mean)**2. Of the I-divergence: sum log(average / mean) - sum + size mean. Of the
    information, times S: S_rc log(S_rc S / (S_r. S_.c)). Of the modularity: S_rc - S_r. S_.c / S.
    """
    expected = np.outer(sums.sum(axis=1), sums.sum(axis=0)) / (sums.sum() + SMALLEST)
    if kind == "modularity":
        return np.asarray(sums - expected)
    if kind == "information":
        return np.asarray(sums * (log(sums) - log(expected)))
    cells = np.outer(n_rows, n_cols)
    average, mean = sums / np.maximum(cells, 1.0), sums.sum() / cells.sum()
    if kind == "squared":
        return np.asarray(cells * (average - mean) ** 2)
    return np.asarray(sums * (log(average) - log(mean)) - sums + cells * mean)


def lines_of(X: Any) -> tuple[Any, Any]:
    """Return the rows and the columns of a matrix, dense or sparse by rows, as kernels take them."""
    if not issparse(X):
        return (X, *NO_ENTRIES), (np.ascontiguousarray(X.T), *NO_ENTRIES)
    rows, cols = ((np.zeros((X.shape[0], 0)), side.data, side.indices, side.indptr) for side in (X, X.T.tocsr()))
    return rows, cols


def coclusters(lines: Any, rows: Labels, cols: Labels, kind: str, K: tuple[int, int], max_iter: int) -> Coclusters:
    """Return the co-clusters that keep most of a matrix, from starts (one line each): rows and columns take turns."""
    from bivaluate.algorithms._kernels_coclusters import KINDS, alternate

    rows, cols, sums = rows.copy(), cols.copy(), np.empty((len(rows), *K))
    costs = alternate(lines[0], lines[1], (rows, cols), KINDS.index(kind), sums, max_iter)
    # Of starts that end alike, but for rounding, the first is taken.
    best = int((costs - costs.min() <= TOLERANCE * abs(costs.min())).argmax())
    r, c = (np.bincount(of[best], minlength=k).astype(np.float64) for of, k in zip((rows, cols), K, strict=True))
    return Coclusters(rows[best], cols[best], r, c, sums[best], kept_by_blocks(kind, sums[best], r, c))


def starting_labels(X: Any, K: int, n_starts: int, profiles: bool, rng: np.random.Generator) -> Labels:
    """Return labels of the rows for every start.

    Half of the starts gather what is nearest to random rows, which suits dense blocks; the others are random, each
    label as often as any other, which suits rows that have few cells in common.
    """
    near = nearest_of_drawn(X, K, profiles, rng.random((n_starts - n_starts // 2, K)))
    return np.array([*near, *(rng.permutation(np.arange(X.shape[0]) % K) for _ in range(n_starts // 2))])


def nearest_of_drawn(X: Any, K: int, profiles: bool, draws: Values) -> Labels:
    """Return which of K random rows each row is nearest to, by squared differences (`profiles`: of rows of length 1).

    As in k-means++, a row is drawn with a chance in proportion to its squared distance from those drawn before; for
    every start there is a line of `draws`.
    """
    n = X.shape[0]
    squares = np.asarray((X.power(2) if issparse(X) else X * X).sum(axis=1), dtype=np.float64).ravel()
    scale = np.where(squares > 0, 1.0 / np.sqrt(np.maximum(squares, SMALLEST)), 1.0) if profiles else np.ones(n)
    squares = squares * scale**2
    nothing = 1e-12 * squares.max()
    least, labels = np.full((len(draws), n), np.inf), np.zeros((len(draws), n), dtype=np.int64)
    drawn = (draws[:, 0] * n).astype(np.int64)
    for k in range(K):
        products = X[drawn] @ X.T
        distance = (products.toarray() if issparse(X) else products) * (-2.0 * scale * scale[drawn, np.newaxis])
        distance += squares + squares[drawn, np.newaxis]
        distance[distance < nothing] = 0.0
        labels[distance < least] = k
        least = np.minimum(distance, least)
        if k + 1 < K:
            chances = np.where(least.any(axis=1, keepdims=True), least, 1.0).cumsum(axis=1)
            below = chances <= draws[:, k + 1, np.newaxis] * chances[:, -1:]
            drawn = np.minimum(below.sum(axis=1), n - 1)
    return labels


def _searched(
    X: Any, K: tuple[int, int], kind: str, n_starts: int, max_iter: int, rng: np.random.Generator
) -> Coclusters:
    rows = starting_labels(X, K[0], n_starts, kind == "information", rng)
    cols = starting_labels(X.T.tocsr() if issparse(X) else X.T, K[1], n_starts, kind == "information", rng)
    lines = lines_of(X)
    return _moved(lines, coclusters(lines, rows, cols, kind, K, max_iter), K, kind, max_iter, rng)


def _moved(
    lines: Any, found: Coclusters, K: tuple[int, int], kind: str, max_iter: int, rng: np.random.Generator
) -> Coclusters:
    """Return what moves lead to while they help: a cluster is split at random, and two others merge."""
    while True:
        new_rows = split_and_merge(found.rows, losses_of_mergers(kind, found.sums, found.n_rows, found.n_cols), rng)
        new_cols = split_and_merge(found.cols, losses_of_mergers(kind, found.sums.T, found.n_cols, found.n_rows), rng)
        starts = [(rows, found.cols) for rows in new_rows] + [(found.rows, cols) for cols in new_cols]
        if not starts:
            return found
        rows, cols = (np.array(labels) for labels in zip(*starts, strict=True))
        moved = coclusters(lines, rows, cols, kind, K, max_iter)
        before = float(found.kept.sum())
        if not float(moved.kept.sum()) - before > WORTH_IT * abs(before):
            return found
        found = moved


def losses_of_mergers(kind: str, sums: Values, n_own: Values, n_other: Values) -> Values:
    """Return what is no longer kept when two labels of one side become one, for all pairs."""

    def kept(sums: Values, n_own: Values) -> Values:
        """Return what blocks keep, up to what mergers do not change."""
        per = sums.sum(axis=-1, keepdims=True) if kind == "information" else n_own[..., np.newaxis] * n_other
        average = sums / np.maximum(per, SMALLEST)
        return np.asarray((sums * (average if kind == "squared" else log(average))).sum(axis=-1))

    apart = kept(sums, n_own)
    return np.asarray(np.add.outer(apart, apart) - kept(sums[:, np.newaxis] + sums, np.add.outer(n_own, n_own)))


def split_and_merge(labels: Labels, losses: Values, rng: np.random.Generator) -> list[Labels]:
    """Return labels near these: each cluster in turn is split at random, and the two others that cost least merge.

    No merger is needed where a label is empty.
    """
    K = len(losses)
    members = [np.flatnonzero(labels == k) for k in range(K)]
    empty = [(k, k) for k in range(K) if not len(members[k])]
    pairs = empty or sorted(combinations(range(K), 2), key=lambda pair: losses.item(pair))
    moved = []
    for cluster in range(K):
        pair = next((pair for pair in pairs if cluster not in pair), None)
        if len(members[cluster]) > 1 and pair is not None:
            new = labels.copy()
            new[members[pair[1]]] = pair[0]
            new[rng.permutation(members[cluster])[: len(members[cluster]) // 2]] = pair[1]
            moved.append(new)
    return moved


def chosen_blocks(found: Coclusters, rank: Values, most: int | None) -> list[Pair]:
    """Return the `most` blocks of highest rank, or all in order of labels for None; empty ones are left out."""
    order = np.arange(rank.size) if most is None else np.argsort(-rank, axis=None, kind="stable")
    filled = np.outer(found.n_rows, found.n_cols).ravel() > 0
    blocks = [divmod(block, rank.shape[1]) for block in order[filled[order]][:most].tolist()]
    return [((found.rows == r).nonzero()[0], (found.cols == c).nonzero()[0]) for r, c in blocks]
