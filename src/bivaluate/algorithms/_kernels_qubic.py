"""Kernels of QUBIC: weights of pairs of rows, and the greedy growth of a seed.

Promise of the caller: a row is a line of uint64 words, one bit for every pair of symbol and column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import count_ones, kernel

ONE = np.uint64(1)
# Shares of rows and columns are compared with this much grace.
ROUNDING = 1e-9


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
def next_seed(pairs: Any, start: int, n: int, holders: Any, touching: Any) -> int:
    """Return the place of the next pair that may be a seed, or the number of pairs.

    `holders` says which blocks hold a row, `touching` which blocks share a row with a block, itself among them. A
    pair may be a seed if one of its rows lies in no block, or if no block of the one touches a block of the other.
    """
    for at in range(start, len(pairs)):
        one, two = holders[pairs[at] // n], holders[pairs[at] % n]
        fits = True
        for word in range(len(one)):
            rest = one[word]
            while rest and fits:
                lowest = rest & ~(rest - ONE)
                rest ^= lowest
                touched = touching[64 * word + count_ones(lowest - ONE)]
                for other in range(len(two)):
                    if touched[other] & two[other]:
                        fits = False
        if fits:
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


@kernel
def agree(symbols: Any, rows: Any, share: float, agreed: Any, hits: Any) -> Any:
    """Fill the symbol a share of the rows has in each column, 0 for none, and how many have it; return the columns."""
    # counts of symbol s in column j = (symbols[rows, j] == s).sum(); agreed[j] is the most frequent s other than 0
    n_ranks = 0
    for i in rows:
        for j in range(symbols.shape[1]):
            n_ranks = max(n_ranks, abs(symbols[i, j]))
    counts = np.zeros(2 * n_ranks + 1, np.int64)
    least = max(1.0, share * len(rows) - ROUNDING)
    columns = 0
    for j in range(symbols.shape[1]):
        counts[:] = 0
        for i in rows:
            counts[symbols[i, j] + n_ranks] += 1
        counts[n_ranks] = 0
        most = counts.argmax()
        agreed[j], hits[j] = 0, counts[most]
        if counts[most] >= least:
            agreed[j] = most - n_ranks
            columns += 1
    return columns


@kernel
def agreements(line: Any, agreed: Any, sign: int) -> int:
    """Return in how many columns a row has the agreed symbol, times the sign."""
    same = 0
    for j in range(len(agreed)):
        same += agreed[j] != 0 and line[j] == sign * agreed[j]
    return same


@kernel
def expand(symbols: Any, core: Any, share: float, inside: Any, agreed: Any) -> None:
    """Fill the rows (`inside`) and the columns (`agreed` is not 0) of the core widened to a share of agreement.

    Columns in which a share of the rows agrees come in, rows that do not agree in a share of these go, until all do;
    if fewer than two would stay, the core's own columns are taken. Then rows come in that agree in a share of the
    columns, those that agree most first, while a share of the rows agrees in every column; then rows that mirror them.
    """
    n, m = symbols.shape
    hits = np.empty(m, np.int64)
    rows = core.copy()
    while True:
        columns = agree(symbols, rows, share, agreed, hits)
        kept = 0
        for at in range(len(rows)):
            if agreements(symbols[rows[at]], agreed, 1) >= share * columns - ROUNDING:
                rows[kept] = rows[at]
                kept += 1
        if kept == len(rows):
            break
        rows = rows[:kept]
        if kept < 2:
            rows = core
            columns = agree(symbols, rows, 1.0, agreed, hits)
            break
    inside[:] = 0
    for i in rows:
        inside[i] = 1
    size = len(rows)
    same = np.empty(n, np.int64)
    for sign in (1, -1):
        for i in range(n):
            same[i] = -1 if inside[i] else agreements(symbols[i], agreed, sign)
        for number in range(columns, 0, -1):
            if number < share * columns - ROUNDING:
                break
            for i in range(n):
                if same[i] != number:
                    continue
                fits = True
                for j in range(m):
                    if agreed[j] != 0:
                        hit = symbols[i, j] == sign * agreed[j]
                        fits = fits and hits[j] + hit >= share * (size + 1) - ROUNDING
                if fits:
                    inside[i] = 1
                    size += 1
                    for j in range(m):
                        hits[j] += agreed[j] != 0 and symbols[i, j] == sign * agreed[j]
