"""Compiled kernels for mergers whose values the quick sums of `_kernels` cannot give to enough digits.

A row is the pattern plus a deviation; both are built from differences of cells before anything is squared. Two passes
over chunks of rows: the first adds up how far columns are from the first row of each merger, the second the errors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate._jit import strict_kernel
from bivaluate.measures._blocks import CONSTANT
from bivaluate.measures._kernels import Cells, Indices, Layout, Values


class Pairs(NamedTuple):
    """Mergers to compute with care; the columns of pair p stand at start[p]:start[p + 1]."""

    pairs: Indices
    start: Indices
    union: NDArray[np.int64]  # as positions in Cells.used
    pivot: Values  # the first row of the merger


class Deviations(NamedTuple):
    """What the first pass adds up: deviations from the pivot in each column, and the largest absolute value."""

    column: Values
    top: Values


@strict_kernel
def add_deviations(cells: Cells, layout: Layout, pairs: Pairs, which: Any, deviations: Deviations) -> None:
    """Add the deviations of the rows of a chunk to the columns of the pairs `which`."""
    flat, origin, s0, s1, scale, used, _ = cells
    for p in which:
        here = slice(pairs.start[p], pairs.start[p + 1])
        union, pivot, column = pairs.union[here], pairs.pivot[here], deviations.column[here]
        # values = X[np.ix_(rows of the merger, union)] * scale; top = abs(values).max()
        # column += (values - values[:, :1] - pivot + pivot[0]).sum(axis=0)
        top = deviations.top[p]
        for row in merged(layout, pairs.pairs[p, 0], pairs.pairs[p, 1]):
            at = origin + row * s0
            first = flat[at + used[union[0]] * s1] * scale
            for t in range(union.size):
                x = flat[at + used[union[t]] * s1] * scale
                top = max(top, abs(x))
                column[t] += beyond(x, first, pivot[t], pivot[0])
        deviations.top[p] = top


@strict_kernel
def add_errors(
    cells: Cells, layout: Layout, pairs: Pairs, which: Any, deviations: Deviations, error: Any, residue: Any
) -> None:
    """Add what the rows of a chunk give to VE and MSR of the pairs `which`: means over rows, `error` and `residue`."""
    flat, origin, s0, s1, scale, used, _ = cells
    line, deviation, column, pattern = (
        np.empty(used.size),
        np.empty(used.size),
        np.empty(used.size),
        np.empty(used.size),
    )
    for p in which:
        i, j = pairs.pairs[p]
        here = slice(pairs.start[p], pairs.start[p + 1])
        union, pivot, added_up = pairs.union[here], pairs.pivot[here], deviations.column[here]
        n, m = layout.sizes[i] + layout.sizes[j] - layout.overlap[i, j], union.size
        # pattern = (values - values[:, :1]).mean(axis=0), as the pivot's row plus the mean of what the rows add to it
        # pattern -= pattern.mean(); flat_pattern = np.ptp(pattern) <= CONSTANT * abs(values).max()
        for t in range(m):
            column[t] = added_up[t] / n
            pattern[t] = (pivot[t] - pivot[0]) + column[t]
        centre(pattern, m)
        centre(pattern, m)
        flat_pattern = spread_of(pattern, m) <= CONSTANT * deviations.top[p]
        pattern_sd = 1.0 if flat_pattern else np.sqrt(mean_product(pattern, pattern, m))
        for row in merged(layout, i, j):
            # line = row - row.mean(); deviation = line - pattern; residue += (deviation**2).mean() / n
            # error += abs(line / line.std() - pattern / pattern.std()).mean() / n, 0 for what is constant
            at = origin + row * s0
            first = flat[at + used[union[0]] * s1] * scale
            largest = 0.0
            for t in range(m):
                x = flat[at + used[union[t]] * s1] * scale
                largest = max(largest, abs(x))
                line[t] = x - first
                deviation[t] = beyond(x, first, pivot[t], pivot[0]) - column[t]
            constant = spread_of(line, m) <= CONSTANT * largest
            centre(line, m)
            centre(deviation, m)
            spread = mean_product(deviation, deviation, m)
            residue[p] += spread / n
            sd = 1.0 if constant else np.sqrt(mean_product(line, line, m))
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
            error[p] += total / m / n


@strict_kernel
def beyond(x: float, first: float, pivot: float, corner: float) -> float:
    """Return x - first - pivot + corner, the larger offsets taken out first: those of rows or those of columns."""
    if abs(x - first) < abs(x - pivot):
        return (x - first) - (pivot - corner)
    return (x - pivot) - (first - corner)


@strict_kernel
def merged(layout: Layout, i: int, j: int) -> Any:
    """Return the rows of two biclusters in a chunk, those of both once."""
    a = layout.rows[layout.row_start[i] : layout.row_start[i + 1]]
    b = layout.rows[layout.row_start[j] : layout.row_start[j + 1]]
    # np.union1d(a, b)
    out = np.empty(a.size + b.size, np.int64)
    n = s = t = 0
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
