"""Sums and residues of a block, node deletion and node addition of Cheng and Church.

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
    # Bt[np.ix_(cols, rows)]
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
    # out[:] = weights @ Bt
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
    # column @ weights
    total = 0.0
    for i in range(len(column)):
        total += column[i] * weights[i]
    return total


@kernel
def sums_of(Bt: Any, row_sum: Any, row_square: Any, col_sum: Any, col_square: Any) -> None:
    """Fill sums and sums of squares of all rows and columns."""
    # row_sum, row_square = Bt.sum(axis=0), (Bt**2).sum(axis=0)
    # col_sum, col_square = Bt.sum(axis=1), (Bt**2).sum(axis=1)
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
    # g = alive * (sums / other - (alive @ sums) / (count * other)); g @ g
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
    # value = alive * np.maximum(square - sums**2 / other - 2 * product + pattern, 0); out = value + alive - 1
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
    # np.flatnonzero(alive)
    out = np.empty(len(alive), np.int64)
    count = 0
    for i in range(len(alive)):
        if alive[i] != 0.0:
            out[count] = i
            count += 1
    return out[:count].copy()


@kernel
def delete_many(Xt: Any, delta: float, factor: float, columns_too: bool, tie: float) -> Any:
    """Multiple node deletion (Algorithm 2): return (block, rows, cols) left.

    The block is packed, and its sums computed afresh, each time half of its rows are gone.
    """
    Bt, rows, cols = Xt, np.arange(Xt.shape[1]), np.arange(Xt.shape[0])
    more = True
    while more:
        m_slots, n_slots = Bt.shape
        m, n = m_slots, n_slots
        row_sum, row_square, row_g, row_value = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
        col_sum, col_square, col_g, col_value = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
        row_product, col_product = np.empty(n), np.empty(m)
        row_alive, col_alive = np.ones(n), np.ones(m)
        gone = np.empty(n, np.int64)
        sums_of(Bt, row_sum, row_square, col_sum, col_square)
        while more and 2 * n > n_slots:
            pattern = pattern_of(col_sum, col_alive, m, n, col_g)
            row_products(Bt, col_g, row_product)
            total = squares_of(row_square, row_sum, row_product, m, pattern, row_alive, row_value)
            H = total / (n * m)
            if delta + tie >= H:
                more = False
                break
            limit = (factor * H + tie) * m
            # gone = np.flatnonzero(row_value > limit); row_alive[gone] = 0
            n_gone = 0
            for i in range(n_slots):
                gone[n_gone] = i
                n_gone += row_value[i] > limit
            for at in range(n_gone):
                row_alive[gone[at]] = 0.0
            n -= n_gone
            if 2 * n <= n_slots and not columns_too:
                break
            # col_sum -= Bt[:, gone].sum(axis=1); col_square -= (Bt[:, gone] ** 2).sum(axis=1)
            for j in range(m_slots):
                column = Bt[j]
                total = 0.0
                square = 0.0
                for at in range(n_gone):
                    x = column[gone[at]]
                    total += x
                    square += x * x
                col_sum[j] -= total
                col_square[j] -= square
            m_gone = 0
            if columns_too:
                pattern = pattern_of(row_sum, row_alive, n, m, row_g)
                for j in range(m_slots):
                    col_product[j] = column_product(Bt[j], row_g)
                total = squares_of(col_square, col_sum, col_product, n, pattern, col_alive, col_value)
                limit = (factor * total / (n * m) + tie) * n
                # out = col_value > limit; col_alive[out] = 0; row_sum -= Bt[out].sum(axis=0); the same for squares
                for j in range(m_slots):
                    if col_value[j] > limit:
                        m_gone += 1
                        col_alive[j] = 0.0
                        column = Bt[j]
                        for i in range(n_slots):
                            row_sum[i] -= column[i]
                            row_square[i] -= column[i] * column[i]
                m -= m_gone
            more = n_gone + m_gone > 0
        if n < n_slots or m < m_slots:
            left_rows, left_cols = positions(row_alive), positions(col_alive)
            Bt, rows, cols = take(Bt, left_cols, left_rows), rows[left_rows], cols[left_cols]
    return Bt, rows, cols


@kernel
def delete_single(Bt: Any, rows: Any, cols: Any, delta: float, tie: float) -> Any:
    """Single node deletion (Algorithm 1): delete the worst row or column until H <= delta; return (rows, cols).

    The block is packed, and its sums computed afresh, each time half of its rows or columns are gone.
    """
    done = False
    while not done:
        m_slots, n_slots = Bt.shape
        m, n = m_slots, n_slots
        row_sum, row_square, row_g, row_value = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
        col_sum, col_square, col_g, col_value = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
        row_product, col_product = np.empty(n), np.empty(m)
        row_alive, col_alive = np.ones(n), np.ones(m)
        sums_of(Bt, row_sum, row_square, col_sum, col_square)
        while True:
            pattern = pattern_of(col_sum, col_alive, m, n, col_g)
            row_products(Bt, col_g, row_product)
            total = squares_of(row_square, row_sum, row_product, m, pattern, row_alive, row_value)
            done = delta + tie >= total / (n * m)
            if done or 2 * n <= n_slots or 2 * m <= m_slots:
                break
            pattern = pattern_of(row_sum, row_alive, n, m, row_g)
            for j in range(m_slots):
                col_product[j] = column_product(Bt[j], row_g)
            squares_of(col_square, col_sum, col_product, n, pattern, col_alive, col_value)
            R, C = largest(row_value) / m, largest(col_value) / n
            if R + tie >= C:
                chosen = first_from(row_value, (R - tie) * m)
                row_alive[chosen] = 0.0
                n -= 1
                # col_sum -= Bt[:, chosen]; col_square -= Bt[:, chosen] ** 2
                for j in range(m_slots):
                    x = Bt[j, chosen]
                    col_sum[j] -= x
                    col_square[j] -= x * x
            else:
                chosen = first_from(col_value, (C - tie) * n)
                col_alive[chosen] = 0.0
                m -= 1
                # row_sum -= Bt[chosen]; row_square -= Bt[chosen] ** 2
                for i in range(n_slots):
                    x = Bt[chosen, i]
                    row_sum[i] -= x
                    row_square[i] -= x * x
        left_rows, left_cols = positions(row_alive), positions(col_alive)
        Bt, rows, cols = take(Bt, left_cols, left_rows), rows[left_rows], cols[left_cols]
    return rows, cols


@kernel
def largest(values: Any) -> float:
    """Return the largest value."""
    # values.max()
    found = values[0]
    for i in range(len(values)):
        found = max(found, values[i])
    return float(found)


@kernel
def first_from(values: Any, limit: float) -> int:
    """Return the first position whose value is at least `limit`."""
    # np.flatnonzero(values >= limit)[0]
    for i in range(len(values)):
        if values[i] >= limit:
            return i
    return -1


@kernel
def column_fit(Xt: Any, rows: Any, cols: Any, row_mean: Any, col_g: Any, col_residue: Any) -> float:
    """Fill g and the mean squared residue of every column of the matrix against the block; return H of the block."""
    # row_mean = Xt[np.ix_(cols, rows)].mean(axis=0)
    row_mean[: len(rows)] = 0.0
    for j in cols:
        column = Xt[j]
        for i in range(len(rows)):
            row_mean[i] += column[rows[i]] / len(cols)
    # y = Xt[:, rows] - row_mean; col_g, col_residue = y.mean(axis=1), y.var(axis=1)
    for j in range(len(Xt)):
        column = Xt[j]
        total = 0.0
        square = 0.0
        for i in range(len(rows)):
            y = column[rows[i]] - row_mean[i]
            total += y
            square += y * y
        col_g[j] = total / len(rows)
        col_residue[j] = square / len(rows) - col_g[j] * col_g[j]
    # H = col_residue[cols].mean()
    H = 0.0
    for j in cols:
        H += col_residue[j] / len(cols)
    return H


@kernel
def add_nodes(Xt: Any, rows: Any, cols: Any, inverted: bool, tie: float) -> Any:
    """Node addition (Algorithm 3): return the rows and columns after adding all that fit, until none does."""
    m, n = Xt.shape
    has_row, has_col = np.zeros(n), np.zeros(m)
    has_row[rows], has_col[cols] = 1.0, 1.0
    row_mean, sums, squares, products = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    col_g, col_residue = np.empty(m), np.empty(m)
    while True:
        n_before, m_before = len(rows), len(cols)
        H = column_fit(Xt, rows, cols, row_mean, col_g, col_residue)
        for j in range(m):
            if col_residue[j] <= H + tie:
                has_col[j] = 1.0
        cols = positions(has_col)
        if len(cols) > m_before:
            H = column_fit(Xt, rows, cols, row_mean, col_g, col_residue)
        sums[:], squares[:], products[:] = 0.0, 0.0, 0.0
        pattern = 0.0
        # sums, squares = Xt[cols].sum(axis=0), (Xt[cols] ** 2).sum(axis=0); products = col_g[cols] @ Xt[cols]
        for j in cols:
            column = Xt[j]
            g = col_g[j]
            pattern += g * g
            for i in range(n):
                x = column[i]
                sums[i] += x
                squares[i] += x * x
                products[i] += x * g
        # residue of row i = ((row - row.mean() - col_g[cols]) ** 2).mean(), with row = Xt[cols, i]
        for i in range(n):
            # A mirrored row has the opposite product with g.
            product = abs(products[i]) if inverted else products[i]
            residue = (squares[i] - sums[i] * sums[i] / len(cols) + pattern - 2.0 * product) / len(cols)
            if residue <= H + tie:
                has_row[i] = 1.0
        rows = positions(has_row)
        if len(rows) == n_before and len(cols) == m_before:
            return rows, cols
