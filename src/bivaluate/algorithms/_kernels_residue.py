"""Sums and residues of a block, for Cheng and Church's algorithm.

Promise of the caller: `Xt` is the transposed matrix (columns x rows), float64, C-contiguous, finite and roughly
centred, so that sums of squares lose nothing that the tie tolerance would not swallow.

Inside, `Bt` is the current block, transposed like `Xt`, `n` and `m` count its rows and columns, u_i is row i minus
its mean and g the mean of all u_i. The residues of row i are u_i - g, so their sum of squares is
|u_i|^2 - 2 x_i.g + |g|^2: one product of the row with g.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import kernel

ROW_BLOCK = 1024


@kernel
def take(Bt: Any, cols: Any, rows: Any) -> Any:
    """Return the block of these columns and rows."""
    out = np.empty((len(cols), len(rows)))
    for j in range(len(cols)):
        source = Bt[cols[j]]
        target = out[j]
        for i in range(len(rows)):
            target[i] = source[rows[i]]
    return out


@kernel
def row_products(Bt: Any, weights: Any, out: Any) -> None:
    """Fill the product of each row with `weights` (one per column; a weight of 0 skips the column)."""
    m, n = Bt.shape
    out[:] = 0.0
    for start in range(0, n, ROW_BLOCK):
        part = out[start : start + ROW_BLOCK]
        for j in range(m):
            w = weights[j]
            if w != 0.0:
                column = Bt[j, start : start + ROW_BLOCK]
                for i in range(len(part)):
                    part[i] += w * column[i]


@kernel
def column_product(column: Any, weights: Any) -> float:
    """Return the product of a column with `weights`, one per row."""
    total = 0.0
    for i in range(len(column)):
        total += column[i] * weights[i]
    return total


@kernel
def sums_of(Bt: Any, row_sum: Any, row_square: Any, col_sum: Any, col_square: Any) -> None:
    """Fill sums and sums of squares of all rows and columns."""
    m, n = Bt.shape
    row_sum[:] = 0.0
    row_square[:] = 0.0
    col_sum[:] = 0.0
    col_square[:] = 0.0
    for start in range(0, n, ROW_BLOCK):
        sums = row_sum[start : start + ROW_BLOCK]
        squares = row_square[start : start + ROW_BLOCK]
        for j in range(m):
            column = Bt[j, start : start + ROW_BLOCK]
            total = 0.0
            square = 0.0
            for i in range(len(column)):
                x = column[i]
                sums[i] += x
                squares[i] += x * x
                total += x
                square += x * x
            col_sum[j] += total
            col_square[j] += square


@kernel
def pattern_of(sums: Any, alive: Any, count: int, other: int, g: Any) -> float:
    """Fill g, the means (sums / other) minus their mean over the `count` alive; 0 elsewhere. Return |g|^2."""
    mean = 0.0
    for i in range(len(sums)):
        mean += alive[i] * sums[i]
    mean /= count * other
    square = 0.0
    for i in range(len(sums)):
        g[i] = alive[i] * (sums[i] / other - mean)
        square += g[i] * g[i]
    return square


@kernel
def squares_of(square: Any, sums: Any, product: Any, other: int, pattern: float, alive: Any, out: Any) -> float:
    """Fill the sum of squared residues of each row (or column), -1 for the deleted; return the total."""
    total = 0.0
    inverse = 1.0 / other
    for i in range(len(square)):
        value = square[i] - sums[i] * sums[i] * inverse - 2.0 * product[i] + pattern
        value = alive[i] * max(value, 0.0)
        total += value
        out[i] = value + alive[i] - 1.0
    return total


@kernel
def positions(alive: Any) -> Any:
    """Return where `alive` is not 0."""
    out = np.empty(len(alive), np.int64)
    count = 0
    for i in range(len(alive)):
        if alive[i] != 0.0:
            out[count] = i
            count += 1
    return out[:count].copy()
