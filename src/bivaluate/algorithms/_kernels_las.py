"""Kernels of the Large Average Submatrices search.

Promise of the caller: `X` (rows x columns) and `Xt` (its transpose) hold the same standardised values, both
float64, C-contiguous and finite; column sets are uint8 masks, one line per set.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import kernel


@kernel
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
        pivot = max(min(first, middle), min(max(first, middle), last))
        n_above, n_below = split(one, size, pivot, one, two)


@kernel
def choose(values: Any, k: int, cut: float, chosen: Any) -> None:
    """Mark the k largest values, of which `cut` is the smallest; among equals the lower index first."""
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


BINS = 256
BLOCK = 2048
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


@kernel
def minus_log_tail(z: float) -> float:
    """Return -log(Phi(-z)), Phi the standard normal distribution function."""
    if z < 25.0:
        return -math.log(0.5 * math.erfc(z * math.sqrt(0.5)))
    u = 1.0 / (z * z)
    series = 1.0 - u * (1.0 - 3.0 * u * (1.0 - 5.0 * u * (1.0 - 7.0 * u * (1.0 - 9.0 * u * (1.0 - 11.0 * u)))))
    return 0.5 * z * z + HALF_LOG_2PI + math.log(z) - math.log(series)


@kernel
def add_lines(M: Any, chosen: Any, total: Any) -> int:
    """Fill the sum of the chosen lines of `M`, four at a time and block by block; return their number."""
    # total[:] = M[chosen != 0].sum(axis=0)
    lines = np.empty(len(chosen), np.int64)
    count = 0
    for j in range(len(chosen)):
        lines[count] = j
        count += chosen[j] != 0
    size = len(total)
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        total[start:stop] = 0.0
        at = 0
        while at + 4 <= count:
            a, b, c, d = M[lines[at]], M[lines[at + 1]], M[lines[at + 2]], M[lines[at + 3]]
            for i in range(start, stop):
                total[i] += (a[i] + b[i]) + (c[i] + d[i])
            at += 4
        while at < count:
            a = M[lines[at]]
            for i in range(start, stop):
                total[i] += a[i]
            at += 1
    return count


@kernel
def constrained_search(X: Any, Xt: Any, n_rows: Any, n_cols: Any, starts: Any, row_guess: Any, sets: Any) -> None:
    """For each restart, alternate between the best k rows and the best `width` columns; fill `sets` with the columns.

    Sums follow by adding and subtracting only the rows and columns that changed.
    """
    n, m = X.shape
    # Padded, so that eight masks at a time can be compared.
    rows = np.zeros((n + 7) // 8 * 8, np.uint8)
    chosen = np.zeros((n + 7) // 8 * 8, np.uint8)
    rows_by_eight = rows.view(np.uint64)
    chosen_by_eight = chosen.view(np.uint64)
    chosen_cols = np.empty(m, np.uint8)
    row_sum = np.empty(n)
    col_sum = np.empty(m)
    one = np.empty(max(n, m))
    two = np.empty(max(n, m))
    for restart in range(len(n_rows)):
        k, width = n_rows[restart], n_cols[restart]
        cols = sets[restart]
        cols[:] = 0
        rows[:] = 0
        for at in range(width):
            cols[starts[restart, at]] = 1
        add_lines(Xt, cols, row_sum)
        col_sum[:] = 0.0
        row_cut = row_guess[restart]
        col_cut = 0.0
        average = -np.inf
        while True:
            row_cut = kth_largest(row_sum, k, row_cut, one, two)
            choose(row_sum, k, row_cut, chosen)
            # col_sum = X[chosen[:n] == 1].sum(axis=0), from the rows that changed
            for eight in range(len(rows_by_eight)):
                if chosen_by_eight[eight] == rows_by_eight[eight]:
                    continue
                for i in range(8 * eight, min(8 * eight + 8, n)):
                    if chosen[i] != rows[i]:
                        rows[i] = chosen[i]
                        values = X[i]
                        sign = 1.0 if chosen[i] else -1.0
                        for j in range(m):
                            col_sum[j] += sign * values[j]
            col_cut = kth_largest(col_sum, width, col_cut, one, two)
            choose(col_sum, width, col_cut, chosen_cols)
            # total = col_sum[chosen_cols == 1].sum(); row_sum = Xt[chosen_cols == 1].sum(axis=0)
            total = 0.0
            changed = 0
            for j in range(m):
                if chosen_cols[j]:
                    total += col_sum[j]
                if chosen_cols[j] != cols[j]:
                    changed += 1
                    cols[j] = chosen_cols[j]
                    column = Xt[j]
                    sign = 1.0 if chosen_cols[j] else -1.0
                    for i in range(n):
                        row_sum[i] += sign * column[i]
            before = average
            average = total / (k * width)
            if changed == 0 or average - before <= 1e-9:
                break


@kernel
def best_size(values: Any, other: int, log_choose: Any, bin_of: Any, buffer: Any) -> Any:
    """Return (size, smallest value taken, their sum, score) of the largest values that score best.

    The score of the r largest values, of sum S, is -log Phi(-S / sqrt(r * other)) - log_choose[r].
    A histogram bounds the score from above, so that exact scores are needed only where the best may be.
    """
    n = len(values)
    # r = np.arange(1, n + 1); S = np.cumsum(np.sort(values)[::-1])
    # score = -scipy.stats.norm.logsf(S / np.sqrt(r * other)) - log_choose[r]; best = np.argmax(score)
    low = values[0]
    high = values[0]
    for i in range(n):
        low = min(low, values[i])
        high = max(high, values[i])
    count = np.zeros(BINS, np.int64)
    total = np.zeros(BINS)
    n_bins = BINS if n > 128 and high > low else 1
    width = (high - low) / n_bins
    scale = n_bins / (high - low) if n_bins > 1 else 0.0
    for i in range(n):
        b = min(int((high - values[i]) * scale), n_bins - 1)
        bin_of[i] = b
        count[b] += 1
        total[b] += values[i]
    # A first good score, at the edge of a bin.
    r = 0
    S = 0.0
    best_edge = -np.inf
    r_edge = n
    S_edge = 0.0
    steepest = 0.0
    for b in range(n_bins):
        if count[b] == 0:
            continue
        top = max(high - b * width, 0.0) * (1.0 + 1e-12)
        reach = max(S, 0.0) + count[b] * top
        steepest = max(steepest, reach * reach / ((r + 1) * other))
        r += count[b]
        S += total[b]
        edge = (0.5 * S * S / (r * other) if S > 0.0 else 0.0) - log_choose[r]
        if edge > best_edge:
            best_edge, r_edge, S_edge = edge, r, S
    best = minus_log_tail(S_edge / math.sqrt(r_edge * other)) - log_choose[r_edge]
    # -log Phi(-z) <= z^2/2 + log(2 pi)/2 + log((z + sqrt(z^2 + 4))/2)
    log_slack = math.log(0.5 * (math.sqrt(steepest) + math.sqrt(steepest + 4.0)))
    slack = HALF_LOG_2PI + log_slack + 1e-9
    r = 0
    S = 0.0
    for b in range(n_bins):
        if count[b] == 0:
            continue
        top = max(high - b * width, 0.0) * (1.0 + 1e-12)
        reach = max(S, 0.0) + count[b] * top
        first = r + 1
        bound = 0.5 * reach * reach / (first * other) + slack
        bound -= min(log_choose[r + 1], log_choose[r + count[b]])
        r += count[b]
        S += total[b]
        if bound >= best:
            z = reach / math.sqrt(first * other)
            bound += math.log(0.5 * (z + math.sqrt(z * z + 4.0))) - log_slack
        if bound < best:
            count[b] = -count[b]
    size = 0
    for i in range(n):
        buffer[size] = values[i]
        size += count[bin_of[i]] > 0
    buffer[:size].sort()
    best = -np.inf
    r_best = 0
    S_best = 0.0
    cut = low
    r = 0
    S = 0.0
    for b in range(n_bins):
        if count[b] <= 0:
            r -= count[b]
            S += total[b]
            continue
        for _ in range(count[b]):
            size -= 1
            r += 1
            S += buffer[size]
            if (0.5 * S * S / (r * other) if S > 0.0 else 0.0) + slack - log_choose[r] < best:
                continue
            score = minus_log_tail(S / math.sqrt(r * other)) - log_choose[r]
            if score > best:
                best, r_best, S_best, cut = score, r, S, buffer[size]
    return r_best, cut, S_best, best


@kernel
def adapt_size(
    X: Any, Xt: Any, sets: Any, row_choose: Any, col_choose: Any, rows: Any, new_sets: Any, scores: Any
) -> None:
    """For each column set, take the rows that score best, then the columns that do; fill new sets and scores.

    `rows` holds those of the last set when done.
    """
    n, m = X.shape
    row_sum = np.empty(n)
    col_sum = np.empty(m)
    bin_of = np.empty(max(n, m), np.int64)
    buffer = np.empty(max(n, m) + 1)
    for s in range(len(sets)):
        n_cols = add_lines(Xt, sets[s], row_sum)
        n_rows, cut, _, _ = best_size(row_sum, n_cols, row_choose, bin_of, buffer)
        choose(row_sum, n_rows, cut, rows)
        add_lines(X, rows, col_sum)
        n_cols, cut, _, score = best_size(col_sum, n_rows, col_choose, bin_of, buffer)
        choose(col_sum, n_cols, cut, new_sets[s])
        scores[s] = score - row_choose[n_rows]
