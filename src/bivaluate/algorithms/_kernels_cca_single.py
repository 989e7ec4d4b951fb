"""Single node deletion of Cheng and Church without looking at every row; promises as in `_kernels_cca`."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import copy_cells, inner_kernel, kernel
from bivaluate.algorithms._kernels_cca import (
    column_product,
    pattern_of,
    positions,
    row_products,
    squares_of,
    sums_of,
    take,
)
from bivaluate.algorithms._kernels_las import kth_largest


@kernel
def moved(g: Any, before: Any, alive: Any, m: int) -> float:
    """Return the length of g - before over the columns alive, after centring."""
    # d = (g - before)[alive == 1]; np.linalg.norm(d - d.mean())
    total = 0.0
    square = 0.0
    for j in range(len(g)):
        d = alive[j] * (g[j] - before[j])
        total += d
        square += d * d
    return float(np.sqrt(max(square - total * total / m, 0.0)))


@kernel
def candidates(values: Any, size: int, want: int, scratch: Any, picks: Any) -> Any:
    """Fill the positions of the `want` largest values that are not negative; return (count, bound on the rest)."""
    # set(picks[:count]) = set(np.argsort(-values[:size], kind="stable")[:want]) without negative values
    n_alive = 0
    for a in range(size):
        n_alive += values[a] >= 0.0
    cut = -1.0
    if n_alive > want:
        cut = kth_largest(values[:size], want, values[0], scratch[0], scratch[1])
    count = 0
    for a in range(size):
        if values[a] > cut:
            picks[count] = a
            count += 1
    for a in range(size):
        if cut < 0.0 or count == want:
            break
        if values[a] == cut:
            picks[count] = a
            count += 1
    return count, cut


@kernel
def evaluate(
    near: Any,
    slots: Any,
    count: int,
    g: Any,
    pattern: float,
    m: int,
    row_sum: Any,
    row_square: Any,
    alive: Any,
    out: Any,
) -> float:
    """Fill the sum of squared residues of each candidate row, -1 for the deleted; return the largest."""
    # out = np.maximum(row_square[slots] - row_sum[slots] ** 2 / m + pattern - 2 * near @ g, 0)
    largest = -1.0
    for a in range(count):
        slot = slots[a]
        out[a] = -1.0
        if alive[slot] != 0.0:
            value = row_square[slot] - row_sum[slot] * row_sum[slot] / m + pattern
            out[a] = max(value - 2.0 * column_product(near[a], g), 0.0)
            largest = max(largest, out[a])
    return largest


@kernel
def first_of(values: Any, size: int, slots: Any, limit: float) -> int:
    """Return the lowest slot whose value is at least `limit`."""
    # slots[values >= limit].min()
    first = -1
    for a in range(size):
        if values[a] >= limit and (first < 0 or slots[a] < first):
            first = slots[a]
    return first


@kernel
def refresh(
    Bt: Any, j: int, row_g: Any, row_pattern: float, n: int, col_sum: Any, col_square: Any, col_value: Any, exact: Any
) -> None:
    """Compute the sum of squared residues of one column afresh."""
    product = column_product(Bt[j], row_g)
    value = col_square[j] - col_sum[j] * col_sum[j] / n - 2.0 * product + row_pattern
    col_value[j] = max(value, 0.0)
    exact[j] = True


@kernel
def worst_column(
    Bt: Any, enough: float, n: int, m: int, row_sum: Any, row_alive: Any, row_g: Any, col_sum: Any, col_square: Any,
    col_value: Any, col_exact: Any,
) -> Any:  # fmt: skip
    """Return the column of the largest residues, computed exactly where their mean square exceeds `enough`.

    Also returns the squared length of the pattern of rows, -1 where it was not needed.
    """
    row_pattern = -1.0
    while True:
        # worst = np.argmax(col_value)
        worst = 0
        for j in range(len(Bt)):
            if col_value[j] > col_value[worst]:
                worst = j
        if enough >= col_value[worst] / n or col_exact[worst]:
            return worst, row_pattern
        if row_pattern < 0.0:
            row_pattern = pattern_of(row_sum, row_alive, n, m, row_g)
        refresh(Bt, worst, row_g, row_pattern, n, col_sum, col_square, col_value, col_exact)


@kernel
def first_column(
    Bt: Any, worst: int, limit: float, row_pattern: float, n: int, m: int, row_sum: Any, row_alive: Any, row_g: Any,
    col_sum: Any, col_square: Any, col_value: Any, col_exact: Any,
) -> Any:  # fmt: skip
    """Return the first column whose residues reach `limit`, at the latest `worst`."""
    # np.flatnonzero(col_value >= limit)[0], with exact values
    for j in range(worst):
        if col_value[j] >= limit:
            if not col_exact[j]:
                if row_pattern < 0.0:
                    row_pattern = pattern_of(row_sum, row_alive, n, m, row_g)
                refresh(Bt, j, row_g, row_pattern, n, col_sum, col_square, col_value, col_exact)
            if col_value[j] >= limit:
                return j
    return worst


@kernel
def refill_far(Bt: Any, row_value: Any, want: int, scratch: Any, picks: Any, far: Any, slots: Any, value: Any) -> Any:
    """Fill the list `far` with the worst of all rows; return (count, bound on the sum of squares of the rest)."""
    count, cut = candidates(row_value, len(row_value), want, scratch, picks)
    # far[:count] = Bt[:, picks[:count]].T; slots[:count] = picks[:count]; value[:count] = row_value[picks[:count]]
    for j in range(len(Bt)):
        column = Bt[j]
        for a in range(count):
            far[a, j] = column[picks[a]]
    for a in range(count):
        slots[a] = picks[a]
        value[a] = row_value[picks[a]]
    return count, cut


@kernel
def refill_near(
    far: Any, far_slots: Any, far_value: Any, far_count: int, want: int, scratch: Any, picks: Any, near: Any,
    slots: Any, value: Any,
) -> Any:  # fmt: skip
    """Fill the list `near` with the worst rows of `far`; return (count, bound on the sum of squares of the rest)."""
    count, cut = candidates(far_value, far_count, want, scratch, picks)
    # near[:count] = far[picks[:count]]; slots[:count] = far_slots[picks[:count]]; the same for value
    for a in range(count):
        slots[a] = far_slots[picks[a]]
        value[a] = far_value[picks[a]]
        copy_cells(far[picks[a]], near[a])
    return count, cut


@kernel
def drop_row(
    Bt: Any, chosen: int, m: int, n: int, row_sum: Any, col_g: Any, col_alive: Any, col_sum: Any, col_square: Any,
    col_value: Any,
) -> float:  # fmt: skip
    """Take a row out of the sums of columns and of their residues; return the sum of its squares."""
    own_mean = row_sum[chosen] / m
    share = n / max(n - 1.0, 1.0)
    squares = 0.0
    # x = Bt[:, chosen]; col_value -= n / (n - 1) * (x - x.mean() - col_g) ** 2
    for j in range(len(Bt)):
        x = Bt[j, chosen]
        z = x - own_mean - col_g[j]
        col_sum[j] -= x
        col_square[j] -= x * x
        if col_alive[j] != 0.0:
            squares += x * x
            col_value[j] = max(col_value[j] - share * z * z, 0.0)
    return squares


@kernel
def drop_column(
    Bt: Any, chosen: int, m: int, row_alive: Any, row_sum: Any, row_square: Any, col_alive: Any, col_value: Any,
    col_exact: Any,
) -> float:  # fmt: skip
    """Take a column out of the sums of rows; return the sum of the squared row sums left.

    The residues of the other columns grow in length by no more than the mean of the residues taken out.
    """
    push = np.sqrt(max(col_value[chosen], 0.0)) / max(m - 1.0, 1.0)
    column = Bt[chosen]
    row_squares = 0.0
    # row_sum -= column; row_square -= column**2; row_squares = row_alive @ row_sum**2
    for i in range(len(column)):
        x = column[i]
        row_sum[i] -= x
        row_square[i] -= x * x
        row_squares += row_alive[i] * row_sum[i] * row_sum[i]
    col_alive[chosen] = 0.0
    # col_value = (np.sqrt(col_value) + push) ** 2
    for j in range(len(Bt)):
        if col_alive[j] != 0.0:
            longer = np.sqrt(col_value[j]) + push
            col_value[j] = longer * longer
            col_exact[j] = False
    col_value[chosen] = -1.0
    col_exact[chosen] = True
    return row_squares


@inner_kernel
def evaluate_all(
    Bt: Any, g: Any, pattern: float, m: int, row_sum: Any, row_square: Any, alive: Any, product: Any, value: Any
) -> None:
    """Fill the sum of squared residues of every row, -1 for the deleted."""
    row_products(Bt, g, product)
    squares_of(row_square, row_sum, product, m, pattern, alive, value)


@inner_kernel
def mean_squared_residue(
    squares: float, row_squares: float, col_sum: Any, col_alive: Any, total: float, n: int, m: int
) -> float:
    """Return H of the block from the sum of squared cells, of squared row sums, and the sums of columns."""
    # ((B**2).sum() - (B.sum(axis=1)**2).sum() / m - (B.sum(axis=0)**2).sum() / n + B.sum()**2 / (n * m)) / (n * m)
    col_squares = 0.0
    for j in range(len(col_sum)):
        col_squares += col_alive[j] * col_sum[j] * col_sum[j]
    mean = total / (n * m)
    return (squares - row_squares / m - col_squares / n + total * mean) / (n * m)


@kernel
def delete_single(Bt: Any, rows: Any, cols: Any, delta: float, tie: float) -> Any:
    """Single node deletion (Algorithm 1): delete the worst row or column until H <= delta; return (rows, cols).

    The length of the residues of row i is |u_i - g|. Deleting other rows moves g only, so it changes by no more than
    g moved; deleting a column never makes it grow. So the worst row need be sought only among candidates: the rows
    that were worst when g was last looked at, as long as the worst of them beats the bound on all others.
    There are two nested lists of candidates, `far` (refilled from all rows) and `near` (refilled from `far`).
    The sum of squares of a column follows exactly when a row is deleted, and is bounded when a column is.
    The block is packed, and its sums computed afresh, each time half of its rows or columns are gone.
    """
    done = False
    while not done:
        m_slots, n_slots = Bt.shape
        m, n = m_slots, n_slots
        row_sum, row_square, row_g, row_value = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
        col_sum, col_square, col_g, col_value = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
        row_product, row_alive, col_alive = np.empty(n), np.ones(n), np.ones(m)
        col_exact = np.zeros(m, np.bool_)
        sums_of(Bt, row_sum, row_square, col_sum, col_square)
        squares, total = column_product(col_square, col_alive), column_product(col_sum, col_alive)
        row_squares = column_product(row_sum, row_sum)
        n_far = max(int(0.8 * n ** (2.0 / 3.0)), 16)
        n_near = max(int(2.0 * np.sqrt(n_far)), 8)
        far, near = np.empty((n_far, m)), np.empty((n_near, m))
        far_slots, near_slots = np.empty(n_far, np.int64), np.empty(n_near, np.int64)
        far_value, near_value = np.empty(n_far), np.empty(n_near)
        far_g, near_g = np.zeros(m), np.zeros(m)
        far_bound, near_bound, far_count, near_count = np.inf, np.inf, 0, 0
        picks, scratch, all_slots = np.empty(n, np.int64), np.empty((2, n)), np.arange(n)
        first_step = True
        while True:
            pattern = pattern_of(col_sum, col_alive, m, n, col_g)
            done = delta + tie >= mean_squared_residue(squares, row_squares, col_sum, col_alive, total, n, m)
            if done or 2 * n <= n_slots or 2 * m <= m_slots:
                break
            if first_step:
                row_pattern = pattern_of(row_sum, row_alive, n, m, row_g)
                for j in range(m_slots):
                    refresh(Bt, j, row_g, row_pattern, n, col_sum, col_square, col_value, col_exact)
                first_step = False
            # The largest row residue, from as few rows as will do.
            worst = evaluate(
                near, near_slots, near_count, col_g, pattern, m, row_sum, row_square, row_alive, near_value
            )
            slack = tie * m
            reach = near_bound + moved(col_g, near_g, col_alive, m)
            fallback = False
            if reach > 0.0 and reach * reach >= worst - slack:
                worst = evaluate(
                    far, far_slots, far_count, col_g, pattern, m, row_sum, row_square, row_alive, far_value
                )
                reach = far_bound + moved(col_g, far_g, col_alive, m)
                if reach > 0.0 and reach * reach >= worst - slack:
                    evaluate_all(Bt, col_g, pattern, m, row_sum, row_square, row_alive, row_product, row_value)
                    for i in range(n_slots):
                        worst = max(worst, row_value[i])
                    far_count, cut = refill_far(Bt, row_value, n_far, scratch, picks, far, far_slots, far_value)
                    far_bound = np.sqrt(cut) if cut >= 0.0 else -np.inf
                    reach = far_bound
                    fallback = cut >= worst - slack
                    copy_cells(col_g, far_g)
                near_count, cut = refill_near(
                    far, far_slots, far_value, far_count, n_near, scratch, picks, near, near_slots, near_value
                )
                near_bound = max(np.sqrt(max(cut, 0.0)), reach)
                fallback = fallback or cut >= worst - slack
                copy_cells(col_g, near_g)
            R = worst / m
            # The largest column residue, exactly only if it exceeds the largest row residue.
            worst_col, row_pattern = worst_column(
                Bt, R + tie, n, m, row_sum, row_alive, row_g, col_sum, col_square, col_value, col_exact
            )
            C = col_value[worst_col] / n
            if R + tie >= C:
                if fallback:
                    evaluate_all(Bt, col_g, pattern, m, row_sum, row_square, row_alive, row_product, row_value)
                    chosen = first_of(row_value, n_slots, all_slots, worst - slack)
                else:
                    chosen = first_of(near_value, near_count, near_slots, worst - slack)
                squares -= drop_row(Bt, chosen, m, n, row_sum, col_g, col_alive, col_sum, col_square, col_value)
                row_alive[chosen] = 0.0
                total -= row_sum[chosen]
                row_squares -= row_sum[chosen] * row_sum[chosen]
                n -= 1
            else:
                chosen = first_column(
                    Bt, worst_col, (C - tie) * n, row_pattern, n, m, row_sum, row_alive, row_g, col_sum, col_square,
                    col_value, col_exact,
                )  # fmt: skip
                row_squares = drop_column(
                    Bt, chosen, m, row_alive, row_sum, row_square, col_alive, col_value, col_exact
                )
                squares -= col_square[chosen]
                total -= col_sum[chosen]
                m -= 1
        left_rows, left_cols = positions(row_alive), positions(col_alive)
        Bt, rows, cols = take(Bt, left_cols, left_rows), rows[left_rows], cols[left_cols]
    return rows, cols
