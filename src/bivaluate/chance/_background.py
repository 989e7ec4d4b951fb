"""What evidence needs to know of a matrix that is not an array in memory: sums over its rows, some rows at a time.

Rows come dense or, where absent cells are zeros, as entries beside the value all other cells of the row have: 0, or
once rows are replaced by normal scores, that of the zeros. Then Σ(x − a_i − b_j)² over a row or a column is that of a
row without entries, which is known from sums, and what the entries change.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance.assumptions import normal_scores, sample_step, tie_sums
from bivaluate.matrix import Matrix
from bivaluate.measures._blocks import is_constant_range

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Values:
    """The cells of a matrix as evidence sees them: as they are, times a power of two, or as normal scores of rows."""

    matrix: Matrix
    ranks: bool = False
    scale: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.matrix.shape

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.shape[0] * self.shape[1]

    @property
    def elsewhere(self) -> Values:
        """The same without the cells: all that a worker has to know."""
        return replace(self, matrix=self.matrix.without_cells())

    def block(self, rows: Indices, cols: Indices) -> Floats:
        """Return the cells of some rows and columns; ranks are those of whole rows."""
        found = self.matrix.map_rows(partial(_cut_dense, self.elsewhere, cols), rows, len(cols))
        return np.concatenate([np.empty((0, len(cols))), *found])


def _cut_dense(values: Values, cols: Indices, at: int, numbers: Indices, cells: Any) -> Floats:
    return seen_as(values, cells).block(cols)


class Part(NamedTuple):
    """Some rows: cells dense, or the entries less `base`, which is what all other cells of the row are."""

    cells: Any
    base: Floats | None = None

    def rows(self, at: Indices) -> Part:
        """Return some of the rows."""
        return Part(self.cells[at], None if self.base is None else self.base[at])

    def cut(self, cols: Indices) -> Part:
        """Return some columns."""
        return Part(self.cells[:, cols], self.base)

    def dense(self) -> Floats:
        """Return the cells, dense."""
        cells: Floats = self.cells if self.base is None else self.cells.toarray() + self.base[:, None]
        return cells

    def block(self, cols: Indices, at: Indices | None = None) -> Floats:
        """Return some columns, of all rows or of some, dense."""
        return (self if at is None else self.rows(at)).cut(cols).dense()

    @property
    def nbytes(self) -> int:
        """Bytes that the cells take."""
        cells = self.cells
        return int(cells.nbytes if self.base is None else cells.data.nbytes + cells.indices.nbytes)

    def row_means(self) -> Floats:
        """Return the mean of each row over its observed cells; 0 without any."""
        if self.base is not None:
            return np.asarray(self.base + np.asarray(self.cells.sum(axis=1)).ravel() / self.cells.shape[1])
        seen = np.isfinite(self.cells)
        return np.asarray(np.where(seen, self.cells, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1))


class Look(NamedTuple):
    """What a first look at some rows finds; rows one by one, columns added up."""

    row_means: Floats
    in_row: Floats
    col_sums: Floats  # of the cells less their row means
    in_col: Floats
    flat_rows: NDArray[np.bool_]
    col_low: Floats
    col_high: Floats
    first: Floats  # the first and the last row
    last: Floats
    sample: Floats
    ties: tuple[float, float, float]


def seen_as(values: Values, cells: Any) -> Part:
    """Return rows, as the source gives them, as evidence sees them."""
    if isinstance(cells, np.ndarray) or values.matrix.absent == "missing" or bool(np.isnan(cells.data).any()):
        dense = values.matrix.dense(cells)
        return Part(normal_scores(dense) if values.ranks else dense * values.scale if values.scale != 1.0 else dense)
    if values.ranks:
        return Part(*sparse_normal_scores(cells))
    return Part(cells * values.scale if values.scale != 1.0 else cells, np.zeros(cells.shape[0]))


def look(values: Values, start: int, cells: Any) -> Look:
    """Look at the rows from `start` on."""
    part = seen_as(values, cells)
    means = part.row_means()
    n, m = part.cells.shape
    step, ties = sample_step(values.shape), (0.0, 0.0, 0.0)
    at = np.arange(-(-start * m // step) * step, (start + n) * m, step) - start * m
    at_rows, at_cols = at // m, at % m
    if part.base is None:
        x = part.cells
        seen = np.isfinite(x)
        in_row, in_col = seen.sum(axis=1).astype(np.float64), seen.sum(axis=0).astype(np.float64)
        col_sums = np.where(seen, x - means[:, None], 0.0).sum(axis=0)
        low, high = np.fmin.reduce(x, axis=1), np.fmax.reduce(x, axis=1)
        col_low, col_high = np.fmin.reduce(x, axis=0), np.fmax.reduce(x, axis=0)
        first_col, last_col, first, last = x[:, 0], x[:, -1], x[0], x[-1]
        sample = x[at_rows, at_cols]
        if values.ranks:
            ties = tie_sums(x)
    else:
        d, base = part.cells, part.base
        in_row, in_col = np.full(n, float(m)), np.full(m, float(n))
        col_sums = np.bincount(d.indices, d.data, minlength=m) + float((base - means).sum())
        from bivaluate.chance._kernels_sparse import extremes

        low, high, col_low, col_high = extremes(d.indptr, d.indices, d.data, m)
        low, high = low + base, high + base
        ends = d[[0, n - 1]].toarray() + base[[0, n - 1], None]
        first, last = ends
        sides = d[:, [0, m - 1]].toarray() + base[:, None]
        first_col, last_col = sides.T
        sample = np.asarray(d[at_rows, at_cols]).ravel() + base[at_rows] if len(at) else np.empty(0)
        if values.ranks:
            ties = tie_sums(d, base)
    flat = ~(np.abs(first_col - last_col) > 0) & is_constant_range(low, high)
    return Look(means, in_row, col_sums, in_col, flat, col_low, col_high, first, last, sample, ties)


def squares_of(values: Values, col_effect: Floats, start: int, cells: Any) -> tuple[Floats, Floats]:
    """Return the sums of squared deviations of some rows, and what they add to those of columns."""
    part = seen_as(values, cells)
    effect = part.row_means()
    if part.base is None:
        squares = part.cells - effect[:, None]
        squares -= col_effect
        squares *= squares
        if math.isnan(float(squares.sum())):
            squares = np.nan_to_num(squares)
        return squares.sum(axis=1), squares.sum(axis=0)
    from bivaluate.chance._kernels_sparse import add_changes

    d, gap = part.cells, part.base - effect
    n, m = d.shape
    # (gap − b)² over whole rows and columns, then what the entries change
    rows = m * gap**2 - 2.0 * gap * float(col_effect.sum()) + float(col_effect @ col_effect)
    cols = float(gap @ gap) - 2.0 * col_effect * float(gap.sum()) + n * col_effect**2
    add_changes(d.indptr, d.indices, d.data, gap, col_effect, rows, cols)
    return np.maximum(rows, 0.0), np.maximum(cols, 0.0)


def sparse_normal_scores(cells: Any) -> tuple[Any, Floats]:
    """Return what `normal_scores` makes of the entries of CSR rows, less that of the zeros, and that of the zeros.

    >>> from scipy.sparse import csr_array
    >>> entries, zeros = sparse_normal_scores(csr_array([[0.0, 5.0, 0.0, -1.0]]))
    >>> np.allclose(entries.toarray() + zeros[:, None], normal_scores([[0.0, 5.0, 0.0, -1.0]]))
    True
    """
    from scipy.sparse import csr_array

    from bivaluate.chance._kernels_sparse import rank_counts, rank_sorted

    n, m = cells.shape
    begin, cols, data = cells.indptr, cells.indices, cells.data
    if not data.all():
        kept = data != 0
        begin = np.concatenate([[0], np.cumsum(kept)])[begin]
        cols, data = cols[kept], data[kept]
    doubled, zeros = np.empty(len(data), dtype=np.int64), np.empty(n, dtype=np.int64)
    if not rank_counts(begin, data, m, doubled, zeros):
        order = np.empty(len(data), dtype=np.int64)
        for a, b in itertools.pairwise(begin.tolist()):  # np.lexsort((data, rows)), row by row
            order[a:b] = a + np.argsort(data[a:b], kind="stable")
        rank_sorted(begin, data, order, m, doubled, zeros)
    table, per_row = _scores_of_ranks(m), np.diff(begin)
    base = np.where(per_row < m, table[zeros], 0.0)
    return csr_array((table[doubled] - np.repeat(base, per_row), cols, begin), shape=(n, m)), base


@lru_cache(maxsize=1)
def _scores_of_ranks(m: int) -> Floats:
    """Return the normal score of each rank of m cells, by twice the rank: (rank − ½)/m as a quantile."""
    from scipy.special import ndtri

    scores: Floats = ndtri((np.arange(2 * m + 1) / 2 - 0.5) / m)
    scores[:2] = 0.0  # no rank
    return scores


class Lines(NamedTuple):
    """What a first look at all rows finds."""

    effects: tuple[Floats, Floats, Floats, Floats]  # as row_and_column_means
    flat_rows: NDArray[np.bool_]
    flat_cols: NDArray[np.bool_]
    largest: float
    sample: Floats
    lost_to_ties: float


def look_at_all(values: Values) -> Lines:
    """Look at every row once."""
    n, m = values.shape
    row_means, in_row, flat = np.empty(n), np.empty(n), np.empty(n, dtype=np.bool_)
    col_sums, in_col, ties = np.zeros(m), np.zeros(m), np.zeros(3)
    low, high = np.full(m, np.nan), np.full(m, np.nan)
    first = last = np.empty(0)
    samples: list[Floats] = []
    at = 0
    for found in values.matrix.map_chunks(partial(look, values.elsewhere)):
        here = slice(at, at + len(found.row_means))
        row_means[here], in_row[here], flat[here] = found.row_means, found.in_row, found.flat_rows
        col_sums += found.col_sums
        in_col += found.in_col
        ties += found.ties
        low, high = np.fmin(low, found.col_low), np.fmax(high, found.col_high)
        first, last = (found.first if at == 0 else first), found.last
        samples.append(found.sample)
        at = here.stop
    sample = np.sort(np.concatenate(samples))
    flat_cols = ~(np.abs(first - last) > 0) & is_constant_range(low, high)
    effects = (row_means, col_sums / np.maximum(in_col, 1.0), np.maximum(in_row, 1.0), np.maximum(in_col, 1.0))
    largest = max(float(np.fmax.reduce(high)), -float(np.fmin.reduce(low)))
    lost = max(0.0, ties[0] - ties[1]) / max(1.0, ties[2])
    return Lines(effects, flat, flat_cols, largest, sample[: np.searchsorted(sample, np.inf)], lost)


def all_squares(values: Values, col_effect: Floats) -> tuple[Floats, Floats]:
    """Return the sums of squared deviations of all rows, from their means, and columns."""
    rows, cols = [], np.zeros(values.shape[1])
    found: Iterator[tuple[Floats, Floats]] = values.matrix.map_chunks(partial(squares_of, values.elsewhere, col_effect))
    for of_rows, of_cols in found:
        rows.append(of_rows)
        cols += of_cols
    return np.concatenate(rows), cols
