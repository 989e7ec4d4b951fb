"""Kernels on bit sets: pairwise patterns (BiBit) and the walk through all inclusion-maximal blocks (Bimax).

Promise of the caller: sets are lines of uint64 words, bit j mod 64 of word j // 64, and bits past the end are 0.
Kernels that may run long stop when their buffer is full or their budget is spent, and continue from `state`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import copy_cells, count_ones, kernel

ONE = np.uint64(1)
HALF = np.uint64(32)
LOWER = np.uint64(0xFFFFFFFF)
FACTORS = (np.uint64(0x9E3779B1), np.uint64(0x85EBCA77))


@kernel
def common_rows(columns: Any, pattern: Any, rows: Any) -> Any:
    """Fill `rows` with the rows that hold every column of the pattern; return their number."""
    # rows = ones[:, pattern].all(axis=1)
    first = True
    for word in range(len(pattern)):
        rest = pattern[word]
        while rest:
            lowest = rest & ~(rest - ONE)
            line = columns[64 * word + count_ones(lowest - ONE)]
            rest ^= lowest
            if first:
                copy_cells(line, rows)
                first = False
            else:
                for at in range(len(rows)):
                    rows[at] &= line[at]
    count = 0
    for at in range(len(rows)):
        count += count_ones(rows[at])
    return count


@kernel
def place_in_table(rows: Any, pattern: Any, table: Any) -> Any:
    """Return the free slot for a new pattern, or -1 if the table holds it; entries are pairs i · n + j + 1."""
    n = len(rows)
    code = ONE
    for word in range(len(pattern)):
        code ^= pattern[word]
        for _ in range(2):  # products of halves, which no 64 bits overflow
            other = (code >> HALF) * FACTORS[1]
            code = ((code & LOWER) * FACTORS[0]) ^ (other >> HALF) ^ (other << HALF)
    mask = len(table) - 1
    slot = np.int64(code & np.uint64(mask))
    while table[slot] != 0:
        pair = table[slot] - 1
        one, two = rows[pair // n], rows[pair % n]
        same = True
        for word in range(len(pattern)):
            if one[word] & two[word] != pattern[word]:
                same = False
                break
        if same:
            return -1
        slot = (slot + 1) & mask
    return slot


@kernel
def scan_pairs(
    rows: Any, columns: Any, least: Any, floor: int, budget: int, table: Any, state: Any, pairs: Any, areas: Any
) -> int:
    """Go through pairs of rows from `state` (i, j, patterns in the table) on; return how many biclusters were found.

    A pattern counts once. Biclusters of at most `floor` cells are passed over.
    """
    n, width = rows.shape
    min_rows, min_columns = least[0], least[1]
    i, j, held = state[0], state[1], state[2]
    pattern = np.empty(width, np.uint64)
    extent = np.empty(columns.shape[1], np.uint64)
    found = 0
    while i < n - 1 and found < len(pairs) and budget > 0 and 2 * held < len(table):
        size = 0
        one, two = rows[i], rows[j]
        for word in range(width):
            pattern[word] = one[word] & two[word]
            size += count_ones(pattern[word])
        budget -= 1
        if size >= min_columns:
            slot = place_in_table(rows, pattern, table)
            if slot >= 0:
                table[slot] = i * n + j + 1
                held += 1
                count = common_rows(columns, pattern, extent)
                budget -= size
                if count >= min_rows and count * size > floor:
                    pairs[found] = i * n + j
                    areas[found] = count * size
                    found += 1
        j += 1
        if j == n:
            i += 1
            j = i + 1
    state[0], state[1], state[2] = i, j, held
    return found


@kernel
def rehash(rows: Any, old: Any, table: Any) -> None:
    """Move the patterns of one table into another."""
    n, width = rows.shape
    pattern = np.empty(width, np.uint64)
    for slot in range(len(old)):
        if old[slot] != 0:
            pair = old[slot] - 1
            for word in range(width):
                pattern[word] = rows[pair // n, word] & rows[pair % n, word]
            table[place_in_table(rows, pattern, table)] = old[slot]


@kernel
def lies_within(inner: Any, outer: Any) -> bool:
    """Return whether one set lies within another."""
    for at in range(len(inner)):  # noqa: SIM110 - not (inner & ~outer).any()
        if inner[at] & ~outer[at]:
            return False
    return True


@kernel
def largest_below(size: int, width: int, counts: Any, start: int, min_rows: int, min_columns: int, tally: Any) -> int:
    """Return a bound on the cells of any bicluster below a node, from how many of its rows each further column holds.

    With t further columns there are at most as many rows as the t-th largest count.
    """
    # rows = np.sort(counts[start:])[::-1]; columns = width + np.arange(1, len(rows) + 1)
    # (rows * columns)[(rows >= min_rows) & (columns >= min_columns)].max(initial=0)
    tally[: size + 1] = 0
    for k in range(start, len(counts)):
        if counts[k] >= min_rows:
            tally[counts[k]] += 1
    bound = 0
    columns = width
    for rows in range(size, min_rows - 1, -1):
        columns += tally[rows]
        if tally[rows] and columns >= min_columns:
            bound = max(bound, columns * rows)
    return bound


@kernel
def walk_maximal(
    columns: Any, least: Any, floor: int, budget: int, stack: Any, depth: int, results: Any, taken: Any
) -> int:
    """Walk depth first through the inclusion-maximal blocks of ones; return the depth, -1 at the end.

    A node of the `stack` is a set of rows with every column that holds them all; `nodes` holds rows, columns and the
    next column to try. A child adds one column and closes the set; it is kept only where no earlier column joins,
    so that every block appears once. `taken` receives how many were found and how many steps are left.
    """
    extents, intents, counts, nodes = stack
    found_rows, found_columns, areas = results
    m, words = columns.shape
    min_rows, min_columns = least[0], least[1]
    tally = np.zeros(nodes[0, 0] + 2 if depth >= 0 else 2, np.int64)
    found = 0
    while depth >= 0 and found < len(areas) and budget > 0:
        j = nodes[depth, 2]
        count, intent = counts[depth], intents[depth]
        while j < m and (intent[j] or count[j] < min_rows):
            j += 1
        if j == m:
            depth -= 1
            continue
        nodes[depth, 2] = j + 1
        size = count[j]
        extent, parent = extents[depth + 1], extents[depth]
        line = columns[j]
        for at in range(words):
            extent[at] = parent[at] & line[at]
        closed = intents[depth + 1]
        fresh = True
        width = 0
        for k in range(m):
            joins = intent[k] != 0 or k == j
            if not joins and (k < j or count[k] >= size) and lies_within(extent, columns[k]):
                joins = True
                if k < j:
                    fresh = False
                    break
            closed[k] = joins
            width += joins
        budget -= 1
        if not fresh:
            continue
        if width >= min_columns and size * width > floor:
            copy_cells(extent, found_rows[found])
            copy_cells(closed, found_columns[found])
            areas[found] = size * width
            found += 1
        further = counts[depth + 1]
        for k in range(j + 1, m):
            further[k] = 0
            if closed[k] == 0 and count[k] >= min_rows:
                line = columns[k]
                shared = 0
                for at in range(words):
                    shared += count_ones(extent[at] & line[at])
                further[k] = shared
        if largest_below(size, width, further, j + 1, min_rows, min_columns, tally) > floor:
            depth += 1
            nodes[depth, 0], nodes[depth, 1], nodes[depth, 2] = size, width, j + 1
    taken[0], taken[1] = found, budget
    return depth
