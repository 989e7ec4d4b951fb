"""Kernels of QUBIC: weights of pairs of rows, the choice and the greedy growth of a seed, what widens it.

Promise of the caller: a row is a line of uint64 words, one bit for every pair of symbol and column.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import count_ones, inner_kernel, kernel

# Shares of rows and columns are compared with this much grace.
ROUNDING = 1e-9


@inner_kernel
def weigh(one: Any, two: Any) -> int:
    """Return how many bits two rows have in common."""
    # np.bitwise_count(one & two).sum()
    weight = 0
    for at in range(len(one)):
        weight += count_ones(one[at] & two[at])
    return weight


@kernel
def weigh_pairs(rows: Any, tally: Any) -> None:
    """Count into `tally` how many pairs of rows have each weight: the columns in which their symbols are the same."""
    # tally += np.bincount(weights of all i < j)
    for i in range(len(rows) - 1):
        for j in range(i + 1, len(rows)):
            tally[weigh(rows[i], rows[j])] += 1


@kernel
def gather_pairs(rows: Any, low: int, high: int, state: Any, pairs: Any, weights: Any) -> int:
    """Fill in the pairs i · n + j with low ≤ weight ≤ high from `state` (i, j) on; return how many."""
    n, i, j, found = len(rows), state[0], state[1], 0
    while i < n - 1 and found < len(pairs):
        weight = weigh(rows[i], rows[j])
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
def next_seed(pairs: Any, start: int, holders: Any, touched: Any) -> int:
    """Return the place of the next pair that may be a seed, or the number of pairs.

    `holders` says which blocks hold a row, `touched` which blocks share a row with one of these. A pair may be a seed
    if one of its rows lies in no block, or if no block of the one touches a block of the other.
    """
    # np.flatnonzero(~(touched[:, one] & holders[:, two]).any(axis=0))[0], with one, two = np.divmod(pairs[start:], n)
    n_words, n = holders.shape
    for at in range(start, len(pairs)):
        one, two, common = pairs[at] // n, pairs[at] % n, np.uint64(0)
        for word in range(n_words):
            common |= touched[word, one] & holders[word, two]
        if common == 0:
            return at
    return len(pairs)


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
    size = best_size = 2
    best = min(size, weigh(common, common))
    while size < n:
        chosen = -1
        most = min_columns - 1
        for k in range(n):
            if outside[k]:
                kept = weigh(common, rows[k])
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


@inner_kernel
def agree(symbols: Any, rows: Any, share: float, counts: Any, agreed: Any, hits: Any) -> Any:
    """Fill the symbol a share of the rows has in each column, 0 for none, and how many have it; return the columns."""
    # counts of symbol s in column j = (symbols[rows, j] == s).sum(); agreed[j] is the most frequent s other than 0
    zero, columns = len(counts) // 2, 0
    for j in range(len(agreed)):
        counts[:] = 0
        for i in rows:
            counts[symbols[i, j] + zero] += 1
        counts[zero] = 0
        most = counts.argmax()
        is_agreed = counts[most] >= max(1.0, share * len(rows) - ROUNDING)
        agreed[j], hits[j] = most - zero if is_agreed else 0, counts[most]
        columns += is_agreed
    return columns


@inner_kernel
def agreements(line: Any, agreed: Any, sign: int) -> int:
    """Return in how many columns a row has the agreed symbol, times the sign."""
    same = 0
    for j in range(len(agreed)):
        same += agreed[j] != 0 and line[j] == sign * agreed[j]
    return same


@kernel
def expand(symbols: Any, core: Any, n_ranks: int, share: float, inside: Any, agreed: Any) -> None:
    """Fill the rows (`inside`) and the columns (`agreed` is not 0) of the core widened to a share of agreement.

    Columns in which a share of the rows agrees come in, rows that do not agree in a share of these go, until all do;
    if fewer than two would stay, the core's own columns are taken. Then rows come in that agree in a share of the
    columns, those that agree most first, while a share of the rows agrees in every column; then rows that mirror them.
    """
    n, m = symbols.shape
    counts, hits, same = np.empty(2 * n_ranks + 1, np.int64), np.empty(m, np.int64), np.empty(n, np.int64)
    rows, needed, before, columns = core.copy(), share, 0, 0
    while before != len(rows):
        before, size = len(rows), 0
        columns = agree(symbols, rows, needed, counts, agreed, hits)
        for i in rows:
            rows[size] = i
            size += agreements(symbols[i], agreed, 1) >= share * columns - ROUNDING
        rows = rows[:size]
        if size < 2:  # all rows agree in the core's own columns: none goes in the next round
            rows, needed, before = core, 1.0, 0
    inside[:] = 0
    for i in rows:
        inside[i] = 1
    size = len(rows)
    for sign in (1, -1):
        for i in range(n):
            same[i] = -1 if inside[i] else agreements(symbols[i], agreed, sign)
        for number in range(columns, max(0, math.ceil(share * columns - ROUNDING) - 1), -1):
            for i in range(n):
                if same[i] != number:
                    continue
                fits = True
                for j in range(m):
                    if agreed[j] != 0:
                        fits &= hits[j] + (symbols[i, j] == sign * agreed[j]) >= share * (size + 1) - ROUNDING
                if fits:
                    inside[i] = 1
                    size += 1
                    for j in range(m):
                        hits[j] += symbols[i, j] == sign * agreed[j]
