"""Counts, zeros and ones: how improbable the values of a block are, by how often each is found elsewhere.

Normal noise knows no ties. Where a matrix has few different values, a block of equal ones seems far more improbable
than it is: N cells of a value that fills a share f of the matrix have a probability of f^N, whatever their pattern. So
values are tallied, by row and by column, and what those of a block can tell limits what any pattern is believed to.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance._background import Values, seen_as
from bivaluate.chance._patterns import Pattern, backed
from bivaluate.chance.assumptions import is_tied
from bivaluate.matrix import Matrix, cut_block

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Members = tuple[Indices, Indices]

# Values that are tallied, at most, and the share of the cells that they have to fill.
MOST_VALUES, SHARE_TALLIED = 32, 0.95
# What is added to every tally, so that a value not seen elsewhere is rare rather than impossible.
UNSEEN = 0.5


def few_values(sample: Floats) -> Floats | None:
    """Return the values of a matrix, in order, where few different ones fill nearly all of it; given a sorted sample.

    >>> few_values(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 2.0])), few_values(np.arange(100.0))
    (array([0., 1., 2.]), None)
    """
    if not is_tied(sample):
        return None
    values, counts = np.unique(sample, return_counts=True)
    most = np.sort(np.argsort(-counts, kind="stable")[:MOST_VALUES])
    return values[most] if counts[most].sum() >= SHARE_TALLIED * len(sample) else None


class Tallies(NamedTuple):
    """How often each row, and each column, holds each of the values; last of all how often any other.

    Those of rows are as small numbers as hold them: there may be millions of rows. `sampled` is the number of cells
    that the values were found in.
    """

    values: Floats
    rows: NDArray[Any]
    cols: Floats
    sampled: int

    def told(self, block: Block, rows: Indices, cols: Indices) -> Told:
        """Return what the values of a block tell."""
        every = self.cols.sum(axis=0)
        held = every > 0
        in_rows, in_cols, inside = block.rows[:, held], block.cols[:, held], block.all[held]
        if not in_rows.any():
            return Told(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        others = every[held] - inside
        beside, below = self.rows[rows][:, held].sum(axis=0) - inside, self.cols[cols][:, held].sum(axis=0) - inside
        apart = others - beside - below
        nulls = [_Null(_shares(others), float(others.sum()))]
        comparable = min(float(some.sum()) for some in (beside, below, apart)) >= 1
        if comparable:
            nulls.append(_Null.of(beside, below, apart))
        told = zip(*(null.told(in_rows, in_cols) for null in nulls), strict=True)
        level, by_rows, by_cols, both, cells, ratio = (min(several) for several in told)
        raised = _beyond(ratio, (len(inside) - 1) / 2) if comparable else 0.0
        beyond = float(block.rows[:, -1].sum()) * math.log(self.sampled)  # what other values may tell one by one
        return Told(level, by_rows + beyond, by_cols + beyond, both + beyond, cells + beyond, raised)


class Block(NamedTuple):
    """How often each row, and each column, of a block holds each value in the cells that count, and `all` of its cells.

    Cells of patterns that were taken out do not count.
    """

    rows: Floats
    cols: Floats
    all: Floats


class Told(NamedTuple):
    """Nats that the values of a block can tell at most, by what a pattern makes of them, and what a level tells.

    At most: one level for all cells, a level for each row, for each column, for both, or something for each cell. What
    a level tells, `raised`, is a test of its own: of the values of the block against what its rows and its columns hold
    elsewhere.
    """

    level: float
    rows: float
    cols: float
    both: float
    cells: float
    raised: float

    def by(self, pattern: Pattern) -> float:
        """Return the most that a pattern can tell."""
        if pattern.cells is not None or pattern.factors is not None:
            return self.cells
        if pattern.rows is None:
            return self.level if pattern.cols is None else self.cols
        return self.rows if pattern.cols is None else self.both


class _Null(NamedTuple):
    """How often each value is expected in a block, as shares, and the number of cells that tell it."""

    shares: Floats
    cells: float

    @classmethod
    def of(cls, beside: Floats, below: Floats, apart: Floats) -> _Null:
        """Return what is expected of rows and columns by what each do elsewhere.

        A value twice as frequent in the rows as `apart` from the block, and thrice as frequent in the columns, is
        expected to be six times as frequent, all values together filling the block. For Poisson counts this is exact
        where the rows of the block have one mean, its columns one depth, and so have all others.
        """
        shares = _shares(beside) * _shares(below) / _shares(apart)
        return cls(shares / shares.sum(), 1 / float(1 / beside.sum() + 1 / below.sum() + 1 / apart.sum()))

    def told(self, in_rows: Floats, in_cols: Floats) -> Told:
        """Return what the values of a block tell if this is expected; `raised` as a likelihood ratio."""
        inside = in_rows.sum(axis=0)
        level, rows, cols = (self._divergence(tally) for tally in (inside[None], in_rows, in_cols))
        cells = -float(inside @ np.log(self.shares))
        # the block, and the cells that tell what is expected, as samples of two kinds or of one
        n = float(inside.sum())
        pooled = (inside + self.cells * self.shares) / (n + self.cells)
        gain = np.log(np.where(inside > 0, inside / (n * pooled), 1.0))
        raised = float(inside @ gain) + self.cells * float(self.shares @ np.log(self.shares / pooled))
        raised *= min(backed(in_rows @ gain), backed(in_cols @ gain))
        return Told(level, rows, cols, min(cells, rows + cols - level), cells, raised)

    def _divergence(self, tallies: Floats) -> float:
        """Return Σ N·KL(found ‖ expected) over the lines of a table."""
        totals = tallies.sum(axis=1, keepdims=True)
        ratio = np.where(tallies > 0, tallies / (np.maximum(totals, 1.0) * self.shares), 1.0)
        return float((tallies * np.log(ratio)).sum())


def _shares(tally: Floats) -> Floats:
    """Return how often each value is found, as shares of which none is 0."""
    return np.asarray((tally + UNSEEN) / (tally.sum() + UNSEEN * len(tally)))


def _beyond(nats: float, expected: float) -> float:
    """Return by how much a likelihood ratio is beyond what chance gives it on average: Chernoff's bound for χ².

    >>> round(_beyond(20.0, 0.5), 2), _beyond(0.3, 0.5)
    (17.66, 0.0)
    """
    return nats - expected - expected * math.log(nats / expected) if nats > expected > 0 else 0.0


def tally_all(matrix: Matrix, values: Floats, sampled: int) -> Tallies:
    """Tally the values of a matrix, some rows at a time where it is not an array in memory."""
    if matrix.in_memory:
        found = iter([_tally(values, matrix.values)])
    else:
        found = matrix.map_chunks(partial(_tally_rows, values, matrix.without_cells()))
    small = np.min_scalar_type(matrix.shape[1])
    rows, cols = zip(*((of_rows.astype(small), of_cols) for of_rows, of_cols in found), strict=True)
    return Tallies(values, np.concatenate(rows), np.sum(cols, axis=0), sampled)


def tally_block(matrix: Matrix, values: Floats, rows: Indices, cols: Indices, taken: Sequence[Members]) -> Block:
    """Tally the values of a block; cells of the blocks `taken` do not count."""
    if matrix.in_memory:
        return _tally_cells(values, cut_block(matrix.values, rows, cols), rows, cols, taken)
    found = matrix.map_rows(partial(_tally_cut, values, Values(matrix).elsewhere, cols, taken), rows, len(cols))
    in_rows, in_cols, every = zip(*found, strict=True)
    return Block(np.concatenate(in_rows), np.sum(in_cols, axis=0), np.sum(every, axis=0))


def _tally_cut(
    values: Floats, seen: Values, cols: Indices, taken: Sequence[Members], at: int, numbers: Indices, cells: Any
) -> Block:
    return _tally_cells(values, seen_as(seen, cells).block(cols), numbers, cols, taken)


def _tally_cells(values: Floats, A: Floats, rows: Indices, cols: Indices, taken: Sequence[Members]) -> Block:
    in_rows, in_cols = _tally(values, A)
    every = in_cols.sum(axis=0)
    if taken:
        for other_rows, other_cols in taken:
            A[np.ix_(np.isin(rows, other_rows), np.isin(cols, other_cols))] = np.nan
        in_rows, in_cols = _tally(values, A)
    return Block(in_rows, in_cols, every)


def _tally_rows(values: Floats, matrix: Matrix, start: int, cells: Any) -> tuple[Floats, Floats]:
    """Tally some rows, as the source gives them; of sparse rows only the entries are looked at."""
    if isinstance(cells, np.ndarray) or matrix.absent == "missing":
        return _tally(values, matrix.dense(cells))
    n, m = cells.shape
    found, lines = _places(values, cells.data), np.repeat(np.arange(n), np.diff(cells.indptr))
    rows, cols = (
        _count(found, at, size, len(values)) for at, size in ((lines, n), (cells.indices.astype(np.int64), m))
    )
    zero = int(_places(values, np.zeros(1))[0])
    rows[:, zero] += m - np.diff(cells.indptr)
    cols[:, zero] += n - np.bincount(cells.indices, minlength=m)
    return rows, cols


def _tally(values: Floats, A: Floats) -> tuple[Floats, Floats]:
    """Tally the values of a dense block by row and by column; missing cells are left out."""
    (r, c), n_values = A.shape, len(values)
    rows, cols = np.empty((r, n_values + 1)), np.empty((c, n_values + 1))
    each_row, each_col = np.ones(r), np.ones(c)
    for k, held in enumerate(itertools.chain((value == A for value in values), [~np.isnan(A)])):
        counted = held.astype(np.float64)
        rows[:, k], cols[:, k] = counted @ each_col, each_row @ counted
    for tally in (rows, cols):
        tally[:, -1] -= tally[:, :-1].sum(axis=1)
    return rows, cols


def _places(values: Floats, cells: Floats) -> Indices:
    """Return the position of each cell's value, one beyond the last for others, and two beyond it for missing cells."""
    at = np.minimum(np.searchsorted(values, cells), len(values) - 1)
    return np.where(values[at] == cells, at, len(values) + np.isnan(cells))


def _count(found: Indices, lines: Indices, n_lines: int, n_values: int) -> Floats:
    width = n_values + 2
    counts = np.bincount((found + width * lines).ravel(), minlength=width * n_lines).reshape(n_lines, width)
    return counts[:, :-1].astype(np.float64)
