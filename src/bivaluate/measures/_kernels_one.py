"""VE of the mergers of one bicluster with others, by the formula, one after the other.

Promise of the caller: `X` is float64 and C-contiguous; masks have a line per bicluster. A merger whose digits need care
(see `bivaluate.measures._blocks.block_values`) gets NaN, and is computed there.
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
def virtual_error_of(X: Any, rows: Any, cols: Any, Y: Any, pattern: Any, spread: Any) -> float:
    """Return VE of one block with two rows and two columns or more; NaN where its digits need care."""
    keep_apart()
    r, c = len(rows), len(cols)
    pattern[:c] = 0.0
    largest, least, total = 0.0, np.inf, 0.0
    for i in range(r):
        # Y[i] = A[i] - A[i].mean(); variance = (Y[i] ** 2).mean(); pattern = Y.mean(axis=0)
        line, centred = X[rows[i]], Y[i]
        mean = 0.0
        for j in range(c):
            x = line[cols[j]]
            centred[j] = x
            mean += x
            largest = max(largest, abs(x))
        mean /= c
        square = 0.0
        for j in range(c):
            centred[j] -= mean
            square += centred[j] * centred[j]
            pattern[j] += centred[j]
        square /= c
        least, total = min(least, square), total + square
        spread[i] = 1.0 / math.sqrt(square)
    variance = 0.0
    for j in range(c):
        pattern[j] /= r
        variance += pattern[j] * pattern[j]
    variance /= c
    residue, floor = total / r - variance, (SMALL_SPREAD * largest) ** 2
    safe = TINY < largest < HUGE and least > floor and variance > floor
    if not (safe and residue > SMALL_RESIDUE * (residue + variance)):
        return math.nan
    # np.abs(Y / sqrt(variances)[:, None] - pattern / sqrt(variance)).mean()
    scale = 1.0 / math.sqrt(variance)
    error = 0.0
    for i in range(r):
        own, centred = spread[i], Y[i]
        for j in range(c):
            error += abs(centred[j] * own - pattern[j] * scale)
    return error / (r * c)


@kernel
def errors_of_one(X: Any, row_masks: Any, col_masks: Any, k: int, others: Any, errors: Any) -> None:
    """Fill VE of the mergers of bicluster `k` with the others."""
    n, m = X.shape
    rows, cols = np.empty(n + 1, np.int64), np.empty(m + 1, np.int64)
    pattern, spread, Y = np.empty(m), np.empty(n), np.empty((0, 0))
    for at in range(len(others)):
        r, c = united(row_masks, k, others[at], rows), united(col_masks, k, others[at], cols)
        if r > Y.shape[0] or c > Y.shape[1]:
            Y = np.empty((max(r, Y.shape[0]), max(c, Y.shape[1])))
        errors[at] = virtual_error_of(X, rows[:r], cols[:c], Y, pattern, spread) if r > 1 and c > 1 else 0.0
