"""The judgement of one bicluster: its block without background and patterns taken out, and the pattern it follows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance._background import Lines, Values, all_squares, look_at_all
from bivaluate.chance._large_blocks import LargeBlock, LargeOrders, Taken, row_means, subtract
from bivaluate.chance._patterns import (
    ALTERNATIONS,
    LARGEST_FACTOR,
    NO_SHAPE,
    NONE,
    RAISED,
    AskOrders,
    Orders,
    Outside,
    Pattern,
    Restore,
    Series,
    Sums,
    best_pattern,
    fill_missing,
    sums,
)
from bivaluate.chance._tallies import Tallies, Told, few_values, tally_all, tally_block
from bivaluate.chance.assumptions import (
    ColumnSeries,
    Groups,
    RowSums,
    deviations,
    independent_share,
    lost_to_ties,
    needs_ranks,
    normal_scores,
    row_and_column_means,
    row_step,
    rows_looked_at,
    series_by,
    series_in,
    sorted_sample,
    spacing,
    without_effects,
)
from bivaluate.matrix import Matrix, cut_block, flat_view
from bivaluate.measures._blocks import CONSTANT, is_constant_row
from bivaluate.solution import Bicluster

Floats = NDArray[np.float64]

MIN_CELLS = 12
# Rows outside a block whose order of its columns is looked at, at least.
_FEWEST_OUTSIDE = 256
_CHUNK = 1 << 15
# Rows whose means are this many standard deviations from 0 are centred before anything else is done with them.
_FAR = 1e4
# Outside this range fourth powers overflow or underflow, and X is seen times a power of two.
_TINY, _HUGE = 1e-60, 1e60


@dataclass
class Background:
    """The values as they are judged, what rows and columns hold by themselves, and the smallest residual variance.

    The effects of rows and columns are those of the values less the patterns accepted so far; their sums of squared
    deviations are those of the beginning. `tallies` count the values of the matrix itself, where they are few.
    """

    matrix: Matrix
    tallies: Tallies | None
    values: Floats | Values
    row_effect: Floats
    col_effect: Floats
    seen_in_row: Floats
    seen_in_col: Floats
    floor: float
    flat_rows: NDArray[np.bool_]
    flat_cols: NDArray[np.bool_]
    row_squares: Floats
    col_squares: Floats
    ranks: bool
    independent: float
    compiled: bool

    def __post_init__(self) -> None:
        self.accepted: list[Judged] = []
        self.any_flat = bool(self.flat_rows.any() or self.flat_cols.any())
        self.n_seen, self.squares = float(self.seen_in_row.sum()), float(self.row_squares.sum())

    @cached_property
    def flat(self) -> tuple[Floats, int, int, int]:
        """Values in memory, whatever their order, as compiled code takes them."""
        return flat_view(np.asarray(self.values))

    def block(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Floats:
        """Return the values of some rows and columns."""
        if isinstance(self.values, Values):
            return self.values.block(rows, cols)
        return cut_block(self.values, rows, cols)

    def told(self, rows: NDArray[np.int64], cols: NDArray[np.int64], before: Sequence[Judged]) -> Told | None:
        """Return what the values of a block tell where few are in the matrix, without those of patterns taken out."""
        if self.tallies is None:
            return None
        taken = [(one.rows, one.cols) for one in before]
        return self.tallies.told(tally_block(self.matrix, self.tallies.values, rows, cols, taken), rows, cols)

    def outside(self, rows: NDArray[np.int64], cols: NDArray[np.int64], total: float, n_cells: int) -> Outside:
        """Return the noise the block would have if rows and columns had the variances they have outside of it."""
        of_rows, of_cols = (float(self.row_squares[rows].sum()) - total, float(self.col_squares[cols].sum()) - total)
        in_rows, in_cols = len(rows) * self.values.shape[1] - n_cells, len(cols) * self.values.shape[0] - n_cells
        if self.n_seen < self.values.size:
            in_rows = float(self.seen_in_row[rows].sum()) - n_cells
            in_cols = float(self.seen_in_col[cols].sum()) - n_cells
        elsewhere = self.n_seen - n_cells - in_rows - in_cols
        of_elsewhere = self.squares - total - of_rows - of_cols
        if min(in_rows, in_cols, elsewhere) < 1 or min(of_rows, of_cols, of_elsewhere) <= 0:
            return Outside(0.0, 0.0)
        variance = (of_rows / in_rows) * (of_cols / in_cols) / (of_elsewhere / elsewhere)
        cells = 1 / (1 / in_rows + 1 / in_cols + 1 / elsewhere)  # what this product is known as well as a mean over
        return Outside(cells, variance * cells)


class Judged(NamedTuple):
    """A bicluster judged on what is left of the matrix."""

    gain: float
    pattern: Pattern | None
    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    outside: Outside | None = None
    reason: str = ""
    too_small: bool = False


class Surroundings(NamedTuple):
    """What a matrix is judged by before a solution is seen, as `Background` has it.

    `values` are None where rows are looked at some at a time, times `scale` or as ranks. The matrix keeps this record
    and is no part of it.
    """

    values: Floats | None
    scale: float
    effects: tuple[Floats, Floats, Floats, Floats]
    floor: float
    flat: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    squares: tuple[Floats, Floats]
    ranks: bool
    series: ColumnSeries | None
    tallies: Tallies | None


def background_of(matrix: Matrix, normalise: str, groups: Groups, compiled: bool) -> Background:
    """Return the background of a solution; its effects of rows and columns are its own, and change as it is judged."""
    found = matrix.once(_surroundings, normalise, compiled)
    row_effect, col_effect, in_row, in_col = found.effects
    effects = (row_effect.copy(), col_effect.copy(), in_row, in_col)
    independent = independent_share(found.series, groups)
    values = Values(matrix, found.ranks, found.scale) if found.values is None else found.values
    flat, squares, ranks = found.flat, found.squares, found.ranks
    return Background(
        matrix, found.tallies, values, *effects, found.floor, *flat, *squares, ranks, independent, compiled
    )


def _surroundings(matrix: Matrix, normalise: str, compiled: bool) -> Surroundings:
    if matrix.in_memory:
        return _surroundings_in_memory(matrix, normalise, compiled)
    return _surroundings_by_chunks(matrix, normalise)


def _surroundings_by_chunks(matrix: Matrix, normalise: str) -> Surroundings:
    """Do what `_surroundings_in_memory` does, some rows at a time."""
    values = Values(matrix)
    lines = look_at_all(values)
    flat = lines.flat_rows, lines.flat_cols
    tallies = _tallies(matrix, lines.sample)
    cells = _looked_at(values, lines)
    sums = RowSums.of(cells, lines.effects[2][rows_looked_at(values.shape)])
    ranks = normalise == "rank" or (
        normalise == "auto" and needs_ranks(lines.sample, sums, (CONSTANT * lines.largest) ** 2)
    )
    if ranks:
        values = Values(matrix, ranks=True)
        lines = look_at_all(values)
        floor = lines.lost_to_ties
        cells = _looked_at(values, lines)
    else:
        largest, sample = lines.largest, lines.sample
        if not _TINY < largest < _HUGE and largest > 0:
            values = Values(matrix, scale=2.0 ** -math.floor(math.log2(largest)))
            largest, sample = largest * values.scale, sample * values.scale
            lines = look_at_all(values)
            cells = _looked_at(values, lines)
        floor = max((CONSTANT * largest) ** 2, spacing(sample) ** 2 / 12)
    squares = all_squares(values, lines.effects[1])
    return Surroundings(None, values.scale, lines.effects, floor, flat, squares, ranks, series_in(cells), tallies)


def _tallies(matrix: Matrix, sample: Floats) -> Tallies | None:
    values = few_values(sample)
    return None if values is None else tally_all(matrix, values, len(sample))


def _looked_at(values: Values, lines: Lines) -> Floats:
    """Return what `deviations` returns of a matrix in memory."""
    at = np.arange(values.shape[0])[rows_looked_at(values.shape)]
    return without_effects(values.block(at, np.arange(values.shape[1])), lines.effects[0][at], lines.effects[1])


def _surroundings_in_memory(matrix: Matrix, normalise: str, compiled: bool) -> Surroundings:
    X = matrix.values
    values, scale, largest = X, 1.0, max(float(X.max()), -float(X.min()))
    if math.isnan(largest):
        largest = max(float(np.nanmax(X)), -float(np.nanmin(X)))
    if not _TINY < largest < _HUGE and largest > 0:
        scale = 2.0 ** -math.floor(math.log2(largest))
        values, largest = X * scale, largest * scale
    sample, seen = sorted_sample(values), _seen(values, compiled)
    ranks = normalise == "rank" or (normalise == "auto" and needs_ranks(sample, seen.sums, (CONSTANT * largest) ** 2))
    if ranks:
        values = normal_scores(values)
        floor = lost_to_ties(values)
        seen = _seen(values, compiled)
    else:
        floor = max((CONSTANT * largest) ** 2, spacing(sample) ** 2 / 12)
    means, squares = seen.means, seen.squares
    series = series_by(seen.sums, partial(deviations, values, means))
    spread = math.sqrt(float(squares[0].sum()) / float(means[2].sum()))
    if float(np.abs(means[0]).max()) > _FAR * spread:  # the offsets of rows would cost digits
        values = values - means[0][:, None]
        means = row_and_column_means(values)
        squares = _squares(values, *means[:2])
    tallies = _tallies(matrix, sample / scale)
    return Surroundings(values, 1.0, means, floor, _flat_lines(X), squares, ranks, series, tallies)


class _Seen(NamedTuple):
    """Row and column means, sums over the deviations looked at, all squares by row and by column."""

    means: tuple[Floats, Floats, Floats, Floats]
    sums: RowSums
    squares: tuple[Floats, Floats]


def _seen(values: Floats, compiled: bool) -> _Seen:
    """Look at a matrix in memory; the squares of all cells come from those looked at, where that is all of them."""
    n, m = values.shape
    if compiled and values.flags.c_contiguous:
        from bivaluate.chance._kernels_evidence import look_at

        rows, cols, row_squares, col_squares, *sums = look_at(flat_view(values)[0], n, m, row_step(values.shape))
        if not math.isnan(float(rows.sum())):
            means = (rows, cols, np.full(n, float(m)), np.full(m, float(n)))
            of_rows = RowSums._make((m, *sums, means[2][rows_looked_at(values.shape)]))
            return _Seen(means, of_rows, (row_squares, col_squares))
    means = row_and_column_means(values)
    cells = deviations(values, means)
    of_rows = RowSums.of(cells, means[2][rows_looked_at(values.shape)])
    if len(cells) == n:
        return _Seen(means, of_rows, (of_rows.squares, np.einsum("ij,ij->j", cells, cells)))
    return _Seen(means, of_rows, _squares(values, *means[:2]))


def _squares(X: Floats, row_effect: Floats, col_effect: Floats) -> tuple[Floats, Floats]:
    """Return the sums of squared deviations of rows and of columns, some rows at a time."""
    n, m = X.shape
    rows, cols = np.empty(n), np.zeros(m)
    step = max(1, _CHUNK // m)
    room = np.empty((min(step, n), m))  # one room for all chunks: new ones would cost more than the sums
    of_cols, of_rows = np.ones(m), np.ones(step)
    for start in range(0, n, step):
        part = slice(start, start + step)
        squares = np.subtract(X[part], row_effect[part, None], out=room[: n - start])
        squares -= col_effect
        squares *= squares
        rows[part] = squares @ of_cols
        cols += of_rows[: len(squares)] @ squares
    if math.isnan(float(rows.sum())):
        squares = np.nan_to_num((X - row_effect[:, None] - col_effect) ** 2)
        return squares.sum(axis=1), squares.sum(axis=0)
    return rows, cols


def _flat_lines(X: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows, and which columns, hold one value over the whole matrix; two cells rule out most."""
    found = []
    for values in (X, X.T):
        flat = ~(np.abs(values[:, 0] - values[:, -1]) > 0)
        if flat.any():
            flat[flat] = is_constant_row(values[flat])
        found.append(flat)
    return found[0], found[1]


def judge(
    background: Background, bicluster: Bicluster, cost: float, before: Sequence[Judged], outside: Outside | None
) -> Judged:
    """Judge a bicluster on what is left of it once the patterns of those `before` it are taken out."""
    rows, cols = bicluster.rows, bicluster.cols
    if background.any_flat:
        rows, cols = rows[~background.flat_rows[rows]], cols[~background.flat_cols[cols]]
        for members in (rows, cols):  # as those of biclusters: kernels are compiled for one kind of array
            members.setflags(write=False)
    if len(rows) < 2 or len(cols) < 2:
        return _too_small(rows, cols, bicluster)
    found = _block(background, rows, cols, before)
    A, total = found.A, found.total
    n_cells = A.size
    observed = math.isnan(total)
    if observed:
        A, rows, cols, total, n_cells = _observed(A, rows, cols)
    if len(rows) < 2 or len(cols) < 2 or background.independent * n_cells < MIN_CELLS:
        return _too_small(rows, cols, bicluster)
    told = background.told(rows, cols, before)
    hidden = total <= n_cells * background.floor
    if hidden and told is None:
        return _undefined(
            rows, cols, "its cells deviate from the row and column means by no more than ties and rounding allow"
        )
    of = found if not observed else A.filled().sums() if isinstance(A, LargeBlock) else sums(fill_missing(A))
    # Orders are those of the values themselves: once a pattern is taken out, they say nothing.
    n, m = background.values.shape
    orders = None
    if not before and not observed:
        n_outside = len(range(0, n - len(rows), _step_outside(n, len(rows))))
        orders = AskOrders(n_outside, partial(_orders, background, rows, cols, A))
    restore = Restore.of(len(rows) / n, len(cols) / m)
    if outside is None:
        outside = background.outside(rows, cols, total, n_cells)
    series = _series(background, rows, cols) if background.independent < 1 else None
    pattern = (
        Pattern() if hidden else best_pattern(of, n_cells, background.floor, -cost, restore, outside, series, orders)
    )
    if told is not None:
        pattern = _believed(pattern, told, of, restore, background.independent)
    return Judged(-pattern.log_p - cost, pattern, rows, cols, outside)


def _believed(pattern: Pattern, told: Told, of: Sums, restore: Restore, independent: float) -> Pattern:
    """Return a pattern no more improbable than the values of its block are, or a level where these tell more of it."""
    log_p, raised = max(pattern.log_p, -told.by(pattern)), -independent * told.raised
    if pattern.kind == NONE or raised < log_p:
        return restore.pattern(RAISED, raised, Pattern(level=of.level))
    return pattern._replace(log_p=log_p)


def _observed(
    A: Any, rows: NDArray[np.int64], cols: NDArray[np.int64]
) -> tuple[Any, NDArray[np.int64], NDArray[np.int64], float, int]:
    """Return the block with two observed cells in a row and one in a column, its rows and columns, its sum of squares
    and the number of its observed cells.
    """
    if isinstance(A, LargeBlock):
        A, kept, kept_cols, total, n_cells = A.observed()
        return A, rows[kept], cols[kept_cols], total, n_cells
    seen = np.isfinite(A)
    kept = seen.sum(axis=1) >= 2
    kept_cols = seen[kept].any(axis=0)
    A = A[np.ix_(kept, kept_cols)]
    return A, rows[kept], cols[kept_cols], float(np.nansum(A**2)), int(np.isfinite(A).sum())


def _too_small(rows: NDArray[np.int64], cols: NDArray[np.int64], bicluster: Bicluster) -> Judged:
    size = " × ".join(map(str, bicluster.shape))
    reason = f"{size}: no block of this size could be supported in this matrix"
    return Judged(math.nan, None, rows, cols, reason=reason, too_small=True)


def _undefined(rows: NDArray[np.int64], cols: NDArray[np.int64], reason: str) -> Judged:
    return Judged(math.nan, None, rows, cols, reason=reason)


def _block(background: Background, rows: NDArray[np.int64], cols: NDArray[np.int64], before: Sequence[Judged]) -> Sums:
    """Return the block of deviations from the background, and what the fits need of it."""
    if isinstance(background.values, Values) and not background.values.matrix.may_hold(len(rows), len(cols)):
        effects = background.row_effect[rows], background.col_effect[cols]
        return LargeBlock(background.values, rows, cols, *effects, _taken(before)).sums()
    if background.compiled:
        from bivaluate.chance._kernels_evidence import block_of, block_sums
    if background.compiled and not isinstance(background.values, Values):
        A = block_of(background.flat, rows, cols, background.row_effect, background.col_effect)
    else:
        A = background.block(rows, cols)
        A -= background.row_effect[rows][:, None]
        A -= background.col_effect[cols]
    subtract(A, rows, cols, _taken(before))
    if not background.compiled:
        return sums(A)
    numbers, in_rows, in_cols, factors, shape, explained = block_sums(A, ALTERNATIONS, LARGEST_FACTOR, NO_SHAPE)
    total, level, of_rows, of_cols = numbers
    shaped = (factors if explained > 0 else None, shape, explained)
    return Sums(A, total, in_rows, in_cols, level, of_rows, of_cols, A.size * level**2, shaped, explained)


def _series(background: Background, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Series:
    """Return how the means of other rows over these columns differ, effects and accepted patterns taken out."""
    others = _outside_of(background, rows)
    if isinstance(background.values, Values):
        effects = background.row_effect[others], background.col_effect[cols]
        means = row_means(background.values, others, cols, *effects, _taken(background.accepted))
    else:
        means = np.empty(len(others))
        step = max(1, _CHUNK // len(cols))
        for start in range(0, len(others), step):
            part = others[start : start + step]
            cells = background.block(part, cols) - background.row_effect[part][:, None] - background.col_effect[cols]
            subtract(cells, part, cols, _taken(background.accepted))
            seen = np.isfinite(cells)
            means[start : start + step] = np.where(seen, cells, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    return Series(background.independent, len(means), len(means) * float(means.var()) if len(means) else 0.0)


def _outside_of(background: Background, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.setdiff1d(np.arange(background.values.shape[0]), rows, assume_unique=True)


def _taken(judged: Sequence[Judged]) -> list[Taken]:
    return [Taken(one.rows, one.cols, one.pattern) for one in judged if one.pattern is not None]


def _step_outside(n: int, r: int) -> int:
    """Return every which of the rows outside a block of r rows is looked at."""
    return -(-(n - r) // max(_FEWEST_OUTSIDE, r)) or 1


def _orders(background: Background, rows: NDArray[np.int64], cols: NDArray[np.int64], A: Any) -> Orders | LargeOrders:
    """Return the values of the block, and those of other rows evenly spread, as many as the block has or 256."""
    spread = _outside_of(background, rows)[:: _step_outside(background.values.shape[0], len(rows))]
    if isinstance(A, LargeBlock):
        assert isinstance(background.values, Values)
        return LargeOrders(A, background.values, cols, spread)
    others = background.block(spread, cols)
    return Orders(background.block(rows, cols), others[~np.isnan(others).any(axis=1)])


def take_out(background: Background, judged: Judged) -> None:
    """Give rows and columns the means they have once the pattern of an accepted bicluster is taken out."""
    assert judged.pattern is not None
    rows, cols = judged.rows, judged.cols
    if background.n_seen == background.values.size:
        of_rows, of_cols = judged.pattern.line_sums(len(rows), len(cols))
    elif isinstance(background.values, Values) and not background.values.matrix.may_hold(len(rows), len(cols)):
        effects = background.row_effect[rows], background.col_effect[cols]
        of_rows, of_cols = LargeBlock(background.values, rows, cols, *effects).pattern_sums(judged.pattern)
    else:
        pattern = judged.pattern.values(np.arange(len(rows)), np.arange(len(cols)))
        pattern[np.isnan(background.block(rows, cols))] = 0.0
        of_rows, of_cols = pattern.sum(axis=1), pattern.sum(axis=0)
    background.accepted.append(judged)
    background.row_effect[rows] -= of_rows / background.seen_in_row[rows]
    background.col_effect[cols] -= of_cols / background.seen_in_col[cols]
    background.col_effect += float(of_rows.sum()) / background.n_seen
