"""Deletion and addition of rows and columns, of Cheng and Church.

Promise of the caller: `X` is float64, C-contiguous, finite and roughly centred, so that sums of squares lose nothing
that the tie tolerance would not swallow.

With u_i a row of the block minus its mean and g the mean of all u_i, the residues of row i are u_i - g, so their sum of
squares is |u_i|^2 - 2 x_i.g + |g|^2; columns likewise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import kernel


@kernel
def delete_nodes(X: Any, delta: float, factor: float, columns_too: bool, tie: float) -> Any:
    """Delete many nodes at a time, then the worst, until H <= delta; return 1 for each row and column left, else 0.

    The residue of a row is its squared distance to g, which grows by no more than g moves: while rows go one by one,
    only those that could be the worst are measured again.
    """
    n, m = X.shape
    row_left, col_left, B = np.zeros(n), np.zeros(m), np.empty((n, m))  # the columns left are the first m of B
    rows, row_sum, spread, of_rows = np.arange(n), np.empty(n), np.empty(n), np.zeros(n)
    cols, col_sum, col_square, of_cols = np.arange(m), np.zeros(m), np.zeros(m), np.empty(m)
    cross, g, stay = np.empty(m), np.zeros(m), np.arange(m)  # cross: sums of cells times the sum of their row
    for i in range(n):
        for j in range(m):
            B[i, j] = X[i, j]
            col_sum[j] += X[i, j]
            col_square[j] += X[i, j] ** 2
    many, by_columns, narrower, size = True, False, True, n + m
    far = 0
    while True:
        if narrower:
            for j in range(m):
                cross[j] = 0.0
            for k in range(n):
                i, total, squares = rows[k], 0.0, 0.0
                for j in range(m):
                    B[i, j] = B[i, stay[j]]
                    total += B[i, j]
                    squares += B[i, j] ** 2
                row_sum[k], spread[k] = total, squares - total * total / m
                for j in range(m):
                    cross[j] += total * B[i, j]
        mean, square, step, H, levels, worst_row, worst_col, anew = (
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            -1.0,
            -1.0,
            many or narrower,
        )
        for j in range(m):
            mean += col_sum[j] / (n * m)
        for j in range(m):
            now = col_sum[j] / n - mean
            step += (now - g[j]) ** 2 / m
            square += now * now
            g[j] = now
        for k in range(n):
            H += spread[k] / (n * m)
            levels += (row_sum[k] / m - mean) ** 2
        if delta + tie >= H - square / m and not by_columns:
            for k in range(n):
                row_left[rows[k]] = 1.0
            for j in range(m):
                col_left[cols[j]] = 1.0
            return row_left, col_left
        if not anew:
            step = np.sqrt(step)
            for k in range(n):
                of_rows[k] = (np.sqrt(of_rows[k]) + step) ** 2
        for t in range(-1, n):
            k = far if t < 0 else t
            if anew or of_rows[k] + 2.0 * tie >= worst_row:
                i, product = rows[k], 0.0
                for j in range(m):
                    product += B[i, j] * g[j]
                of_rows[k] = max((spread[k] - 2.0 * product + square) / m, 0.0)
                worst_row = max(worst_row, of_rows[k])
        for j in range(m):
            product = cross[j] / m - mean * col_sum[j]
            of_cols[j] = max((col_square[j] - col_sum[j] ** 2 / n - 2.0 * product + levels) / n, 0.0)
            worst_col = max(worst_col, of_cols[j])
        limit, worst, left, narrower = factor * (H - square / m) + tie, -1, 0, False
        if not many:
            limit, worst, by_columns = np.inf, 0, worst_row + tie < worst_col
            while (of_cols[worst] < worst_col - tie) if by_columns else (of_rows[worst] < worst_row - tie):
                worst += 1
        if by_columns:
            for j in range(m):
                if of_cols[j] <= limit and j != worst:
                    cols[left], col_sum[left], col_square[left], stay[left] = cols[j], col_sum[j], col_square[j], j
                    left += 1
            narrower, m = left < m, left
        else:
            far = 0
            for k in range(n):
                i = rows[k]
                if of_rows[k] <= limit and k != worst:
                    rows[left], row_sum[left], spread[left], of_rows[left] = i, row_sum[k], spread[k], of_rows[k]
                    far = left if of_rows[left] > of_rows[far] else far
                    left += 1
                else:
                    for j in range(m):
                        col_sum[j] -= B[i, j]
                        col_square[j] -= B[i, j] ** 2
                        cross[j] -= B[i, j] * row_sum[k]
            n = left
        by_columns = many and columns_too and not by_columns
        if many and not by_columns:
            many, size = n + m < size, n + m


@kernel
def add_nodes(X: Any, rows: Any, cols: Any, inverted: bool, tie: float) -> None:
    """Add all columns and rows that fit, until none does, to `rows` and `cols`: 1 for each member, else 0."""
    N, M = X.shape
    fits, g, squares = np.empty(N), np.empty(M), np.empty(M)
    before, n, m = -1.0, 0.0, 0.0
    for i in range(N):
        n += rows[i]
    for j in range(M):
        m += cols[j]
    while before != n + m:
        before = n + m
        for j in range(M):
            g[j], squares[j] = 0.0, 0.0
        for i in range(N):
            if rows[i] > 0.0:
                level = 0.0
                for j in range(M):
                    level += cols[j] * X[i, j] / m
                for j in range(M):
                    x = X[i, j] - level
                    g[j] += x / n
                    squares[j] += x * x / n
        H, mean, square = 0.0, 0.0, 0.0
        for j in range(M):
            H += cols[j] * (squares[j] - g[j] ** 2) / m
        for j in range(M):
            if cols[j] == 0.0 and squares[j] - g[j] ** 2 <= H + tie:
                cols[j] = 1.0
                m += 1.0
        for j in range(M):
            mean += cols[j] * g[j] / m
        for j in range(M):
            g[j] = cols[j] * (g[j] - mean)
            square += g[j] ** 2
        H = 0.0
        for i in range(N):
            total, own, product = 0.0, 0.0, 0.0
            for j in range(M):
                x = cols[j] * X[i, j]
                total += x
                own += x * x
                product += x * g[j]
            fits[i] = (own - total * total / m + square - 2.0 * product) / m
            H += rows[i] * fits[i] / n
            if inverted:  # a mirrored row has the opposite product with g
                fits[i] += 2.0 * (product - abs(product)) / m
        for i in range(N):
            if rows[i] == 0.0 and fits[i] <= H + tie:
                rows[i] = 1.0
                n += 1.0
