"""Compiled kernels for the K x K matrices of VE and MSR of mergers, in two passes over chunks of rows.

The first pass adds up columns: over the rows of every bicluster, and over the rows it shares with each other one. From
these come the patterns of all mergers. In the second pass each bicluster i (the lead) gets blocks of values, transposed
(column, row) and centred by row, in which VE and MSR of its mergers with every j are added up for the rows of i. What
belongs to the rows of j alone is added when j leads. Everything is a sum over rows: chunks can be read one after the
other or in many places, and in memory the matrix is one chunk. Leads are independent of each other, so the result does
not depend on how they are shared out to threads.

Promise of the caller: cells are finite; all indices are int64, in range and sorted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate._jit import inlined_kernel, kernel, strict_kernel, use_wide_vectors
from bivaluate._types import Flags, Floats, Ints
from bivaluate.measures._blocks import CONSTANT, EPS

# Shares of the sums of squares below which a difference of sums has lost too many digits.
LOST_ROW = 1e-4
LOST_PATTERN = 1e-10
# Squared means of rows, once their level over all columns in use is taken off, beyond this many times the variance
# leave too few digits: the merger is computed with care.
FAR_OFF = 1e11
# Blocks are padded to a multiple of this many rows.
LANES = 16


class Dense(NamedTuple):
    """Some rows of a matrix in the columns that biclusters use, with mean and norm of each row."""

    cells: Floats  # C-contiguous, read-only
    level: Floats
    norm: Floats  # bounds every absolute value of a row


class Layout(NamedTuple):
    """The members of all biclusters, one after the other; of rows those in a chunk."""

    row_start: Ints
    rows: Ints  # as rows of Dense
    col_start: Ints
    cols: Ints  # as columns of Dense
    owner_start: Ints
    owners: Ints  # the biclusters that hold each row
    col_set: Ints  # a number per bicluster, equal where the columns are
    by_set: Ints  # biclusters ordered by that number
    sizes: Ints  # rows of each bicluster, in all chunks
    overlap: Ints  # rows each two biclusters share, in all chunks


class Patterns(NamedTuple):
    """The columns and the pattern of every merger of some leads.

    Those of i and j stand at ``at[i] + start[i, j] : at[i] + start[i, j + 1]``, the columns of i first.
    """

    at: Ints
    start: Ints
    union: NDArray[np.uint32]
    values: Floats  # first minus the sums of shared rows, then the standardised pattern
    variance: Floats


class Errors(NamedTuple):
    """What the second pass adds up, K x K.

    ``ve[i, j] + ve[j, i]`` is VE of the merger, ``msr[i, j] + msr[j, i]`` the mean variance of its rows, and the same
    for the number of its constant rows; the diagonal is complete by itself.
    """

    ve: Floats
    msr: Floats
    constant: Floats
    doubtful: Flags  # needs careful arithmetic


@kernel
def describe_rows(cells: Any, level: Any, norm: Any) -> None:
    """Fill mean and norm of every row."""
    # level[:], norm[:] = cells.mean(axis=1), np.linalg.norm(cells, axis=1)
    for row in range(len(cells)):
        total, square = 0.0, 0.0
        for q in range(cells.shape[1]):
            total += cells[row, q]
            square += cells[row, q] * cells[row, q]
        level[row], norm[row] = total / cells.shape[1], np.sqrt(square)


@kernel
def fill_block(data: Dense, rows: Any, wanted: Any, block: Any) -> None:
    """Write the centred values of `rows` into `block` (column, row); only the columns `wanted` need be there."""
    # block[wanted, :R] = (cells[rows] - level[rows][:, None]).T[wanted]
    cells, level, _ = data
    whole, every = rows.size - rows.size % 4, wanted.size == len(block)
    for r in range(0, whole, 4):  # four rows at a time: they lie next to each other in the block
        x0, x1, x2, x3 = cells[rows[r]], cells[rows[r + 1]], cells[rows[r + 2]], cells[rows[r + 3]]
        c0, c1, c2, c3 = level[rows[r]], level[rows[r + 1]], level[rows[r + 2]], level[rows[r + 3]]
        for t in range(wanted.size):
            q = t if every else wanted[t]
            block[q, r] = x0[q] - c0
            block[q, r + 1] = x1[q] - c1
            block[q, r + 2] = x2[q] - c2
            block[q, r + 3] = x3[q] - c3
    for r in range(whole, rows.size):
        for q in wanted:
            block[q, r] = cells[rows[r], q] - level[rows[r]]


@strict_kernel
def row_in_two_passes(line: Any, union: Any, block: Any, r: int) -> tuple[float, float]:
    """Return mean and variance of row r of the block over the columns `union`; a constant `line` has variance 0."""
    # x = block[union, r]; (x.mean(), x.var()), and (x.mean(), 0) where np.ptp(line[union]) is rounding
    m = union.size
    low = high = line[union[0]]
    for q in union:
        low, high = min(low, line[q]), max(high, line[q])
    first = block[union[0], r]
    total = 0.0
    for q in union:
        total += block[q, r] - first
    mean = total / m
    if high - low <= CONSTANT * max(abs(low), abs(high)):
        return first + mean, 0.0
    squares = 0.0
    for q in union:
        d = block[q, r] - first - mean
        squares += d * d
    return first + mean, squares / m


@kernel
def unite_columns(layout: Layout, patterns: Patterns, n_used: int, leads: Any, alone: bool) -> None:
    """Write the columns of the mergers of each lead, its own first; with `alone` those of the leads themselves only."""
    # union[at[i] + start[i, j] : at[i] + start[i, j + 1]] = np.r_[columns of i, np.setdiff1d(columns of j, those of i)]
    inside = np.zeros(n_used, np.bool_)
    for i in leads:
        first, last = (i, i + 1) if alone else (0, layout.sizes.size)
        own = layout.cols[layout.col_start[i] : layout.col_start[i + 1]]
        start, union = patterns.start[i], patterns.union[patterns.at[i] :]
        inside[:] = False
        for q in own:
            inside[q] = True
        start[first] = 0
        for j in range(first, last):
            at = start[j]
            for q in own:
                union[at] = q
                at += 1
            for q in layout.cols[layout.col_start[j] : layout.col_start[j + 1]]:
                if not inside[q]:
                    union[at] = q
                    at += 1
            start[j + 1] = at


@strict_kernel
def sum_columns(data: Dense, layout: Layout, group: Any, sums: Any) -> None:
    """Add the centred values of the rows of each bicluster in `group` to its line of `sums`.

    Centred before they are added, never after: (own + x) - centre would lose the digits below those of the centre.
    """
    # sums[k] += (cells[rows of k] - level[rows of k][:, None]).sum(axis=0)
    wanted = np.zeros(layout.sizes.size, np.bool_)
    wanted[group] = True
    for row in range(layout.owner_start.size - 1):
        line, centre = data.cells[row], data.level[row]
        for k in layout.owners[layout.owner_start[row] : layout.owner_start[row + 1]]:
            if wanted[k]:
                own = sums[k]
                for q in range(line.size):
                    own[q] += line[q] - centre


@kernel
def subtract_shared_rows(data: Dense, layout: Layout, patterns: Patterns, leads: Any) -> None:
    """Subtract the rows each lead shares with each other bicluster from what the pattern of their merger is made of."""
    leading = np.zeros(layout.sizes.size, np.bool_)
    leading[leads] = True
    line, own = np.empty(data.cells.shape[1]), np.empty(data.cells.shape[1])
    for row in range(layout.owner_start.size - 1):
        if layout.owner_start[row + 1] - layout.owner_start[row] > 1:
            for q in range(line.size):
                line[q] = data.cells[row, q] - data.level[row]
            subtract_row(layout, patterns, leading, row, line, own)


@inlined_kernel
def subtract_row(layout: Layout, patterns: Patterns, leading: Any, row: int, line: Any, own: Any) -> None:
    """Subtract one row, `line`, for the leads that share it; a merger with one that holds all rows needs none.

    Of a merger with another lead only the lead's own columns, which come first: `complete_shared_rows` does the rest.
    """
    # values of i and j -= centred[row, union of i and j]
    first, last = layout.owner_start[row], layout.owner_start[row + 1]
    for a in range(first, last):
        i = layout.owners[a]
        if not leading[i]:
            continue
        begin, c_i = layout.col_start[i], layout.col_start[i + 1] - layout.col_start[i]
        for t in range(c_i):
            own[t] = line[layout.cols[begin + t]]
        for b in range(first, last):
            j = layout.owners[b]
            if layout.overlap[i, j] < layout.sizes[i] and layout.overlap[i, j] < layout.sizes[j]:
                at, end = patterns.at[i] + patterns.start[i, j], patterns.at[i] + patterns.start[i, j + 1]
                for t in range(c_i):
                    patterns.values[at + t] -= own[t]
                if patterns.start[j, patterns.start.shape[1] - 1] == 0:  # j is no lead
                    for t in range(at + c_i, end):
                        patterns.values[t] -= line[patterns.union[t]]


@kernel
def complete_shared_rows(layout: Layout, patterns: Patterns, n_used: int, leads: Any) -> None:
    """Give each lead the sums over shared rows in the columns that only another lead has, from what that one has."""
    # values of (i, j)[c_i:] = values of (j, i)[:c_j][~np.isin(columns of j, columns of i)]
    inside = np.zeros(n_used, np.bool_)
    for i in leads:
        columns = layout.cols[layout.col_start[i] : layout.col_start[i + 1]]
        inside[:] = False
        for q in columns:
            inside[q] = True
        for j in leads:
            if layout.overlap[i, j] == 0 or j == i:
                continue
            here, there = patterns.at[i] + patterns.start[i, j] + columns.size, patterns.at[j] + patterns.start[j, i]
            for a, t in enumerate(range(layout.col_start[j], layout.col_start[j + 1])):
                if not inside[layout.cols[t]]:
                    patterns.values[here] = patterns.values[there + a]
                    here += 1


@kernel
def finish_patterns(
    layout: Layout, patterns: Patterns, sums: Any, top: Any, leads: Any, alone: bool, doubtful: Any
) -> None:
    """Turn sums of columns, of the biclusters and of the rows two of them share, into the patterns of the mergers."""
    if not alone:
        complete_shared_rows(layout, patterns, sums.shape[1], leads)
    for i in leads:
        first, last = (i, i + 1) if alone else (0, layout.sizes.size)
        limit = (64 * EPS * top[i]) ** 2
        for j in range(first, last):
            here = slice(patterns.at[i] + patterns.start[i, j], patterns.at[i] + patterns.start[i, j + 1])
            union, p = patterns.union[here], patterns.values[here]
            r_i, r_j, n_shared = layout.sizes[i], layout.sizes[j], layout.overlap[i, j]
            # p = centred[np.union1d(rows of i, rows of j)][:, union].sum(axis=0)
            if n_shared == r_j:
                for t in range(p.size):
                    p[t] = sums[i, union[t]]
            elif n_shared == r_i:
                for t in range(p.size):
                    p[t] = sums[j, union[t]]
            else:
                for t in range(p.size):
                    p[t] += sums[i, union[t]] + sums[j, union[t]]
            patterns.variance[i, j] = standardise(p, r_i + r_j - n_shared)
            if not patterns.variance[i, j] > limit:
                doubtful[i, j] = True


@kernel
def merge_leads(
    data: Dense, layout: Layout, patterns: Patterns, step: int, leads: Any, alone: bool, errors: Errors
) -> None:
    """Add up each lead's share of VE and MSR of its mergers with every bicluster; with `alone`, of itself only."""
    use_wide_vectors()
    K = layout.sizes.size
    every = np.arange(data.cells.shape[1])
    block = np.zeros((every.size, step))
    per_row = np.empty((7, step))
    shared_start = np.empty(K + 1, np.int64)
    cursor = np.empty(K, np.int64)
    for i in leads:
        first, last = (i, i + 1) if alone else (0, K)
        I = layout.rows[layout.row_start[i] : layout.row_start[i + 1]]  # noqa: E741
        wanted = layout.cols[layout.col_start[i] : layout.col_start[i + 1]] if alone else every
        shared = shared_rows(I, layout.owner_start, layout.owners, shared_start, cursor)
        for j in range(first, last):
            cursor[j] = shared_start[j]
        start = patterns.start[i]
        here = slice(patterns.at[i], patterns.at[i] + start[last])
        for begin in range(0, I.size, step):
            part = I[begin : min(begin + step, I.size)]
            fill_block(data, part, wanted, block)
            merge_rows(
                data, layout, i, first, last, begin, part, block, per_row, shared, shared_start, cursor,
                start, patterns.union[here], patterns.values[here], patterns.variance[i], errors,
            )  # fmt: skip


@kernel
def merge_rows(
    data: Dense, layout: Layout, i: int, first: int, last: int, begin: int, part: Any, block: Any, per_row: Any,
    shared: Any, shared_start: Any, cursor: Any, start: Any, union: Any, pattern: Any, variances: Any, errors: Errors,
) -> None:  # fmt: skip
    """Add what the rows `part` of bicluster i, at `begin` in it, give to its mergers with biclusters first:last."""
    use_wide_vectors()
    own_sum, own_square, floor, weight = per_row[0], per_row[1], per_row[2], per_row[3]
    mean, inverse, spread = per_row[4], per_row[5], per_row[6]
    sizes, overlap = layout.sizes, layout.overlap
    c_i = layout.col_start[i + 1] - layout.col_start[i]
    R = part.size
    padded = (R + LANES - 1) // LANES * LANES
    # floor = (64 * EPS * norm[part]) ** 2; padding has weight 0, and a variance so that nothing is divided by 0
    for r in range(padded):
        own_sum[r] = 0.0
        own_square[r] = 0.0 if r < R else 1.0
        floor[r] = (64 * EPS * data.norm[part[r]]) ** 2 if r < R else 0.0
        weight[r] = 1.0 if r < R else 0.0
    for q in range(block.shape[0]):
        for r in range(R, padded):
            block[q, r] = 0.0
    add_columns(block, union, start[i], start[i + 1], own_sum, own_square, padded)
    known = -1
    squares = 0.0
    flat = lost = 0
    for j in layout.by_set:
        if j < first or j >= last:
            continue
        m = start[j + 1] - start[j]
        n = sizes[i] + sizes[j] - overlap[i, j]
        if m == 1 or n == 1 or (i > j and overlap[i, j] == sizes[i]):
            continue
        if layout.col_set[j] != known:
            known = layout.col_set[j]
            for r in range(padded):
                mean[r] = own_sum[r]
                spread[r] = own_square[r]
            add_columns(block, union, start[j] + c_i, start[j + 1], mean, spread, padded)
            squares, flat, lost = row_spreads(
                data.cells, part, union[start[j] : start[j + 1]], block, mean, spread, inverse, floor, padded
            )
        if lost > 0 or not variances[j] > LOST_PATTERN * squares:
            errors.doubtful[i, j] = True
        zeroed = cursor[j]
        if i > j:
            while cursor[j] < shared_start[j + 1] and shared[cursor[j]] < begin + R:
                weight[shared[cursor[j]] - begin] = 0.0
                cursor[j] += 1
        # errors.msr[i, j] += (weight * spread).sum() / n
        total = 0.0
        for r in range(padded):
            total += weight[r] * spread[r]
        errors.msr[i, j] += total / n
        if flat > 0:
            for r in range(R):
                errors.constant[i, j] += weight[r] if inverse[r] == 0.0 else 0.0
        # errors.ve[i, j] += (weight * abs((values - mean) * inverse - pattern)).sum() / (n * m)
        total = distance(block, union, pattern, start[j], start[j + 1], mean, inverse, weight, padded)
        errors.ve[i, j] += total / (float(n) * m)
        for s in range(zeroed, cursor[j]):
            weight[shared[s] - begin] = 1.0


@inlined_kernel
def row_spreads(
    cells: Any, part: Any, union: Any, block: Any, mean: Any, spread: Any, inverse: Any, floor: Any, padded: int
) -> tuple[float, int, int]:
    """Turn sums and sums of squares of rows into mean and variance, in place, and write 1/standard deviation.

    Return the mean square of the rows, the number of constant ones, of 1/sd 0, and of those too far off. A row whose
    variance lost digits is computed again in two passes.
    """
    use_wide_vectors()
    R = part.size
    bad = flat = lost = 0
    squares = 0.0
    share = 1.0 / union.size
    # mean, spread = x.mean(axis=0), x.var(axis=0); inverse = 1 / x.std(axis=0), with x = block[union]
    for r in range(padded):
        average = mean[r] * share
        square = spread[r] * share
        variance = square - average * average
        bad += not (variance > LOST_ROW * square and variance > floor[r])
        squares += square
        mean[r] = average
        spread[r] = variance
        inverse[r] = 1.0 / np.sqrt(variance)
    if bad > 0:
        for r in range(R):
            if not (spread[r] > 2 * LOST_ROW * (spread[r] + mean[r] * mean[r]) and spread[r] > 2 * floor[r]):
                mean[r], spread[r] = row_in_two_passes(cells[part[r]], union, block, r)
                inverse[r] = 1.0 / np.sqrt(spread[r]) if spread[r] > 0.0 else 0.0
                flat += inverse[r] == 0.0
                lost += spread[r] > 0.0 and mean[r] * mean[r] > FAR_OFF * spread[r]
    return (squares - share * (padded - R)) / R, flat, lost


@kernel
def shared_rows(members: Any, owner_start: Any, owners: Any, shared_start: Any, cursor: Any) -> Any:
    """Return the positions in `members` of the rows bicluster k also has, at shared_start[k]:shared_start[k + 1]."""
    # shared[shared_start[k] : shared_start[k + 1]] = np.flatnonzero(np.isin(members, rows of k))
    K = cursor.size
    shared_start[:] = 0
    for row in members:
        for o in range(owner_start[row], owner_start[row + 1]):
            shared_start[owners[o] + 1] += 1
    for k in range(K):
        shared_start[k + 1] += shared_start[k]
        cursor[k] = shared_start[k]
    shared = np.empty(shared_start[K], np.int64)
    for r in range(members.size):
        for o in range(owner_start[members[r]], owner_start[members[r] + 1]):
            shared[cursor[owners[o]]] = r
            cursor[owners[o]] += 1
    return shared


@kernel
def standardise(p: Any, n: int) -> float:
    """Turn column sums over n rows into the standardised pattern, in place; return the variance of the pattern."""
    # p /= n; variance = p.var(); p = (p - p.mean()) / np.sqrt(variance)
    total = 0.0
    for t in range(p.size):
        p[t] /= n
        total += p[t]
    centre = total / p.size
    squares = 0.0
    for t in range(p.size):
        p[t] -= centre
        squares += p[t] * p[t]
    variance: float = squares / p.size
    factor = 1.0 / np.sqrt(variance) if variance > 0.0 else 0.0
    for t in range(p.size):
        p[t] *= factor
    return variance


@kernel
def add_columns(block: Any, union: Any, begin: int, end: int, total: Any, square: Any, R: int) -> None:
    """Add values and squares of the columns union[begin:end] to `total` and `square`, one entry per row."""
    use_wide_vectors()
    t = begin
    while t + 4 <= end:
        x0, x1, x2, x3 = block[union[t]], block[union[t + 1]], block[union[t + 2]], block[union[t + 3]]
        # total += x0 + x1 + x2 + x3; square += x0**2 + x1**2 + x2**2 + x3**2
        for r in range(R):
            a, b, c, d = x0[r], x1[r], x2[r], x3[r]
            total[r] += (a + b) + (c + d)
            square[r] += (a * a + b * b) + (c * c + d * d)
        t += 4
    while t < end:
        x0 = block[union[t]]
        for r in range(R):
            total[r] += x0[r]
            square[r] += x0[r] * x0[r]
        t += 1


@kernel
def distance(
    block: Any, union: Any, pattern: Any, begin: int, end: int, mean: Any, inverse: Any, weight: Any, R: int
) -> float:
    """Return the weighted sum of |standardised value - pattern| over the columns union[begin:end]."""
    use_wide_vectors()
    total = 0.0
    t = begin
    while t + 4 <= end:
        x0, x1, x2, x3 = block[union[t]], block[union[t + 1]], block[union[t + 2]], block[union[t + 3]]
        p0, p1, p2, p3 = pattern[t], pattern[t + 1], pattern[t + 2], pattern[t + 3]
        # total += sum(weight * abs((x - mean) * inverse - p)) for the four columns
        for r in range(R):
            a = mean[r]
            b = inverse[r]
            total += weight[r] * (
                (abs((x0[r] - a) * b - p0) + abs((x1[r] - a) * b - p1))
                + (abs((x2[r] - a) * b - p2) + abs((x3[r] - a) * b - p3))
            )
        t += 4
    while t < end:
        x0 = block[union[t]]
        p0 = pattern[t]
        for r in range(R):
            total += weight[r] * abs((x0[r] - mean[r]) * inverse[r] - p0)
        t += 1
    return total
