"""Selection, and the search of Large Average Submatrices for a given number of rows and columns.

Promise of the caller: `X` (rows x columns) and `Xt` (its transpose) hold the same standardised values, both
float64, C-contiguous and finite; column sets are uint8 masks, one line per set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import inner_kernel, keep_apart, kernel
from bivaluate.algorithms._kernels_las_sums import changed, follow_columns, follow_rows, listed, sum_columns


@inner_kernel
def split(source: Any, size: int, pivot: float, above: Any, below: Any) -> Any:
    """Copy the values above and below `pivot`, without branches; `above` may be `source` itself."""
    # above[:n_above], below[:n_below] = source[source > pivot], source[source < pivot]
    n_above = 0
    n_below = 0
    for i in range(size):
        v = source[i]
        above[n_above] = v
        below[n_below] = v
        n_above += v > pivot
        n_below += v < pivot
    return n_above, n_below


@kernel
def kth_largest(values: Any, k: int, guess: float, one: Any, two: Any) -> float:
    """Return the k-th largest value; `guess` is where to cut first, `one` and `two` are scratch."""
    keep_apart()
    # np.sort(values)[-k]
    size = len(values)
    pivot = guess
    n_above, n_below = split(values, size, pivot, one, two)
    while True:
        if k <= n_above:
            size = n_above
        elif k <= size - n_below:
            return pivot
        else:
            k -= size - n_below
            size = n_below
            one, two = two, one
        first, middle, last = one[0], one[size // 2], one[size - 1]
        if 4 * k < size:
            pivot = max(first, middle, last)
        elif 4 * k > 3 * size:
            pivot = min(first, middle, last)
        else:
            pivot = max(min(first, middle), min(max(first, middle), last))
        n_above, n_below = split(one, size, pivot, one, two)


@kernel
def choose(values: Any, k: int, cut: float, chosen: Any) -> None:
    """Mark the k largest values, of which `cut` is the smallest; among equals the lower index first."""
    keep_apart()
    # chosen[np.argsort(-values, kind="stable")[:k]] = 1, all others 0
    for i in range(len(values)):
        chosen[i] = values[i] > cut
    taken = np.int64(0)
    for i in range(len(values)):
        taken += np.int64(chosen[i])
    spare = k - taken
    for i in range(len(values)):
        if spare == 0:
            break
        if values[i] == cut:
            chosen[i] = 1
            spare -= 1


@kernel
def constrained_search(X: Any, Xt: Any, n_rows: Any, n_cols: Any, lots: Any, row_guess: Any, sets: Any) -> None:
    """For each restart, alternate between the best k rows and the best l columns; fill `sets` with the columns.

    The first columns are those with the highest lots. Restarts go step by step together, and their sums follow by
    adding and subtracting only the rows and columns that changed.
    """
    n, m = X.shape
    size = len(n_rows)
    rows, chosen_rows, chosen_cols = np.zeros((size, n), np.uint8), np.empty(n, np.uint8), np.empty(m, np.uint8)
    row_sum, col_sum = np.empty((size, n)), np.zeros((size, m))
    row_lines, col_lines = np.empty((size, n + 1), np.int64), np.empty((size, m + 1), np.int64)
    row_counts, col_counts = np.zeros(size, np.int64), np.zeros(size, np.int64)
    one, two = np.empty(max(n, m)), np.empty(max(n, m))
    cuts, averages = np.zeros((size, 2)), np.empty(size)
    for g in range(size):
        # sets[g, np.argsort(-lots[g], kind="stable")[: n_cols[g]]] = 1, all others 0
        choose(lots[g], n_cols[g], kth_largest(lots[g], n_cols[g], -n_cols[g] / m, one, two), sets[g])
        col_counts[g] = listed(sets[g], col_lines[g])
        cuts[g, 0], averages[g] = row_guess[g], -np.inf
    sum_columns(Xt, col_lines, col_counts, row_sum)
    left, done = size, np.zeros(size, np.bool_)
    while left > 0:
        for g in range(size):
            row_counts[g] = 0
            if not done[g]:
                cuts[g, 0] = kth_largest(row_sum[g], n_rows[g], cuts[g, 0], one, two)
                choose(row_sum[g], n_rows[g], cuts[g, 0], chosen_rows)
                row_counts[g] = changed(chosen_rows, rows[g], row_lines[g])
        # col_sum[g] = X[rows[g] == 1].sum(axis=0), from the rows that changed
        follow_rows(X, row_lines, row_counts, rows, col_sum)
        for g in range(size):
            col_counts[g] = 0
            if done[g]:
                continue
            cuts[g, 1] = kth_largest(col_sum[g], n_cols[g], cuts[g, 1], one, two)
            choose(col_sum[g], n_cols[g], cuts[g, 1], chosen_cols)
            # average = col_sum[g, chosen_cols == 1].sum() / (n_rows[g] * n_cols[g])
            total = 0.0
            for j in range(m):
                if chosen_cols[j]:
                    total += col_sum[g, j]
            average = total / (n_rows[g] * n_cols[g])
            col_counts[g] = changed(chosen_cols, sets[g], col_lines[g])
            if col_counts[g] == 0 or average - averages[g] <= 1e-9:
                col_counts[g] = 0
                done[g] = True
                left -= 1
            averages[g] = average
        # row_sum[g] = Xt[sets[g] == 1].sum(axis=0), from the columns that changed
        follow_columns(Xt, col_lines, col_counts, sets, row_sum)
