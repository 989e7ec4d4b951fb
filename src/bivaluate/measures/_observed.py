"""VE and MSR over the observed cells of blocks too large to be held: two passes, some rows at a time.

The formulas are those of `_blocks.block_values_missing`. The first pass finds which rows have two observed cells and
adds up columns; between the two, the pattern of each merger; the second adds up what each row deviates from it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bivaluate._rows import LARGEST_DENSE_BYTES
from bivaluate.measures._blocks import CONSTANT, block_values, is_constant_row
from bivaluate.measures._passes import Chunk, Members, Plan, Rows, chunked_rows_for, starts

if TYPE_CHECKING:
    from bivaluate.matrix import Matrix
    from bivaluate.measures._kernels import Indices, Values
    from bivaluate.solution import Biclustering

# Bytes for each column of a merger while it is worked on, and what all of them may take together.
_BYTES_PER_COLUMN, _BYTES = 64, 1 << 26
# A merger without missing cells is computed again, all at once, if VE, or residue over variance, is below these.
_DOUBTFUL_VE, _DOUBTFUL_RESIDUE = 1e-7, 1e-4


class Pairs(NamedTuple):
    """Mergers to be worked on together; their columns one after the other, as positions among those in use."""

    pairs: Indices
    start: Indices
    cols: Indices
    shift: Values  # taken from every cell of a merger, so that large offsets cost no digits
    offsets: Values  # of the columns in use, taken from them first
    means: Values  # of columns, once they are known
    pattern: Values
    level: Values  # the mean of all cells


class ColumnSums(NamedTuple):
    """What the first pass adds up: columns, one after the other, and for each merger its rows and largest value.

    `gaps` are the missing cells of all rows, those too that are left out for having too few.
    """

    sums: Values
    counts: Values
    rows: Values
    gaps: Values
    top: Values


class RowErrors(NamedTuple):
    """What the second pass adds up, for each merger."""

    ve: Values
    msr: Values
    spread: Values
    constant: Values


class Observed(NamedTuple):
    """VE, MSR and numbers of constant rows of mergers, K x K, and the rows and columns left of each."""

    ve: Values
    msr: Values
    constant: Indices
    rows: Indices
    cols: Indices


def add_columns(chunk: Chunk, plan: Plan, into: ColumnSums, threads: int = 1) -> None:
    """Do the first pass."""
    for p, at, A in _blocks(chunk, plan):
        seen = ~np.isnan(A)
        kept = seen.sum(axis=1) >= 2
        into.gaps[p] += (~seen).sum()
        A, seen = A[kept], seen[kept]
        into.sums[at] += np.where(seen, A - plan.pairs.shift[p], 0.0).sum(axis=0)
        into.counts[at] += seen.sum(axis=0)
        into.rows[p] += kept.sum()
        if seen.any():
            into.top[p] = max(into.top[p], float(np.nanmax(np.abs(A))))


def add_rows(chunk: Chunk, plan: Plan, into: RowErrors, threads: int = 1) -> None:
    """Do the second pass."""
    given = plan.pairs
    for p, at, A in _blocks(chunk, plan):
        constant, seen = is_constant_row(A), ~np.isnan(A)
        into.constant[p] += constant.sum()
        count = seen.sum(axis=1)
        kept = count >= 2
        A, seen, count, constant = A[kept], seen[kept], count[kept], constant[kept]
        Y = np.where(seen, A - given.shift[p], 0.0)
        rows = np.where(seen, Y - (Y.sum(axis=1) / count)[:, None], 0.0)
        squares = (rows**2).sum(axis=1)
        into.spread[p] += squares.sum()
        into.msr[p] += (np.where(seen, rows - given.means[at] + given.level[p], 0.0) ** 2).sum()
        sd = np.sqrt(squares / count)
        sd[constant] = 1.0
        rows[constant] = 0.0
        into.ve[p] += np.abs(np.where(seen, rows / sd[:, None] - given.pattern[at], 0.0)).sum()


def _blocks(chunk: Chunk, plan: Plan) -> Iterator[tuple[int, slice, Values]]:
    """Yield the number of each merger that has rows in a chunk, where its columns are, and its cells there."""
    given, layout = plan.pairs, chunk.layout
    own = [layout.rows[a:b] for a, b in itertools.pairwise(layout.row_start.tolist())]
    cells = chunk.cells - given.offsets
    for p, (i, j) in enumerate(given.pairs.tolist()):
        rows = own[i] if i == j else np.union1d(own[i], own[j])
        if len(rows):
            at = slice(int(given.start[p]), int(given.start[p + 1]))
            yield p, at, cells[rows[:, None], given.cols[at]]


def observed_errors(
    matrix: Matrix, solution: Biclustering, *, alone: bool = False, offsets: Values | None = None
) -> Observed:
    """Return errors over observed cells of all mergers, or with `alone` of the biclusters, on the diagonal.

    Parameters
    ----------
    matrix
        In whatever form.
    solution
        Its biclusters, at least one.
    alone
        Whether mergers are left out.
    offsets
        Taken from every column first.
    """
    K, members = len(solution), Members.of(solution, matrix.shape)
    found = Observed(*(np.zeros((K, K), dtype) for dtype in (float, float, np.int64, np.int64, np.int64)))
    pairs = np.stack([np.arange(K)] * 2, axis=1) if alone else np.argwhere(np.triu(np.ones((K, K), dtype=np.bool_)))
    own = [members.cols[a:b] for a, b in itertools.pairwise(members.col_start.tolist())]
    shifts = np.array([_first_observed(matrix, b.rows, b.cols, offsets) for b in solution])
    rows = chunked_rows_for(matrix, "omit")
    used_offsets = np.zeros(len(members.used)) if offsets is None else offsets[members.used]
    lengths = np.diff(members.col_start)[pairs].sum(axis=1) * _BYTES_PER_COLUMN
    memory = _BYTES if matrix.memory is None else min(_BYTES, matrix.memory // 4)
    for turn in np.split(pairs, np.flatnonzero(np.diff(np.cumsum(lengths) // memory)) + 1):
        unions = [own[i] if i == j else np.union1d(own[i], own[j]) for i, j in turn]
        none = np.zeros(0)
        given = Pairs(
            turn, starts([len(u) for u in unions]), np.concatenate(unions), shifts[turn[:, 0]], used_offsets,
            none, none, none,
        )  # fmt: skip
        _look_at(matrix, solution, members, rows, given, found, offsets)
    one_column = np.flatnonzero(np.diff(members.col_start) == 1)
    found.constant[one_column] = found.constant[:, one_column] = 0
    found.constant[one_column, one_column] = members.sizes[one_column]
    return found


def _look_at(
    matrix: Matrix,
    solution: Biclustering,
    members: Members,
    rows: Rows,
    given: Pairs,
    found: Observed,
    offsets: Values | None,
) -> None:
    """Do the two passes for some mergers."""
    leads, n_pairs = np.unique(given.pairs), len(given.pairs)
    wanted = None if len(leads) == members.K else members.rows_of(leads)
    total = len(given.cols)
    plan = Plan(members, leads, pairs=given)
    columns = ColumnSums(np.zeros(total), np.zeros(total), *(np.zeros(n_pairs) for _ in range(3)))
    columns = rows.run(add_columns, plan, columns, wanted)
    means = columns.sums / np.maximum(columns.counts, 1.0)
    pattern, level, volume = np.zeros(total), np.zeros(n_pairs), np.zeros(n_pairs)
    n_cols = np.zeros(n_pairs, dtype=np.int64)
    for p in range(n_pairs):
        at = slice(int(given.start[p]), int(given.start[p + 1]))
        seen = columns.counts[at] > 0
        n_cols[p], volume[p] = seen.sum(), columns.counts[at].sum()
        if n_cols[p]:
            level[p] = columns.sums[at].sum() / volume[p]
            mean = means[at][seen]
            if np.ptp(mean) > CONSTANT * columns.top[p]:
                own = mean - mean.mean()
                pattern[at][seen] = own / math.sqrt(float(np.mean(own**2)))
    plan = replace(plan, pairs=given._replace(means=means, pattern=pattern, level=level))
    errors = rows.run(add_rows, plan, RowErrors(*(np.zeros(n_pairs) for _ in range(4))), wanted)
    for p, (i, j) in enumerate(given.pairs.tolist()):
        r, c = int(columns.rows[p]), int(n_cols[p])
        if given.start[p + 1] - given.start[p] == 1 and not columns.gaps[p]:
            r, c = int(members.sizes[i] + members.sizes[j] - members.overlap[i, j]), 1
        if not (r and c):
            ve = msr = math.nan
        elif r == 1 or c == 1:
            ve = msr = 0.0
        else:
            ve, msr, spread = (float(part[p]) / volume[p] for part in (errors.ve, errors.msr, errors.spread))
            lost = ve < _DOUBTFUL_VE or msr < _DOUBTFUL_RESIDUE * spread
            if lost and volume[p] == r * c and 8 * r * c <= LARGEST_DENSE_BYTES:
                ve, msr = _all_at_once(matrix, solution, i, j, offsets)
        for matrix_of, value in zip(found, (ve, msr, errors.constant[p], r, c), strict=True):
            matrix_of[i, j] = matrix_of[j, i] = value


def _all_at_once(matrix: Matrix, solution: Biclustering, i: int, j: int, offsets: Values | None) -> tuple[float, float]:
    one, other = solution[i], solution[j]
    rows, cols = np.union1d(one.rows, other.rows), np.union1d(one.cols, other.cols)
    A = matrix.block(rows, cols)
    seen = ~np.isnan(A)
    A = A[np.ix_(seen.any(axis=1), seen.any(axis=0))]
    return block_values(A if offsets is None else A - offsets[cols][seen.any(axis=0)])


def _first_observed(matrix: Matrix, rows: Indices, cols: Indices, offsets: Values | None) -> float:
    """Return the first observed cell of a block, of its first rows; 0 where they have none."""
    A: Any = matrix.block(rows[:8], cols) - (0.0 if offsets is None else offsets[cols])
    seen = A[~np.isnan(A)]
    return float(seen[0]) if len(seen) else 0.0
