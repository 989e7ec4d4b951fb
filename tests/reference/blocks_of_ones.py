"""Naive twins of the searches for blocks of ones: every pair of rows, every set of columns."""

import itertools

import numpy as np


def split_rows(X):
    """Each row in two groups with the smallest squares within; True for the upper one."""
    ones = np.zeros(X.shape, bool)
    for i, row in enumerate(X):
        best = np.inf
        for threshold in np.unique(row)[:-1]:
            low, high = row[row <= threshold], row[row > threshold]
            within = ((low - low.mean()) ** 2).sum() + ((high - high.mean()) ** 2).sum()
            if within < best - 1e-9:
                best, ones[i] = within, row > threshold
    return ones


def bibit(ones, min_rows, min_columns):
    """The biclusters of BiBit as a set of (rows, columns)."""
    found = set()
    for i, j in itertools.combinations(range(len(ones)), 2):
        cols = [c for c in range(ones.shape[1]) if ones[i, c] and ones[j, c]]
        rows = [r for r in range(len(ones)) if all(ones[r, c] for c in cols)]
        if len(cols) >= min_columns and len(rows) >= min_rows:
            found.add((tuple(rows), tuple(cols)))
    return found


def bimax(ones, min_rows, min_columns):
    """The inclusion-maximal blocks of ones as a set of (rows, columns)."""
    found = set()
    m = ones.shape[1]
    for size in range(1, m + 1):
        for chosen in itertools.combinations(range(m), size):
            rows = np.flatnonzero(ones[:, chosen].all(axis=1))
            if len(rows) >= min_rows:
                cols = np.flatnonzero(ones[rows].all(axis=0))
                if len(cols) >= min_columns:
                    found.add((tuple(rows.tolist()), tuple(cols.tolist())))
    return found
