"""Naive twin of a layer of the plaid model: every cell of every row and column, one after another."""

import numpy as np


def effects(Z, rows, cols):
    """Mean, row effects and column effects of a block; 0 outside."""
    block = Z[np.ix_(rows, cols)]
    alpha, beta = np.zeros(Z.shape[0]), np.zeros(Z.shape[1])
    alpha[rows] = block.mean(axis=1) - block.mean()
    beta[cols] = block.mean(axis=0) - block.mean()
    return block.mean(), alpha, beta


def members(Z, rows, cols, release):
    """Rows that the layer explains well enough."""
    mu, alpha, beta = effects(Z, rows, cols)
    kept = []
    for i in range(Z.shape[0]):
        left = sum((Z[i, j] - mu - alpha[i] - beta[j]) ** 2 for j in cols)
        if left < (1 - release) * sum(Z[i, j] ** 2 for j in cols):
            kept.append(i)
    return np.array(kept, dtype=int)


def layer(Z, rows, cols, release, n_iterations):
    """Members of the layer that grows from these, or None."""
    for iteration in range(n_iterations):
        row_release, col_release = release if iteration >= n_iterations // 2 else (0.0, 0.0)
        rows = members(Z, rows, cols, row_release)
        if len(rows) == 0:
            return None
        cols = members(Z.T, cols, rows, col_release)
        if len(cols) == 0:
            return None
    return rows, cols


def two_means(Z, first, second, rounds=30):
    """The smaller of two groups of rows from pairs of starting rows, by the least squares within groups."""
    best, least = None, np.inf
    for i, j in zip(first, second, strict=True):
        a, b, before = Z[i], Z[j], None
        for _ in range(rounds):
            in_a = np.array([((z - a) ** 2).sum() < ((z - b) ** 2).sum() for z in Z])
            if before is not None and np.array_equal(in_a, before):
                break
            before = in_a
            a = Z[in_a].mean(axis=0) if in_a.any() else np.zeros_like(a)
            b = Z[~in_a].mean(axis=0) if not in_a.all() else np.zeros_like(b)
        within = ((Z[before] - a) ** 2).sum() + ((Z[~before] - b) ** 2).sum()
        if within < least - 1e-9:
            best, least = before, within
    if not best.any() or best.all():
        return np.ones(len(Z), bool)
    return best if 2 * best.sum() <= len(Z) else ~best
