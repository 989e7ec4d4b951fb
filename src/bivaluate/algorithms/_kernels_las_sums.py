"""Sums of rows over sets of columns and of columns over sets of rows, for several sets at once.

A piece of the matrix that fits into the cache is used for all sets, then the next. Promises as in `_kernels_las`;
`lines` lists the columns or rows of each set, ascending, `counts` how many there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import inner_kernel, keep_apart, kernel, strict_kernel

# Sets worth working on together; cells of the matrix that fit into the cache beside their sums; the least length of a
# piece of a column.
TOGETHER, IN_CACHE, SHORTEST = 16, 65536, 64


@inner_kernel
def listed(mask: Any, lines: Any) -> int:
    """Fill the positions that are marked; return their number."""
    # lines[:count] = np.flatnonzero(mask)
    count = 0
    for j in range(len(mask)):
        lines[count] = j
        count += mask[j] != 0
    return count


@inner_kernel
def changed(new: Any, mask: Any, lines: Any) -> int:
    """Fill the positions where two masks differ, and make them the same; return their number."""
    # lines[:count] = np.flatnonzero(new != mask); mask[:] = new
    count = 0
    for i in range(len(mask)):
        lines[count] = i
        count += new[i] != mask[i]
        mask[i] = new[i]
    return count


@inner_kernel
def add_lines(M: Any, start: Any, lines: Any, total: Any) -> None:
    """Add lines of `M` from `start` on, four at a time."""
    keep_apart()
    # total += M[lines, start : start + len(total)].sum(axis=0)
    at = 0
    while at + 4 <= len(lines):
        a, b = M[lines[at]][start:], M[lines[at + 1]][start:]
        c, d = M[lines[at + 2]][start:], M[lines[at + 3]][start:]
        for i in range(len(total)):
            total[i] += (a[i] + b[i]) + (c[i] + d[i])
        at += 4
    while at < len(lines):
        a = M[lines[at]][start:]
        for i in range(len(total)):
            total[i] += a[i]
        at += 1


@strict_kernel
def follow_lines(M: Any, start: Any, lines: Any, mask: Any, total: Any) -> None:
    """Add the lines that are marked now and subtract those that no longer are, one after the other."""
    keep_apart()
    # for line in lines: total += (2 * mask[line] - 1) * M[line, start : start + len(total)]
    at = 0
    while at + 4 <= len(lines):
        p, q, r, s = lines[at], lines[at + 1], lines[at + 2], lines[at + 3]
        a, b, c, d = M[p][start:], M[q][start:], M[r][start:], M[s][start:]
        e, f = 2.0 * mask[p] - 1.0, 2.0 * mask[q] - 1.0
        g, h = 2.0 * mask[r] - 1.0, 2.0 * mask[s] - 1.0
        for i in range(len(total)):
            total[i] = (((total[i] + e * a[i]) + f * b[i]) + g * c[i]) + h * d[i]
        at += 4
    while at < len(lines):
        a, e = M[lines[at]][start:], 2.0 * mask[lines[at]] - 1.0
        for i in range(len(total)):
            total[i] += e * a[i]
        at += 1


@kernel
def sum_columns(Xt: Any, lines: Any, counts: Any, row_sum: Any) -> None:
    """Fill the sums of rows over the columns listed for each set."""
    keep_apart()
    # row_sum[g] = Xt[lines[g, : counts[g]]].sum(axis=0)
    m, n = Xt.shape
    size = max(IN_CACHE // m, SHORTEST)
    for start in range(0, n, size):
        for g in range(len(counts)):
            part = row_sum[g, start : start + size]
            for i in range(len(part)):
                part[i] = 0.0
            add_lines(Xt, start, lines[g, : counts[g]], part)


@kernel
def follow_columns(Xt: Any, lines: Any, counts: Any, masks: Any, row_sum: Any) -> None:
    """Let the sums of rows follow the columns that changed in each set."""
    # row_sum[g] += (2 * masks[g, changed] - 1) @ Xt[changed], with changed = lines[g, : counts[g]]
    keep_apart()
    m, n = Xt.shape
    size = max(IN_CACHE // m, SHORTEST)
    for start in range(0, n, size):
        for g in range(len(counts)):
            if counts[g] > 0:
                part = row_sum[g, start : start + size]
                follow_lines(Xt, start, lines[g, : counts[g]], masks[g], part)


@inner_kernel
def up_to(lines: Any, at: int, count: int, end: int) -> int:
    """Return how many lines come before line `end`; those before `at` do."""
    # np.searchsorted(lines[:count], end)
    if end > lines[count - 1]:
        return count
    while lines[at] < end:
        at += 1
    return at


@kernel
def sum_rows(X: Any, lines: Any, counts: Any, col_sum: Any) -> None:
    """Fill the sums of columns over the rows listed for each set."""
    keep_apart()
    # col_sum[g] = X[lines[g, : counts[g]]].sum(axis=0)
    n, m = X.shape
    size = max(IN_CACHE // m, SHORTEST)
    for g in range(len(counts)):
        for j in range(m):
            col_sum[g, j] = 0.0
    at = np.zeros(len(counts), np.int64)
    for start in range(0, n, size):
        for g in range(len(counts)):
            if at[g] < counts[g]:
                stop = up_to(lines[g], at[g], counts[g], start + size)
                # by fours from the first to the last, wherever pieces end
                stop -= 0 if stop == counts[g] else stop % 4
                add_lines(X, np.int64(0), lines[g, at[g] : stop], col_sum[g])
                at[g] = stop


@kernel
def follow_rows(X: Any, lines: Any, counts: Any, masks: Any, col_sum: Any) -> None:
    """Let the sums of columns follow the rows that changed in each set."""
    # col_sum[g] += (2 * masks[g, changed] - 1) @ X[changed], with changed = lines[g, : counts[g]]
    keep_apart()
    n, m = X.shape
    size = max(IN_CACHE // m, SHORTEST)
    at = np.zeros(len(counts), np.int64)
    for start in range(0, n, size):
        for g in range(len(counts)):
            if at[g] < counts[g]:
                stop = up_to(lines[g], at[g], counts[g], start + size)
                follow_lines(X, np.int64(0), lines[g, at[g] : stop], masks[g], col_sum[g])
                at[g] = stop
