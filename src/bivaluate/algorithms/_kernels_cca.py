"""Kernels of Cheng and Church's algorithm.

Promise of the caller: `Xt` is the transposed matrix (columns x rows), float64, C-contiguous, finite and roughly
centred, so that sums of squares lose nothing that the tie tolerance would not swallow.
Inside, `n`/`m` count rows/columns of the current block and `Bt` is the block, transposed like `Xt`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import kernel


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
def residues(Bt: Any, row_residue: Any, col_residue: Any) -> float:
    """Fill the mean squared residue of each row and column, return that of the block (H)."""
    m, n = Bt.shape
    row_mean = np.zeros(n)
    col_mean = np.empty(m)
    for j in range(m):
        total = 0.0
        column = Bt[j]
        for i in range(n):
            total += column[i]
            row_mean[i] += column[i]
        col_mean[j] = total / n
    mean = col_mean.sum() / m
    row_mean /= m
    row_residue[:n] = 0.0
    for j in range(m):
        shift = col_mean[j] - mean
        total = 0.0
        column = Bt[j]
        for i in range(n):
            z = column[i] - row_mean[i] - shift
            row_residue[i] += z * z
            total += z * z
        col_residue[j] = total / n
    row_residue[:n] /= m
    return col_residue[:m].sum() / m


@kernel
def not_above(values: Any, limit: float) -> Any:
    """Return the positions of the values that do not exceed `limit`."""
    out = np.empty(len(values), np.int64)
    count = 0
    for i in range(len(values)):
        out[count] = i
        count += values[i] <= limit
    return out[:count].copy()


@kernel
def delete_many(Xt: Any, delta: float, factor: float, columns_too: bool, tie: float) -> Any:
    """Multiple node deletion (Algorithm 2): return what is left as (block, rows, cols)."""
    m, n = Xt.shape
    Bt = Xt
    rows = np.arange(n)
    cols = np.arange(m)
    row_residue = np.empty(n)
    col_residue = np.empty(m)
    while residues(Bt, row_residue, col_residue) > delta + tie:
        m, n = Bt.shape
        H = row_residue[:n].sum() / n
        keep = not_above(row_residue[:n], factor * H + tie)
        if len(keep) < n:
            Bt = take(Bt, np.arange(m), keep)
            rows = rows[keep]
        if columns_too:
            H = residues(Bt, row_residue, col_residue)
            keep = not_above(col_residue[:m], factor * H + tie)
            if len(keep) < m:
                Bt = take(Bt, keep, np.arange(len(rows)))
                cols = cols[keep]
        if len(rows) == n and len(cols) == m:
            break
    return Bt, rows, cols


@kernel
def sift_down(heap: Any, size: int, key: Any, start: int) -> None:
    """Restore the max-heap of slots below position `start`."""
    slot = heap[start]
    value = key[slot]
    at = start
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and key[heap[child + 1]] > key[heap[child]]:
            child += 1
        if key[heap[child]] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = slot


@kernel
def row_square(values: Any, m: int, shift: Any, mean: float) -> float:
    """Return the sum of squared residues of one row."""
    total = 0.0
    for j in range(m):
        z = values[j] - shift[j] - mean
        total += z * z
    return total


@kernel
def col_square(values: Any, row_sum: Any, alive: Any, m: int, shift: float) -> float:
    """Return the sum of squared residues of one column over the rows alive."""
    total = 0.0
    inverse = 1.0 / m
    for i in range(len(values)):
        z = values[i] - row_sum[i] * inverse - shift
        total += alive[i] * z * z
    return total


@kernel
def delete_single(Bt: Any, rows: Any, cols: Any, delta: float, tie: float) -> Any:
    """Single node deletion (Algorithm 1): delete the worst row or column until H <= delta.

    Deleting row d moves the residue norm of any other row by at most norm_d / (n - 1); deleting a column never
    makes it grow (and the same with rows and columns swapped). So norms seen once give upper bounds for later, and
    only the few rows whose bound could be the maximum are evaluated again. When half of the rows are gone the block
    is packed and all is computed afresh.
    Returns (rows, cols, whether to go on with the packed block).
    """
    m, n = Bt.shape
    n_slots = n
    B = Bt.T.copy()
    Bt = Bt.copy()
    row_sum = np.zeros(n)
    col_sum = np.empty(m)
    squares = 0.0
    for j in range(m):
        total = 0.0
        column = Bt[j]
        for i in range(n):
            total += column[i]
            row_sum[i] += column[i]
            squares += column[i] * column[i]
        col_sum[j] = total
    total = col_sum.sum()
    alive = np.ones(n)
    row_key = np.empty(n)
    row_seen = np.full(n, -1)
    col_key = np.empty(m)
    col_seen = np.full(m, -1)
    shift = np.empty(m)
    heap = np.arange(n)
    heap_size = n
    row_drift = 0.0
    col_drift = 0.0
    stack = np.empty(n, np.int64)
    row_squares = 0.0
    for i in range(n):
        row_squares += row_sum[i] * row_sum[i]
    step = 0
    while True:
        mean = total / (n * m)
        col_squares = 0.0
        for j in range(m):
            shift[j] = col_sum[j] / n - mean
            col_squares += col_sum[j] * col_sum[j]
        H = (squares - row_squares / m - col_squares / n + total * mean) / (n * m)
        if H <= delta + tie or (step > 0 and 2 * n <= n_slots and n_slots > 8):
            break
        if step == 0:
            for i in range(n):
                row_key[i] = np.sqrt(row_square(B[i], m, shift, row_sum[i] / m))
                row_seen[i] = 0
            for j in range(m):
                col_key[j] = np.sqrt(col_square(Bt[j], row_sum, alive, m, shift[j]))
                col_seen[j] = 0
            for at in range(n // 2, -1, -1):
                sift_down(heap, heap_size, row_key, at)
        # The largest row residue.
        while True:
            top = heap[0]
            if alive[top] == 0.0:
                heap_size -= 1
                heap[0] = heap[heap_size]
                sift_down(heap, heap_size, row_key, 0)
            elif row_seen[top] != step:
                row_key[top] = np.sqrt(row_square(B[top], m, shift, row_sum[top] / m)) - row_drift
                row_seen[top] = step
                sift_down(heap, heap_size, row_key, 0)
            else:
                break
        worst_row = heap[0]
        R = row_square(B[worst_row], m, shift, row_sum[worst_row] / m) / m
        # The largest column residue, exactly only if it exceeds the largest row residue.
        while True:
            worst_col = 0
            for j in range(1, m):
                if col_key[j] > col_key[worst_col]:
                    worst_col = j
            bound = col_key[worst_col] + col_drift
            if bound * bound / n <= R + tie or col_seen[worst_col] == step:
                break
            col_key[worst_col] = (
                np.sqrt(col_square(Bt[worst_col], row_sum, alive, m, shift[worst_col])) - col_drift
            )
            col_seen[worst_col] = step
        C = bound * bound / n
        if C <= R + tie:
            # Rows tied with the worst one: the lowest index goes.
            chosen = worst_row
            stack[0] = 0
            size = 1
            while size > 0:
                size -= 1
                at = stack[size]
                slot = heap[at]
                bound = row_key[slot] + row_drift
                if bound < 0.0 or bound * bound / m < R - tie:
                    continue
                if (
                    alive[slot] != 0.0
                    and rows[slot] < rows[chosen]
                    and (row_square(B[slot], m, shift, row_sum[slot] / m) / m >= R - tie)
                ):
                    chosen = slot
                for child in range(2 * at + 1, min(2 * at + 3, heap_size)):
                    stack[size] = child
                    size += 1
            values = B[chosen]
            norm = np.sqrt(row_square(values, m, shift, row_sum[chosen] / m))
            alive[chosen] = 0.0
            for j in range(m):
                col_sum[j] -= values[j]
                squares -= values[j] * values[j]
            total -= row_sum[chosen]
            row_squares -= row_sum[chosen] * row_sum[chosen]
            n -= 1
            row_drift += norm / n
        else:
            chosen = worst_col
            for j in range(m):
                bound = col_key[j] + col_drift
                if (
                    cols[j] < cols[chosen]
                    and bound >= 0.0
                    and bound * bound / n >= C - tie
                    and (col_square(Bt[j], row_sum, alive, m, shift[j]) / n >= C - tie)
                ):
                    chosen = j
            norm = np.sqrt(col_square(Bt[chosen], row_sum, alive, m, shift[chosen]))
            column = Bt[chosen]
            row_squares = 0.0
            for i in range(n_slots):
                squares -= alive[i] * column[i] * column[i]
                row_sum[i] -= column[i]
                row_squares += alive[i] * row_sum[i] * row_sum[i]
            total -= col_sum[chosen]
            m -= 1
            for i in range(n_slots):
                B[i, chosen] = B[i, m]
            Bt[chosen] = Bt[m]
            cols[chosen] = cols[m]
            col_sum[chosen] = col_sum[m]
            col_key[chosen] = col_key[m]
            col_seen[chosen] = -1
            col_drift += norm / m
        step += 1
    left = np.empty(n, np.int64)
    count = 0
    for i in range(n_slots):
        if alive[i] != 0.0:
            left[count] = i
            count += 1
    return take(Bt, np.arange(m), left), rows[left], cols[:m].copy(), H > delta + tie


@kernel
def add_nodes(Xt: Any, rows: Any, cols: Any, inverted: bool, tie: float) -> Any:
    """Node addition (Algorithm 3): return the rows and columns after adding all that fit, until none does."""
    m, n = Xt.shape
    has_col = np.zeros(m, np.bool_)
    has_col[cols] = True
    has_row = np.zeros(n, np.bool_)
    has_row[rows] = True
    row_mean = np.empty(n)
    col_shift = np.empty(m)
    col_residue = np.empty(m)
    sums = np.empty(n)
    squares = np.empty(n)
    products = np.empty(n)
    while True:
        rows = np.flatnonzero(has_row)
        n_before = len(rows)
        m_before = len(cols)
        for turn in range(2):
            cols = np.flatnonzero(has_col)
            if turn == 1 and len(cols) == m_before:
                break
            row_mean[: len(rows)] = 0.0
            for j in cols:
                column = Xt[j]
                for i in range(len(rows)):
                    row_mean[i] += column[rows[i]]
            row_mean[: len(rows)] /= len(cols)
            H = 0.0
            for j in range(m):
                if turn == 1 and not has_col[j]:
                    continue
                column = Xt[j]
                total = 0.0
                square = 0.0
                for i in range(len(rows)):
                    y = column[rows[i]] - row_mean[i]
                    total += y
                    square += y * y
                col_shift[j] = total / len(rows)
                col_residue[j] = square / len(rows) - col_shift[j] * col_shift[j]
                if has_col[j]:
                    H += col_residue[j]
            H /= len(cols)
            if turn == 0:
                for j in range(m):
                    if col_residue[j] <= H + tie:
                        has_col[j] = True
        sums[:] = 0.0
        squares[:] = 0.0
        products[:] = 0.0
        pattern = 0.0
        for j in cols:
            column = Xt[j]
            g = col_shift[j]
            pattern += g * g
            for i in range(n):
                x = column[i]
                sums[i] += x
                squares[i] += x * x
                products[i] += x * g
        m_now = len(cols)
        added = 0
        for i in range(n):
            if has_row[i]:
                continue
            product = abs(products[i]) if inverted else products[i]
            residue = (squares[i] - sums[i] * sums[i] / m_now + pattern - 2.0 * product) / m_now
            if residue <= H + tie:
                has_row[i] = True
                added += 1
        if added == 0 and m_now == m_before:
            return np.flatnonzero(has_row), cols


@kernel
def find_bicluster(
    Xt: Any, delta: float, factor: float, columns_too: bool, inverted: bool, tie: float
) -> Any:
    """Return rows and columns of one bicluster of the matrix as it is now."""
    Bt, rows, cols = delete_many(Xt, delta, factor, columns_too, tie)
    more = True
    while more:
        Bt, rows, cols, more = delete_single(Bt, rows, cols, delta, tie)
    return add_nodes(Xt, rows, cols, inverted, tie)
