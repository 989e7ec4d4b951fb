"""What co-clustering into blocks shares: a label for every row and column, sums of blocks, taking turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bivaluate.algorithms._estimator import Pair, Values

Labels = NDArray[np.int64]
# A start ends when a round adds less than this share to what the blocks keep.
TOLERANCE = 1e-10
# Cells of one table of all starts together.
MOST_CELLS = 1 << 24
# A table is brought up to date from the lines that changed while they are at most this share.
FEW = 0.5
SMALLEST = 1e-300


class Coclusters(NamedTuple):
    """Labels of rows and columns; the sum of each block, the number of its cells and what it keeps of the matrix."""

    rows: Labels
    cols: Labels
    sums: Values
    sizes: Values
    kept: Values


class Criterion(NamedTuple):
    """How blocks are judged: what each keeps, and the costs of giving a line a label.

    ``kept(sums, n_rows, n_cols)`` has a number for each block; ``costs(sums, n_own, n_other)`` returns (fixed, weights)
    such that a line with sums P over the labels of the other side costs fixed[r] + P · weights[r] under the label r.
    """

    kept: Callable[[Values, Values, Values], Values]
    costs: Callable[[Values, Values, Values], tuple[Values, Values]]


def starting_labels(X: Any, K: int, n_starts: int, profiles: bool, rng: np.random.RandomState) -> Labels:
    """Return labels of the lines of `X` for every start.

    Half of the starts gather what is nearest to random lines, which suits dense blocks; the others are random, each
    label as often as any other, which suits rows that have few cells in common.
    """
    near = nearest_labels(X, K, n_starts - n_starts // 2, profiles, rng)
    shuffled = [rng.permutation(np.arange(X.shape[0]) % K) for _ in range(n_starts // 2)]
    return np.vstack([near, *shuffled])


def nearest_labels(X: Any, K: int, n_starts: int, profiles: bool, rng: np.random.RandomState) -> Labels:
    """Return, for every start, which of K random lines of `X` each line is nearest to.

    Nearest by the sum of squared differences; with `profiles` of lines scaled to length 1. As in k-means++, a line is
    drawn with a chance in proportion to its squared distance from those drawn before.
    """
    n = X.shape[0]
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if issparse(X) else np.einsum("ij,ij->i", X, X)
    scale = 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0)) if profiles else np.ones(n)
    squares = squares * scale**2
    least, labels = np.full((n_starts, n), np.inf), np.zeros((n_starts, n), dtype=np.int64)
    drawn = rng.randint(n, size=n_starts)
    for k in range(K):
        centres = X[drawn].toarray() if issparse(X) else X[drawn]
        # distance[s, i] = ((X[i] - X[drawn[s]])**2).sum(), lines scaled
        distance = np.asarray(X @ centres.T).T * scale * (-2.0 * scale[drawn])[:, np.newaxis]
        distance += squares + squares[drawn][:, np.newaxis]
        distance[distance < 1e-12 * (squares.max() + SMALLEST)] = 0.0
        labels[distance < least] = k
        least = np.minimum(least, distance)
        chance = np.cumsum(np.where(least.sum(axis=1, keepdims=True) > 0, least, 1.0), axis=1)
        draw = rng.random_sample(n_starts) * chance[:, -1]
        drawn = np.array([np.searchsorted(line, x, side="right") for line, x in zip(chance, draw, strict=True)])
        drawn = np.minimum(drawn, n - 1)
    return labels


def coclusters(
    X: Any, rows: Labels, cols: Labels, criterion: Criterion, K: tuple[int, int], max_iter: int
) -> Coclusters:
    """Return the co-clusters that keep most of `X`, from starts (one line each) that take turns in rows and columns."""
    size = max(1, MOST_CELLS // (max(X.shape) * max(K)))
    Xt = X.T.tocsr() if issparse(X) else np.ascontiguousarray(X.T)
    parts = [slice(first, first + size) for first in range(0, len(rows), size)]
    found = [_alternate(X, Xt, rows[part], cols[part], criterion, K, max_iter) for part in parts]
    return max(found, key=lambda coclusters: float(coclusters.kept.sum()))


def _alternate(
    X: Any, Xt: Any, rows: Labels, cols: Labels, criterion: Criterion, K: tuple[int, int], max_iter: int
) -> Coclusters:
    """Return the best of these starts, which advance together; each leaves when it no longer improves."""
    over_rows, over_cols = Sums(Xt, X, rows, K[0]), Sums(X, Xt, cols, K[1])
    n_rows, n_cols = count(rows, K[0]), count(cols, K[1])
    blocks = over_cols.blocks(rows, K[0])
    total = np.full(len(rows), -np.inf)
    best, most = None, -np.inf
    for _ in range(max_iter):
        rows = relabelled(over_cols.table, blocks, n_rows, n_cols, criterion)
        n_rows = count(rows, K[0])
        over_rows.follow(rows)
        cols = relabelled(over_rows.table, over_rows.blocks(cols, K[1]), n_cols, n_rows, criterion)
        n_cols = count(cols, K[1])
        over_cols.follow(cols)
        blocks = over_cols.blocks(rows, K[0])
        kept = criterion.kept(blocks, n_rows, n_cols)
        now = kept.sum(axis=(1, 2))
        top = int(np.argmax(now))
        if now[top] > most:
            sizes = np.outer(n_rows[top], n_cols[top])
            best, most = Coclusters(rows[top], cols[top], blocks[top], sizes, kept[top]), now[top]
        on = now - total > TOLERANCE * np.abs(now)
        if not on.any():
            break
        total = now
        if not on.all():
            rows, cols, n_rows, n_cols, blocks, total = (a[on] for a in (rows, cols, n_rows, n_cols, blocks, total))
            over_rows.keep(on)
            over_cols.keep(on)
    assert best is not None
    return best


class Sums:
    """The sums of the lines of `X` over the labels of the other side, of shape (starts, labels, lines)."""

    def __init__(self, X: Any, Xt: Any, labels: Labels, K: int) -> None:
        self.X, self.Xt, self.labels, self.K = X, Xt, labels, K
        self.table = self._product(Xt, labels)

    def _product(self, Xt: Any, labels: Labels) -> Values:
        # table[s] = (X @ onehot(labels[s])).T
        W = indicator(labels, self.K)
        product = np.ascontiguousarray((Xt.T @ W.T).T) if issparse(Xt) else W @ Xt
        return np.asarray(product).reshape(len(labels), self.K, -1)

    def follow(self, labels: Labels) -> None:
        """Bring the sums up to date with new labels: from the lines that changed, where they are few."""
        changed = labels != self.labels
        many = changed.sum(axis=1) > FEW * labels.shape[1]
        if many.any():
            self.table[many] = self._product(self.Xt, labels[many])
        for s in np.flatnonzero(changed.any(axis=1) & ~many):
            which = np.flatnonzero(changed[s])
            difference = indicator(labels[[s]][:, which], self.K) - indicator(self.labels[[s]][:, which], self.K)
            lines = self.Xt[which]
            self.table[s] += (lines.T @ difference.T).T if issparse(lines) else difference @ lines
        self.labels = labels

    def keep(self, on: NDArray[np.bool_]) -> None:
        """Go on with some of the starts only."""
        self.labels, self.table = self.labels[on], self.table[on]

    def blocks(self, labels: Labels, K: int) -> Values:
        """Return the sums of blocks, of shape (starts, own labels, labels of the other side)."""
        own = indicator(labels, K).reshape(len(labels), K, -1)
        return np.asarray(np.matmul(own, self.table.transpose(0, 2, 1)))


def indicator(labels: Labels, K: int) -> Values:
    """Return a line for each label of each start, with 1 where it is the label."""
    table = np.equal(labels[:, np.newaxis, :], np.arange(K)[:, np.newaxis])
    return table.reshape(-1, labels.shape[1]).astype(np.float64)


def count(labels: Labels, K: int) -> Values:
    """Return how many lines have each label, for each start."""
    shifted = labels + K * np.arange(len(labels))[:, np.newaxis]
    return np.bincount(shifted.ravel(), minlength=K * len(labels)).reshape(-1, K).astype(np.float64)


def relabelled(table: Values, blocks: Values, n_own: Values, n_other: Values, criterion: Criterion) -> Labels:
    """Return the label of lowest cost for every line, the first among equals; empty labels stay empty."""
    fixed, weights = criterion.costs(blocks, n_own, n_other)
    # cost[i, r] = fixed[r] + sum over c of weights[r, c] * P[i, c]
    cost = np.matmul(weights, table)
    cost += np.where(n_own > 0, fixed, np.inf)[:, :, np.newaxis]
    # cost.argmin(axis=1)
    lowest, labels = cost[:, 0], np.zeros((len(cost), cost.shape[2]), dtype=np.int64)
    for r in range(1, cost.shape[1]):
        labels[cost[:, r] < lowest] = r
        lowest = np.minimum(lowest, cost[:, r])
    return labels


def log(values: Values) -> Values:
    """Return the logarithm, and that of the smallest number for 0: a cell in a block of zeros costs much, never ∞."""
    return np.asarray(np.log(np.maximum(values, SMALLEST)))


def chosen_blocks(found: Coclusters, rank: Values, most: int | None) -> list[Pair]:
    """Return the `most` blocks of highest rank, or all in order of labels for None; empty ones are left out."""
    blocks = np.argwhere(found.sizes > 0)
    if most is not None:
        blocks = blocks[np.argsort(-rank[tuple(blocks.T)], kind="stable")[:most]]
    return [(np.flatnonzero(found.rows == r), np.flatnonzero(found.cols == c)) for r, c in blocks]
