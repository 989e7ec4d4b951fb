"""Kernels of QUBIC: weights of pairs of rows, and the greedy growth of a seed.

Promise of the caller: a row is a line of uint64 words, one bit for every pair of symbol and column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import count_ones, kernel


@kernel
def weigh_pairs(rows: Any, tally: Any) -> None:
    """Count into `tally` how many pairs of rows have each weight: the columns in which their symbols are the same."""
    # weight of (i, j) = number of bits in rows[i] & rows[j]; tally += np.bincount(weights of all i < j)
    n, width = rows.shape
    for i in range(n - 1):
        one = rows[i]
        for j in range(i + 1, n):
            two = rows[j]
            weight = 0
            for at in range(width):
                weight += count_ones(one[at] & two[at])
            tally[weight] += 1


@kernel
def gather_pairs(rows: Any, low: int, high: int, state: Any, pairs: Any, weights: Any) -> int:
    """Fill in the pairs i · n + j with low ≤ weight ≤ high from `state` (i, j) on; return how many."""
    n, width = rows.shape
    i, j = state[0], state[1]
    found = 0
    while i < n - 1 and found < len(pairs):
        one, two = rows[i], rows[j]
        weight = 0
        for at in range(width):
            weight += count_ones(one[at] & two[at])
        if low <= weight <= high:
            pairs[found] = i * n + j
            weights[found] = weight
            found += 1
        j += 1
        if j == n:
            i += 1
            j = i + 1
    state[0], state[1] = i, j
    return found


@kernel
def grow_core(rows: Any, first: int, second: int, min_columns: int, order: Any) -> int:
    """Add the row that keeps most columns, one at a time; fill `order` and return how many rows make the best core.

    The best core has the largest min(|I|, |J|), and the most rows among those.
    """
    n, width = rows.shape
    common = rows[first] & rows[second]
    outside = np.ones(n, np.uint8)
    outside[first] = outside[second] = 0
    order[0], order[1] = first, second
    size = 2
    columns = 0
    for at in range(width):
        columns += count_ones(common[at])
    best = min(size, columns)
    best_size = size
    while size < n:
        chosen = -1
        most = min_columns - 1
        for k in range(n):
            if outside[k]:
                # kept = np.count_nonzero(common & rows[k])
                kept = 0
                for at in range(width):
                    kept += count_ones(common[at] & rows[k, at])
                if kept > most:
                    chosen, most = k, kept
        if chosen < 0 or most < best:
            break
        outside[chosen] = 0
        order[size] = chosen
        size += 1
        for at in range(width):
            common[at] &= rows[chosen, at]
        best, best_size = max(best, min(size, most)), size
    return best_size
