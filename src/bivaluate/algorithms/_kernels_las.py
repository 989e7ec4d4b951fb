"""The search of Large Average Submatrices for a given number of rows and columns: sums of sets, selection, steps.

Promise of the caller: `X` (rows x columns) and `Xt` (its transpose) hold the same standardised values, both
float64, C-contiguous and finite; column sets are uint8 masks, one line per set.

Sums of rows over sets of columns, and of columns over sets of rows, are made for several sets at once: a piece of the
matrix that fits into the cache is used for all sets, then the next. `lines` lists the columns or rows of each set,
ascending, `counts` how many there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import inner_kernel, keep_apart, kernel, strict_kernel

# Sets worth working on together; cells of the matrix that fit into the cache beside their sums; the least length of a
# piece of a column.
TOGETHER, IN_CACHE, SHORTEST = 16, 65536, 64


@inner_kernel
def listed(mask: Any, lines: Any) -> int:
    """Fill the positions that are marked; return their number."""
    # lines[:count] = np.flatnonzero(mask)
    count = 0
    for j in range(len(mask)):
        lines[count] = j
        count += mask[j] != 0
    return count


@inner_kernel
def changed(new: Any, mask: Any, lines: Any) -> int:
    """Fill the positions where two masks differ, and make them the same; return their number."""
    # lines[:count] = np.flatnonzero(new != mask); mask[:] = new
    count = 0
    for i in range(len(mask)):
        lines[count] = i
        count += new[i] != mask[i]
        mask[i] = new[i]
    return count


@inner_kernel
def add_lines(M: Any, start: Any, lines: Any, total: Any) -> None:
    """Add lines of `M` from `start` on, four at a time."""
    keep_apart()
    # total += M[lines, start : start + len(total)].sum(axis=0)
    at = 0
    while at + 4 <= len(lines):
        a, b = M[lines[at]][start:], M[lines[at + 1]][start:]
        c, d = M[lines[at + 2]][start:], M[lines[at + 3]][start:]
        for i in range(len(total)):
            total[i] += (a[i] + b[i]) + (c[i] + d[i])
        at += 4
    while at < len(lines):
        a = M[lines[at]][start:]
        for i in range(len(total)):
            total[i] += a[i]
        at += 1


@strict_kernel
def follow_lines(M: Any, start: Any, lines: Any, mask: Any, total: Any) -> None:
    """Add the lines that are marked now and subtract those that no longer are, one after the other."""
    keep_apart()
    # for line in lines: total += (2 * mask[line] - 1) * M[line, start : start + len(total)]
    at = 0
    while at + 4 <= len(lines):
        p, q, r, s = lines[at], lines[at + 1], lines[at + 2], lines[at + 3]
        a, b, c, d = M[p][start:], M[q][start:], M[r][start:], M[s][start:]
        e, f = 2.0 * mask[p] - 1.0, 2.0 * mask[q] - 1.0
        g, h = 2.0 * mask[r] - 1.0, 2.0 * mask[s] - 1.0
        for i in range(len(total)):
            total[i] = (((total[i] + e * a[i]) + f * b[i]) + g * c[i]) + h * d[i]
        at += 4
    while at < len(lines):
        a, e = M[lines[at]][start:], 2.0 * mask[lines[at]] - 1.0
        for i in range(len(total)):
            total[i] += e * a[i]
        at += 1


@kernel
def sum_columns(Xt: Any, lines: Any, counts: Any, row_sum: Any) -> None:
    """Fill the sums of rows over the columns listed for each set."""
    keep_apart()
    # row_sum[g] = Xt[lines[g, : counts[g]]].sum(axis=0)
    m, n = Xt.shape
    size = max(IN_CACHE // m, SHORTEST)
    for start in range(0, n, size):
        for g in range(len(counts)):
            part = row_sum[g, start : start + size]
            for i in range(len(part)):
                part[i] = 0.0
            add_lines(Xt, start, lines[g, : counts[g]], part)


@kernel
def follow_columns(Xt: Any, lines: Any, counts: Any, masks: Any, row_sum: Any) -> None:
    """Let the sums of rows follow the columns that changed in each set."""
    # row_sum[g] += (2 * masks[g, changed] - 1) @ Xt[changed], with changed = lines[g, : counts[g]]
    keep_apart()
    m, n = Xt.shape
    size = max(IN_CACHE // m, SHORTEST)
    for start in range(0, n, size):
        for g in range(len(counts)):
            if counts[g] > 0:
                part = row_sum[g, start : start + size]
                follow_lines(Xt, start, lines[g, : counts[g]], masks[g], part)


@inner_kernel
def up_to(lines: Any, at: int, count: int, end: int) -> int:
    """Return how many lines come before line `end`; those before `at` do."""
    # np.searchsorted(lines[:count], end)
    if end > lines[count - 1]:
        return count
    while lines[at] < end:
        at += 1
    return at


@kernel
def sum_rows(X: Any, lines: Any, counts: Any, col_sum: Any) -> None:
    """Fill the sums of columns over the rows listed for each set."""
    keep_apart()
    # col_sum[g] = X[lines[g, : counts[g]]].sum(axis=0)
    n, m = X.shape
    size = max(IN_CACHE // m, SHORTEST)
    for g in range(len(counts)):
        for j in range(m):
            col_sum[g, j] = 0.0
    at = np.zeros(len(counts), np.int64)
    for start in range(0, n, size):
        for g in range(len(counts)):
            if at[g] < counts[g]:
                stop = up_to(lines[g], at[g], counts[g], start + size)
                # by fours from the first to the last, wherever pieces end
                stop -= 0 if stop == counts[g] else stop % 4
                add_lines(X, np.int64(0), lines[g, at[g] : stop], col_sum[g])
                at[g] = stop


@kernel
def follow_rows(X: Any, lines: Any, counts: Any, masks: Any, col_sum: Any) -> None:
    """Let the sums of columns follow the rows that changed in each set."""
    # col_sum[g] += (2 * masks[g, changed] - 1) @ X[changed], with changed = lines[g, : counts[g]]
    keep_apart()
    n, m = X.shape
    size = max(IN_CACHE // m, SHORTEST)
    at = np.zeros(len(counts), np.int64)
    for start in range(0, n, size):
        for g in range(len(counts)):
            if at[g] < counts[g]:
                stop = up_to(lines[g], at[g], counts[g], start + size)
                follow_lines(X, np.int64(0), lines[g, at[g] : stop], masks[g], col_sum[g])
                at[g] = stop


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
