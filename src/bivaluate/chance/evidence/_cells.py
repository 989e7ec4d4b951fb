"""What both families need of a matrix: one look at its cells, and its rows some at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bivaluate._types import Flags, Floats
from bivaluate.matrix import Matrix

Result = TypeVar("Result")
# Cells looked at together: few enough to stay in the processor's cache.
_PIECE = 1 << 15


#: The form of a block of weights that has no more of them than its rows and columns lead one to expect.
NOT_RAISED = "not raised"
#: Forms in which every row has a factor of its own.
SHAPES = ("shape", "affine")


class Judged(NamedTuple):
    """The strongest form of a block: a bound on −log p of it in noise, and the squares or counts it explains."""

    raw: float
    form: str = "none"
    explained: float = 0.0
    own: float = 0.0
    pair: int = 1  # of singular vectors, of a shape


@dataclass(frozen=True)
class FirstSums:
    """One look at a matrix: what kind of cells it has, how many of them in each row and column, and plain sums."""

    lowest: float
    largest: float  # in absolute value
    zeros: float
    whole: bool
    in_row: Floats
    in_col: Floats
    col_sums: Floats  # of cells less the mean of their row
    squares: float  # likewise

    @cached_property
    def cells(self) -> float:
        """Cells seen."""
        return float(self.in_row.sum())

    @property
    def gaps(self) -> bool:
        """Whether cells are missing."""
        return self.cells < len(self.in_row) * len(self.in_col)

    @property
    def freedom(self) -> float:
        """Cells less one for every row and column that has any."""
        return max(self.cells - float((self.in_row > 0).sum() + (self.in_col > 0).sum()) + 1.0, 1.0)

    @property
    def binary(self) -> bool:
        """Whether all cells are 0 or 1."""
        return self.whole and self.lowest >= 0 and self.largest <= 1

    @property
    def weights(self) -> bool:
        """Whether cells are weights: none negative, and a fifth of them 0."""
        return self.lowest >= 0 and self.zeros >= 0.2 * self.cells and self.largest > 0

    @property
    def col_means(self) -> Floats:
        """Means of columns of cells less the mean of their row."""
        return np.asarray(self.col_sums / np.maximum(self.in_col, 1.0))

    @cached_property
    def variance(self) -> float:
        """Mean square of what the means of rows and columns leave."""
        between = float((self.col_sums**2 / np.maximum(self.in_col, 1.0)).sum())
        return max(self.squares - between, 0.0) / max(self.cells, 1.0)


def first_sums(matrix: Matrix) -> FirstSums:
    """Return the sums of a first look, over all chunks."""
    parts = by_chunks(matrix, _first)
    return FirstSums(
        min(part.lowest for part in parts),
        max(part.largest for part in parts),
        sum(part.zeros for part in parts),
        all(part.whole for part in parts),
        np.concatenate([part.in_row for part in parts]),
        sum_up(part.in_col for part in parts),
        sum_up(part.col_sums for part in parts),
        math.fsum(part.squares for part in parts),
    )


def _first(matrix: Matrix, start: int, cells: Any) -> FirstSums:
    n, m = cells.shape
    if not isinstance(cells, np.ndarray) and matrix.absent == "zero" and not np.isnan(cells.data).any():
        return _first_sparse(cells)
    in_row, in_col, col_sums, squares = np.empty(n), np.zeros(m), np.zeros(m), 0.0
    lowest, largest, zeros, whole = math.inf, 0.0, 0, True
    for rows, x, seen in pieces(matrix, cells):
        known = x if seen is None else x[seen]
        if known.size:
            low, high = float(known.min()), float(known.max())
            lowest, largest = min(lowest, low), max(largest, high, -low)
            whole = whole and all((part == np.rint(part)).all() for part in (known[:1], known))
            zeros += known.size - int(np.count_nonzero(known)) if low >= 0 >= low else 0
        in_row[rows] = m if seen is None else seen.sum(axis=1)
        in_col += len(x) if seen is None else seen.sum(axis=0)
        centred = x if seen is None else np.where(seen, x, 0.0)
        centred = centred - (centred.sum(axis=1) / np.maximum(in_row[rows], 1.0))[:, None]
        centred = centred if seen is None else centred * seen
        col_sums += centred.sum(axis=0)
        squares += float(np.einsum("ij,ij->", centred, centred))
    return FirstSums(lowest, largest, zeros, whole, in_row, in_col, col_sums, squares)


def _first_sparse(cells: Any) -> FirstSums:
    n, m = cells.shape
    x = cells.data
    some = len(x) < n * m
    low, high = (float(x.min()), float(x.max())) if len(x) else (0.0, 0.0)
    means = np.asarray(cells.sum(axis=1)).ravel() / m
    return FirstSums(
        min(low, 0.0) if some else low,
        max(high, -low, 0.0),
        float(n * m - np.count_nonzero(x)),
        bool((x == np.rint(x)).all()),
        np.full(n, float(m)),
        np.full(m, float(n)),
        np.asarray(cells.sum(axis=0)).ravel() - means.sum(),
        max(float(x @ x) - m * float(means @ means), 0.0),
    )


def by_chunks(matrix: Matrix, function: Callable[..., Result], *arguments: Any) -> list[Result]:
    """Return ``function(matrix, *arguments, start, rows)`` of every chunk; cells in memory were checked before."""
    if matrix.in_memory:
        return [function(matrix, *arguments, at, matrix.values[at:stop]) for at, stop in matrix.chunks()]
    return list(matrix.map_chunks(partial(function, matrix.without_cells(), *arguments)))


def every_row(matrix: Matrix, step: int) -> Floats:
    """Return the cells of every so many rows."""
    if matrix.in_memory:
        return np.ascontiguousarray(matrix.values[::step])
    return matrix.block(np.arange(0, matrix.shape[0], step), np.arange(matrix.shape[1]))


def all_cells(matrix: Matrix) -> Floats:
    """Return the cells of a small matrix, from wherever they are, as one dense array."""
    return np.concatenate(by_chunks(matrix, _dense))


def _dense(matrix: Matrix, start: int, cells: Any) -> Floats:
    return matrix.dense(cells)


def pieces(matrix: Matrix, cells: Any, gaps: bool = True) -> Iterator[tuple[slice, Floats, Flags | None]]:
    """Return some rows at a time, dense, and which of their cells are seen; None where all are, or no gap is known."""
    n, m = cells.shape
    step = max(1, _PIECE // m)
    for at in range(0, n, step):
        x = np.ascontiguousarray(matrix.dense(cells[at : at + step]))  # sums in the same order, however they are stored
        seen = ~np.isnan(x) if gaps and math.isnan(np.add.reduce(x, None)) else None
        yield slice(at, at + len(x)), x, None if seen is None or seen.all() else seen


def sum_up(parts: Iterable[Any]) -> Any:
    """Return the sum of arrays, one after the other."""
    return reduce(np.add, parts)
