"""Blocks of deviations from the background that are too large to be held, looked at some rows at a time.

All that the fits need of a block are sums over it and its products with a vector, which a `LargeBlock` gives as an
array would; orders are judged by sums of ranks. On a cluster the rows are looked at by the workers, and the sums come
here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance._background import Part, Values, seen_as
from bivaluate.chance._patterns import (
    ORDER_PRESERVING,
    SETTLED,
    SWEEPS,
    Orders,
    Pattern,
    Ranks,
    Sums,
    common_shape,
    correlations,
    followed_by,
    monotone,
    with_means,
)
from bivaluate.measures._blocks import midranks

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# What is cut out of the rows of a block is kept up to this size, rather than read again for every look.
_KEPT_BYTES = 1 << 26


class Taken(NamedTuple):
    """The pattern of an accepted bicluster, and the rows and columns it is taken out of."""

    rows: Indices
    cols: Indices
    pattern: Pattern


def subtract(A: Floats, rows: Indices, cols: Indices, before: Sequence[Taken], seen: Part | None = None) -> None:
    """Take patterns out of the cells they share with the block of these rows and columns; `seen` holds whole rows."""
    for taken in before:
        at_rows, its_rows = _common(rows, taken.rows)
        at_cols, its_cols = _common(cols, taken.cols)
        if not (len(at_rows) and len(at_cols)):
            continue
        cells = taken.pattern.cells
        if isinstance(cells, MonotoneCells) and seen is not None:
            pattern = cells.fitted(its_rows, seen.block(taken.cols, at_rows), seen.rows(at_rows))[:, its_cols]
        else:
            pattern = taken.pattern.values(its_rows, its_cols)
        A[at_rows[:, None], at_cols] -= pattern


def _common(numbers: Indices, others: Indices) -> tuple[Indices, Indices]:
    """Return where numbers that are in both stand in one and in the other; both ascend."""
    at = np.minimum(np.searchsorted(others, numbers), len(others) - 1)
    found = np.flatnonzero(others[at] == numbers)
    return found, at[found]


@dataclass(frozen=True)
class _Plan:
    """What is done with the rows of a block before anything is added up."""

    values: Values
    cols: Indices
    row_effect: Floats
    col_effect: Floats
    before: tuple[Taken, ...] = ()
    fill: Floats | None = None  # column levels of the fit that missing cells are filled from

    def deviations(self, at: int, numbers: Indices, part: Part, seen: Part | None) -> Floats:
        """Return the block's deviations in some of its rows."""
        A = np.ascontiguousarray(part.dense())
        A -= self.row_effect[at : at + len(numbers), None]
        A -= self.col_effect
        subtract(A, numbers, self.cols, self.before, seen)
        if self.fill is not None:
            missing = np.isnan(A)
            levels = np.where(missing, 0.0, A - self.fill).sum(axis=1) / (~missing).sum(axis=1)
            A = np.where(missing, levels[:, None] + self.fill, A)
        return A


def _of_deviations(plan: _Plan, function: Callable[..., Any], at: int, numbers: Indices, cells: Any) -> Any:
    seen = seen_as(plan.values, cells)
    A = plan.deviations(at, numbers, seen.cut(plan.cols), seen)
    return function(slice(at, at + len(numbers)), A)


class LargeBlock:
    """A block of deviations that is not held: sums, products and residuals are made some rows at a time.

    Parameters
    ----------
    values
        The matrix as evidence sees it.
    rows, cols
        Of the block.
    row_effect, col_effect
        The means of these rows and columns.
    before
        Patterns that are taken out of it.
    """

    __array_ufunc__ = None  # `vector @ block` is asked of the block

    def __init__(
        self,
        values: Values,
        rows: Indices,
        cols: Indices,
        row_effect: Floats,
        col_effect: Floats,
        before: Sequence[Taken] = (),
    ) -> None:
        self.rows, self._source = rows, values
        self._plan = _Plan(values.elsewhere, cols, row_effect, col_effect, tuple(before))
        self._kept: list[tuple[int, Indices, Part]] | None = None
        self._may_keep = not hasattr(values.matrix.source, "map_rows") and not any(
            isinstance(taken.pattern.cells, MonotoneCells) for taken in before
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the block."""
        return len(self.rows), len(self._plan.cols)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.rows) * len(self._plan.cols)

    def map(self, function: Callable[[slice, Floats], Any]) -> Iterator[Any]:
        """Yield what a function makes of some rows at a time: where they are in the block, and their deviations."""
        n_cols = len(self._plan.cols)
        if not self._may_keep:
            work = partial(_of_deviations, self._plan, function)
            yield from self._source.matrix.map_rows(work, self.rows, n_cols)
            return
        if self._kept is None:
            coming = self._source.matrix.map_rows(partial(_cut, self._plan.values, self._plan.cols), self.rows, n_cols)
            kept: list[tuple[int, Indices, Part]] | None = []
            size = 0
            for at, numbers, part in coming:
                size += part.nbytes
                if kept is not None and size <= _KEPT_BYTES:
                    kept.append((at, numbers, part))
                else:
                    kept = None
                yield function(slice(at, at + len(numbers)), self._plan.deviations(at, numbers, part, None))
            self._kept, self._may_keep = kept, kept is not None
            return
        for at, numbers, part in self._kept:
            yield function(slice(at, at + len(numbers)), self._plan.deviations(at, numbers, part, None))

    def __matmul__(self, vector: Floats) -> Floats:
        """Return the product of every row with a vector."""
        return np.concatenate(list(self.map(partial(_times, vector))))

    def __rmatmul__(self, vector: Floats) -> Floats:
        """Return the rows added up, each times its factor."""
        return np.asarray(sum(self.map(partial(_weighted, vector))))

    def residual_squares(self, pattern: Pattern) -> float:
        """Return the sum of squares that a pattern leaves."""
        return math.fsum(self.map(partial(_residual_squares, pattern)))

    def observed(self) -> tuple[LargeBlock, NDArray[np.bool_], NDArray[np.bool_], float, int]:
        """Return what is left with two observed cells in a row and one in a column.

        The block, which rows and columns of this one it has, its sum of squares and the number of its observed cells.
        """
        parts, col_counts, total = [], np.zeros(self.shape[1], dtype=np.int64), 0.0
        for some, counts, squares in self.map(_observed):
            parts.append(some)
            col_counts += counts
            total += squares
        kept, kept_cols, plan = np.concatenate(parts), col_counts > 0, self._plan
        block = LargeBlock(
            self._source,
            self.rows[kept],
            plan.cols[kept_cols],
            plan.row_effect[kept],
            plan.col_effect[kept_cols],
            plan.before,
        )
        return block, kept, kept_cols, total, int(col_counts.sum())

    def filled(self) -> LargeBlock:
        """Fill missing cells from the additive fit to the observed ones, as `fill_missing` does."""
        cols = np.zeros(self.shape[1])
        for _ in range(SWEEPS):
            before, cols, largest = cols, np.zeros(self.shape[1]), 0.0
            counts = np.zeros(self.shape[1])
            for added, seen, top in self.map(partial(_fill_sweep, before)):
                cols += added
                counts += seen
                largest = max(largest, top)
            cols /= counts
            if np.abs(cols - before).max() <= SETTLED * largest:
                break
        self._plan = replace(self._plan, fill=cols)
        return self

    def sums(self) -> Sums:
        """Return what the fits need."""
        (r, c), total, col_sums = self.shape, 0.0, np.zeros(self.shape[1])
        row_sums = np.empty(r)
        for here, squares, of_rows, of_cols in self.map(_line_sums):
            total += squares
            row_sums[here] = of_rows
            col_sums += of_cols
        row_means, col_means = row_sums / c, col_sums / r
        if math.isnan(total):
            return with_means(self, total, row_means, col_means, None, math.nan)
        factors, shape, explained = common_shape(self, row_means, col_means - float(row_means.sum()) / r, total)
        return with_means(
            self, total, row_means, col_means, (factors if explained > 0 else None, shape, explained), explained
        )

    def pattern_sums(self, pattern: Pattern) -> tuple[Floats, Floats]:
        """Return the sums of a pattern over rows and columns, without the cells that are missing."""
        of_rows, of_cols = np.empty(self.shape[0]), np.zeros(self.shape[1])
        for here, rows, cols in self.map(partial(_pattern_sums, pattern)):
            of_rows[here] = rows
            of_cols += cols
        return of_rows, of_cols


def _cut(values: Values, cols: Indices, at: int, numbers: Indices, cells: Any) -> tuple[int, Indices, Part]:
    return at, numbers, seen_as(values, cells).cut(cols)


def _times(vector: Floats, here: slice, A: Floats) -> Floats:
    return A @ vector


def _weighted(vector: Floats, here: slice, A: Floats) -> Floats:
    return vector[here] @ A


def _line_sums(here: slice, A: Floats) -> tuple[slice, float, Floats, Floats]:
    return here, float(A.ravel() @ A.ravel()), A.sum(axis=1), A.sum(axis=0)


def _residual_squares(pattern: Pattern, here: slice, A: Floats) -> float:
    A -= pattern.values(np.arange(here.start, here.stop), np.arange(A.shape[1]))
    return float(A.ravel() @ A.ravel())


def _observed(here: slice, A: Floats) -> tuple[NDArray[np.bool_], Indices, float]:
    seen = np.isfinite(A)
    kept = seen.sum(axis=1) >= 2
    return kept, seen[kept].sum(axis=0), float(np.nansum(A[kept] ** 2))


def _fill_sweep(cols: Floats, here: slice, A: Floats) -> tuple[Floats, Indices, float]:
    seen = np.isfinite(A)
    rows = np.where(seen, A - cols, 0.0).sum(axis=1) / seen.sum(axis=1)
    return np.where(seen, A - rows[:, None], 0.0).sum(axis=0), seen.sum(axis=0), float(np.nanmax(np.abs(A)))


def _pattern_sums(pattern: Pattern, here: slice, A: Floats) -> tuple[slice, Floats, Floats]:
    cells = pattern.values(np.arange(here.start, here.stop), np.arange(A.shape[1]))
    cells[np.isnan(A)] = 0.0
    return here, cells.sum(axis=1), cells.sum(axis=0)


def row_means(
    values: Values, rows: Indices, cols: Indices, row_effect: Floats, col_effect: Floats, before: Sequence[Taken]
) -> Floats:
    """Return the means of rows over the observed cells of some columns, without effects and patterns; 0 without any."""
    plan = _Plan(values.elsewhere, cols, row_effect, col_effect, tuple(before))
    found = values.matrix.map_rows(partial(_of_deviations, plan, _means), rows, len(cols))
    return np.concatenate(list(found)) if len(rows) else np.empty(0)


def _means(here: slice, A: Floats) -> Floats:
    seen = np.isfinite(A)
    return np.asarray(np.where(seen, A, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1))


@dataclass(frozen=True)
class LargeOrders:
    """What `Orders` tells of the values of a block and of rows outside it, from ranks of some rows at a time."""

    block: LargeBlock
    values: Values
    cols: Indices
    rows_outside: Indices

    @cached_property
    def _outside(self) -> Indices:
        """The rows outside without missing cells."""
        found = self.values.matrix.map_rows(
            partial(_complete, self.values.elsewhere, self.cols), self.rows_outside, len(self.cols)
        )
        return np.asarray(self.rows_outside[np.concatenate([*found, np.empty(0, dtype=np.bool_)])])

    @property
    def n_outside(self) -> int:
        """Number of rows outside."""
        return len(self._outside)

    def every(self, step: int) -> Orders:
        """Return every so many rows, which are held."""
        rows = (self.block.rows[::step], self._outside[::step])
        return Orders(*(self.values.block(some, self.cols) for some in rows))

    def mean_ranks(self) -> Ranks:
        """Return what `Orders.mean_ranks` does."""
        c, r = len(self.cols), len(self.block.rows)
        means, spreads = np.zeros(c), []
        for added, spread in self._map(_ranks, self.block.rows):
            means += added
            spreads.append(spread)
        outside = np.zeros(c)
        for added, _ in self._map(_ranks, self._outside):
            outside += added
        means /= r
        difference = means - outside / self.n_outside
        followed = np.concatenate(list(self._map(partial(_correlations, difference), self.block.rows)))
        return Ranks(means, difference, float(np.concatenate(spreads).mean()), followed_by(followed))

    def _map(self, function: Callable[[Floats], Any], rows: Indices) -> Iterator[Any]:
        work = partial(_of_cells, self.values.elsewhere, self.cols, function)
        return self.values.matrix.map_rows(work, rows, len(self.cols))

    def pattern(self, A: Any, order: NDArray[np.intp], log_p: float) -> Pattern:
        """Return the order-preserving pattern; its cells are made when they are asked for."""
        plan = self.block._plan
        cells = MonotoneCells(
            self.values, self.block.rows, self.cols, order, plan.row_effect, plan.col_effect, plan.before
        )
        return Pattern(ORDER_PRESERVING, log_p, cells=cells)


def _of_cells(
    values: Values, cols: Indices, function: Callable[[Floats], Any], at: int, numbers: Indices, cells: Any
) -> Any:
    return function(seen_as(values, cells).block(cols))


def _complete(values: Values, cols: Indices, at: int, numbers: Indices, cells: Any) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(seen_as(values, cells).block(cols)).any(axis=1))


def _ranks(cells: Floats) -> tuple[Floats, Floats]:
    ranks = midranks(cells)
    return ranks.sum(axis=0), ranks.var(axis=1)


def _correlations(difference: Floats, cells: Floats) -> Floats:
    return correlations(midranks(cells), difference)


@dataclass(frozen=True)
class MonotoneCells:
    """Cells of an order-preserving pattern of a large block: each row's best fit that never falls along the order.

    Effects and the patterns `before` are those the block was judged without.
    """

    values: Values
    rows: Indices
    cols: Indices
    order: NDArray[np.intp]
    row_effect: Floats
    col_effect: Floats
    before: tuple[Taken, ...]

    def __reduce__(self) -> Any:
        """Travel without the matrix: whoever looks at rows elsewhere has them."""
        fields = (self.rows, self.cols, self.order, self.row_effect, self.col_effect, self.before)
        return type(self), (self.values.elsewhere, *fields)

    def fitted(self, positions: Indices, cells: Floats, seen: Part) -> Floats:
        """Return the pattern in some rows of the block, given their values over its columns and the whole rows."""
        pattern = monotone(cells, self.order)
        pattern -= self.row_effect[positions, None]
        pattern -= self.col_effect
        subtract(pattern, self.rows[positions], self.cols, self.before, seen)
        return pattern

    def __getitem__(self, where: tuple[Indices, Indices]) -> Floats:
        """Return the pattern in some rows and columns of the block, as indexing with ``numpy.ix_`` does."""
        positions, cols = where[0].ravel(), where[1].ravel()
        return np.concatenate([np.empty((0, len(cols))), *self._map(partial(_columns, cols), positions)])

    def line_sums(self) -> tuple[Floats, Floats]:
        """Return the sums of rows and of columns."""
        parts = list(self._map(_both_sums, np.arange(len(self.rows))))
        return np.concatenate([rows for rows, _ in parts]), np.asarray(sum(cols for _, cols in parts))

    def _map(self, function: Callable[[Floats], Any], positions: Indices) -> Iterator[Any]:
        work = partial(_of_pattern, self, function, positions)
        return self.values.matrix.map_rows(work, self.rows[positions], len(self.cols))


def _of_pattern(
    pattern: MonotoneCells, function: Callable[[Floats], Any], positions: Indices, at: int, numbers: Indices, cells: Any
) -> Any:
    seen = seen_as(pattern.values, cells)
    return function(pattern.fitted(positions[at : at + len(numbers)], seen.block(pattern.cols), seen))


def _columns(cols: Indices, pattern: Floats) -> Floats:
    return pattern[:, cols]


def _both_sums(pattern: Floats) -> tuple[Floats, Floats]:
    return pattern.sum(axis=1), pattern.sum(axis=0)
