"""Naive twin of the Large Average Submatrices search: sort, sum, score every size."""

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm


def standardised(X):
    """Columns of mean 0 and standard deviation 1, constant ones 0."""
    X = np.asarray(X, dtype=float)
    out = np.zeros_like(X)
    for j in range(X.shape[1]):
        if X[:, j].max() > X[:, j].min():
            out[:, j] = (X[:, j] - X[:, j].mean()) / X[:, j].std()
    return out


def log_binomial(n, r):
    """log C(n, r)."""
    return gammaln(n + 1) - gammaln(r + 1) - gammaln(n - r + 1)


def score(X, rows, cols):
    """The LAS score of a block of standardised data."""
    n, m = X.shape
    r, c = len(rows), len(cols)
    tau = X[np.ix_(rows, cols)].mean()
    return -norm.logcdf(-tau * np.sqrt(r * c)) - log_binomial(n, r) - log_binomial(m, c)


def largest(sums, k):
    """Indices of the k largest sums, lower index first among equals."""
    return np.sort(np.argsort(-sums, kind="stable")[:k])


def constrained_search(X, k, l, start):  # noqa: E741
    """Alternate between the best k rows and the best l columns."""
    cols, average = np.sort(start[:l]), -np.inf
    while True:
        rows = largest(X[:, cols].sum(axis=1), k)
        new_cols = largest(X[rows].sum(axis=0), l)
        before, average = average, X[np.ix_(rows, new_cols)].mean()
        stop = np.array_equal(new_cols, cols) or average - before <= 1e-9
        cols = new_cols
        if stop:
            return cols


def best_size(sums, other, n_other):
    """Indices of the largest sums that score best with `other` of the `n_other` on the other side."""
    n = len(sums)
    order = np.argsort(-sums, kind="stable")
    r = np.arange(1, n + 1)
    z = np.cumsum(sums[order]) / np.sqrt(r * other)
    scores = -norm.logcdf(-z) - log_binomial(n, r) - log_binomial(n_other, other)
    size = int(np.argmax(scores)) + 1
    return np.sort(order[:size]), scores[size - 1]


def adapt_size(X, cols):
    """One round of size adaptation: (rows, new columns, score)."""
    n, m = X.shape
    rows, _ = best_size(X[:, cols].sum(axis=1), len(cols), m)
    cols, value = best_size(X[rows].sum(axis=0), len(rows), n)
    return rows, cols, value


def search(X, n_restarts, rng):
    """(score, rows, cols) of the best block from random starts drawn like the estimator's."""
    n, m = X.shape
    ks = rng.randint(1, -(-n // 2) + 1, n_restarts)
    ls = rng.randint(1, -(-m // 2) + 1, n_restarts)
    starts = rng.random_sample((n_restarts, m)).argsort(axis=1, kind="stable")
    best = (-np.inf, None, None)
    for k, width, start in zip(ks, ls, starts, strict=True):
        cols = constrained_search(X, k, width, start)
        seen = set()
        while tuple(cols) not in seen:
            seen.add(tuple(cols))
            rows, cols, value = adapt_size(X, cols)
            if value > best[0] + 1e-9:
                best = (value, rows, cols)
    return best
