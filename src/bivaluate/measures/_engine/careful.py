"""VE and MSR where rows, columns or single cells are so large that the quick formulas would lose digits.

A row is the pattern plus a deviation; both are built from differences of cells, so that offsets cancel before anything
is squared, and every row, the pattern and the deviations are squared in a unit of their own, a power of two. There are
two passes: the first adds up how far columns are from the first row (the pivot), the second the errors of rows. A block
in memory is one part; the rows of others come some at a time, for all mergers together.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bivaluate._types import Floats, Ints
from bivaluate.measures._blocks import CONSTANT, is_constant_row, times_power
from bivaluate.measures._engine.by_rows import Merged

if TYPE_CHECKING:
    from bivaluate.matrix import Matrix
    from bivaluate.solution import Biclustering


# A row is near the pattern when its deviations have less than this share of the pattern's variance.
NEAR = 1e-4


class Pattern(NamedTuple):
    """What the second pass has to know of a merger."""

    pivot: Floats  # its first row
    column: Floats  # mean deviation of each column from the pivot
    values: Floats  # the centred pattern, over 2**exponent
    exponent: int
    sd: float  # of `values`; 0 for a pattern that is flat up to rounding
    unit: int  # deviations are squared over 2**unit


def careful_block(A: Floats) -> tuple[float, float, int]:
    """Return VE, MSR and the number of constant rows of a finite block of at least two rows and two columns."""
    power = safe_power(float(np.abs(A).max()))
    A = scaled(A, power)
    pattern = pattern_of(A[0], len(A), *column_sums(A, A[0]))
    error, square, constant = row_errors(A, pattern)
    return error / len(A), times_power(square / len(A), 2 * (pattern.unit + power)), constant


def careful_errors(
    matrix: Matrix, solution: Biclustering, pairs: Ints, offsets: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """Return VE, MSR and numbers of constant rows of some mergers, given as pairs of positions in the solution.

    `offsets` are taken from the columns first. Mergers have at least two rows and two columns.
    """
    merged = Merged.of(solution, pairs, offsets)
    if matrix.in_memory:
        found = [careful_block(block) for block in merged.blocks(matrix)]
        return tuple(np.array(found, dtype=float).reshape(-1, 3).T)  # type: ignore[return-value]
    there, rows, width = matrix.without_cells(), merged.all_rows, len(merged.used)
    largest = max((float(top) for top in matrix.map_rows(partial(_largest, there, merged), rows, width)), default=0.0)
    power = safe_power(largest)
    pivots = [scaled(pivot, power) for pivot in merged.first_rows(matrix)]
    firsts: list[Any] = [None] * len(pairs)
    for part in matrix.map_rows(partial(_first_pass, there, merged, pivots, power), rows, width):
        for p, (column, top, most) in part:
            known = firsts[p] or (0.0, 0.0, 0.0)
            firsts[p] = known[0] + column, max(known[1], top), max(known[2], most)
    patterns = [pattern_of(pivots[p], merged.size(p), *first) for p, first in enumerate(firsts)]
    total = np.zeros((len(pairs), 3))
    for errors in matrix.map_rows(partial(_second_pass, there, merged, patterns, power), rows, width):
        for p, sums in errors:
            total[p] += sums
    sizes = np.array([merged.size(p) for p in range(len(pairs))])
    msr = [times_power(s, 2 * (p.unit + power)) for s, p in zip(total[:, 1] / sizes, patterns, strict=True)]
    return total[:, 0] / sizes, np.array(msr), total[:, 2]


def _largest(matrix: Matrix, merged: Merged, at: int, numbers: Ints, cells: Any) -> float:
    return float(np.abs(merged.cells(matrix, cells)).max(initial=0.0))


def _first_pass(
    matrix: Matrix, merged: Merged, pivots: list[Floats], power: int, at: int, numbers: Ints, cells: Any
) -> list[tuple[int, tuple[Floats, float, float]]]:
    blocks = merged.blocks_among(matrix, numbers, cells)
    return [(p, column_sums(scaled(A, power), pivots[p])) for p, A in blocks]


def _second_pass(
    matrix: Matrix, merged: Merged, patterns: list[Pattern], power: int, at: int, numbers: Ints, cells: Any
) -> list[tuple[int, tuple[float, float, int]]]:
    blocks = merged.blocks_among(matrix, numbers, cells)
    return [(p, row_errors(scaled(A, power), patterns[p])) for p, A in blocks]


def safe_power(largest: float) -> int:
    """Return the power of two to divide by, so that no sum of cells overflows and the largest is no denormal number."""
    exponent = math.frexp(largest)[1]
    return exponent - 900 if exponent > 900 else exponent if exponent < -900 else 0


def scaled(A: Floats, exponent: Any) -> Floats:
    """Return A over 2**exponent; over 2**±1000 where that is more."""
    return A if isinstance(exponent, int) and not exponent else A * np.ldexp(1.0, np.clip(-exponent, -1000, 1000))


def deviations(A: Floats, pivot: Floats) -> Floats:
    """Return A − A[:, :1] − pivot + pivot[0], the larger offsets taken out first: those of rows or those of columns."""
    rows, columns = A - A[:, :1], A - pivot
    return np.where(np.abs(rows) < np.abs(columns), rows - (pivot - pivot[0]), columns - columns[:, :1])


def column_sums(A: Floats, pivot: Floats) -> tuple[Floats, float, float]:
    """Return the sum of deviations in each column, the largest cell and the largest deviation."""
    found = deviations(A, pivot)
    return found.sum(axis=0), float(np.abs(A).max()), float(np.abs(found).max())


def pattern_of(pivot: Floats, n: int, sums: Floats, largest: float, most: float) -> Pattern:
    """Return the pattern of n rows from what the first pass added up."""
    column = sums / n
    pattern = pivot - pivot[0] + column
    pattern -= pattern.mean()
    pattern -= pattern.mean()
    exponent = math.frexp(float(np.abs(pattern).max()))[1]
    values = np.ldexp(pattern, -exponent)
    flat = np.ptp(pattern) <= CONSTANT * largest
    sd = 0.0 if flat else math.sqrt(float(np.mean(values**2)))
    return Pattern(pivot, column, values, exponent, sd, math.frexp(most)[1])


@np.errstate(over="ignore")  # what is infinite in the pattern's unit is far from it
def row_errors(A: Floats, pattern: Pattern) -> tuple[float, float, int]:
    """Return the sums over rows of VE and of squared deviations (over 4**unit), and the number of constant rows."""
    deviation = deviations(A, pattern.pivot) - pattern.column
    deviation -= deviation.mean(axis=1, keepdims=True)
    part = scaled(deviation, pattern.unit)
    square = float(np.einsum("ij,ij->", part, part)) / A.shape[1]
    constant = is_constant_row(A)
    rows = A - A[:, :1]
    exponent = np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1]
    rows = scaled(rows, exponent)
    rows -= rows.mean(axis=1, keepdims=True)
    sd = np.sqrt(np.einsum("ij,ij->i", rows, rows) / A.shape[1])[:, None]  # rows.std(axis=1)
    sd[constant], rows[constant] = 1.0, 0.0
    difference = rows / sd
    if pattern.sd:
        difference -= pattern.values / pattern.sd
        own = scaled(deviation, pattern.exponent)
        spread = np.einsum("ij,ij->i", own, own) / A.shape[1]  # (own**2).mean(axis=1)
        near = ~constant & (spread < NEAR * pattern.sd**2)
        if near.any():
            # 1/sd - 1/pattern.sd from what the row adds to the pattern, not from the difference of two roots
            own, sd = own[near], np.ldexp(sd[near], exponent[near] - pattern.exponent)
            added = 2.0 * (own @ pattern.values)[:, None] / A.shape[1] + spread[near, None]
            difference[near] = pattern.values * (-added / (sd * pattern.sd * (sd + pattern.sd))) + own / sd
    return float(np.abs(difference).mean(axis=1).sum()), square, int(constant.sum())
