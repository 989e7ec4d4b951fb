"""How co-clustering into blocks looks for labels: some starts, then clusters merged and split while it helps.

Arrays have a first axis for the starts, which all take turns together. A line is a row or a column of the matrix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bivaluate.algorithms._estimator import Pair, Values

Labels = NDArray[np.int64]
# Numbers in the arrays of all starts that take turns together.
MOST_CELLS = 1 << 22
# Lines of each side in which a dense matrix is searched: at most this many, or this many for each cluster.
MOST_LINES, LINES_PER_CLUSTER = 150, 12
# What was found in a part holds for the whole if it keeps this share of what the part did, cell by cell.
AS_PROMISED = 0.9
# A round of merging and splitting counts if it adds more than this share to what the blocks keep.
WORTH_IT = 1e-3
# A start ends when a round adds less than this share to what the blocks keep.
TOLERANCE = 1e-5
SMALLEST = 1e-300


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
    rows, cols = (np.sort(rng.permutation(n)[:size]) for n, size in zip(X.shape, sizes, strict=True))
    some = X[np.ix_(rows, cols)]
    part = _searched(some, K, kind, n_starts, max_iter, rng)
    # Every line goes to the cluster of the part that suits it.
    n_rows, n_cols = part.n_rows[np.newaxis], part.n_cols[np.newaxis]
    row_labels = cheapest(
        kind, (X[:, cols] @ one_hot(part.cols, K[1]))[np.newaxis], part.sums[np.newaxis], n_rows, n_cols
    )
    col_labels = cheapest(
        kind, (X[rows].T @ one_hot(part.rows, K[0]))[np.newaxis], part.sums.T[np.newaxis], n_cols, n_rows
    )
    found = coclusters(X, row_labels, col_labels, kind, K, max_iter)
    promised = float(part.kept.sum()) * (X.size / some.size)
    return found if found.kept.sum() > AS_PROMISED * promised else _moved(X, found, K, kind, max_iter, rng)


def one_hot(labels: Labels, K: int) -> Values:
    """Return 1 where a line has a label, else 0, in a last axis of K labels."""
    return np.asarray(labels[..., np.newaxis] == np.arange(K), dtype=np.float64)


def log(values: Values) -> Values:
    """Return logarithms, that of the smallest number for 0: a cell in a block of zeros costs much, never ∞."""
    return np.asarray(np.log(np.maximum(values, SMALLEST)))


def sums_over(X: Any, labels: Labels, hot: Values, old: Labels | None = None, known: Values | None = None) -> Values:
    """Return the sums of each row over the columns with each label, `hot` where a column has it.

    Where those of `old` labels are `known` and few changed, they are brought up to date.
    """
    chosen: Any = slice(None)
    if old is not None and known is not None:
        changed = np.flatnonzero((labels != old).any(axis=0))
        if 2 * len(changed) <= labels.shape[1]:
            chosen, hot = changed, hot[:, changed] - one_hot(old[:, changed], hot.shape[-1])
    flat = hot.transpose(1, 0, 2).reshape(hot.shape[1], len(hot) * hot.shape[2])
    sums = np.asarray(X[:, chosen] @ flat).reshape(X.shape[0], len(hot), hot.shape[2]).transpose(1, 0, 2)
    return sums if known is None or isinstance(chosen, slice) else known + sums


def kept_by_blocks(kind: str, sums: Values, n_rows: Values, n_cols: Values) -> Values:
    """Return what each block keeps of the matrix.

    Of the squares: size (average - mean)**2. Of the I-divergence: sum log(average / mean) - sum + size mean. Of the
    information, times the total: S_rc log(S_rc S / (S_r. S_.c)).
    """
    total = sums.sum(axis=(-2, -1), keepdims=True)
    if kind == "information":
        rows, cols = sums.sum(axis=-1, keepdims=True), sums.sum(axis=-2, keepdims=True)
        return np.asarray(sums * (log(sums) + log(total) - log(rows) - log(cols)))
    cells = n_rows[..., np.newaxis] * n_cols[..., np.newaxis, :]
    mean = total / cells.sum(axis=(-2, -1), keepdims=True)
    average = sums / np.maximum(cells, 1.0)
    if kind == "squared":
        return np.asarray(cells * (average - mean) ** 2)
    return np.asarray(sums * (log(average) - log(mean)) - sums + cells * mean)


def cheapest(kind: str, table: Values, sums: Values, n_own: Values, n_other: Values) -> Labels:
    """Return the label of lowest cost for every line with these sums over labels of the other side.

    Among equals it is the first; empty labels stay empty.
    """
    average = sums / np.maximum(n_own[..., np.newaxis] * n_other[:, np.newaxis], 1.0)
    fixed = np.zeros_like(n_own)
    if kind == "squared":
        fixed, weights = (average**2 * n_other[:, np.newaxis]).sum(axis=-1), -2.0 * average
    elif kind == "i-divergence":
        fixed, weights = (average * n_other[:, np.newaxis]).sum(axis=-1), -log(average)
    else:
        weights = log(sums.sum(axis=-1, keepdims=True)) - log(sums)  # -log q(y-hat | x-hat)
    fixed[n_own == 0] = np.inf
    return np.asarray((fixed[:, np.newaxis] + table @ weights.transpose(0, 2, 1)).argmin(axis=-1))


def coclusters(X: Any, rows: Labels, cols: Labels, kind: str, K: tuple[int, int], max_iter: int) -> Coclusters:
    """Return the co-clusters that keep most of `X`, from starts (one line each) that take turns in rows and columns."""
    size = max(1, MOST_CELLS // (sum(X.shape) * max(K)))
    sides = by_columns(X)
    parts = (slice(first, first + size) for first in range(0, len(rows), size))
    found = [_alternated(*sides, rows[part], cols[part], kind, K, max_iter) for part in parts]
    return max(found, key=lambda coclusters: float(coclusters.kept.sum()))


def by_columns(X: Any) -> tuple[Any, Any]:
    """Return the matrix and its transpose, sparse ones so that columns can be taken out."""
    return (X.tocsc(), X.tocsr().T) if issparse(X) else (X, X.T)


def _alternated(X: Any, Xt: Any, z: Labels, w: Labels, kind: str, K: tuple[int, int], max_iter: int) -> Coclusters:
    """Return the best of the starts; each ends when it no longer improves."""
    best, before, over_rows, old = None, np.full(len(z), -np.inf), None, z
    W, Z = one_hot(w, K[1]), one_hot(z, K[0])
    n_rows, n_cols, over_cols = Z.sum(axis=1), W.sum(axis=1), sums_over(X, w, W)
    sums = Z.transpose(0, 2, 1) @ over_cols
    for _ in range(max_iter):
        z = cheapest(kind, over_cols, sums, n_rows, n_cols)
        Z = one_hot(z, K[0])
        n_rows, over_rows = Z.sum(axis=1), sums_over(Xt, z, Z, old, over_rows)
        turned = W.transpose(0, 2, 1) @ over_rows
        last, old, w = w, z, cheapest(kind, over_rows, turned, n_cols, n_rows)
        W = one_hot(w, K[1])
        n_cols, over_cols = W.sum(axis=1), sums_over(X, w, W, last, over_cols)
        sums = Z.transpose(0, 2, 1) @ over_cols
        kept = kept_by_blocks(kind, sums, n_rows, n_cols)
        now = kept.sum(axis=(1, 2))
        top = int(now.argmax())
        # Of starts that end alike, but for rounding, the first is taken.
        if best is None or now[top] - best.kept.sum() > TOLERANCE * abs(now[top]):
            top = int(np.flatnonzero(now[top] - now <= TOLERANCE * abs(now[top]))[0])
            best = Coclusters(z[top], w[top], n_rows[top], n_cols[top], sums[top], kept[top])
        more = now - before > TOLERANCE * np.abs(now)
        if not more.any():
            break
        w, W, old, n_rows, n_cols, over_rows, over_cols, sums, before = (
            values[more] for values in (w, W, old, n_rows, n_cols, over_rows, over_cols, sums, now)
        )
    assert best is not None
    return best


def starting_labels(X: Any, K: int, n_starts: int, profiles: bool, rng: np.random.Generator) -> Labels:
    """Return labels of the rows for every start.

    Half of the starts gather what is nearest to random rows, which suits dense blocks; the others are random, each
    label as often as any other, which suits rows that have few cells in common.
    """
    n_near = n_starts - n_starts // 2
    near = [nearest_of_drawn(X, K, profiles, rng.random(K)) for _ in range(n_near)]
    return np.array(near + [rng.permutation(np.arange(X.shape[0]) % K) for _ in range(n_starts // 2)])


def nearest_of_drawn(X: Any, K: int, profiles: bool, draws: Values) -> Labels:
    """Return which of K random rows each row is nearest to, by squared differences (`profiles`: of rows of length 1).

    As in k-means++, a row is drawn with a chance in proportion to its squared distance from those drawn before.
    """
    n = X.shape[0]
    squares = np.asarray((X.power(2) if issparse(X) else X**2).sum(axis=1), dtype=np.float64).ravel()
    scale = np.where(squares > 0, 1.0 / np.sqrt(np.maximum(squares, SMALLEST)), 1.0) if profiles else np.ones(n)
    squares = squares * scale**2
    least, labels, drawn = np.full(n, np.inf), np.zeros(n, dtype=np.int64), int(draws[0] * n)
    for k in range(K):
        line = X[[drawn]]
        products = np.asarray((X @ line.T).toarray() if issparse(X) else X @ line.T).ravel()
        distance = squares + squares[drawn] - 2.0 * scale * scale[drawn] * products
        distance[distance < 1e-12 * squares.max()] = 0.0
        labels[distance < least] = k
        least = np.minimum(distance, least)
        if k + 1 < K:
            chances = (least if least.any() else np.ones(n)).cumsum()
            drawn = min(int(np.searchsorted(chances, draws[k + 1] * chances[-1], side="right")), n - 1)
    return labels


def _searched(
    X: Any, K: tuple[int, int], kind: str, n_starts: int, max_iter: int, rng: np.random.Generator
) -> Coclusters:
    rows = starting_labels(X, K[0], n_starts, kind == "information", rng)
    cols = starting_labels(X.T.tocsr() if issparse(X) else X.T, K[1], n_starts, kind == "information", rng)
    return _moved(X, coclusters(X, rows, cols, kind, K, max_iter), K, kind, max_iter, rng)


def _moved(
    X: Any, found: Coclusters, K: tuple[int, int], kind: str, max_iter: int, rng: np.random.Generator
) -> Coclusters:
    """Return what moves lead to while they help: a cluster is split at random, and two others merge."""
    while True:
        new_rows = split_and_merge(found.rows, losses_of_mergers(kind, found.sums, found.n_rows, found.n_cols), rng)
        new_cols = split_and_merge(found.cols, losses_of_mergers(kind, found.sums.T, found.n_cols, found.n_rows), rng)
        starts = [(rows, found.cols) for rows in new_rows] + [(found.rows, cols) for cols in new_cols]
        if not starts:
            return found
        rows, cols = (np.array(labels) for labels in zip(*starts, strict=True))
        moved = coclusters(X, rows, cols, kind, K, max_iter)
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
    sizes = np.bincount(labels, minlength=K)
    empty = np.flatnonzero(sizes == 0)
    moved = []
    for cluster in np.flatnonzero(sizes > 1):
        new = labels.copy()
        if len(empty):
            free = empty[0]
        else:
            others = np.delete(np.arange(K), cluster)
            if len(others) < 2:
                continue
            among = losses[np.ix_(others, others)] + np.where(np.tri(len(others), dtype=bool), np.inf, 0.0)
            kept, free = others[list(divmod(int(among.argmin()), len(others)))]
            new[labels == free] = kept
        members = rng.permutation(np.flatnonzero(labels == cluster))
        new[members[: len(members) // 2]] = free
        moved.append(new)
    return moved


def chosen_blocks(found: Coclusters, rank: Values, most: int | None) -> list[Pair]:
    """Return the `most` blocks of highest rank, or all in order of labels for None; empty ones are left out."""
    order = np.arange(rank.size) if most is None else np.argsort(-rank, axis=None, kind="stable")
    filled = np.outer(found.n_rows, found.n_cols).ravel() > 0
    blocks = [divmod(block, rank.shape[1]) for block in order[filled[order]][:most].tolist()]
    return [((found.rows == r).nonzero()[0], (found.cols == c).nonzero()[0]) for r, c in blocks]
