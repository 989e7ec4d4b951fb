"""How co-clustering into blocks looks for labels: some starts, then clusters merged and split while it helps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bivaluate.algorithms._estimator import Pair, Values

Labels = NDArray[np.int64]
# Cells of all starts that one call of a kernel works on; an interruption is heard between calls.
MOST_CELLS = 1 << 24
# Lines of each side in which a dense matrix is searched: at most this many, or this many for each cluster.
MOST_LINES, LINES_PER_CLUSTER = 150, 12
# What was found in a part holds for the whole if it keeps this share of what the part did, cell by cell.
AS_PROMISED = 0.9
# A round of merging and splitting counts if it adds more than this share to what the blocks keep.
WORTH_IT = 1e-6
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


class Lines(NamedTuple):
    """The rows and the columns of a matrix as kernels take them."""

    rows: tuple[Any, ...]
    cols: tuple[Any, ...]
    shape: tuple[int, int]


def lines_of(X: Any) -> Lines:
    """Return the lines of a matrix, dense or sparse by rows."""
    if not issparse(X):
        return Lines((X, *NO_ENTRIES), (np.ascontiguousarray(X.T), *NO_ENTRIES), X.shape)
    sides = [(np.zeros((0, 0)), side.data, side.indices, side.indptr) for side in (X, X.T.tocsr())]
    return Lines(sides[0], sides[1], X.shape)


def best_coclusters(
    X: Any, K: tuple[int, int], kind: int, *, profiles: bool, n_starts: int, max_iter: int, rng: np.random.Generator
) -> Coclusters:
    """Return the co-clusters that keep most of `X` of those that the search meets.

    Of a dense matrix with many lines, a random part is searched; what is found there is the only start for the whole,
    which is searched too if it keeps less than the part promised: then the part was fitted to its noise.
    """
    from bivaluate.algorithms._kernels_coclusters import place

    whole = lines_of(X)
    sizes = [min(n, max(MOST_LINES, LINES_PER_CLUSTER * k)) for n, k in zip(X.shape, K, strict=True)]
    if issparse(X) or tuple(sizes) == X.shape:
        return _searched(whole, K, kind, profiles, n_starts, max_iter, rng)
    rows, cols = (
        np.arange(n) if n == size else np.sort(rng.permutation(n)[:size])
        for n, size in zip(X.shape, sizes, strict=True)
    )
    some_rows, some_cols = X[rows], whole.cols[0][cols]
    part = _searched(lines_of(some_rows.take(cols, axis=1)), K, kind, profiles, n_starts, max_iter, rng)
    # Every line goes to the cluster of the part that suits it.
    labels = np.empty((1, X.shape[0]), dtype=np.int64), np.empty((1, X.shape[1]), dtype=np.int64)
    place(kind, some_cols, part.cols, part.sums, part.n_rows, part.n_cols, labels[0][0])
    place(kind, some_rows, part.rows, np.ascontiguousarray(part.sums.T), part.n_cols, part.n_rows, labels[1][0])
    found = coclusters(whole, *labels, kind, K, max_iter)
    promised = float(part.kept.sum()) * (X.size / (len(rows) * len(cols)))
    return found if found.kept.sum() > AS_PROMISED * promised else _moved(whole, found, K, kind, max_iter, rng)


def coclusters(X: Lines, rows: Labels, cols: Labels, kind: int, K: tuple[int, int], max_iter: int) -> Coclusters:
    """Return the co-clusters that keep most of `X`, from starts (one line each) that take turns in rows and columns."""
    from bivaluate.algorithms._kernels_coclusters import alternate

    size = max(1, MOST_CELLS // max(1, X.rows[0].size, X.rows[1].size))
    parts = [slice(first, first + size) for first in range(0, len(rows), size)]
    found = [Coclusters(*alternate(X.rows, X.cols, rows[part], cols[part], kind, *K, max_iter)) for part in parts]
    return max(found, key=lambda coclusters: float(coclusters.kept.sum()))


def starting_labels(X: Lines, side: int, K: int, n_starts: int, profiles: bool, rng: np.random.Generator) -> Labels:
    """Return labels of the lines of one side for every start.

    Half of the starts gather what is nearest to random lines, which suits dense blocks; the others are random, each
    label as often as any other, which suits rows that have few cells in common.
    """
    from bivaluate.algorithms._kernels_coclusters import first_labels

    numbers = rng.random((n_starts, max(X.shape[side], K)))
    return np.asarray(first_labels(X[side], X.shape[1 - side], K, n_starts - n_starts // 2, profiles, numbers))


def _searched(
    X: Lines, K: tuple[int, int], kind: int, profiles: bool, n_starts: int, max_iter: int, rng: np.random.Generator
) -> Coclusters:
    rows, cols = (starting_labels(X, side, K[side], n_starts, profiles, rng) for side in (0, 1))
    return _moved(X, coclusters(X, rows, cols, kind, K, max_iter), K, kind, max_iter, rng)


def _moved(
    X: Lines, found: Coclusters, K: tuple[int, int], kind: int, max_iter: int, rng: np.random.Generator
) -> Coclusters:
    """Return what moves lead to while they help."""
    from bivaluate.algorithms._kernels_coclusters import moves

    while True:
        rows, cols = moves(kind, *found[:5], rng.random(sum(X.shape)))
        if not len(rows):
            return found
        moved = coclusters(X, rows, cols, kind, K, max_iter)
        before = float(found.kept.sum())
        if not float(moved.kept.sum()) - before > WORTH_IT * abs(before):
            return found
        found = moved


def chosen_blocks(found: Coclusters, rank: Values, most: int | None) -> list[Pair]:
    """Return the `most` blocks of highest rank, or all in order of labels for None; empty ones are left out."""
    order = np.arange(rank.size) if most is None else np.argsort(-rank, axis=None, kind="stable")
    blocks = [
        divmod(block, rank.shape[1])
        for block in order[np.outer(found.n_rows, found.n_cols).ravel()[order] > 0][:most].tolist()
    ]
    return [((found.rows == r).nonzero()[0], (found.cols == c).nonzero()[0]) for r, c in blocks]
