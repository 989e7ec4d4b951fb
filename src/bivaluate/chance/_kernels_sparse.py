"""Kernels of evidence on sparse rows: ranks of their entries, extremes and squares, from the entries alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import kernel

# Whole numbers below this are counted instead of sorted.
MOST_COUNTED = 4096


@kernel
def rank_counts(bounds: Any, data: Any, m: int, doubled: Any, zeros: Any) -> bool:
    """Fill in twice the mean rank of each entry, and of the zeros of each row; False where the entries are not counts.

    No entry is 0 itself.
    """
    counted = np.zeros(MOST_COUNTED, np.int64)
    for i in range(len(zeros)):
        begin, end, largest = bounds[i], bounds[i + 1], 0
        for e in range(begin, end):
            value = data[e]
            if not (0.0 < value < MOST_COUNTED and value == int(value)):
                return False
            counted[int(value)] += 1
            largest = max(largest, int(value))
        below = m - (end - begin)
        zeros[i] = below + 1
        for value in range(1, largest + 1):  # 2 * scipy.stats.rankdata(row)
            size = counted[value]
            counted[value] = 2 * below + size + 1
            below += size
        for e in range(begin, end):
            doubled[e] = counted[int(data[e])]
        counted[: largest + 1] = 0
    return True


@kernel
def rank_sorted(bounds: Any, data: Any, order: Any, m: int, doubled: Any, zeros: Any) -> None:
    """Fill in the same, whatever the entries are; `order` puts those of each row in ascending order."""
    # 2 * scipy.stats.rankdata(row)
    for i in range(len(zeros)):
        begin, end = bounds[i], bounds[i + 1]
        absent, negative, first = m - (end - begin), 0, begin
        while first < end:
            last, value = first + 1, data[order[first]]
            while last < end and data[order[last]] == value:
                last += 1
            below = first - begin
            if value > 0.0:
                below += absent
            else:
                negative = last - begin
            for e in range(first, last):
                doubled[order[e]] = 2 * below + (last - first) + 1
            first = last
        zeros[i] = 2 * negative + absent + 1


@kernel
def extremes(bounds: Any, indices: Any, data: Any, m: int) -> Any:
    """Return the smallest and the largest cell of each row and of each column, zeros included."""
    # X.min(axis=1), X.max(axis=1), X.min(axis=0), X.max(axis=0)
    n = len(bounds) - 1
    low, high, col_low, col_high = np.zeros(n), np.zeros(n), np.full(m, np.inf), np.full(m, -np.inf)
    in_col = np.zeros(m, np.int64)
    for i in range(n):
        least, most = np.inf, -np.inf
        if bounds[i + 1] - bounds[i] < m:
            least, most = 0.0, 0.0
        for e in range(bounds[i], bounds[i + 1]):
            value, j = data[e], indices[e]
            least, most = min(least, value), max(most, value)
            col_low[j], col_high[j] = min(col_low[j], value), max(col_high[j], value)
            in_col[j] += 1
        low[i], high[i] = least, most
    for j in range(m):
        if in_col[j] < n:
            col_low[j], col_high[j] = min(col_low[j], 0.0), max(col_high[j], 0.0)
    return low, high, col_low, col_high


@kernel
def add_changes(bounds: Any, indices: Any, data: Any, gap: Any, col_effect: Any, rows: Any, cols: Any) -> None:
    """Add (gap + d - b)**2 - (gap - b)**2 of each entry d to its row and to its column."""
    for i in range(len(rows)):
        total = 0.0
        for e in range(bounds[i], bounds[i + 1]):
            change = data[e] * (data[e] + 2.0 * (gap[i] - col_effect[indices[e]]))
            total += change
            cols[indices[e]] += change
        rows[i] += total
