"""The search of Large Average Submatrices for a given number of rows and columns: sums of sets, selection, steps.

Promise of the caller: `X` (rows x columns) and `Xt` (its transpose) hold the same standardised values, both
float64, C-contiguous and finite; sets of columns or rows are uint8 masks, one line per set.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import inner_kernel, kernel, strict_kernel

FAR = 30.0


@kernel
def sum_lines(M: Any, sets: Any, total: Any) -> None:
    """Fill the sums of the lines of `M` that are in each set."""
    # total[:] = sets @ M
    for g in range(len(sets)):
        for i in range(M.shape[1]):
            total[g, i] = 0.0
        for line in range(len(M)):
            if sets[g, line]:
                for i in range(M.shape[1]):
                    total[g, i] += M[line, i]


@strict_kernel
def follow(M: Any, new: Any, mask: Any, total: Any) -> bool:
    """Let the sum of the lines marked in `mask` follow to those marked in `new`; return whether any changed."""
    # total += (new - mask) @ M; mask[:] = new
    changed = False
    for line in range(len(mask)):
        if new[line] != mask[line]:
            sign = 1.0 if new[line] else -1.0
            for i in range(len(total)):
                total[i] += sign * M[line, i]
            mask[line] = new[line]
            changed = True
    return changed


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


@kernel
def best_size(values: Any, others: Any, choices: Any, chosen: Any, scores: Any) -> None:
    """Mark the largest values of each line that score best.

    The score of the r largest of n values, of sum S, is -log Phi(-z) - log C(n, r) with z = S / sqrt(r * other). They
    are put in falling order part by part, as far as a part may hold the end of the best.
    """
    # scores = log_tail(np.sort(values)[:, ::-1].cumsum(axis=1) / sqrt(r * others)) - choices[1:]; argmax(axis=1)
    n = values.shape[1]
    ordered, below, ends, limits = np.empty(n), np.empty(n), np.empty((n + 1, 2), np.int64), np.empty((n + 1, 2))
    for g in range(len(values)):
        other, best, size, cut, slope, height, depth = others[g], -np.inf, 0, 0.0, 0.0, 0.0, 1
        ends[0, 0], ends[0, 1], limits[0, 0], limits[0, 1] = 0, n, 0.0, np.inf
        for i in range(n):
            ordered[i] = values[g, i]
        while depth > 0:
            depth -= 1
            a, b, total, top = ends[depth, 0], ends[depth, 1], limits[depth, 0], max(limits[depth, 1], 0.0)
            # z^2 and -choices are largest at the ends; -log Phi(-z) <= z^2 / 2 + log(2 pi) / 2 + asinh(z / 2) (tangent)
            least, last = max(total, 0.0) + top, max(total, 0.0) + (b - a) * top
            square = max(least * least / ((a + 1) * other), last * last / (b * other))
            if a == b or 0.5 * square + slope * math.sqrt(square) + height - min(choices[a + 1], choices[b]) < best:
                continue
            pivot = ordered[(a + b) // 2]
            n_above, n_below = split(ordered[a:b], b - a, pivot, ordered[a:b], below)
            ends[depth + 1, 0], ends[depth + 1, 1], limits[depth + 1, 0], limits[depth + 1, 1] = (
                a,
                a + n_above,
                total,
                top,
            )
            for i in range(a, a + n_above):
                total += ordered[i]
            for i in range(a + n_above, b - n_below):
                ordered[i] = pivot
                total += pivot
                z = total / math.sqrt((i + 1) * other)
                if 0.5 * z * z + slope * z + height - choices[i + 1] < best:
                    continue
                score = log_tail(z) - choices[i + 1]
                if score > best or (score == best and i < size):
                    best, size, cut, near = score, i + 1, pivot, max(z, 0.0)
                    slope = 1.0 / math.sqrt(near * near + 4.0)
                    height = 0.919 + math.asinh(0.5 * near) - near * slope + 1e-6
            for i in range(n_below):
                ordered[b - n_below + i] = below[i]
            ends[depth, 0], ends[depth, 1], limits[depth, 0], limits[depth, 1] = b - n_below, b, total, pivot
            depth += 2
        scores[g] = best
        choose(values[g], size, cut, chosen[g])


@kernel
def constrained_search(X: Any, Xt: Any, n_rows: Any, n_cols: Any, lots: Any, row_guess: Any, sets: Any) -> None:
    """For each restart, alternate between the best k rows and the best l columns; fill `sets` with the columns.

    The first columns are those with the highest lots. Sums follow by adding and subtracting only the rows and columns
    that changed.
    """
    n, m = X.shape
    rows, new_rows, new_cols = np.empty(n, np.uint8), np.empty(n, np.uint8), np.empty(m, np.uint8)
    row_sum, col_sum = np.empty(n), np.empty(m)
    one, two = np.empty(max(n, m)), np.empty(max(n, m))
    for g in range(len(sets)):
        k, width = n_rows[g], n_cols[g]
        cols = sets[g]
        choose(lots[g], width, kth_largest(lots[g], width, -width / m, one, two), new_cols)
        rows[:], cols[:], row_sum[:], col_sum[:] = 0, 0, 0.0, 0.0
        follow(Xt, new_cols, cols, row_sum)
        row_cut, col_cut, average, before = row_guess[g], 0.0, 0.0, -np.inf
        while True:
            row_cut = kth_largest(row_sum, k, row_cut, one, two)
            choose(row_sum, k, row_cut, new_rows)
            follow(X, new_rows, rows, col_sum)
            col_cut = kth_largest(col_sum, width, col_cut, one, two)
            choose(col_sum, width, col_cut, new_cols)
            average = 0.0
            for j in range(m):
                if new_cols[j]:
                    average += col_sum[j] / (k * width)
            if not follow(Xt, new_cols, cols, row_sum) or average - before <= 1e-9:
                break
            before = average
