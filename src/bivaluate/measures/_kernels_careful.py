"""Compiled kernel for mergers whose values the quick sums of `_kernels` cannot give to enough digits."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import strict_kernel
from bivaluate.measures._blocks import CONSTANT
from bivaluate.measures._kernels import Cells, Layout


@strict_kernel
def careful_pairs(cells: Cells, layout: Layout, pairs: Any, ve: Any, msr: Any) -> None:
    """Write VE and MSR of the mergers `pairs`, cell by cell, so that no offset costs digits.

    A row is the pattern plus a deviation; both are built from differences of cells before anything is squared.
    """
    flat, origin, s0, s1, scale, used, _ = cells
    row_start, rows, col_start, cols = layout[:4]
    u = used.size
    inside = np.zeros(u, np.bool_)
    union = np.empty(u, np.int64)
    pivot, column, pattern = np.empty(u), np.empty(u), np.empty(u)
    line, deviation = np.empty(u), np.empty(u)
    for k in range(pairs.shape[0]):
        i, j = pairs[k]
        members = merged(rows[row_start[i] : row_start[i + 1]], rows[row_start[j] : row_start[j + 1]])
        # union = the columns of i or j; values = X[np.ix_(members, union)] * scale
        m = 0
        inside[:] = False
        for side in (i, j):
            for q in cols[col_start[side] : col_start[side + 1]]:
                if not inside[q]:
                    inside[q] = True
                    union[m] = used[q] * s1
                    m += 1
        n = members.size
        top = 0.0
        at = origin + members[0] * s0
        for t in range(m):
            pivot[t] = flat[at + union[t]] * scale
            column[t] = 0.0
        # pattern = (values - values[:, :1]).mean(axis=0), as the pivot's row plus the mean of what the rows add to it
        for row in members:
            at = origin + row * s0
            for t in range(m):
                line[t] = flat[at + union[t]] * scale
                top = max(top, abs(line[t]))
            for t in range(m):
                column[t] += beyond(line[t], line[0], pivot[t], pivot[0])
        for t in range(m):
            column[t] /= n
            pattern[t] = (pivot[t] - pivot[0]) + column[t]
        centre(pattern, m)
        centre(pattern, m)
        # pattern -= pattern.mean(); flat_pattern = np.ptp(pattern) <= CONSTANT * abs(values).max()
        flat_pattern = spread_of(pattern, m) <= CONSTANT * top
        pattern_sd = 1.0 if flat_pattern else np.sqrt(mean_product(pattern, pattern, m))
        error = 0.0
        residue = 0.0
        for row in members:
            at = origin + row * s0
            first = flat[at + union[0]] * scale
            largest = 0.0
            for t in range(m):
                x = flat[at + union[t]] * scale
                largest = max(largest, abs(x))
                line[t] = x - first
                deviation[t] = beyond(x, first, pivot[t], pivot[0]) - column[t]
            # line = row - row.mean(); deviation = line - pattern; residue += (deviation**2).mean()
            constant = spread_of(line, m) <= CONSTANT * largest
            centre(line, m)
            centre(deviation, m)
            spread = mean_product(deviation, deviation, m)
            residue += spread
            sd = 1.0 if constant else np.sqrt(mean_product(line, line, m))
            # total = abs(line / line.std() - pattern / pattern.std()).sum(), 0 for what is constant
            total = 0.0
            if flat_pattern or constant:
                for t in range(m):
                    b = 0.0 if constant else line[t] / sd
                    total += abs(b if flat_pattern else b - pattern[t] / pattern_sd)
            elif spread < 1e-4 * pattern_sd * pattern_sd:
                # 1/sd - 1/pattern_sd from what the row adds to the pattern, not from the difference of two roots
                added = 2.0 * mean_product(deviation, pattern, m) + spread
                factor = -added / (sd * pattern_sd * (sd + pattern_sd))
                for t in range(m):
                    total += abs(pattern[t] * factor + deviation[t] / sd)
            else:
                for t in range(m):
                    total += abs(line[t] / sd - pattern[t] / pattern_sd)
            error += total / m
        ve[i, j] = ve[j, i] = error / n
        msr[i, j] = msr[j, i] = residue / n


@strict_kernel
def beyond(x: float, first: float, pivot: float, corner: float) -> float:
    """Return x - first - pivot + corner, the larger offsets taken out first: those of rows or those of columns."""
    if abs(x - first) < abs(x - pivot):
        return (x - first) - (pivot - corner)
    return (x - pivot) - (first - corner)


@strict_kernel
def merged(a: Any, b: Any) -> Any:
    """Return the union of two sorted arrays without repeats."""
    out = np.empty(a.size + b.size, np.int64)
    n = s = t = 0
    # np.union1d(a, b)
    while s < a.size or t < b.size:
        if t == b.size or (s < a.size and a[s] <= b[t]):
            if t < b.size and a[s] == b[t]:
                t += 1
            out[n] = a[s]
            s += 1
        else:
            out[n] = b[t]
            t += 1
        n += 1
    return out[:n]


@strict_kernel
def centre(v: Any, m: int) -> None:
    """Subtract the mean of v[:m] from it."""
    # v[:m] -= v[:m].mean()
    total = 0.0
    for t in range(m):
        total += v[t]
    total /= m
    for t in range(m):
        v[t] -= total


@strict_kernel
def spread_of(v: Any, m: int) -> float:
    """Return max - min of v[:m]."""
    # np.ptp(v[:m])
    low = high = v[0]
    for t in range(m):
        low = min(low, v[t])
        high = max(high, v[t])
    return float(high - low)


@strict_kernel
def mean_product(v: Any, w: Any, m: int) -> float:
    """Return the mean of v * w over the first m."""
    # (v[:m] * w[:m]).mean()
    total = 0.0
    for t in range(m):
        total += v[t] * w[t]
    return total / m
