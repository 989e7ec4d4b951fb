"""VE and MSR of biclusters and their mergers by the formula, one after the other: for what two passes are too much.

Promise of the caller: `X` are (flat, origin, row_stride, col_stride), an array of any memory order whose cell (i, j) is
``flat[origin + i * row_stride + j * col_stride]``; masks have a line per bicluster. A block whose digits need care (see
`bivaluate.measures._blocks.block_values`) gets NaN, and is computed there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import inner_kernel, keep_apart, kernel
from bivaluate.measures._blocks import HUGE, SMALL_RESIDUE, SMALL_SPREAD, TINY


@inner_kernel
def united(masks: Any, k: int, other: int, members: Any) -> int:
    """Fill the members of two masks together; return their number."""
    # members[:count] = np.flatnonzero(masks[k] | masks[other])
    count = 0
    for i in range(masks.shape[1]):
        members[count] = i
        count += masks[k, i] | masks[other, i]
    return count


@inner_kernel
def errors_of(X: Any, rows: Any, cols: Any, Y: Any, pattern: Any, spread: Any) -> tuple[float, float]:
    """Return VE and MSR of one block; NaN where its digits need care, or it has one row or one column."""
    keep_apart()
    flat, origin, row_stride, col_stride = X
    r, c = len(rows), len(cols)
    if r == 1 or c == 1:
        return math.nan, math.nan
    pattern[:c] = 0.0
    largest, least, total = 0.0, np.inf, 0.0  # largest: of the squared norms of rows, which no cell is beyond
    for i in range(r):
        # Y[i] = A[i] - A[i].mean(); variance = (Y[i] ** 2).mean(); pattern = Y.mean(axis=0)
        start, centred = origin + rows[i] * row_stride, Y[i]
        mean = 0.0
        for j in range(c):
            x = flat[start + cols[j] * col_stride]
            centred[j] = x
            mean += x
        mean /= c
        square = 0.0
        for j in range(c):
            centred[j] -= mean
            square += centred[j] * centred[j]
            pattern[j] += centred[j]
        square /= c
        least, total = min(least, square), total + square
        largest = max(largest, c * (square + mean * mean))
        spread[i] = 1.0 / math.sqrt(square)
    variance = 0.0
    for j in range(c):
        pattern[j] /= r
        variance += pattern[j] * pattern[j]
    variance /= c
    residue, floor = total / r - variance, SMALL_SPREAD**2 * largest
    safe = TINY**2 < largest < HUGE**2 and least > floor and variance > floor
    if not (safe and residue > SMALL_RESIDUE * (residue + variance)):
        return math.nan, math.nan
    # np.abs(Y / sqrt(variances)[:, None] - pattern / sqrt(variance)).mean()
    scale = 1.0 / math.sqrt(variance)
    error = 0.0
    for i in range(r):
        own, centred = spread[i], Y[i]
        for j in range(c):
            error += abs(centred[j] * own - pattern[j] * scale)
    return error / (r * c), residue


@kernel
def errors_of_all(X: Any, row_masks: Any, col_masks: Any, ve: Any, msr: Any) -> None:
    """Fill VE and MSR of all mergers, K x K; the biclusters are on the diagonal."""
    n, m = row_masks.shape[1], col_masks.shape[1]
    rows, cols = np.empty(n + 1, np.int64), np.empty(m + 1, np.int64)
    pattern, spread, Y = np.empty(m), np.empty(n), np.empty((0, 0))
    for k in range(len(ve)):
        for other in range(k + 1):
            r, c = united(row_masks, k, other, rows), united(col_masks, k, other, cols)
            Y = room_for(Y, r, c)
            ve[k, other], msr[k, other] = errors_of(X, rows[:r], cols[:c], Y, pattern, spread)
            ve[other, k], msr[other, k] = ve[k, other], msr[k, other]


@kernel
def errors_of_each(X: Any, row_masks: Any, col_masks: Any, ve: Any, msr: Any) -> None:
    """Fill VE and MSR of the biclusters alone."""
    n, m = row_masks.shape[1], col_masks.shape[1]
    rows, cols = np.empty(n + 1, np.int64), np.empty(m + 1, np.int64)
    pattern, spread, Y = np.empty(m), np.empty(n), np.empty((0, 0))
    for k in range(len(ve)):
        r, c = united(row_masks, k, k, rows), united(col_masks, k, k, cols)
        Y = room_for(Y, r, c)
        ve[k], msr[k] = errors_of(X, rows[:r], cols[:c], Y, pattern, spread)


@kernel
def errors_of_one(X: Any, row_masks: Any, col_masks: Any, k: int, others: Any, errors: Any) -> None:
    """Fill VE of the mergers of bicluster `k` with the others."""
    n, m = row_masks.shape[1], col_masks.shape[1]
    rows, cols = np.empty(n + 1, np.int64), np.empty(m + 1, np.int64)
    pattern, spread, Y = np.empty(m), np.empty(n), np.empty((0, 0))
    for at in range(len(others)):
        r, c = united(row_masks, k, others[at], rows), united(col_masks, k, others[at], cols)
        Y = room_for(Y, r, c)
        errors[at] = errors_of(X, rows[:r], cols[:c], Y, pattern, spread)[0]


@inner_kernel
def room_for(Y: Any, r: int, c: int) -> Any:
    """Return an array of at least so many rows and columns, the same where it is large enough."""
    if r > Y.shape[0] or c > Y.shape[1]:
        return np.empty((max(r, Y.shape[0]), max(c, Y.shape[1])))
    return Y
