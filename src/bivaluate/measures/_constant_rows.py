"""Rows that hold one value only, in biclusters and in their mergers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bivaluate.solution import Biclustering

TOLERANCE = 32 * np.finfo(np.float64).eps


def is_constant_row(A: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Rows whose spread is at most 32·eps·max|x|; missing cells are passed over.

    >>> is_constant_row(np.array([[0.1, 0.1, 0.1], [1.0, 2.0, 3.0]]))
    array([ True, False])
    """
    return _is_constant(np.fmin.reduce(A, axis=1), np.fmax.reduce(A, axis=1))


def constant_row_counts(X: NDArray[np.float64], solution: Biclustering) -> NDArray[np.int64]:
    """Number of constant rows of every super-bicluster, K x K; the diagonal holds the biclusters.

    A row of B_k that is constant over the union of columns is constant over the columns of B_k, so only the
    constant rows of the biclusters themselves are looked at again. Every row of a one-column bicluster is constant;
    its mergers are not looked at (0).
    """
    constant = _constant_members(X, solution)
    sizes = np.array([len(rows) for rows in constant], dtype=np.int64)
    looked_at = [k for k, b in enumerate(solution) if len(b.cols) > 1 and sizes[k]]
    counts = np.diag(sizes)
    if not looked_at:
        return counts
    candidates = np.unique(np.concatenate([constant[k] for k in looked_at]))
    low = np.stack([np.fmin.reduce(X[np.ix_(candidates, b.cols)], axis=1) for b in solution])
    high = np.stack([np.fmax.reduce(X[np.ix_(candidates, b.cols)], axis=1) for b in solution])
    member = np.stack([np.isin(candidates, b.rows, assume_unique=True) for b in solution])
    own = np.zeros(counts.shape, dtype=np.int64)
    in_both = np.zeros(counts.shape, dtype=np.int64)
    for k in looked_at:
        at = np.searchsorted(candidates, constant[k])
        still = _is_constant(np.fmin(low[k, at], low[:, at]), np.fmax(high[k, at], high[:, at]))
        own[k], in_both[k] = still.sum(axis=1), (still & member[:, at]).sum(axis=1)
    pairs = own + own.T - np.maximum(in_both, in_both.T)
    one_column = np.array([len(b.cols) == 1 for b in solution])
    pairs[one_column] = pairs[:, one_column] = 0
    np.fill_diagonal(pairs, sizes)
    return np.asarray(pairs)


def _constant_members(X: NDArray[np.float64], solution: Biclustering) -> list[NDArray[np.int64]]:
    """Return the constant rows of each bicluster; most are ruled out by two of their cells."""
    if not len(solution):
        return []
    rows = np.concatenate([b.rows for b in solution])
    sizes = [len(b.rows) for b in solution]
    first, last = (X[rows, np.repeat([b.cols[end] for b in solution], sizes)] for end in (0, -1))
    bound = 1.001 * TOLERANCE * np.fmax(np.abs(first), np.abs(last))
    possible = np.split(~(np.abs(first - last) > bound), np.cumsum(sizes)[:-1])
    return [
        b.rows[kept][is_constant_row(X[np.ix_(b.rows[kept], b.cols)])] if kept.any() else b.rows[:0]
        for b, kept in zip(solution, possible, strict=True)
    ]


def _is_constant(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(~(high - low > TOLERANCE * np.fmax(np.abs(low), np.abs(high))))
