"""Residues and single node deletion of Cheng and Church.

Promise of the caller: `B` is float64, C-contiguous, finite and roughly centred, so that sums of squares lose nothing
that the tie tolerance would not swallow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import kernel


@kernel
def residues_of(B: Any) -> Any:
    """Return the mean squared residue of each row."""
    # ((B - B.mean(axis=1, keepdims=True) - B.mean(axis=0) + B.mean()) ** 2).mean(axis=1)
    n, m = B.shape
    g, residues, mean, square = np.zeros(m), np.empty(n), 0.0, 0.0
    for i in range(n):
        for j in range(m):
            g[j] += B[i, j]
    for j in range(m):
        mean += g[j] / (n * m)
    for j in range(m):
        g[j] = g[j] / n - mean
        square += g[j] * g[j]
    for i in range(n):
        total, squares, product = 0.0, 0.0, 0.0
        for j in range(m):
            total += B[i, j]
            squares += B[i, j] * B[i, j]
            product += B[i, j] * g[j]
        residues[i] = max((squares - total * total / m - 2.0 * product + square) / m, 0.0)
    return residues


@kernel
def delete_single(B: Any, delta: float, tie: float) -> Any:
    """Delete the worst row or column until H <= delta; return 1 for each row and column that is left, else 0.

    With u_i a row minus its mean and g the mean of all u_i, the residues of row i are u_i - g, so their sum of squares
    is |u_i|^2 - 2 x_i.g + |g|^2; columns likewise.
    """
    n_slots, m_slots = B.shape
    n, m = n_slots, m_slots
    rows, cols = np.ones(n), np.ones(m)
    row_sum, row_square, of_rows = np.zeros(n), np.zeros(n), np.empty(n)
    col_sum, col_square, of_cols, g = np.zeros(m), np.zeros(m), np.empty(m), np.empty(m)
    for i in range(n):
        for j in range(m):
            x = B[i, j]
            row_sum[i] += x
            row_square[i] += x * x
            col_sum[j] += x
            col_square[j] += x * x
    while True:
        mean, square = 0.0, 0.0
        for i in range(n_slots):
            mean += rows[i] * row_sum[i] / (n * m)
        for j in range(m_slots):
            g[j] = cols[j] * (col_sum[j] / n - mean)
            square += g[j] * g[j]
            of_cols[j] = 0.0
        total, levels, worst_row, worst_col = 0.0, 0.0, -1.0, -1.0
        for i in range(n_slots):
            of_rows[i] = -1.0
            if rows[i] > 0.0:
                level, product = row_sum[i] / m - mean, 0.0
                for j in range(m_slots):
                    product += B[i, j] * g[j]
                    of_cols[j] += B[i, j] * level
                levels += level * level
                of_rows[i] = max((row_square[i] - row_sum[i] ** 2 / m - 2.0 * product + square) / m, 0.0)
                total += of_rows[i]
                worst_row = max(worst_row, of_rows[i])
        if delta + tie >= total / n:
            return rows, cols
        for j in range(m_slots):
            residue = max((col_square[j] - col_sum[j] ** 2 / n - 2.0 * of_cols[j] + levels) / n, 0.0)
            of_cols[j] = residue if cols[j] > 0.0 else -1.0
            worst_col = max(worst_col, of_cols[j])
        i, j = 0, 0
        if worst_row + tie >= worst_col:
            while of_rows[i] < worst_row - tie:
                i += 1
            rows[i] = 0.0
            n -= 1
            for j in range(m_slots):
                col_sum[j] -= B[i, j]
                col_square[j] -= B[i, j] ** 2
        else:
            while of_cols[j] < worst_col - tie:
                j += 1
            cols[j] = 0.0
            m -= 1
            for i in range(n_slots):
                row_sum[i] -= B[i, j]
                row_square[i] -= B[i, j] ** 2
