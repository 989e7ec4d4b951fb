"""The search of Large Average Submatrices for a given number of rows and columns: sums of sets, selection, steps.

Promise of the caller: `X` (rows x columns) and `Xt` (its transpose) hold the same standardised values, both
float64, C-contiguous and finite; sets of columns or rows are uint8 masks, one line per set.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import inner_kernel, keep_apart, kernel, strict_kernel

FAR = 30.0
# Values to a bin on average, and how many bins there are at most; so many values are sorted by insertion.
VALUES_PER_BIN, MOST_BINS, FEW = 6, 1024, 32


@strict_kernel
def follow(M: Any, new: Any, mask: Any, total: Any, lines: Any) -> int:
    """Let the sum of the lines marked in `mask` follow to those in `new`, in their order; return how many changed."""
    # total += (new - mask) @ M; mask[:] = new
    keep_apart()
    count = 0
    for line in range(len(mask)):
        lines[count] = line
        count += new[line] != mask[line]
        mask[line] = new[line]
    for at in range(0, count - 3, 4):
        p, q, r, s = lines[at], lines[at + 1], lines[at + 2], lines[at + 3]
        a, b, c, d = M[p], M[q], M[r], M[s]
        e, f, g, h = 2.0 * mask[p] - 1.0, 2.0 * mask[q] - 1.0, 2.0 * mask[r] - 1.0, 2.0 * mask[s] - 1.0
        for i in range(len(total)):
            total[i] = (((total[i] + e * a[i]) + f * b[i]) + g * c[i]) + h * d[i]
    for at in range(count - count % 4, count):
        a, e = M[lines[at]], 2.0 * mask[lines[at]] - 1.0
        for i in range(len(total)):
            total[i] += e * a[i]
    return count


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


@inner_kernel
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
        if 4 * k < size:
            pivot = max(first, middle, last)
        elif 4 * k > 3 * size:
            pivot = min(first, middle, last)
        else:
            pivot = max(min(first, middle), min(max(first, middle), last))
        n_above, n_below = split(one, size, pivot, one, two)


@inner_kernel
def choose(values: Any, k: int, cut: float, chosen: Any) -> None:
    """Mark the k largest values, of which `cut` is the smallest; among equals the lower index first."""
    # chosen[np.argsort(-values, kind="stable")[:k]] = 1, all others 0
    for i in range(len(values)):
        chosen[i] = values[i] > cut
    spare = np.int64(k)
    for i in range(len(values)):
        spare -= np.int64(chosen[i])
    for i in range(len(values)):
        if spare == 0:
            break
        if values[i] == cut:
            chosen[i] = 1
            spare -= 1


@inner_kernel
def log_tail(z: float) -> float:
    """Return -log Phi(-z); by a continued fraction where the tail is too small for a number."""
    if z < FAR:
        return -math.log(0.5 * math.erfc(z * math.sqrt(0.5)))
    return 0.5 * z * z + 0.5 * math.log(2.0 * math.pi) + math.log(z + 1.0 / (z + 2.0 / (z + 3.0 / z)))


@inner_kernel
def sort(values: Any) -> None:
    """Sort in falling order, few values fast (Shell's method: numba's own takes longer to compile than all else)."""
    # values[:] = -np.sort(-values)
    gap = len(values)
    while gap > 1:
        gap = 5 * gap // 11 if gap > FEW else 1
        for i in range(gap, len(values)):
            x, j = values[i], i
            while j >= gap and values[j - gap] < x:
                values[j] = values[j - gap]
                j -= gap
            values[j] = x


@inner_kernel
def into_bins(values: Any, ends: Any, sums: Any, bins: Any, ordered: Any) -> Any:
    """Put values into bins of equal width, the highest first; fill ends and sums; return (highest value, width)."""
    low, high = values[0], values[0]
    for i in range(len(values)):
        low, high = min(low, values[i]), max(high, values[i])
    # A little less than the number of bins, so that the lowest value falls into the last.
    scale, at = len(ends) * (1.0 - 1e-12) / (high - low) if high > low else 0.0, 0
    for i in range(len(values)):
        bins[i] = np.int32((high - values[i]) * scale)
    for b in range(len(ends)):
        ends[b], sums[b] = 0, 0.0
    for i in range(len(values)):
        ends[bins[i]] += 1
        sums[bins[i]] += values[i]
    for b in range(len(ends)):
        ends[b], at = at, at + ends[b]
    for i in range(len(values)):
        ordered[ends[bins[i]]] = values[i]
        ends[bins[i]] += 1
    return high, 1.0 / scale if scale > 0.0 else 0.0


@inner_kernel
def best_size(values: Any, other: int, choices: Any, chosen: Any, room: Any) -> float:
    """Mark the largest values that score best; return their score.

    The score of the r largest of n values, of sum S, is -log Phi(-z) - log C(n, r) with z = S / sqrt(r * other). A
    histogram tells which values may be the last of the best: only these are put in order.
    """
    # scores = log_tail(np.sort(values)[::-1].cumsum() / sqrt(r * other)) - choices[1:]; r = scores.argmax() + 1
    keep_apart()
    ends, sums, bins, ordered = room
    n_bins = min(max(len(values) // VALUES_PER_BIN, 1), MOST_BINS)
    high, width = into_bins(values, ends[:n_bins], sums, bins, ordered)
    S, r, size, best, near = 0.0, 0, 1, -np.inf, 0.0
    for b in range(n_bins):
        S += sums[b]
        r, sums[b] = ends[b], S
        square = S * S / (r * other) if S > 0.0 else 0.0
        if 0.5 * square - choices[r] > best:
            best, near, size = 0.5 * square - choices[r], square, r
    # -log Phi(-z) <= z^2 / 2 + log(2 pi) / 2 + asinh(z / 2), and asinh is below each of its tangents
    near = math.sqrt(near)
    slope, least = 1.0 / math.sqrt(near * near + 4.0), log_tail(near) - choices[size]
    height = 0.919 + math.asinh(0.5 * near) - near * slope + 1e-6 + 1e-12 * near * near
    least -= 1e-9 * max(1.0, abs(least))
    S, r, best, cut = 0.0, 0, -np.inf, high
    for b in range(n_bins):
        end, top, above = ends[b], max(high - b * width, 0.0), max(S, 0.0)
        # z^2 and -choices are largest at the ends of a bin
        square = max(end * (above + top) ** 2, (r + 1) * (above + (end - r) * top) ** 2) / ((r + 1) * end * other)
        if end > r and 0.5 * square + slope * math.sqrt(square) + height - min(choices[r + 1], choices[end]) >= least:
            sort(ordered[r:end])
            for i in range(r, end):
                S += ordered[i]
                z = S / math.sqrt((i + 1) * other)
                if (0.5 * z + slope) * max(z, 0.0) + height - choices[i + 1] >= least:
                    score = log_tail(z) - choices[i + 1]
                    if score > best:
                        best, size, cut, least = score, i + 1, ordered[i], max(least, score)
        r, S = end, sums[b]
    choose(values, size, cut, chosen)
    return best


@inner_kernel
def best_lines(M: Any, sets: Any, set_choices: Any, choices: Any, chosen: Any, scores: Any) -> None:
    """Mark the columns of `M` whose sums over the lines of each set score best, and fill in the scores."""
    keep_apart()
    n, m = M.shape
    mask, lines, total = np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(m)
    room = np.empty(MOST_BINS, np.int64), np.empty(MOST_BINS), np.empty(m, np.int32), np.empty(m)
    for s in range(len(sets)):
        mask[:], total[:] = 0, 0.0
        size = follow(M, sets[s], mask, total, lines)
        scores[s] = best_size(total, size, choices, chosen[s], room) - set_choices[size]


@kernel
def adapt_size(X: Any, Xt: Any, choices: Any, sets: Any, rows: Any, new_sets: Any, scores: Any) -> None:
    """Fill in, for each column set, the rows that score best with it, the columns that do with these, and the score."""
    best_lines(Xt, sets, choices[1], choices[0], rows, scores)
    best_lines(X, rows, choices[0], choices[1], new_sets, scores)


@kernel
def constrained_search(X: Any, Xt: Any, n_rows: Any, n_cols: Any, lots: Any, row_guess: Any, sets: Any) -> None:
    """For each restart, alternate between the best k rows and the best l columns; fill `sets` with the columns.

    The first columns are those with the highest lots. Sums follow by adding and subtracting only the rows and columns
    that changed.
    """
    n, m = X.shape
    rows, new_rows, new_cols = np.empty(n, np.uint8), np.empty(n, np.uint8), np.empty(m, np.uint8)
    row_sum, col_sum = np.empty(n), np.empty(m)
    one, two, lines = np.empty(max(n, m)), np.empty(max(n, m)), np.empty(max(n, m), np.int64)
    for g in range(len(sets)):
        k, width = n_rows[g], n_cols[g]
        cols = sets[g]
        choose(lots[g], width, kth_largest(lots[g], width, -width / m, one, two), new_cols)
        rows[:], cols[:], row_sum[:], col_sum[:] = 0, 0, 0.0, 0.0
        follow(Xt, new_cols, cols, row_sum, lines)
        row_cut, col_cut, average, before = row_guess[g], 0.0, 0.0, -np.inf
        while True:
            row_cut = kth_largest(row_sum, k, row_cut, one, two)
            choose(row_sum, k, row_cut, new_rows)
            follow(X, new_rows, rows, col_sum, lines)
            col_cut = kth_largest(col_sum, width, col_cut, one, two)
            choose(col_sum, width, col_cut, new_cols)
            average = 0.0
            for j in range(m):
                if new_cols[j]:
                    average += col_sum[j] / (k * width)
            if not follow(Xt, new_cols, cols, row_sum, lines) or average - before <= 1e-9:
                break
            before = average
