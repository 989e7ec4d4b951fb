"""Compiled kernels for sparse matrices: VE and MSR of mergers from the entries alone, exactly.

With mean μ and standard deviation σ of a row over the m columns of a merger, zeros included, and c = −μ/σ, a cell that
is not stored is c once standardised. Σ|c − p| over all columns is one binary search in the sorted pattern p with its
prefix sums; each entry x then adds |x/σ + c − p| − |c − p|. The cost follows the entries, not the cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate._jit import kernel, strict_kernel
from bivaluate._types import Floats, Ints
from bivaluate.measures._blocks import CONSTANT, EPS
from bivaluate.measures._engine._kernels_two_pass import (
    LOST_PATTERN,
    LOST_ROW,
    Errors,
    Layout,
    Patterns,
    shared_rows,
    subtract_row,
)

if TYPE_CHECKING:
    from bivaluate.measures._engine.passes import Members


# Squared means of rows beyond this many times the variance leave too few digits: the merger is computed with care.
FAR_OFF = 1e7


class Split(NamedTuple):
    """The entries of some rows, and once more for the columns of each bicluster, with their rank among them.

    Those of row i in the columns of bicluster k stand at ``part_start[k, i] : part_start[k, i + 1]``.
    """

    start: Ints
    cols: NDArray[np.int32]
    values: Floats
    n_used: int
    norm: Floats
    part_start: Ints
    rank: NDArray[np.int32]
    part_values: Floats


class Ordered(NamedTuple):
    """The patterns of mergers in ascending order, with prefix sums, placed as in `Patterns`, and where columns are.

    The column of rank a in bicluster j is column ``place[k]`` of its merger with lead i, k = place_at[i] + col_start[j]
    + a, or -1 if i has it too.
    """

    values: Floats
    sums: Floats
    place_at: Ints
    place: NDArray[np.int32]


def split(rows: Any, members: Members) -> Split:
    """Lay out rows, CSR, in the columns that biclusters use."""
    owner_start = np.concatenate([[0], np.cumsum(np.bincount(members.cols, minlength=rows.shape[1]))])
    start, cols, values = rows.indptr.astype(np.int64), rows.indices.astype(np.int32), np.array(rows.data)
    parts = split_parts(start, cols, values, members.col_start, members.cols, owner_start)
    with np.errstate(over="ignore"):
        norm = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return Split(start, cols, values, rows.shape[1], norm, *parts)


def sum_columns(split: Split, layout: Layout, group: Any, sums: Any) -> None:
    """Add the rows of each bicluster in `group` to its line of `sums`; a pattern does not need centred rows."""
    from scipy.sparse import csr_array

    rows = csr_array((split.values, split.cols, split.start), (len(split.norm), split.n_used))
    held = csr_array((np.ones(len(layout.rows)), layout.rows, layout.row_start), (len(layout.sizes), len(split.norm)))
    sums[group] += (held[group] @ rows).toarray()


@kernel
def split_parts(start: Any, cols: Any, values: Any, col_start: Any, members: Any, owner_start: Any) -> Any:
    """Return the entries once more for the columns of each bicluster."""
    K, n = col_start.size - 1, start.size - 1
    owner = np.empty(members.size, np.int32)
    ranks = np.empty(members.size, np.int32)
    cursor = owner_start.copy()
    for k in range(K):
        for t in range(col_start[k], col_start[k + 1]):
            q = members[t]
            owner[cursor[q]] = k
            ranks[cursor[q]] = t - col_start[k]
            cursor[q] += 1
    entries = np.zeros(owner_start.size - 1, np.int64)
    for e in range(start[0], start[n]):
        entries[cols[e]] += 1  # entries = np.bincount(cols)
    part_start, at, total = np.empty((K, n + 1), np.int64), np.empty(K, np.int64), 0
    for k in range(K):
        at[k] = total
        for t in range(col_start[k], col_start[k + 1]):
            total += entries[members[t]]
    rank = np.empty(total, np.int32)
    part_values = np.empty(total)
    for i in range(n):
        for k in range(K):
            part_start[k, i] = at[k]
        for e in range(start[i], start[i + 1]):
            for o in range(owner_start[cols[e]], owner_start[cols[e] + 1]):
                k = owner[o]
                rank[at[k]] = ranks[o]
                part_values[at[k]] = values[e]
                at[k] += 1
    for k in range(K):
        part_start[k, n] = at[k]
    return part_start, rank, part_values


@kernel
def subtract_shared_rows(split: Split, layout: Layout, patterns: Patterns, leads: Any) -> None:
    """Subtract the rows each lead shares with each other bicluster, as the kernel for dense rows does."""
    leading = np.zeros(layout.sizes.size, np.bool_)
    leading[leads] = True
    line, own = np.zeros(split.n_used), np.empty(split.n_used)
    for row in range(layout.owner_start.size - 1):
        if layout.owner_start[row + 1] - layout.owner_start[row] > 1:
            line[:] = 0.0
            for e in range(split.start[row], split.start[row + 1]):  # line[split.cols[…]] = split.values[…]
                line[split.cols[e]] = split.values[e]
            subtract_row(layout, patterns, leading, row, line, own)


def order_patterns(members: Members, patterns: Patterns, leads: Ints, alone: bool) -> Ordered:
    """Return the patterns of the mergers of the leads in ascending order."""
    place_at = np.zeros(len(members.sizes), dtype=np.int64)
    place_at[leads] = np.arange(len(leads)) * len(members.cols)
    place = np.empty(0 if alone else len(leads) * len(members.cols), np.int32)
    ordered = Ordered(patterns.values.copy(), np.empty_like(patterns.values), place_at, place)
    order(members.col_start, members.cols, len(members.used), patterns, leads, alone, ordered)
    return ordered


@kernel
def order(
    col_start: Any, cols: Any, n_used: int, patterns: Patterns, leads: Any, alone: bool, ordered: Ordered
) -> None:
    """Write what `order_patterns` returns."""
    # values = np.sort(values); sums = np.cumsum(values), of each merger by itself
    K = col_start.size - 1
    inside = np.zeros(n_used, np.bool_)
    for i in leads:
        first, last = (i, i + 1) if alone else (0, K)
        for j in range(first, last):
            here = slice(patterns.at[i] + patterns.start[i, j], patterns.at[i] + patterns.start[i, j + 1])
            ordered.values[here].sort()
            total = 0.0
            for t in range(patterns.at[i] + patterns.start[i, j], patterns.at[i] + patterns.start[i, j + 1]):
                total += ordered.values[t]
                ordered.sums[t] = total
        if alone:
            continue
        for q in cols[col_start[i] : col_start[i + 1]]:
            inside[q] = True
        for j in range(K):
            t = col_start[i + 1] - col_start[i]
            for a in range(col_start[j], col_start[j + 1]):
                ordered.place[ordered.place_at[i] + a] = -1 if inside[cols[a]] else t
                t += not inside[cols[a]]
        for q in cols[col_start[i] : col_start[i + 1]]:
            inside[q] = False


@kernel
def merge_leads(
    split: Split, layout: Layout, patterns: Patterns, ordered: Ordered, leads: Any, alone: bool, errors: Errors
) -> None:
    """Add up each lead's share of VE and MSR of its mergers with every bicluster; with `alone`, of itself only."""
    K = layout.sizes.size
    shared_start = np.empty(K + 1, np.int64)
    cursor = np.empty(K, np.int64)
    for i in leads:
        first, last = (i, i + 1) if alone else (0, K)
        I = layout.rows[layout.row_start[i] : layout.row_start[i + 1]]  # noqa: E741
        shared = shared_rows(I, layout.owner_start, layout.owners, shared_start, cursor)
        own_sum, own_square, floor = np.zeros(I.size), np.zeros(I.size), np.empty(I.size)
        weight = np.ones(I.size)
        for r in range(I.size):
            for e in range(split.part_start[i, I[r]], split.part_start[i, I[r] + 1]):
                own_sum[r] += split.part_values[e]
                own_square[r] += split.part_values[e] * split.part_values[e]
            floor[r] = (64 * EPS * split.norm[I[r]]) ** 2
        for j in range(first, last):
            n = layout.sizes[i] + layout.sizes[j] - layout.overlap[i, j]
            begin = patterns.at[i] + patterns.start[i, j]
            end = patterns.at[i] + patterns.start[i, j + 1]
            if end - begin == 1 or n == 1 or (i > j and layout.overlap[i, j] == layout.sizes[i]):
                continue
            if i > j:
                for s in range(shared_start[j], shared_start[j + 1]):
                    weight[shared[s]] = 0.0
            place = ordered.place[ordered.place_at[i] + layout.col_start[j] :]
            merge_pair(
                split, I, i, j, n, own_sum, own_square, floor, weight, patterns.values[begin:end],
                ordered.values[begin:end], ordered.sums[begin:end], place, patterns.variance[i, j], errors,
            )  # fmt: skip
            if i > j:
                for s in range(shared_start[j], shared_start[j + 1]):
                    weight[shared[s]] = 1.0


@kernel
def merge_pair(
    split: Split, members: Any, i: int, j: int, n: int, own_sum: Any, own_square: Any, floor: Any, weight: Any,
    pattern: Any, ascending: Any, prefix: Any, place: Any, variance: float, errors: Errors,
) -> None:  # fmt: skip
    """Add what the rows of lead i in a chunk give to its merger with j."""
    m = pattern.size
    error = spreads = squares = 0.0
    far_off = False
    values = split.part_values
    for r in range(members.size):
        if weight[r] == 0.0:
            continue
        own = slice(split.part_start[i, members[r]], split.part_start[i, members[r] + 1])
        other = slice(split.part_start[j, members[r]], split.part_start[j, members[r] + 1])
        total, square = own_sum[r], own_square[r]
        if i != j:
            for e in range(other.start, other.stop):
                if place[split.rank[e]] >= 0:
                    total += values[e]
                    square += values[e] * values[e]
        mean, spread = total / m, square / m - (total / m) * (total / m)
        if not (spread > LOST_ROW * square / m and spread > floor[r]):
            mean, spread = row_in_two_passes(values, split.rank, own, other, place, i != j, m)
            far_off = far_off or mean * mean > FAR_OFF * spread > 0.0
        squares += square / m
        spreads += spread
        inverse = 1.0 / np.sqrt(spread) if spread > 0.0 else 0.0
        zero = -mean * inverse  # a cell that is not stored, standardised
        error += distance_to_all(zero, ascending, prefix)
        if inverse == 0.0:
            errors.constant[i, j] += 1.0
            continue
        for e in range(own.start, own.stop):
            p = pattern[split.rank[e]]
            error += abs(values[e] * inverse + zero - p) - abs(zero - p)
        if i != j:
            for e in range(other.start, other.stop):
                t = place[split.rank[e]]
                if t >= 0:
                    error += abs(values[e] * inverse + zero - pattern[t]) - abs(zero - pattern[t])
    errors.msr[i, j] += spreads / n
    errors.ve[i, j] += error / (float(n) * m)
    if far_off or not variance > LOST_PATTERN * squares / members.size:
        errors.doubtful[i, j] = True


@kernel
def distance_to_all(x: float, ascending: Any, prefix: Any) -> float:
    """Return the sum of |x - p| over ascending values p with their prefix sums."""
    below = np.searchsorted(ascending, x)
    m = ascending.size
    left = prefix[below - 1] if below > 0 else 0.0
    return float((x * below - left) + ((prefix[m - 1] - left) - x * (m - below)))


@strict_kernel
def row_in_two_passes(
    values: Any, rank: Any, own: Any, other: Any, place: Any, both: bool, m: int
) -> tuple[float, float]:
    """Return mean and variance of one row of a merger, zeros included; a constant row has mean and variance 0."""
    # x = X[row, union of the columns]; (x.mean(), x.var()), and (0, 0) where np.ptp(x) is rounding
    low, high, total, count = np.inf, -np.inf, 0.0, 0
    for e in range(own.start, own.stop):
        low, high = min(low, values[e]), max(high, values[e])
        total += values[e]
        count += 1
    if both:
        for e in range(other.start, other.stop):
            if place[rank[e]] >= 0:
                low, high = min(low, values[e]), max(high, values[e])
                total += values[e]
                count += 1
    if count < m:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= CONSTANT * max(abs(low), abs(high)):
        return 0.0, 0.0
    mean = total / m
    squares = (m - count) * mean * mean
    for e in range(own.start, own.stop):
        squares += (values[e] - mean) * (values[e] - mean)
    if both:
        for e in range(other.start, other.stop):
            if place[rank[e]] >= 0:
                squares += (values[e] - mean) * (values[e] - mean)
    return mean, squares / m
