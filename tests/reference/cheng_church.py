"""Naive twin of Cheng and Church's algorithm: every residue afresh, straight from the definitions.

Tie rule: residues that differ by at most `tie` are equal; among equals rows go before columns and low indices
before high ones; a residue equal to a threshold does not exceed it.
"""

import numpy as np


def residues(A):
    """H of the block, and the mean squared residue of each of its rows and columns."""
    residue = A - A.mean(axis=1)[:, None] - A.mean(axis=0) + A.mean()
    squared = residue**2
    return squared.mean(), squared.mean(axis=1), squared.mean(axis=0)


def delete_many(X, rows, cols, delta, factor, columns_too, tie):
    """Multiple node deletion."""
    while True:
        H, of_rows, _ = residues(X[np.ix_(rows, cols)])
        if delta + tie >= H:
            return rows, cols
        fewer = rows[of_rows <= factor * H + tie]
        narrower = cols
        if columns_too:
            H, _, of_cols = residues(X[np.ix_(fewer, cols)])
            narrower = cols[of_cols <= factor * H + tie]
        if len(fewer) == len(rows) and len(narrower) == len(cols):
            return rows, cols
        rows, cols = fewer, narrower


def delete_single(X, rows, cols, delta, tie):
    """Single node deletion."""
    while True:
        H, of_rows, of_cols = residues(X[np.ix_(rows, cols)])
        if delta + tie >= H:
            return rows, cols
        if of_rows.max() >= of_cols.max() - tie:
            rows = np.delete(rows, np.flatnonzero(of_rows >= of_rows.max() - tie)[0])
        else:
            cols = np.delete(cols, np.flatnonzero(of_cols >= of_cols.max() - tie)[0])


def add_nodes(X, rows, cols, inverted, tie):
    """Node addition, with mirrored rows if `inverted`."""
    while True:
        before = len(rows), len(cols)
        A = X[np.ix_(rows, cols)]
        H, _, _ = residues(A)
        wide = X[rows]
        fit = ((wide - A.mean(axis=1)[:, None] - wide.mean(axis=0) + A.mean()) ** 2).mean(axis=0)
        cols = np.union1d(cols, np.flatnonzero(fit <= H + tie))
        A = X[np.ix_(rows, cols)]
        H, _, _ = residues(A)
        tall = X[:, cols]
        of_rows = tall.mean(axis=1)[:, None]
        fit = ((tall - of_rows - A.mean(axis=0) + A.mean()) ** 2).mean(axis=1)
        if inverted:
            mirrored = ((of_rows - tall - A.mean(axis=0) + A.mean()) ** 2).mean(axis=1)
            fit = np.minimum(fit, mirrored)
        rows = np.union1d(rows, np.flatnonzero(fit <= H + tie))
        if (len(rows), len(cols)) == before:
            return rows, cols


def cheng_church(X, n_biclusters, seed, delta=None, factor=1.2, min_columns=100, inverted=True):
    """The biclusters as pairs of index arrays."""
    X = np.array(X, dtype=float)
    low, high = X.min(), X.max()
    tie = 1e-11 * (high - low) ** 2
    delta = (high - low) ** 2 / 12 * 0.005 if delta is None else delta
    rng = np.random.RandomState(seed)
    found = []
    for _ in range(n_biclusters if low < high else 1):
        rows, cols = np.arange(X.shape[0]), np.arange(X.shape[1])
        rows, cols = delete_many(X, rows, cols, delta, factor, X.shape[1] >= min_columns, tie)
        rows, cols = delete_single(X, rows, cols, delta, tie)
        rows, cols = add_nodes(X, rows, cols, inverted, tie)
        found.append((rows, cols))
        X[np.ix_(rows, cols)] = rng.uniform(low, high, (len(rows), len(cols)))
    return found
