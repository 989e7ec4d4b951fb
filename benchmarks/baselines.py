"""What else one would write for all mergers: a plain loop, thirty lines of careful NumPy, a plain numba loop.

None of them guards its digits or looks for constant rows: they are as quick as they can be without thinking further.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pairs = list[tuple[np.ndarray, np.ndarray]]


def plain_loop(X: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    """VE and MSR of all mergers, one after the other, as the formulas are written."""
    K = len(pairs)
    V, M = np.empty((K, K)), np.empty((K, K))
    for k in range(K):
        for other in range(k, K):
            A = X[np.ix_(np.union1d(pairs[k][0], pairs[other][0]), np.union1d(pairs[k][1], pairs[other][1]))]
            row, col = A.mean(axis=1, keepdims=True), A.mean(axis=0)
            pattern = (col - col.mean()) / col.std()
            V[k, other] = V[other, k] = np.abs((A - row) / A.std(axis=1, keepdims=True) - pattern).mean()
            M[k, other] = M[other, k] = ((A - row - col + A.mean()) ** 2).mean()
    return V, M


def vectorised(X: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    """The same with masks, no needless copy, and the residue from sums of squares: what a good engineer writes in NumPy."""
    K, (n, m) = len(pairs), X.shape
    rows, cols = np.zeros((K, n), dtype=np.bool_), np.zeros((K, m), dtype=np.bool_)
    for k, (r, c) in enumerate(pairs):
        rows[k, r] = cols[k, c] = True
    V, M = np.empty((K, K)), np.empty((K, K))
    for k in range(K):
        for other in range(k, K):
            A = X[np.flatnonzero(rows[k] | rows[other])[:, None], np.flatnonzero(cols[k] | cols[other])]
            A -= A.mean(axis=1, keepdims=True)
            squares = np.einsum("ij,ij->i", A, A)
            pattern = A.mean(axis=0)
            level = pattern @ pattern / len(pattern)
            M[k, other] = M[other, k] = squares.sum() / A.size - level
            A /= np.sqrt(squares / A.shape[1])[:, None]
            A -= pattern / np.sqrt(level)
            V[k, other] = V[other, k] = np.abs(A, out=A).mean()
    return V, M


def plain_numba() -> Callable[[Floats, Pairs], tuple[Floats, Floats]]:
    """Return the same as loops over cells, compiled by numba with fast arithmetic, and nothing thought through further."""
    import numba

    @numba.njit(fastmath=True, error_model="numpy")
    def errors(X: Floats, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> tuple[float, float]:
        r, c = len(rows), len(cols)
        A, pattern, spread = np.empty((r, c)), np.zeros(c), np.empty(r)
        for i in range(r):
            mean = 0.0
            for j in range(c):
                A[i, j] = X[rows[i], cols[j]]
                mean += A[i, j]
            mean /= c
            squares = 0.0
            for j in range(c):
                A[i, j] -= mean
                squares += A[i, j] ** 2
                pattern[j] += A[i, j]
            spread[i] = np.sqrt(squares / c)
        pattern /= r
        level = (pattern**2).mean()
        error = 0.0
        for i in range(r):
            for j in range(c):
                error += abs(A[i, j] / spread[i] - pattern[j] / np.sqrt(level))
        return error / (r * c), (spread**2).mean() - level

    def mergers(X: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
        K = len(pairs)
        V, M = np.empty((K, K)), np.empty((K, K))
        for k in range(K):
            for other in range(k, K):
                rows, cols = (np.union1d(pairs[k][side], pairs[other][side]) for side in (0, 1))
                V[k, other], M[k, other] = V[other, k], M[other, k] = errors(X, rows, cols)
        return V, M

    return mergers


BASELINES: dict[str, Callable[[Floats, Pairs], tuple[Floats, Floats]] | None] = {
    "a plain NumPy loop": plain_loop,
    "30 lines of vectorised NumPy": vectorised,
    "plain numba": None,  # compiled when asked for
}

FIRST = next(iter(BASELINES))


def baseline(name: str) -> Callable[[Floats, Pairs], tuple[Floats, Floats]]:
    """Return a baseline by its name; a block without a pattern, where it divides by zero, is no matter here."""
    function = BASELINES[name] or plain_numba()

    def quietly(X: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return function(X, pairs)

    return quietly
