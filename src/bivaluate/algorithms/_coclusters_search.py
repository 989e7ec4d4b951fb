"""How co-clustering into blocks looks for good labels: few starts, then clusters merged and split while it helps."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from bivaluate.algorithms._coclusters import (
    Coclusters,
    Criterion,
    Labels,
    coclusters,
    count,
    indicator,
    relabelled,
    starting_labels,
)
from bivaluate.algorithms._estimator import Values

# Of a dense matrix the search is made in so many lines of each side, or in so many for each cluster.
MOST_LINES, LINES_PER_CLUSTER = 150, 12
# What was found in a part holds for the whole if it keeps this share of what the part did, cell by cell.
AS_PROMISED = 0.9
# A round of merging and splitting counts if it adds more than this share to what the blocks keep.
WORTH_IT = 1e-6


def best_coclusters(
    X: Any,
    K: tuple[int, int],
    criterion: Criterion,
    *,
    profiles: bool,
    n_starts: int,
    max_iter: int,
    rng: np.random.RandomState,
) -> Coclusters:
    """Return the co-clusters that keep most of `X` of those that the search meets.

    A dense matrix with many lines is searched in a random part; what is found there is the one start of the whole, which is
    searched too where it keeps less than the part promised: there the part was fitted to its noise.
    """
    sizes = [min(n, max(MOST_LINES, LINES_PER_CLUSTER * k)) for n, k in zip(X.shape, K, strict=True)]
    if issparse(X) or tuple(sizes) == X.shape:
        return _searched(X, K, criterion, profiles, n_starts, max_iter, rng)
    rows, cols = (np.sort(rng.permutation(n)[:size]) for n, size in zip(X.shape, sizes, strict=True))
    part = _searched(np.ascontiguousarray(X[np.ix_(rows, cols)]), K, criterion, profiles, n_starts, max_iter, rng)
    n_rows, n_cols = count(part.rows[np.newaxis], K[0]), count(part.cols[np.newaxis], K[1])
    # Every line goes to the cluster of the part that suits it.
    over_cols = (indicator(part.cols[np.newaxis], K[1]) @ X[:, cols].T)[np.newaxis]
    over_rows = (indicator(part.rows[np.newaxis], K[0]) @ X[rows])[np.newaxis]
    all_rows = relabelled(over_cols, part.sums[np.newaxis], n_rows, n_cols, criterion)
    all_cols = relabelled(over_rows, part.sums.T[np.newaxis], n_cols, n_rows, criterion)
    found = coclusters(X, all_rows, all_cols, criterion, K, max_iter)
    promised = float(part.kept.sum()) * found.sizes.sum() / part.sizes.sum()
    return found if found.kept.sum() > AS_PROMISED * promised else _moved(X, found, K, criterion, max_iter, rng)


def _searched(
    X: Any,
    K: tuple[int, int],
    criterion: Criterion,
    profiles: bool,
    n_starts: int,
    max_iter: int,
    rng: np.random.RandomState,
) -> Coclusters:
    rows = starting_labels(X, K[0], n_starts, profiles, rng)
    cols = starting_labels(X.T.tocsr() if issparse(X) else X.T, K[1], n_starts, profiles, rng)
    return _moved(X, coclusters(X, rows, cols, criterion, K, max_iter), K, criterion, max_iter, rng)


def _moved(
    X: Any, found: Coclusters, K: tuple[int, int], criterion: Criterion, max_iter: int, rng: np.random.RandomState
) -> Coclusters:
    """Return what moves lead to while they help."""
    while True:
        rows, cols = moves(found, K, criterion, rng)
        if not len(rows):
            return found
        moved = coclusters(X, rows, cols, criterion, K, max_iter)
        gained = float(moved.kept.sum()) - float(found.kept.sum())
        if not gained > WORTH_IT * abs(float(found.kept.sum())):
            return found
        found = moved


def moves(
    found: Coclusters, K: tuple[int, int], criterion: Criterion, rng: np.random.RandomState
) -> tuple[Labels, Labels]:
    """Return starts near to `found`: each cluster in turn is split at random, and the two others that cost least merge."""
    rows, cols = [], []
    for side, own in enumerate((found.rows, found.cols)):
        sums = found.sums if side == 0 else found.sums.T
        n_own, n_other = (count(labels[np.newaxis], k)[0] for labels, k in _sides(found, K, side))
        pairs = _pairs_by_cost(sums, n_own, n_other, criterion)
        for cluster in range(K[side]):
            members = np.flatnonzero(own == cluster)
            labels = own.copy()
            free = _freed(labels, n_own, pairs, cluster)
            if free is None or len(members) < 2:
                continue
            labels[rng.permutation(members)[: len(members) // 2]] = free
            rows.append(labels if side == 0 else found.rows)
            cols.append(labels if side == 1 else found.cols)
    return np.array(rows), np.array(cols)


def _sides(found: Coclusters, K: tuple[int, int], side: int) -> list[tuple[Labels, int]]:
    sides = [(found.rows, K[0]), (found.cols, K[1])]
    return sides if side == 0 else sides[::-1]


def _freed(labels: Labels, n_own: Values, pairs: list[tuple[int, int]], cluster: int) -> int | None:
    """Return a label that is free, after a merger of two clusters other than `cluster` where none is."""
    empty = np.flatnonzero(n_own == 0)
    if len(empty):
        return int(empty[0])
    pair = next((pair for pair in pairs if cluster not in pair), None)
    if pair is None:
        return None
    labels[labels == pair[1]] = pair[0]
    return pair[1]


def _pairs_by_cost(sums: Values, n_own: Values, n_other: Values, criterion: Criterion) -> list[tuple[int, int]]:
    """Return the pairs of clusters of one side, first the one whose merger loses least of what is kept."""
    first, second = np.triu_indices(len(n_own), 1)
    number = np.arange(len(first))
    merged, sizes = np.repeat(sums[np.newaxis], len(first), axis=0), np.repeat(n_own[np.newaxis], len(first), axis=0)
    for table in (merged, sizes):
        table[number, first] += table[number, second]
        table[number, second] = 0.0
    kept = criterion.kept(merged, sizes, np.broadcast_to(n_other, (len(first), len(n_other)))).sum(axis=(1, 2))
    order = np.argsort(-kept, kind="stable")
    return [(int(first[p]), int(second[p])) for p in order]
