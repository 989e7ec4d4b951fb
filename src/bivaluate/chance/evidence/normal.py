"""Evidence where cells scatter as normal noise around effects of rows and columns.

Effects are weighted means, cells are divided by the scales of their row and column, and extremes are drawn in to normal
scores. Everything else is sums: of squares by rows and columns, and over the cells of each block.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from bivaluate._types import Flags, Floats, Ints
from bivaluate.chance.assumptions import UNORDERED, rows_alike, series_in
from bivaluate.chance.evidence._cells import SHAPES, FirstSums, Judged, by_chunks, every_row, pieces, sum_up
from bivaluate.matrix import Matrix, cut_block
from bivaluate.solution import Bicluster, Biclustering

# Forms × bounds: level, columns, rows and both by four, shape and affine by two; quiet blocks are charged twice.
_TESTS = 20
# Share of the overall variance in every scale; passes that fit effects and scales, without and with missing cells.
_SHARED, _SWEEPS, _SWEEPS_WITH_GAPS, _SWEEPS_OF_MEANS = 0.1, 2, 12, 5
# Largest mean square of the cells of a column.
_LOUDEST = 1.3
_BINS, _REACH = 4096, 8.0
# Rows in which normal scores and series are looked for: so many, or so many cells.
_ROWS_LOOKED_AT, _CELLS_LOOKED_AT = 500, 1 << 17
# Arrays of up to so many cells are kept as they are judged.
_FEW_CELLS = 1 << 20
_CELLS_AT_A_TIME = 1 << 18  # beside which a large block is not held again
# A profile that most rows have, too, counts as noise: median of squares of a normal variable of variance 1, how many
# standard errors it has to be beyond (times 2.33, √n), fewest rows that tell, pairs of vectors looked at.
_MEDIAN_SQUARE, _BEYOND, _FEWEST_OTHERS, _PAIRS = NormalDist().inv_cdf(0.75) ** 2, 7.0, 20, 3
# What margins took from a block counts at most as much as its own cells do, on either side.
_RESTORED = 2.0
_MOST_EXPLAINED = 0.98
_MEDIAN = NormalDist().inv_cdf(0.75)
_FORMS = ("level", "columns", "rows", "both", "shape", "affine")
# Blocks that a fit of rows and columns leaves less than this part of the usual noise are quiet; less than the second
# counts as that; as long as only so many cells of a row or column have equal values.
_QUIET, _LEAST_LEFT, _TIED = 0.1, 0.02, 0.05


def bounds(cells: Any, freedom: Any, explained: Floats) -> Floats:
    """Return cells/2·KL(freedom/cells ‖ explained), bounds on −log p that noise explains these shares of its squares.

    >>> bounds(100.0, 1.0, np.array([0.01, 0.2])).round(3)
    array([0.  , 9.05])
    """
    explained = np.maximum(explained, 1e-300)
    expected = np.minimum(freedom / cells, explained)  # what noise explains, too, is worth nothing
    rest = 1 - expected
    rest *= np.log(rest / (1 - explained))
    return np.asarray(cells / 2 * (expected * np.log(expected / explained) + rest))


def quietness(cells: float, squares: float) -> float:
    """Return a bound on −log p that cells of noise, of variance 1, have so small a sum of squares.

    >>> quietness(100.0, 100.0), round(quietness(100.0, 50.0), 3)
    (0.0, 9.657)
    """
    if squares >= cells:
        return 0.0
    mean = max(squares / cells, _LEAST_LEFT)
    return cells / 2 * (mean - 1 - math.log(mean))


def restored(share: float) -> float:
    """Return the squares of a level over what is left of them without means of which the block has this share."""
    return min(1 / max(1 - share, 1e-9), _RESTORED)


class Fit(NamedTuple):
    """Effects and squared scales of rows and columns; normal scores of bins of cells; means of what those draw in."""

    a: Floats
    b: Floats
    s2: Floats
    t2: Floats
    gaps: bool
    scores: Floats
    row_means: Floats
    col_means: Floats
    known: Floats | None = None  # all cells where they are few: drawn in, and at last as they are judged

    def standard(self, x: Floats, rows: Any, cols: Any = slice(None)) -> Floats:
        """Return cells without effects over their scales; NaN where missing."""
        z = x - self.a[rows][:, None]
        z -= self.b[cols]
        z *= (1 / np.sqrt(self.s2[rows]))[:, None]
        z *= 1 / np.sqrt(self.t2[cols])
        return np.asarray(z)

    def drawn(self, z: Floats, bins: Any = None) -> Floats:
        """Return the same, drawn in, where they are, to normal scores that are nearer to 0."""
        parts = 1 + z.size // _CELLS_AT_A_TIME
        known = [None] * parts if bins is None else np.array_split(bins, parts)
        for part, own in zip(np.array_split(z, parts), known, strict=True):  # of rows, in place
            scores = self.scores.take(_bins(part) if own is None else own, mode="clip")
            np.copyto(part, scores, where=np.abs(scores) < np.abs(part))
        return z

    def centred(self, z: Floats, rows: Any, cols: Any = slice(None)) -> Floats:
        """Return the cells that are judged, of some drawn in: without means, 0 where missing; in place."""
        z -= self.row_means[rows][:, None]
        z -= self.col_means[cols]
        return np.asarray(np.nan_to_num(z, copy=False) if self.gaps else z)


def _bins(z: Floats) -> NDArray[np.intp]:
    """Return the bins of cells; those below the first and beyond the last count as these."""
    at = z * (_BINS / (2 * _REACH))
    at += _BINS / 2
    with np.errstate(invalid="ignore"):  # missing values
        return at.astype(np.intp)


class _Sweep(NamedTuple):
    """What a pass finds of some rows: effects and scales one by one, and sums over them by columns."""

    a: Floats
    s2: Floats
    weights: Floats
    sums: Floats  # of R/s²
    squares: Floats  # of R²/s²
    plain: Floats  # of R²


def _sweep(matrix: Matrix, gaps: bool, b: Floats, t2: Floats, overall: float, start: int, cells: Any) -> _Sweep:
    n, m = cells.shape
    a, s2 = np.empty(n), np.empty(n)
    weights, sums, squares, plain = np.zeros((4, m))
    v = 1 / t2
    for rows, x, seen in pieces(matrix, cells, gaps):
        R = x - b
        in_row: Any = m
        of: Any = v.sum()
        if seen is not None:
            R[~seen] = 0.0
            in_row, of = np.maximum(seen.sum(axis=1), 1), np.maximum(seen @ v, 1e-300)
        a[rows] = R @ v / of
        R -= a[rows][:, None]
        if seen is not None:
            R *= seen
        squared = R * R
        s2[rows] = (1 - _SHARED) * (squared @ v) / in_row + _SHARED * overall
        u = 1 / s2[rows]
        weights += u.sum() if seen is None else u @ seen
        sums += u @ R
        squares += u @ squared
        plain += np.ones(len(u)) @ squared
    return _Sweep(a, s2, weights, sums, squares, plain)


class Squares(NamedTuple):
    """Means and squares of some rows one by one, and sums over them by columns."""

    row_means: Floats
    row_squares: Floats
    col_sums: Floats
    col_squares: Floats


def _squares(matrix: Matrix, fit: Fit, start: int, cells: Any) -> Squares:
    n, m = cells.shape
    row_means, row_squares = np.empty((2, n))
    col_sums, col_squares = np.zeros((2, m))
    for rows, x, seen in pieces(matrix, cells, fit.gaps):
        at = slice(start + rows.start, start + rows.stop)
        z = (fit.drawn(fit.standard(x, at)) if fit.known is None else fit.known[at]) - fit.col_means
        if seen is not None:
            z[~seen] = 0.0
        row_means[rows] = z @ np.ones(m) / (m if seen is None else np.maximum(seen.sum(axis=1), 1))
        z -= row_means[rows][:, None]
        if seen is not None:
            z *= seen
        squared = z * z
        row_squares[rows] = squared @ np.ones(m)
        col_sums += np.ones(len(z)) @ z
        col_squares += np.ones(len(z)) @ squared
    return Squares(row_means, row_squares, col_sums, col_squares)


def _gathered(kind: Any, parts: list[Any], of_rows: int) -> Any:
    """Return what was found of chunks as one: the first fields row after row, the others added up."""
    columns = list(zip(*parts, strict=True))
    return kind(*map(np.concatenate, columns[:of_rows]), *map(sum_up, columns[of_rows:]))


def fit_noise(matrix: Matrix, first: FirstSums) -> tuple[Fit, Squares]:
    """Return effects, scales and scores, and the squares of what they leave."""
    n, m = matrix.shape
    in_col = np.maximum(first.in_col, 1.0)
    b, t2, overall = first.col_means, np.ones(m), first.variance
    sweeps = _SWEEPS_WITH_GAPS if first.gaps else _SWEEPS
    for number in range(1, sweeps + 1):
        sweep = _gathered(_Sweep, by_chunks(matrix, _sweep, first.gaps, b, t2, overall), 2)
        step = sweep.sums / np.maximum(sweep.weights, 1e-300)
        b = b + step
        if 2 * number % sweeps:  # scales of columns are fitted halfway and at the end
            continue
        left = np.maximum(sweep.squares - sweep.weights * step**2, 0.0)
        t2 = (1 - _SHARED) * left / in_col + _SHARED * left.sum() / first.cells
        overall = float((sweep.plain / t2).sum() / first.cells)
    t2 = t2 * ((left / t2).sum() / first.cells)  # the mean square of the cells becomes 1
    t2 = np.maximum(t2, left / in_col / _LOUDEST)  # and that of no column much more
    fit = Fit(sweep.a, b, sweep.s2, t2, first.gaps, np.empty(0), np.zeros(n), np.zeros(m))
    some = slice(None, None, -(-n // max(_ROWS_LOOKED_AT, _CELLS_LOOKED_AT // m)))
    cells = fit.standard(every_row(matrix, some.step), some)
    bins = _bins(cells)
    fit = fit._replace(scores=_scores(bins[~np.isnan(cells)] if first.gaps else bins.ravel()))
    # their means come from some rows, then from all of them
    drawn = fit.drawn(cells, bins)
    if matrix.in_memory and n * m <= _FEW_CELLS:
        fit = fit._replace(
            known=drawn if drawn.size == n * m else fit.drawn(fit.standard(every_row(matrix, 1), slice(None)))
        )
    if first.gaps:
        seen = ~np.isnan(drawn)
        drawn = np.where(seen, drawn, 0.0)
        drawn -= (drawn.sum(axis=1) / np.maximum(seen.sum(axis=1), 1))[:, None]
        fit = fit._replace(col_means=(drawn * seen).sum(axis=0) / np.maximum(seen.sum(axis=0), 1))
    else:
        means = drawn.mean(axis=0)
        fit = fit._replace(col_means=means - means.mean())
    for _ in range(_SWEEPS_OF_MEANS if first.gaps else 1):
        squares = _gathered(Squares, by_chunks(matrix, _squares, fit), 2)
        step = squares.col_sums / in_col
        fit = fit._replace(row_means=squares.row_means, col_means=fit.col_means + step)
    # what the last step takes from the squares of rows it takes evenly
    cols = squares.col_squares - first.in_col * step**2
    rows = squares.row_squares - (squares.col_squares - cols).sum() / first.cells * first.in_row
    if fit.known is not None:
        fit.centred(fit.known, slice(None))
    return fit, squares._replace(row_squares=np.maximum(rows, 0.0), col_squares=np.maximum(cols, 0.0))


def _scores(bins: NDArray[np.intp]) -> Floats:
    """Return the normal score of every bin, by the share of cells below its middle."""
    counts = np.bincount(np.minimum(np.maximum(bins, 0), _BINS - 1), minlength=_BINS)
    below, total = np.cumsum(counts) - counts / 2, int(counts.sum())
    below = np.minimum(np.maximum(below, 0.5), total - 0.5)
    differs = np.concatenate([[True], below[1:] > below[:-1]])
    shares = below[differs] / total
    score = _quantiles(np.minimum(shares, 1 - shares))
    return np.asarray(np.where(shares > 0.5, -score, score)[np.cumsum(differs) - 1])


def _quantiles(p: Floats) -> Floats:
    """Return normal quantiles of p from 1e-12 to 1/2: a polynomial in √(−log p), right to 1e-13."""
    values, start, stop = _quantile_table()
    x = (2 * np.sqrt(-np.log(p)) - start - stop) / (stop - start)
    x2, x3 = x * x, x * x * x
    powers = np.stack([x2 * x3, x2 * x2, x3, x2, x, np.ones_like(x)])
    return np.asarray(np.polyval(values @ powers, x3 * x3))  # a polynomial of 5th degree for every power of x^6


@lru_cache(maxsize=1)
def _quantile_table() -> tuple[Floats, float, float]:
    start, stop = math.sqrt(math.log(2)), math.sqrt(12 * math.log(10))
    unit = np.cos(np.pi * (np.arange(34) + 0.5) / 34)
    quantiles = [NormalDist().inv_cdf(math.exp(-(root**2))) for root in (start + stop + (stop - start) * unit) / 2]
    values = np.asarray(chebyshev.cheb2poly(chebyshev.chebfit(unit, quantiles, 33))[::-1], np.float64)
    return np.concatenate([np.zeros(2), values]).reshape(6, 6), start, stop


class Block(NamedTuple):
    """The cells of a bicluster, which of them are seen, and how many in all, and in every line.

    Lines are its rows, then its columns, counted after all rows. By how much what means of columns, and of rows, hid of
    the block raises its squares comes last.
    """

    rows: Ints
    cols: Ints
    lines: Ints
    z: Floats
    seen: Flags | None
    inside: Floats
    cells: float
    weights: Floats  # of lines
    totals: Floats  # cells of the matrix and of the block, weights of all rows and of all columns: 4 x 1
    shares: Floats  # of lines in the weights of all rows and of all columns
    by_cols: float
    by_rows: float


class State(NamedTuple):
    """What accepted blocks leave: squares of lines and in all, and what was subtracted.

    That is the product of the first columns of two arrays; more are written after them.
    """

    lines: Floats
    squares: float
    of_rows: Floats
    of_cols: Floats
    terms: int = 0
    quiet: tuple[tuple[Ints, Ints, float], ...] = ()


class Sums(NamedTuple):
    """Sums of a block that the forms are made of; in a series of whitened columns, but for those of lines."""

    squares: float
    level: float
    of_level: float
    of_rows: float
    of_cols: float
    plain: Floats  # sums of lines
    means: Floats  # of lines; in a series those of rows are whitened
    across: Floats  # of rows times the means of columns, and the other way round


class Normal:
    """Blocks of one matrix under the normal family."""

    name = "normal"
    shapes = True
    log_tests = math.log(_TESTS)
    patterns: ClassVar[dict[str, str]] = {
        "level": "shifted mean",
        "columns": "column profile",
        "rows": "row levels",
        "both": "additive",
        "shape": "scaled profile",
        "affine": "scaled profile",
    }

    def __init__(self, matrix: Matrix, first: FirstSums) -> None:
        self.matrix, self.first, self.cells, self.freedom = matrix, first, first.cells, first.freedom
        self.fit, found = fit_noise(matrix, first)
        squares = float(found.row_squares.sum())
        empty = [np.empty((lines, 0)) for lines in matrix.shape]
        self.start = State(np.concatenate([found.row_squares, found.col_squares]), squares, empty[0], empty[1])
        self.in_line = np.concatenate([first.in_row, first.in_col])
        self.lost = max(self.cells - squares, 0.0)
        self.series = 0.0
        self.step = -(-matrix.shape[0] // _ROWS_LOOKED_AT)
        self.some = some = self.cells_of(every_row(matrix, self.step), slice(None, None, self.step))
        self.columns = series_in(some)
        # the noise of most cells, however loud others are; those that are missing are 0
        size = np.abs(some[some != 0] if first.gaps else some.ravel())
        middle = [(len(size) - 1) // 2, len(size) // 2]
        self.usual = max((float(np.partition(size, middle)[middle].mean()) / _MEDIAN) ** 2, 1e-12) if len(size) else 1.0

    def given(self, solution: Biclustering) -> Normal:
        """Return the same; neighbouring columns that are correlated beyond what rows alike share are a series."""
        if self.columns is None or self.matrix.nouns[1] in UNORDERED:
            return self
        model = copy(self)
        within = self.columns.correlation_given(partial(rows_alike, solution, self.step))
        model.series = 0.0 if within is None else self.columns.correlation
        return model

    def without_shapes(self) -> Normal:
        """Return the family without shape and affine."""
        model = copy(self)
        model.shapes = False
        return model

    def cells_of(self, x: Floats, rows: Any, cols: Any = slice(None)) -> Floats:
        """Return cells as they are judged."""
        if self.fit.known is not None:
            return self.fit.known[rows] if isinstance(cols, slice) else cut_block(self.fit.known, rows, cols)
        return self.fit.centred(self.fit.drawn(self.fit.standard(x, rows, cols)), rows, cols)

    def block(self, bicluster: Bicluster) -> Block:
        """Return the cells of a bicluster."""
        rows, cols = bicluster.rows, bicluster.cols
        r, lines = len(rows), np.concatenate([rows, cols + self.matrix.shape[0]])
        inside, shares = np.empty(len(lines)), np.zeros((len(lines), 2))
        inside[:r], inside[r:] = len(cols), r
        x = self.matrix.block(rows, cols)
        z = self.cells_of(x, rows, cols)
        seen = ~np.isnan(x) if self.fit.gaps else None
        if seen is not None and not seen.all():
            inside[:r], inside[r:] = seen.sum(axis=1), seen.sum(axis=0)
        else:
            seen = None
        cells, of = float(inside[:r].sum()), self.in_line[lines]
        weights, in_lines = np.maximum(of - 2, 1.0), np.add.reduceat(of, [0, r]).tolist()
        totals = np.array([[self.freedom], [cells], *np.add.reduceat(weights, [0, r])[:, None]])
        shares[:r, 0], shares[r:, 1] = weights[:r] / totals[2], weights[r:] / totals[3]
        hidden = [restored(cells / max(part, 1.0)) for part in in_lines[::-1]]
        return Block(rows, cols, lines, z, seen, inside, cells, weights, totals, shares, *hidden)

    def left(self, block: Block, state: State) -> Floats:
        """Return the cells of a block without what accepted blocks explain."""
        if not state.terms:
            return block.z
        z = block.z - state.of_rows[block.rows, : state.terms] @ state.of_cols[block.cols, : state.terms].T
        return np.asarray(z if block.seen is None else z * block.seen)

    def best(self, block: Block, enough: float) -> float:
        """Return what a bound would be if the cells of the block were the largest of the matrix, and all equal.

        Or, if a profile over its columns had all squares of its rows. The largest of the bounds, or one that is enough.

        However far c of the m cells of a row are from the others, they end at √((m − c)/c) of its standard deviation.
        """
        if not block.cells:
            return 0.0
        share = min(block.cells / self.cells, 0.5)
        level = math.exp(-(NormalDist().inv_cdf(share) ** 2) / 2) / math.sqrt(2 * math.pi) / share
        everywhere, r = self.in_line[block.lines], len(block.rows)
        for lines in (everywhere[:r], everywhere[r:]):
            part = min(block.cells / max(float(lines.sum()), 1.0), 1 - 1e-9)
            level = min(level, math.sqrt((1 - part) / max(part, 1e-300) / (1 - _SHARED)))
        noise, worth = (self.start.squares + self.lost) / self.freedom, 1.0
        if self.series:
            worth = independent_columns(block.cols, self.series) / len(block.cols)
        own, far = worth * level**2 * block.cells, NormalDist().inv_cdf(1 - share / 2)
        extremes = block.cells * (1 + 2 * far * NormalDist().pdf(far) / share)  # squares of so many on both sides
        profile = min(extremes, float(everywhere[:r].sum()))
        explained = np.array([own * block.by_cols * block.by_rows, profile])
        of = self.explained_of(block, explained, explained, self.start, noise)
        raw = float(bounds(block.totals[:2], [1, len(block.cols)], of).max())
        if self.series or raw > enough:
            return raw
        raw = max(raw, quietness(block.cells - 1, 0.0) - self.log_tests)
        squares = np.maximum(everywhere - block.inside + block.inside * level**2, block.weights * noise)
        of = explained_of_lines(block, explained[:1, None] / block.cells * block.inside, squares)
        return max(raw, float(bounds(block.totals[2:], 1, of).max()))

    def sums(self, block: Block, z: Floats) -> Sums:
        """Return the sums that the forms are made of."""
        r, cells, squares = len(z), block.cells, float(np.vdot(z, z))
        plain, seen = np.concatenate([z @ np.ones(z.shape[1]), np.ones(r) @ z]), np.maximum(block.inside, 1.0)
        means = plain / seen
        rows, cols, col_means = plain[:r], plain[r:], means[r:]
        across = z @ col_means
        if self.series:
            white = whitening(block.cols, self.series)
            weight, white_z = white.sum(axis=0), z @ white
            of_weight, squares = float(weight @ weight), float(np.vdot(white_z, white_z))
            rows, cols, cells = white_z @ weight, cols @ white, r * of_weight
            means[:r], col_means = rows / of_weight, cols / seen[r:]
        total = float(rows.sum())
        level = total / cells
        of_level = total * level
        of_rows, of_cols = (max(float(one) - of_level, 0.0) for one in (rows @ means[:r], cols @ col_means))
        return Sums(squares, level, of_level, of_rows, of_cols, plain, means, np.concatenate([across, means[:r] @ z]))

    def judge(self, block: Block, state: State) -> Judged:
        """Return the strongest form of a block, given what has been accepted."""
        if not block.cells:
            return Judged(0.0)
        z = self.left(block, state)
        sums, shapes = self.sums(block, z), None
        if self.shapes and not self.series and min(z.shape) > 1:
            gram = _gram(z)
            grams = np.array([gram, _gram_without_rows(gram, block, z, sums)])
            shapes = np.linalg.eigvalsh(grams)[:, -1].tolist()  # the largest squared singular values
        judged = self.strongest(block, state, sums, shapes)
        if judged.form not in SHAPES:
            return judged
        left = z, _without_rows(block, z, sums)
        shapes, pairs = zip(
            *(self.uncommon(block, state, one, form) for one, form in zip(left, SHAPES, strict=True)), strict=True
        )
        judged = self.strongest(block, state, sums, shapes)
        return judged._replace(pair=pairs[SHAPES.index(judged.form)]) if judged.form in SHAPES else judged

    def strongest(self, block: Block, state: State, sums: Sums, shapes: Sequence[float] | None) -> Judged:
        """Return the strongest form, given the squares of a shape without and with levels of rows."""
        r, c = len(block.rows), len(block.cols)
        if block.seen is not None:
            r, c = (int(np.count_nonzero(inside)) for inside in (block.inside[:r], block.inside[r:]))
        level = block.by_cols * block.by_rows * sums.of_level
        rows, cols = block.by_rows * sums.of_rows, block.by_cols * sums.of_cols
        freedom: list[float] = [1, c, r, r + c - 1]
        own = [sums.of_level + part for part in (0.0, sums.of_cols, sums.of_rows, sums.of_rows + sums.of_cols)]
        explained = [level + part for part in (0.0, cols, rows, rows + cols)]
        if shapes is not None and min(r, c) > 1:
            wide = (math.sqrt(r) + math.sqrt(c)) ** 2
            freedom += [wide, wide + r]
            own += [shapes[0], own[2] + shapes[1]]
            explained += [shapes[0], explained[2] + shapes[1]]
        noise, forms = (state.squares + self.lost) / self.freedom, np.array([freedom, own, explained])
        of = np.zeros((4, len(own)))
        of[:2] = self.explained_of(block, forms[2], sums.squares - forms[1] + forms[2], state, noise)
        if not self.series:
            factor = forms[2, :4] / np.maximum(forms[1, :4], 1e-300)
            squares = np.maximum(state.lines[block.lines], block.weights * noise)
            of[2:, :4] = explained_of_lines(block, factor[:, None] * explained_by_lines(block, sums), squares)
        raws = bounds(block.totals, forms[0], of).max(axis=0)
        if not self.series:
            raws[:4] = np.maximum(raws[:4], self.quiet(block, state, sums.squares, noise, freedom, own))
        best = int(raws.argmax())
        return Judged(float(raws[best]), _FORMS[best], explained[best], own[best])

    def uncommon(self, block: Block, state: State, z: Floats, form: str) -> tuple[float, int]:
        """Return the squares of a shape over those that it has in most other rows, and which pair of vectors it is.

        A factor of the whole matrix gives the rows of any block a profile in common, each its own multiple of it.
        """
        values, vectors = np.linalg.eigh(_gram(z))
        values, vectors = values[: -1 - _PAIRS : -1], vectors[:, : -1 - _PAIRS : -1]
        if z.shape[0] <= z.shape[1]:
            vectors = z.T @ (vectors / np.sqrt(np.maximum(values, 1e-300)))
        others = ~np.isin(np.arange(0, self.matrix.shape[0], self.step), block.rows)
        some = self.some[others][:, block.cols]
        if len(some) < _FEWEST_OTHERS:
            return float(values[0]), 1
        seen = (some != 0) | (not self.fit.gaps)
        if state.terms:
            rows = state.of_rows[:: self.step][others, : state.terms]
            some = (some - rows @ state.of_cols[block.cols, : state.terms].T) * seen
        if form == "affine":
            some = (some - (some.sum(axis=1) / np.maximum(seen.sum(axis=1), 1))[:, None]) * seen
        usual = np.median((some @ vectors) ** 2, axis=0) / _MEDIAN_SQUARE
        uncommon = values / np.where(usual > 1 + _BEYOND / math.sqrt(len(some)), usual, 1.0)
        at = int(uncommon.argmax())
        return float(uncommon[at]), at + 1

    def quiet(
        self, block: Block, state: State, squares: float, noise: float, freedom: list[float], own: list[float]
    ) -> Any:
        """Return what is said of the additive forms where they leave a block quiet; otherwise 0."""
        usual, left = min(noise, self.usual), squares - own[3]
        if left >= _QUIET * block.cells * usual:
            return 0.0
        usual *= self.loudness(block, state)
        if left >= _QUIET * block.cells * usual or not self.continuous(block):
            return 0.0
        rest = [(block.cells - f, max((squares - one) / usual, 0.0)) for f, one in zip(freedom, own, strict=True)]
        return [quietness(*one) - self.log_tests for one in rest[:4]]

    def loudness(self, block: Block, state: State) -> float:
        """Return the mean variance of a block's cells, below 1 where accepted blocks, rows or columns are quiet."""
        less, r = 0.0, len(block.rows)
        for rows, cols, less_of in state.quiet:
            shared = np.intersect1d(block.rows, rows, True).size * np.intersect1d(block.cols, cols, True).size
            less += less_of * shared
        lines = np.minimum(self.start.lines[block.lines] / np.maximum(self.in_line[block.lines], 1.0), 1.0)
        of_lines = float(lines[:r].mean()) * float(lines[r:].mean())
        return max(1 - less / (r * len(block.cols)), _LEAST_LEFT) * of_lines

    def continuous(self, block: Block) -> bool:
        """Return whether hardly any cell of a block has the value of another cell of its row or column."""
        x = self.matrix.block(block.rows, block.cols)
        equal = [(np.diff(np.sort(x, axis=axis), axis=axis) == 0).sum() for axis in (0, 1)]
        return bool(max(equal) <= _TIED * block.cells)

    def explained_of(self, block: Block, explained: Floats, squares: Floats, state: State, noise: float) -> Floats:
        """Return what forms explain of the squares of the matrix, and of those of the block, never below its noise."""
        of_all = explained / (state.squares + self.lost), explained / np.maximum(squares, block.cells * noise)
        return np.minimum(of_all, [[1 - 1e-12], [_MOST_EXPLAINED]])

    def accept(self, block: Block, judged: Judged, state: State) -> State:
        """Return what is left without the pattern of a block."""
        z = self.left(block, state)
        sums = self.sums(block, z)
        of_rows, of_cols, terms = state.of_rows, state.of_cols, list(self.terms(judged, block, z, sums))
        for at, (rows, cols) in enumerate(terms, state.terms):
            of_rows, of_cols = _with(of_rows, at, block.rows, rows), _with(of_cols, at, block.cols, cols)
        lines, factor = state.lines.copy(), judged.explained / max(judged.own, 1e-300)
        if not self.series:
            explained = factor * self.explained_by(judged.form, block, z, sums, terms[-1])
            lines[block.lines] = np.maximum(lines[block.lines] - explained, 0.0)
        total = max(state.squares - judged.explained, 0.0)
        left = max(1 - (sums.squares - judged.own) / (block.cells * self.usual), 0.0)
        quiet = (*state.quiet, (block.rows, block.cols, left)) if left else state.quiet
        return State(lines, total, of_rows, of_cols, state.terms + len(terms), quiet)

    def explained_by(self, form: str, block: Block, z: Floats, sums: Sums, term: tuple[Floats, Floats]) -> Floats:
        """Return Σ(2Z − P)P of each line of a block, P one form fitted to it; of shapes by a term."""
        if form in _FORMS[:4]:
            return np.asarray(explained_by_lines(block, sums)[_FORMS.index(form)])
        P = term[0][:, None] * term[1] + (sums.means[: len(z), None] if form == "affine" else 0.0)
        D = (2 * z - P) * P if block.seen is None else (2 * z - P) * P * block.seen
        return np.concatenate([D.sum(axis=1), D.sum(axis=0)])

    def terms(self, judged: Judged, block: Block, z: Floats, sums: Sums) -> Iterator[tuple[Floats, Floats]]:
        """Return the pattern of a block as products of a vector over its rows and one over its columns."""
        form, by_cols, by_rows = judged.form, block.by_cols, block.by_rows
        level, ones = by_cols * by_rows * sums.level, (np.ones(len(block.rows)), np.ones(len(block.cols)))
        rows, cols = np.split(sums.means - sums.level, [len(z)])
        rows, cols = by_rows * rows, by_cols * cols
        if form == "level":
            yield level * ones[0], ones[1]
        if form in ("columns", "both"):
            yield ones[0], cols if form == "both" else cols + level
        if form in ("rows", "both", "affine"):
            yield rows + level, ones[1]
        if form in SHAPES:
            yield one_pair(z if form == "shape" else _without_rows(block, z, sums), judged.pair)


def explained_of_lines(block: Block, explained: Floats, squares: Floats) -> Floats:
    """Return what forms explain of the squares of all rows, and of all columns, of a block: the mean of logarithms."""
    return np.asarray(-np.expm1(np.log1p(-np.minimum(explained / squares, _MOST_EXPLAINED)) @ block.shares).T)


def explained_by_lines(block: Block, sums: Sums) -> Floats:
    """Return Σ(2Z − P)P of each line of a block, P the level, columns, rows and both fitted to it."""
    means, level, seen, r = sums.means, sums.level, block.seen, len(block.rows)
    rows, cols, full = means[:r], means[r:], level * block.inside
    explained, squares = np.empty((4, len(means))), np.empty(len(means))
    explained[0] = level * (2 * sums.plain - full)
    explained[1:] = means * sums.plain
    if seen is None:
        squares[:r], squares[r:] = cols @ cols, rows @ rows
    else:
        squares[:r], squares[r:] = seen @ cols**2, rows**2 @ seen
        explained[3] += 2 * (means - level) * (full - np.concatenate([seen @ cols, rows @ seen]))
    across = 2 * sums.across - squares
    explained[3] += across - explained[0]
    explained[1, :r], explained[2, r:] = across[:r], across[r:]
    return explained


def whitening(cols: Ints, rho: float) -> Floats:
    """Return the inverse root of the correlations ρ^|j−j'| of some columns, with eigenvalues of 1 at least."""
    values, vectors = np.linalg.eigh(rho ** np.abs(cols[:, None] - cols).astype(np.float64))
    return np.asarray((vectors / np.sqrt(np.maximum(values, 1.0))) @ vectors.T)


def independent_columns(cols: Ints, rho: float) -> float:
    """Return how many independent columns some columns of a series are worth where their level is asked for."""
    return float((whitening(cols, rho).sum(axis=0) ** 2).sum())


def _with(columns: Floats, count: int, at: Ints, values: Floats) -> Floats:
    """Return columns, the first `count` of them in use, with one more: values at some places, less their mean."""
    n, room = columns.shape
    if count == room:
        columns = np.hstack([columns, np.empty((n, max(room, 4)))])
    columns[:, count] = -values.sum() / n
    columns[at, count] += values
    return columns


def _without_rows(block: Block, z: Floats, sums: Sums) -> Floats:
    """Return cells without the levels of their rows."""
    left = z - sums.means[: len(z), None]
    return left if block.seen is None else left * block.seen


def _gram_without_rows(gram: Floats, block: Block, z: Floats, sums: Sums) -> Floats:
    """Return the products of rows, or columns, without the levels of rows, from those with them where all are seen."""
    if block.seen is not None:
        return _gram(_without_rows(block, z, sums))
    r = len(z)
    on, means = sums.across[r:], sums.means[:r]
    return gram - np.outer(sums.plain[:r], means) if len(gram) == r else gram - on[:, None] - on + means @ means


def _gram(z: Floats) -> Floats:
    return np.asarray(z.T @ z if z.shape[0] > z.shape[1] else z @ z.T)


def one_pair(z: Floats, pair: int) -> tuple[Floats, Floats]:
    """Return the first pair of singular vectors, or a later one, one of them times the singular value."""
    vector = np.linalg.eigh(_gram(z))[1][:, -pair]
    return (z @ vector, vector) if z.shape[0] > z.shape[1] else (vector, vector @ z)
