"""Compiled loops over pairs of cells that lie together in at least two biclusters of two solutions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate._jit import count_ones, keep_apart, kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Lists(NamedTuple):
    """Lists of different lengths, one after the other."""

    start: Ints
    items: Ints


class Blocks(NamedTuple):
    """Distinct biclusters of two solutions, rows and columns grouped into classes with the same memberships.

    A block that both solutions have counts once. `row_times` and `col_times` are the sizes of the classes, `kind` says
    how often the solutions cover a crossing of them: a column of `cover` (at least 1). `number` is the position of a
    block in each solution, or -1.
    """

    of_row: Lists
    rows: Lists
    cols: Lists
    row_times: Floats
    col_times: Floats
    size: Floats
    number: Ints
    kind: Ints
    cover: Ints
    jaccard: Floats


class Together(NamedTuple):
    """Sums over ordered pairs of cells; what blocks give one by one is taken off again where a pair shares several."""

    common: Floats  # by solution and number of common biclusters, from 2 on
    apart: Floats  # by solution and number of other pairs of biclusters
    least: Floats  # of the smaller number of common biclusters, and of others
    bcubed: Floats  # of means over partners: precision and recall


class Columns(NamedTuple):
    """Columns in at least two of the blocks that two rows share, grouped by which of these they are in (`words`).

    Within a group they are counted by the kinds of their cells: in the one row (0) and in the other (1).
    """

    words: NDArray[np.uint64]  # of each column
    times: Ints  # in how many of the blocks each column is
    seen: Ints  # columns in any of them
    group: Ints  # of each column
    example: Ints  # a column of each group
    weight: Floats  # columns of each group
    kinds: Ints  # in row 0 and 1, of each group
    counted: Floats  # columns of each of these kinds
    n_kinds: Ints
    slot: Ints  # where a kind stands, or -1


@kernel
def add_pairs(blocks: Blocks, first: int, last: int, into: Together) -> None:
    """Add the pairs whose first cell is in row classes `first` to `last`."""
    n_rows, n_cols, n_blocks = len(blocks.row_times), len(blocks.col_times), len(blocks.size)
    times = np.zeros(n_rows, dtype=np.int64)
    near = np.empty(n_rows, dtype=np.int64)
    shared = np.empty(n_blocks, dtype=np.int64)
    columns = Columns(
        np.zeros((n_cols, (n_blocks + 63) // 64), dtype=np.uint64),
        np.zeros(n_cols, dtype=np.int64),
        np.empty(n_cols, dtype=np.int64),
        np.empty(n_cols, dtype=np.int64),
        np.empty(n_cols, dtype=np.int64),
        np.empty(n_cols),
        np.empty((2, n_cols, n_cols), dtype=np.int64),
        np.empty((2, n_cols, n_cols)),
        np.empty((2, n_cols), dtype=np.int64),
        np.full(blocks.cover.shape[1], -1),
    )
    sides = np.zeros((2, columns.words.shape[1]), dtype=np.uint64)
    agree, partners = np.zeros((2, n_cols)), np.zeros((2, n_cols))
    for row in range(first, last):
        agree[:] = 0.0
        partners[:] = 0.0
        n_near = 0
        for at in range(blocks.of_row.start[row], blocks.of_row.start[row + 1]):
            block = blocks.of_row.items[at]
            _count_alone(blocks, block, agree, partners)
            for other_at in range(blocks.rows.start[block], blocks.rows.start[block + 1]):
                other = blocks.rows.items[other_at]
                if times[other] == 0:
                    near[n_near] = other
                    n_near += 1
                times[other] += 1
        for at in range(n_near):
            other = near[at]
            if times[other] > 1:
                n_shared = _intersect(blocks.of_row, row, other, shared)
                _add_rows(blocks, row, other, shared[:n_shared], columns, sides, agree, partners, into)
            times[other] = 0
        for side in range(2):
            for col in range(n_cols):
                if partners[side, col] > 0:
                    into.bcubed[side] += (
                        blocks.row_times[row] * blocks.col_times[col] * agree[side, col] / partners[side, col]
                    )


@kernel
def _count_alone(blocks: Blocks, block: int, agree: Floats, partners: Floats) -> None:
    """Count every cell of a block as a partner of the cells of one of its rows."""
    both = blocks.number[0, block] >= 0 and blocks.number[1, block] >= 0
    for side in range(2):
        if blocks.number[side, block] >= 0:
            for at in range(blocks.cols.start[block], blocks.cols.start[block + 1]):
                col = blocks.cols.items[at]
                partners[side, col] += blocks.size[block]
                if both:
                    agree[side, col] += blocks.size[block]


@kernel
def _intersect(lists: Lists, one: int, other: int, into: Ints) -> int:
    """Write what two ascending lists have in common; return how much that is."""
    # np.intersect1d(list of one, list of other)
    found = 0
    i, j = lists.start[one], lists.start[other]
    while i < lists.start[one + 1] and j < lists.start[other + 1]:
        difference = lists.items[i] - lists.items[j]
        if difference == 0:
            into[found] = lists.items[i]
            found += 1
        i += difference <= 0
        j += difference >= 0
    return found


@kernel
def _add_rows(
    blocks: Blocks,
    row: int,
    other: int,
    shared: Ints,
    columns: Columns,
    sides: NDArray[np.uint64],
    agree: Floats,
    partners: Floats,
    into: Together,
) -> None:
    """Add the pairs of cells of two rows that lie together in at least two of the blocks the rows share."""
    keep_apart()
    n_words = (len(shared) + 63) // 64
    n_seen = _mark_columns(blocks, shared, columns, sides[:, :n_words])
    n_groups = _group_columns(blocks, row, other, n_seen, n_words, columns)
    for g in range(n_groups):
        for h in range(n_groups):
            n_all = n_both = n_first = n_second = 0
            for word in range(n_words):
                common = columns.words[columns.example[g], word] & columns.words[columns.example[h], word]
                n_all += count_ones(common)
                n_first += count_ones(common & sides[0, word])
                n_second += count_ones(common & sides[1, word])
                n_both += count_ones(common & sides[0, word] & sides[1, word])
            if n_all < 2:
                continue
            weight = blocks.row_times[other] * columns.weight[h]
            likeness = 0.0
            if n_first > 0 and n_second > 0:
                likeness = _likeness(blocks, shared, columns, columns.example[g], columns.example[h], sides, n_words)
                likeness *= min(n_first, n_second) / n_first
            # min(C, L)·Φ/C of the pair, less the 1 each block of both solutions gave already
            precision = weight * (likeness / n_first - n_both) if n_first > 0 else 0.0
            recall = weight * (likeness / n_second - n_both) if n_second > 0 else 0.0
            for at in range(n_seen):
                col = columns.seen[at]
                if columns.group[col] == g:
                    agree[0, col] += precision
                    agree[1, col] += recall
                    partners[0, col] += weight * ((n_first > 0) - n_first)
                    partners[1, col] += weight * ((n_second > 0) - n_second)
            _add_cells(blocks, columns, g, h, row, other, n_first, n_second, n_both, into)
    for at in range(n_seen):
        columns.times[columns.seen[at]] = 0
        columns.words[columns.seen[at], :n_words] = 0


@kernel
def _mark_columns(blocks: Blocks, shared: Ints, columns: Columns, sides: NDArray[np.uint64]) -> int:
    """Note for columns in at least two of the shared blocks in which they are, and which of these each solution has."""
    sides[:] = 0
    n_seen = 0
    for t in range(len(shared)):
        block, bit = shared[t], np.uint64(1) << np.uint64(t % 64)
        for side in range(2):
            if blocks.number[side, block] >= 0:
                sides[side, t // 64] |= bit
        for at in range(blocks.cols.start[block], blocks.cols.start[block + 1]):
            col = blocks.cols.items[at]
            if columns.times[col] == 0:
                columns.seen[n_seen] = col
                n_seen += 1
            columns.times[col] += 1
            columns.words[col, t // 64] |= bit
    n_kept = 0
    for at in range(n_seen):
        col = columns.seen[at]
        if columns.times[col] > 1:
            columns.seen[n_kept] = col
            n_kept += 1
        else:
            columns.times[col] = 0
            for word in range(sides.shape[1]):
                columns.words[col, word] = 0
    return n_kept


@kernel
def _group_columns(blocks: Blocks, row: int, other: int, n_seen: int, n_words: int, columns: Columns) -> int:
    """Group the columns in at least two of the shared blocks; return the number of groups."""
    n_groups = 0
    for at in range(n_seen):
        col = columns.seen[at]
        columns.group[col] = -1
        for g in range(n_groups):
            same = True
            for word in range(n_words):
                same = same and columns.words[col, word] == columns.words[columns.example[g], word]
            if same:
                columns.group[col] = g
                break
        if columns.group[col] < 0:
            columns.group[col] = n_groups
            columns.example[n_groups] = col
            columns.weight[n_groups] = 0.0
            n_groups += 1
        columns.weight[columns.group[col]] += blocks.col_times[col]
    for side in range(2):
        line = row if side == 0 else other
        for g in range(n_groups):
            found = 0
            for at in range(n_seen):
                col = columns.seen[at]
                if columns.group[col] != g:
                    continue
                kind = blocks.kind[line, col]
                if columns.slot[kind] < 0:
                    columns.slot[kind] = found
                    columns.kinds[side, g, found] = kind
                    columns.counted[side, g, found] = 0.0
                    found += 1
                columns.counted[side, g, columns.slot[kind]] += blocks.col_times[col]
            columns.n_kinds[side, g] = found
            for at in range(found):
                columns.slot[columns.kinds[side, g, at]] = -1
    return n_groups


@kernel
def _likeness(
    blocks: Blocks, shared: Ints, columns: Columns, col: int, partner: int, sides: NDArray[np.uint64], n_words: int
) -> float:
    """Return the sum over shared biclusters of one solution of the best Jaccard index with one of the other."""
    one = np.uint64(1)
    total = 0.0
    for word in range(n_words):
        first = columns.words[col, word] & columns.words[partner, word] & sides[0, word]
        while first:
            below = (first & (~first + one)) - one
            first &= first - one
            found = blocks.number[0, shared[64 * word + count_ones(below)]]
            best = 0.0
            for other_word in range(n_words):
                second = columns.words[col, other_word] & columns.words[partner, other_word] & sides[1, other_word]
                while second:
                    below = (second & (~second + one)) - one
                    second &= second - one
                    truth = blocks.number[1, shared[64 * other_word + count_ones(below)]]
                    best = max(best, blocks.jaccard[found, truth])
            total += best
    return total


@kernel
def _add_cells(
    blocks: Blocks,
    columns: Columns,
    g: int,
    h: int,
    row: int,
    other: int,
    n_first: int,
    n_second: int,
    n_both: int,
    into: Together,
) -> None:
    """Add pairs of cells that share this many biclusters, and take off what these gave one by one."""
    rows = blocks.row_times[row] * blocks.row_times[other]
    every = rows * columns.weight[g] * columns.weight[h]
    into.least[0] += every * (min(n_first, n_second) - n_both)
    into.common[0, n_first] += every
    into.common[1, n_second] += every
    for i in range(columns.n_kinds[0, g]):
        kind = columns.kinds[0, g, i]
        cells = rows * columns.counted[0, g, i]
        for j in range(columns.n_kinds[1, h]):
            partner = columns.kinds[1, h, j]
            weight = cells * columns.counted[1, h, j]
            one = blocks.cover[0, kind] * blocks.cover[0, partner]
            two = blocks.cover[1, kind] * blocks.cover[1, partner]
            if n_first > 0:
                into.apart[0, one - n_first] += weight
                into.apart[0, one - 1] -= weight * n_first
                into.apart[0, one] += weight * (n_first - 1)
            if n_second > 0:
                into.apart[1, two - n_second] += weight
                into.apart[1, two - 1] -= weight * n_second
                into.apart[1, two] += weight * (n_second - 1)
            least = min(one, two)
            into.least[1] += weight * (
                min(one - n_first, two - n_second)
                - least
                - (n_first - n_both) * (min(one - 1, two) - least)
                - (n_second - n_both) * (min(one, two - 1) - least)
                + n_both
            )
