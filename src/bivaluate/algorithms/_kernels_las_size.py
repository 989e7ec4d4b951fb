"""How many rows and columns score best: the greedy step of Large Average Submatrices; promises as in `_kernels_las`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import inner_kernel, keep_apart, kernel
from bivaluate.algorithms._kernels_las import choose, listed, sum_columns, sum_rows

# Values to a bin on average, and how many bins there are at most; so many values are sorted by insertion.
VALUES_PER_BIN, MOST_BINS, FEW = 6, 1024, 32
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


@kernel
def minus_log_tail(z: float) -> float:
    """Return -log(Phi(-z)), Phi the standard normal distribution function."""
    if z < 25.0:
        return -math.log(0.5 * math.erfc(z * math.sqrt(0.5)))
    u = 1.0 / (z * z)
    series = 1.0 - u * (1.0 - 3.0 * u * (1.0 - 5.0 * u * (1.0 - 7.0 * u * (1.0 - 9.0 * u * (1.0 - 11.0 * u)))))
    return 0.5 * z * z + HALF_LOG_2PI + math.log(z) - math.log(series)


@inner_kernel
def into_bins(values: Any, bin_of: Any, count: Any, total: Any) -> Any:
    """Count and add up the values in bins of equal width, the highest first; return (highest value, width)."""
    # bin_of = ((high - values) / width).astype(int); count, total = np.bincount(bin_of), np.bincount(bin_of, values)
    low, high = values[0], values[0]
    for i in range(len(values)):
        low = min(low, values[i])
        high = max(high, values[i])
    # A little less than the number of bins, so that the lowest value falls into the last.
    scale = len(count) * (1.0 - 1e-12) / (high - low) if high > low else 0.0
    for i in range(len(values)):
        bin_of[i] = np.int32((high - values[i]) * scale)
    for b in range(len(count)):
        count[b], total[b] = 0, 0.0
    for i in range(len(values)):
        b = bin_of[i]
        count[b] += 1
        total[b] += values[i]
    return high, 1.0 / scale if scale > 0.0 else 0.0


@inner_kernel
def best_edge(count: Any, total: Any, other: int, log_choose: Any) -> Any:
    """Return z = S / sqrt(r * other) and about the score of the best r that takes whole bins."""
    # np.max(z**2 / 2 - log_choose[r]), with r, S = np.cumsum(count), np.cumsum(total)
    r, S, best, z = 0, 0.0, -np.inf, 0.0
    chosen = 0
    for b in range(len(count)):
        if count[b] > 0:
            r += count[b]
            S += total[b]
            edge = (0.5 * S * S / (r * other) if S > 0.0 else 0.0) - log_choose[r]
            if edge > best:
                best, chosen, z = edge, r, S
    z /= math.sqrt(chosen * other)
    return z, minus_log_tail(z) - log_choose[chosen]


@inner_kernel
def mark_hopeless(
    count: Any, total: Any, high: float, width: float, other: int, log_choose: Any, slope: float, slack: float,
    least: float,
) -> None:  # fmt: skip
    """Turn the sign of the count of bins in which no score reaches `least`."""
    r, S = 0, 0.0
    for b in range(len(count)):
        if count[b] == 0:
            continue
        top = max(high - b * width, 0.0) + 1e-12 * (abs(high) + width)
        # Between the first and the last r of a bin, S at most this, z is largest at one of them; so is -log_choose.
        first, last = max(S, 0.0) + top, max(S, 0.0) + count[b] * top
        z_square = max(first * first / ((r + 1) * other), last * last / ((r + count[b]) * other))
        bound = 0.5 * z_square + slope * math.sqrt(z_square) + slack
        bound -= min(log_choose[r + 1], log_choose[r + count[b]])
        r += count[b]
        S += total[b]
        if bound < least:
            count[b] = -count[b]


@inner_kernel
def sort(values: Any) -> None:
    """Sort ascending, few values fast (Shell's method: numba's own takes longer to compile than all else)."""
    # values.sort()
    gap = len(values)
    while gap > 1:
        gap = 5 * gap // 11 if gap > FEW else 1
        for i in range(gap, len(values)):
            x = values[i]
            j = i
            while j >= gap and values[j - gap] > x:
                values[j] = values[j - gap]
                j -= gap
            values[j] = x


@kernel
def best_size(values: Any, other: int, log_choose: Any, bin_of: Any, buffer: Any, count: Any, total: Any) -> Any:
    """Return (size, smallest value taken, score) of the largest values that score best.

    The score of the r largest values, of sum S, is -log Phi(-z) - log_choose[r] with z = S / sqrt(r * other).
    A histogram bounds the score from above, so that values are sorted, and exact scores computed, only where the best
    may be: -log Phi(-z) <= z^2 / 2 + log(2 pi) / 2 + asinh(z / 2), and asinh is below each of its tangents.
    """
    keep_apart()
    # r = np.arange(1, n + 1); S = np.cumsum(np.sort(values)[::-1])
    # score = -scipy.stats.norm.logsf(S / np.sqrt(r * other)) - log_choose[r]; best = np.argmax(score)
    n, n_bins = len(values), min(max(len(values) // VALUES_PER_BIN, 1), MOST_BINS)
    count, total = count[:n_bins], total[:n_bins]
    high, width = into_bins(values, bin_of, count, total)
    near, least = best_edge(count, total, other, log_choose)
    near = max(near, 0.0)
    slope = 1.0 / math.sqrt(near * near + 4.0)
    slack = HALF_LOG_2PI + math.log(0.5 * near + math.sqrt(0.25 * near * near + 1.0)) - near * slope
    slack += 1e-9 + 1e-13 * near * near  # rounding
    mark_hopeless(count, total, high, width, other, log_choose, slope, slack, least)
    # Put the values of the other bins together; the last place of the buffer takes all that are not needed.
    place, step, size = np.empty(n_bins, np.int64), np.empty(n_bins, np.int64), 0
    for b in range(n_bins):
        place[b], step[b] = (size, 1) if count[b] > 0 else (n, 0)
        size += max(count[b], 0)
    for i in range(n):
        b = bin_of[i]
        buffer[place[b]] = values[i]
        place[b] += step[b]
    best, r_best, cut = -np.inf, 0, high
    least -= 1e-9 * max(1.0, abs(least))
    r, S, size = 0, 0.0, 0
    for b in range(n_bins):
        if count[b] <= 0:
            r -= count[b]
            S += total[b]
            continue
        part = buffer[size : size + count[b]]
        sort(part)
        size += count[b]
        for at in range(len(part) - 1, -1, -1):
            r += 1
            S += part[at]
            z = S / math.sqrt(r * other)
            if (0.5 * z * z + slope * z if z > 0.0 else 0.0) + slack - log_choose[r] < least:
                continue
            score = minus_log_tail(z) - log_choose[r]
            if score > best:
                best, r_best, cut = score, r, part[at]
                least = max(least, best)
    return r_best, cut, best


@kernel
def adapt_size(
    X: Any, Xt: Any, sets: Any, row_choose: Any, col_choose: Any, rows: Any, new_sets: Any, scores: Any
) -> None:
    """For each column set, take the rows that score best, then the columns that do; fill new sets and scores.

    `rows` holds those of the last set when done.
    """
    n, m = X.shape
    size = len(sets)
    row_sum, col_sum = np.empty((size, n)), np.empty((size, m))
    row_lines, col_lines = np.empty((size, n + 1), np.int64), np.empty((size, m + 1), np.int64)
    n_rows, n_cols = np.empty(size, np.int64), np.empty(size, np.int64)
    bin_of, buffer = np.empty(max(n, m), np.int32), np.empty(max(n, m) + 1)
    count, total = np.empty(MOST_BINS, np.int64), np.empty(MOST_BINS)
    for g in range(size):
        n_cols[g] = listed(sets[g], col_lines[g])
    sum_columns(Xt, col_lines, n_cols, row_sum)
    for g in range(size):
        n_rows[g], cut, _ = best_size(row_sum[g], n_cols[g], row_choose, bin_of, buffer, count, total)
        choose(row_sum[g], n_rows[g], cut, rows)
        listed(rows, row_lines[g])
    sum_rows(X, row_lines, n_rows, col_sum)
    for g in range(size):
        width, cut, score = best_size(col_sum[g], n_rows[g], col_choose, bin_of, buffer, count, total)
        choose(col_sum[g], width, cut, new_sets[g])
        scores[g] = score - row_choose[n_rows[g]]
