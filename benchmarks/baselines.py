"""What else one would write for all mergers: a plain loop, thirty lines of careful NumPy, forty of numba.

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
    """Return forty ordinary lines of numba: masks, rows gathered once per merger, products with inverses, one buffer."""
    import numba

    @numba.njit(fastmath=True, error_model="numpy")
    def of_all(X: Floats, row_masks: NDArray[np.bool_], col_masks: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        K, (n, m) = len(row_masks), X.shape
        V, M = np.empty((K, K)), np.empty((K, K))
        A, pattern, inverse, cols = np.empty((n, m)), np.empty(m), np.empty(n), np.empty(m, np.int64)
        for k in range(K):
            for other in range(k, K):
                c = 0
                for j in range(m):
                    if col_masks[k, j] or col_masks[other, j]:
                        cols[c] = j
                        pattern[c] = 0.0
                        c += 1
                r = 0
                spread = 0.0
                for i in range(n):
                    if row_masks[k, i] or row_masks[other, i]:
                        row, values = X[i], A[r]
                        mean = 0.0
                        for j in range(c):
                            values[j] = row[cols[j]]
                            mean += values[j]
                        mean /= c
                        squares = 0.0
                        for j in range(c):
                            values[j] -= mean
                            squares += values[j] * values[j]
                            pattern[j] += values[j]
                        spread += squares / c
                        inverse[r] = 1.0 / np.sqrt(squares / c)
                        r += 1
                level = 0.0
                for j in range(c):
                    pattern[j] /= r
                    level += pattern[j] * pattern[j] / c
                scale = 1.0 / np.sqrt(level)
                for j in range(c):
                    pattern[j] *= scale
                error = 0.0
                for i in range(r):
                    for j in range(c):
                        error += abs(A[i, j] * inverse[i] - pattern[j])
                V[k, other] = V[other, k] = error / (r * c)
                M[k, other] = M[other, k] = spread / r - level
        return V, M

    def mergers(X: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
        masks = [np.zeros((len(pairs), size), dtype=np.bool_) for size in X.shape]
        for k, members in enumerate(pairs):
            for mask, chosen in zip(masks, members, strict=True):
                mask[k, chosen] = True
        return of_all(X, *masks)

    return mergers


BASELINES: dict[str, Callable[[Floats, Pairs], tuple[Floats, Floats]] | None] = {
    "a plain NumPy loop": plain_loop,
    "30 lines of vectorised NumPy": vectorised,
    "40 lines of numba": None,  # compiled when asked for
}

FIRST = next(iter(BASELINES))


def baseline(name: str) -> Callable[[Floats, Pairs], tuple[Floats, Floats]]:
    """Return a baseline by its name; a block without a pattern, where it divides by zero, is no matter here."""
    function = BASELINES[name] or plain_numba()

    def quietly(X: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return function(X, pairs)

    return quietly
