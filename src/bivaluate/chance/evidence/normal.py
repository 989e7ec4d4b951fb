"""Evidence where cells scatter as normal noise around effects of rows and columns.

Effects are weighted means, cells are divided by the scales of their row and column, and extremes are drawn in to normal
scores. Everything else is sums: of squares by rows and columns, and over the cells of each block.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from functools import partial
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance.assumptions import rows_alike, series_in
from bivaluate.chance.evidence._cells import FirstSums, Judged, by_chunks, pieces, sum_up
from bivaluate.matrix import Matrix
from bivaluate.solution import Bicluster, Biclustering

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Forms × bounds: level, columns, rows and both by four, shape and affine by two.
_TESTS = 20
# Share of the overall variance in every scale; passes that fit effects and scales, without and with missing cells.
_SHARED, _SWEEPS, _SWEEPS_WITH_GAPS = 0.1, 2, 12
_BINS, _REACH = 4096, 8.0
_ROWS_LOOKED_AT = 500
# What margins took from a block counts at most as much as its own cells do, on either side.
_RESTORED = 2.0
_MOST_EXPLAINED = 0.98


def bound(cells: float, freedom: float, explained: float) -> float:
    """Return cells/2·KL(freedom/cells ‖ explained), a bound on −log p that noise explains this share of its squares.

    >>> bound(100.0, 1.0, 0.01), round(bound(100.0, 1.0, 0.2), 3)
    (0.0, 9.05)
    """
    if freedom >= cells or explained <= freedom / cells:
        return 0.0
    expected = freedom / cells
    rest = (1 - expected) * math.log((1 - expected) / (1 - explained))
    return cells / 2 * (expected * math.log(expected / explained) + rest)


def restored(share: float) -> float:
    """Return the squares of a level over what is left of them without means of which the block has this share."""
    return min(1 / max(1 - share, 1e-9), _RESTORED)


class Fit(NamedTuple):
    """Effects and squared scales of rows and columns; normal scores of bins of cells; means of what those draw in."""

    a: Floats
    b: Floats
    s2: Floats
    t2: Floats
    scores: Floats
    row_means: Floats
    col_means: Floats

    def standard(self, x: Floats, rows: Any, cols: Any = slice(None)) -> Floats:
        """Return cells without effects over their scales; NaN where missing."""
        z = x - self.a[rows][:, None]
        z -= self.b[cols]
        z *= (1 / np.sqrt(self.s2[rows]))[:, None]
        z *= 1 / np.sqrt(self.t2[cols])
        return np.asarray(z)

    def drawn(self, x: Floats, rows: Any, cols: Any = slice(None)) -> Floats:
        """Return the same, drawn in to normal scores where these are nearer to 0."""
        z = self.standard(x, rows, cols)
        scores = self.scores[_bins(z)]
        np.copyto(z, scores, where=np.abs(scores) < np.abs(z))
        return z

    def centred(self, x: Floats, rows: Any, cols: Any = slice(None)) -> Floats:
        """Return the cells that are judged: drawn in, without means; 0 where missing."""
        z = self.drawn(x, rows, cols)
        z -= self.row_means[rows][:, None]
        z -= self.col_means[cols]
        return np.nan_to_num(z, copy=False)


def _bins(z: Floats) -> NDArray[np.intp]:
    at = z * (_BINS / (2 * _REACH))
    at += _BINS / 2
    np.clip(at, 0, _BINS - 1, out=at)
    return np.nan_to_num(at, copy=False).astype(np.intp)


class _Sweep(NamedTuple):
    """What a pass finds of some rows: effects and scales one by one, and sums over them by columns."""

    a: Floats
    s2: Floats
    weights: Floats
    sums: Floats  # of R/s²
    squares: Floats  # of R²/s²
    plain: Floats  # of R²


def _sweep(matrix: Matrix, b: Floats, t2: Floats, overall: float, start: int, cells: Any) -> _Sweep:
    n, m = cells.shape
    a, s2 = np.empty(n), np.empty(n)
    weights, sums, squares, plain = np.zeros((4, m))
    v = 1 / t2
    for rows, x, seen in pieces(matrix, cells):
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
        plain += squared.sum(axis=0)
    return _Sweep(a, s2, weights, sums, squares, plain)


def _histogram(matrix: Matrix, fit: Fit, start: int, cells: Any) -> NDArray[np.int64]:
    counts = np.zeros(_BINS, dtype=np.int64)
    for rows, x, seen in pieces(matrix, cells):
        z = fit.standard(x, _after(start, rows))
        counts += np.bincount(_bins(z if seen is None else z[seen]).ravel(), minlength=_BINS)
    return counts


def _after(start: int, rows: slice) -> slice:
    return slice(start + rows.start, start + rows.stop)


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
    for rows, x, seen in pieces(matrix, cells):
        z = fit.drawn(x, _after(start, rows))
        z -= fit.col_means
        if seen is not None:
            z[~seen] = 0.0
        row_means[rows] = z.sum(axis=1) / (m if seen is None else np.maximum(seen.sum(axis=1), 1))
        z -= row_means[rows][:, None]
        if seen is not None:
            z *= seen
        squared = z * z
        row_squares[rows] = squared.sum(axis=1)
        col_sums += z.sum(axis=0)
        col_squares += squared.sum(axis=0)
    return Squares(row_means, row_squares, col_sums, col_squares)


def _gathered(kind: Any, parts: list[Any], of_rows: int) -> Any:
    """Return what was found of chunks as one: the first fields row after row, the others added up."""
    columns = list(zip(*parts, strict=True))
    return kind(*map(np.concatenate, columns[:of_rows]), *map(sum_up, columns[of_rows:]))


def fit_noise(matrix: Matrix, first: FirstSums) -> tuple[Fit, Squares]:
    """Return effects, scales and scores, and the squares of what they leave."""
    there = matrix.without_cells()
    n, m = matrix.shape
    in_col = np.maximum(first.in_col, 1.0)
    b, t2, overall = first.col_means, np.ones(m), first.variance
    sweeps = _SWEEPS_WITH_GAPS if first.gaps else _SWEEPS
    for number in range(1, sweeps + 1):
        sweep = _gathered(_Sweep, list(by_chunks(matrix, partial(_sweep, there, b, t2, overall))), 2)
        step = sweep.sums / np.maximum(sweep.weights, 1e-300)
        b = b + step
        if 2 * number % sweeps:  # scales of columns are fitted halfway and at the end
            continue
        left = np.maximum(sweep.squares - sweep.weights * step**2, 0.0)
        t2 = (1 - _SHARED) * left / in_col + _SHARED * left.sum() / first.cells
        overall = float((sweep.plain / t2).sum() / first.cells)
    t2 = t2 * ((left / t2).sum() / first.cells)  # the mean square of the cells becomes 1
    fit = Fit(sweep.a, b, sweep.s2, t2, np.empty(0), np.zeros(n), np.zeros(m))
    counts = sum_up(by_chunks(matrix, partial(_histogram, there, fit)))
    middle, full = (np.cumsum(counts) - counts / 2) / counts.sum(), counts > 0
    scores = np.zeros(_BINS)
    scores[full] = [NormalDist().inv_cdf(share) for share in middle[full].tolist()]
    fit = fit._replace(scores=scores)
    for _ in range(6 if first.gaps else 2):
        squares = _gathered(Squares, list(by_chunks(matrix, partial(_squares, there, fit))), 2)
        fit = fit._replace(row_means=squares.row_means, col_means=fit.col_means + squares.col_sums / in_col)
    return fit, squares


class Block(NamedTuple):
    """The cells of a bicluster, which of them are seen, and how many in its rows, its columns and in all."""

    rows: Indices
    cols: Indices
    z: Floats
    seen: NDArray[np.bool_] | None
    in_row: Floats
    in_col: Floats
    cells: float


class State(NamedTuple):
    """What accepted blocks leave: squares of rows, of columns and in all, and the terms that were subtracted."""

    row_squares: Floats
    col_squares: Floats
    squares: float
    terms: tuple[tuple[Floats, Floats], ...] = ()


class Sums(NamedTuple):
    """Sums of a block that the forms are made of; in a series of whitened columns."""

    squares: float
    level: float
    row_means: Floats
    col_means: Floats
    of_level: float
    of_rows: float
    of_cols: float


class Normal:
    """Blocks of one matrix under the normal family."""

    name = "normal"
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
        self.matrix, self.first = matrix, first
        self.fit, found = fit_noise(matrix, first)
        squares = float(found.row_squares.sum())
        self.start = State(found.row_squares, found.col_squares, squares)
        self.lost = max(first.cells - squares, 0.0)
        self.series = 0.0
        self.step = -(-matrix.shape[0] // _ROWS_LOOKED_AT)
        rows = np.arange(0, matrix.shape[0], self.step)
        self.columns = series_in(self.fit.centred(matrix.block(rows, np.arange(matrix.shape[1])), rows))

    def given(self, solution: Biclustering) -> Normal:
        """Return the same; neighbouring columns that are correlated beyond what rows alike share are a series."""
        if self.columns is None:
            return self
        model = copy(self)
        within = self.columns.correlation_given(partial(rows_alike, solution, self.step))
        model.series = 0.0 if within is None else self.columns.correlation
        return model

    def block(self, bicluster: Bicluster) -> Block:
        """Return the cells of a bicluster."""
        rows, cols = bicluster.rows, bicluster.cols
        x = self.matrix.block(rows, cols)
        z = self.fit.centred(x, rows, cols)
        seen = ~np.isnan(x) if self.first.gaps else None
        if seen is None or seen.all():
            r, c = x.shape
            return Block(rows, cols, z, None, np.full(r, float(c)), np.full(c, float(r)), float(r * c))
        in_row, in_col = seen.sum(axis=1).astype(np.float64), seen.sum(axis=0).astype(np.float64)
        return Block(rows, cols, z * seen, seen, in_row, in_col, float(in_row.sum()))

    def left(self, block: Block, state: State) -> Floats:
        """Return the cells of a block without what accepted blocks explain."""
        if not state.terms:
            return block.z
        rows, cols = zip(*((rows[block.rows], cols[block.cols]) for rows, cols in state.terms), strict=True)
        z = block.z - np.array(rows).T @ np.array(cols)
        return np.asarray(z if block.seen is None else z * block.seen)

    def judge(self, block: Block, state: State) -> Judged:
        """Return the strongest form of a block, given what has been accepted."""
        return max(self.forms(block, self.left(block, state), state), key=lambda judged: judged.raw)

    def best(self, block: Block) -> float:
        """Return what the bounds would be if the cells of the block were the largest of the matrix, and all equal.

        However far c of the m cells of a row are from the others, they end at √((m − c)/c) of its standard deviation.
        """
        share = min(block.cells / self.first.cells, 0.5)
        level = math.exp(-(NormalDist().inv_cdf(share) ** 2) / 2) / math.sqrt(2 * math.pi) / share
        for lines in (self.first.in_row[block.rows], self.first.in_col[block.cols]):
            part = min(block.cells / max(float(lines.sum()), 1.0), 1 - 1e-9)
            level = min(level, math.sqrt((1 - part) / max(part, 1e-300) / (1 - _SHARED)))
        squares = [self.start.row_squares.copy(), self.start.col_squares.copy()]
        for of, at, inside, everywhere in zip(
            squares, block[:2], (block.in_row, block.in_col), (self.first.in_row, self.first.in_col), strict=True
        ):
            of[at] = everywhere[at] - inside + inside * level**2
        z = np.full(block.z.shape, level) * (1.0 if block.seen is None else block.seen)
        return max(judged.raw for judged in self.forms(block, z, State(squares[0], squares[1], self.start.squares)))

    def factors(self, block: Block) -> tuple[float, float]:
        """Return by how much what the means of columns, and of rows, hid of the block raises its squares."""
        in_rows, in_cols = self.first.in_row[block.rows].sum(), self.first.in_col[block.cols].sum()
        return restored(block.cells / max(in_cols, 1.0)), restored(block.cells / max(in_rows, 1.0))

    def sums(self, block: Block, z: Floats) -> Sums:
        """Return the sums that the forms are made of."""
        in_row, in_col = np.maximum(block.in_row, 1e-300), np.maximum(block.in_col, 1.0)
        col_means = z.sum(axis=0) / in_col
        if self.series:
            white = whitening(block.cols, self.series)
            weight = white.sum(axis=0)
            z = z @ white
            in_row = np.full(len(z), weight @ weight)
            rows, cols = z @ weight, z.sum(axis=0)
        else:
            rows, cols = z.sum(axis=1), z.sum(axis=0)
        level = float(rows.sum() / in_row.sum())
        total = float(rows.sum()) * level
        of_rows, of_cols = float(rows @ (rows / in_row)) - total, float(cols @ (cols / in_col)) - total
        squares = float(np.einsum("ij,ij->", z, z))
        return Sums(squares, level, rows / in_row, col_means, total, max(of_rows, 0.0), max(of_cols, 0.0))

    def forms(self, block: Block, z: Floats, state: State) -> Iterator[Judged]:
        """Return what the bounds say of every form of a block."""
        if not block.cells:
            yield Judged(0.0)
            return
        sums = self.sums(block, z)
        r, c = int((block.in_row > 0).sum()), int((block.in_col > 0).sum())
        by_cols, by_rows = self.factors(block)
        level = by_cols * by_rows * sums.of_level
        rows, cols = by_rows * sums.of_rows, by_cols * sums.of_cols
        noise = (state.squares + self.lost) / self.first.freedom
        for form, freedom, own, explained in (
            ("level", 1, sums.of_level, level),
            ("columns", c, sums.of_level + sums.of_cols, level + cols),
            ("rows", r, sums.of_level + sums.of_rows, level + rows),
            ("both", r + c - 1, sums.of_level + sums.of_rows + sums.of_cols, level + rows + cols),
        ):
            judged = self.bounds(form, freedom, own, explained, sums.squares, block.cells, state, noise)
            if not self.series:
                lines = self.by_lines(form, freedom, block, z, sums, explained / max(own, 1e-300), state, noise)
                judged = judged._replace(raw=max(judged.raw, lines))
            yield judged
        if self.series or min(r, c) < 2:
            return
        wide = (math.sqrt(r) + math.sqrt(c)) ** 2
        shape = largest_square(z)
        yield self.bounds("shape", wide, shape, shape, sums.squares, block.cells, state, noise)
        shape = largest_square(self.without_rows(block, z, sums))
        own, explained = sums.of_level + sums.of_rows + shape, level + rows + shape
        yield self.bounds("affine", wide + r, own, explained, sums.squares, block.cells, state, noise)

    def bounds(
        self,
        form: str,
        freedom: float,
        own: float,
        explained: float,
        squares: float,
        cells: float,
        state: State,
        noise: float,
    ) -> Judged:
        """Return the larger of two bounds: by the noise of the matrix, and by that of the block, never below it."""
        of_all = min(explained / (state.squares + self.lost), 1 - 1e-12)
        of_block = min(explained / max(squares - own + explained, cells * noise), _MOST_EXPLAINED)
        raw = max(bound(self.first.freedom, freedom, of_all), bound(cells, freedom, of_block))
        return Judged(raw, form, explained, own)

    def by_lines(
        self, form: str, freedom: float, block: Block, z: Floats, sums: Sums, factor: float, state: State, noise: float
    ) -> float:
        """Return the larger of two more bounds: by the noise of the rows of the block, and by that of its columns."""
        raws = []
        explained = explained_by_lines(form, block, z, sums)
        for at, of, squares, everywhere in zip(block[:2], explained, state[:2], self.first[4:6], strict=True):
            weights = np.maximum(everywhere[at] - 2, 1.0)
            share = np.minimum(factor * of / np.maximum(squares[at], weights * noise), _MOST_EXPLAINED)
            x = -math.expm1(float(weights @ np.log1p(-share)) / float(weights.sum()))
            raws.append(bound(float(weights.sum()), freedom, x))
        return max(raws)

    def without_rows(self, block: Block, z: Floats, sums: Sums) -> Floats:
        """Return cells without the levels of their rows."""
        left = z - sums.row_means[:, None]
        return left if block.seen is None else left * block.seen

    def accept(self, block: Block, judged: Judged, state: State) -> State:
        """Return what is left without the pattern of a block."""
        n, m = self.matrix.shape
        z = self.left(block, state)
        sums = self.sums(block, z)
        terms = [
            (_centred(n, block.rows, rows), _centred(m, block.cols, cols))
            for rows, cols in self.terms(judged.form, block, z, sums)
        ]
        lines = [squares.copy() for squares in state[:2]]
        factor = judged.explained / max(judged.own, 1e-300)
        for squares, at, of in zip(lines, block[:2], explained_by_lines(judged.form, block, z, sums), strict=True):
            squares[at] = np.maximum(squares[at] - factor * of, 0.0)
        return State(lines[0], lines[1], max(state.squares - judged.explained, 0.0), (*state.terms, *terms))

    def terms(self, form: str, block: Block, z: Floats, sums: Sums) -> Iterator[tuple[Floats, Floats]]:
        """Return the pattern of a block as products of a vector over its rows and one over its columns."""
        by_cols, by_rows = self.factors(block)
        level, ones = by_cols * by_rows * sums.level, (np.ones(len(block.rows)), np.ones(len(block.cols)))
        cols, rows = by_cols * (sums.col_means - sums.level), by_rows * (sums.row_means - sums.level)
        if form == "level":
            yield level * ones[0], ones[1]
        if form in ("columns", "both"):
            yield ones[0], cols if form == "both" else cols + level
        if form in ("rows", "both", "affine"):
            yield rows + level, ones[1]
        if form in ("shape", "affine"):
            yield first_pair(z if form == "shape" else self.without_rows(block, z, sums))


def explained_by_lines(form: str, block: Block, z: Floats, sums: Sums) -> tuple[Floats, Floats]:
    """Return Σ(2Z − P)P of each row and each column of a block, P the form fitted to it."""
    if form in ("shape", "affine"):
        rest = z if form == "shape" else z - sums.row_means[:, None]
        left, right = first_pair(rest if block.seen is None else rest * block.seen)
        P = left[:, None] * right + (sums.row_means[:, None] if form == "affine" else 0.0)
        D = (2 * z - P) * P if block.seen is None else (2 * z - P) * P * block.seen
        return D.sum(axis=1), D.sum(axis=0)
    p = sums.col_means if form in ("columns", "both") else np.zeros(len(block.cols))
    e = (
        sums.row_means - (sums.level if form == "both" else 0.0)
        if form in ("rows", "both")
        else np.zeros(len(block.rows))
    )
    if form == "level":
        e = e + sums.level
    rows, cols = z.sum(axis=1), z.sum(axis=0)
    if block.seen is None:
        of_p, of_pp, of_e, of_ee = p.sum(), p @ p, e.sum(), e @ e
    else:
        of_p, of_pp, of_e, of_ee = block.seen @ p, block.seen @ (p * p), e @ block.seen, (e * e) @ block.seen
    by_row = 2 * (z @ p + e * rows) - (of_pp + 2 * e * of_p + e * e * block.in_row)
    by_col = 2 * (e @ z + p * cols) - (of_ee + 2 * p * of_e + p * p * block.in_col)
    return by_row, by_col


def whitening(cols: Indices, rho: float) -> Floats:
    """Return the inverse root of the correlations ρ^|j−j'| of some columns, with eigenvalues of 1 at least."""
    values, vectors = np.linalg.eigh(rho ** np.abs(cols[:, None] - cols).astype(np.float64))
    return np.asarray((vectors / np.sqrt(np.maximum(values, 1.0))) @ vectors.T)


def _centred(n: int, at: Indices, values: Floats) -> Floats:
    """Return values at some of n places, 0 at the others, less their mean."""
    centred = np.full(n, -values.sum() / n)
    centred[at] += values
    return centred


def _gram(z: Floats) -> Floats:
    return np.asarray(z.T @ z if z.shape[0] > z.shape[1] else z @ z.T)


def largest_square(z: Floats) -> float:
    """Return the largest squared singular value."""
    return float(np.linalg.eigvalsh(_gram(z))[-1])


def first_pair(z: Floats) -> tuple[Floats, Floats]:
    """Return the first pair of singular vectors, one of them times the singular value."""
    vector = np.linalg.eigh(_gram(z))[1][:, -1]
    return (z @ vector, vector) if z.shape[0] > z.shape[1] else (vector, vector @ z)
