"""VE and MSR over observed cells: rows with fewer than two of them are left out, then columns with none.

Means and deviations are over observed cells, and residues are averaged over observed cells (the volume of FLOC). The
first pass adds up columns; from it comes the pattern; the second adds up what each row deviates from it. A block in
memory is one part; the rows of others come some at a time, for all mergers together.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bivaluate._types import Floats, Ints
from bivaluate.measures._blocks import CONSTANT, is_constant_row, times_power
from bivaluate.measures._engine.by_rows import Merged
from bivaluate.measures._engine.careful import careful_errors, safe_power, scaled

if TYPE_CHECKING:
    from bivaluate.matrix import Matrix
    from bivaluate.solution import Biclustering


# Bytes for each column of a merger while it is worked on, and what all of them may take together.
_BYTES_PER_COLUMN, _BYTES = 64, 1 << 26
# A merger without missing cells is computed again with care if VE, or residue over variance, is below these.
_DOUBTFUL_VE, _DOUBTFUL_RESIDUE = 1e-7, 1e-4


class Observed(NamedTuple):
    """VE, MSR and numbers of constant rows of mergers, K x K, and the rows and columns left of each."""

    ve: Floats
    msr: Floats
    constant: Ints
    rows: Ints
    cols: Ints


class ColumnSums(NamedTuple):
    """What the first pass adds up; `gaps` are the missing cells of all rows, also of those left out."""

    sums: Floats
    counts: Floats
    rows: int
    gaps: int
    top: float


class Pattern(NamedTuple):
    """What the second pass has to know of a merger."""

    shift: float  # taken from every cell, so that large offsets cost no digits
    means: Floats  # of columns
    level: float  # of all cells
    values: Floats  # standardised; 0 for a pattern that is flat up to rounding
    unit: int  # residues are squared over 2**unit


def column_sums(A: Floats, shift: float) -> ColumnSums:
    """Return what some rows of a block add to the first pass."""
    seen = ~np.isnan(A)
    kept = seen.sum(axis=1) >= 2
    gaps, A, seen = int((~seen).sum()), A[kept], seen[kept]
    sums = np.where(seen, A - shift, 0.0).sum(axis=0)
    return ColumnSums(sums, seen.sum(axis=0), len(A), gaps, float(np.fmax.reduce(np.abs(A), axis=None, initial=0.0)))


def added(one: ColumnSums | None, other: ColumnSums) -> ColumnSums:
    """Return what two parts add up to."""
    if one is None:
        return other
    top = max(one.top, other.top)
    return ColumnSums(
        one.sums + other.sums, one.counts + other.counts, one.rows + other.rows, one.gaps + other.gaps, top
    )


def pattern_of(columns: ColumnSums, shift: float) -> Pattern:
    """Return the pattern from what the first pass added up."""
    seen, volume = columns.counts > 0, float(columns.counts.sum())
    means, values = columns.sums / np.maximum(columns.counts, 1.0), np.zeros(len(seen))
    if volume and np.ptp(means[seen]) > CONSTANT * columns.top:
        own = means[seen] - means[seen].mean()
        own = scaled(own, math.frexp(float(np.abs(own).max()))[1])
        values[seen] = own / math.sqrt(float(np.mean(own**2)))
    level = float(columns.sums.sum()) / volume if volume else 0.0
    return Pattern(shift, means, level, values, math.frexp(columns.top)[1])


def row_errors(A: Floats, pattern: Pattern) -> Floats:
    """Return the sums over observed cells of errors, residues squared and rows squared, and the constant rows."""
    constant, seen = is_constant_row(A), ~np.isnan(A)
    n_constant, count = int(constant.sum()), seen.sum(axis=1)
    kept = count >= 2
    A, seen, count, constant = A[kept], seen[kept], count[kept, None], constant[kept]
    Y = np.where(seen, A - pattern.shift, 0.0)
    rows = np.where(seen, Y - Y.sum(axis=1, keepdims=True) / count, 0.0)
    residue = np.where(seen, rows - pattern.means + pattern.level, 0.0)
    residue = scaled(residue, pattern.unit)
    exponent = np.frexp(np.abs(rows).max(axis=1, keepdims=True, initial=0.0))[1]
    rows = scaled(rows, exponent)
    sd = np.sqrt(np.einsum("ij,ij->i", rows, rows)[:, None] / count)  # over observed values
    squares = np.einsum("ij,ij->", residue, residue), (np.ldexp(sd**2, 2 * (exponent - pattern.unit)) * count).sum()
    sd[constant], rows[constant] = 1.0, 0.0
    error = float(np.abs(np.where(seen, rows / sd - pattern.values, 0.0)).sum())
    return np.array([error, *squares, n_constant])


def observed_block(A: Floats) -> tuple[float, float]:
    """Return VE and MSR of a block with missing cells, of which `observed_part` has been taken."""
    power = safe_power(float(np.fmax.reduce(np.abs(A), axis=None)))
    A = scaled(A, power)
    shift = float(A[~np.isnan(A)][0])
    columns = column_sums(A, shift)
    pattern = pattern_of(columns, shift)
    error, square = row_errors(A, pattern)[:2] / float(columns.counts.sum())
    return float(error), times_power(float(square), 2 * (pattern.unit + power))


def observed_errors(
    matrix: Matrix, solution: Biclustering, *, alone: bool = False, offsets: Floats | None = None
) -> Observed:
    """Return errors over observed cells of all mergers, or with `alone` of the biclusters, on the diagonal."""
    K = len(solution)
    found = Observed(*(np.zeros((K, K), dtype) for dtype in (float, float, np.int64, np.int64, np.int64)))
    pairs = np.stack([np.arange(K)] * 2, axis=1) if alone else np.argwhere(np.triu(np.ones((K, K), dtype=np.bool_)))
    n_cols = np.array([len(b.cols) for b in solution])
    memory = _BYTES if matrix.memory is None else min(_BYTES, matrix.memory // 4)
    turns = np.cumsum(n_cols[pairs].sum(axis=1) * _BYTES_PER_COLUMN) // memory
    doubtful = [
        _two_passes(matrix, solution, turn, offsets, found)
        for turn in np.split(pairs, np.flatnonzero(np.diff(turns)) + 1)
    ]
    again = np.concatenate(doubtful)
    if len(again):
        i, j = again.T
        ve, msr, _ = careful_errors(matrix, solution, again, offsets)
        found.ve[i, j] = found.ve[j, i] = ve
        found.msr[i, j] = found.msr[j, i] = msr
    one_column = np.flatnonzero(n_cols == 1)
    found.constant[one_column] = found.constant[:, one_column] = 0
    found.constant[one_column, one_column] = [len(solution[k].rows) for k in one_column.tolist()]
    return found


def _two_passes(matrix: Matrix, solution: Biclustering, pairs: Ints, offsets: Floats | None, found: Observed) -> Ints:
    """Fill in some mergers; return those to be computed with care."""
    merged, there = Merged.of(solution, pairs, offsets), matrix.without_cells()
    rows, width = merged.all_rows, len(merged.used)
    shifts = [_first_observed(line) for line in merged.first_rows(matrix)]
    columns: list[Any] = [None] * len(pairs)
    for part in matrix.map_rows(partial(_first_pass, there, merged, shifts), rows, width):
        for p, sums in part:
            columns[p] = added(columns[p], sums)
    patterns = [pattern_of(sums, shift) for sums, shift in zip(columns, shifts, strict=True)]
    total = np.zeros((len(pairs), 4))
    for found_there in matrix.map_rows(partial(_second_pass, there, merged, patterns), rows, width):
        for p, errors in found_there:
            total[p] += errors
    lost = []
    for p, (i, j) in enumerate(merged.pairs):
        r, c = columns[p].rows, int((columns[p].counts > 0).sum())
        if len(merged.cols[p]) == 1 and not columns[p].gaps:
            r, c = merged.size(p), 1
        if not (r and c):
            ve = msr = math.nan
        elif r == 1 or c == 1:
            ve = msr = 0.0
        else:
            volume = float(columns[p].counts.sum())
            ve, msr, spread = (float(part) for part in total[p, :3] / volume)
            if volume == r * c == merged.size(p) * len(merged.cols[p]) and (
                ve < _DOUBTFUL_VE or msr < _DOUBTFUL_RESIDUE * spread
            ):
                lost.append(p)
            msr = times_power(msr, 2 * patterns[p].unit)
        for matrix_of, value in zip(found, (ve, msr, total[p, 3], r, c), strict=True):
            matrix_of[i, j] = matrix_of[j, i] = value
    return pairs[np.array(lost, dtype=np.int64)]


def _first_pass(
    matrix: Matrix, merged: Merged, shifts: list[float], at: int, numbers: Ints, cells: Any
) -> list[tuple[int, ColumnSums]]:
    return [(p, column_sums(A, shifts[p])) for p, A in merged.blocks_among(matrix, numbers, cells)]


def _second_pass(
    matrix: Matrix, merged: Merged, patterns: list[Pattern], at: int, numbers: Ints, cells: Any
) -> list[tuple[int, Floats]]:
    return [(p, row_errors(A, patterns[p])) for p, A in merged.blocks_among(matrix, numbers, cells)]


def _first_observed(line: Floats) -> float:
    seen = line[~np.isnan(line)]
    return float(seen[0]) if len(seen) else 0.0
