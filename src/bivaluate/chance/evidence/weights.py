"""Evidence where cells are weights: zeros and ones, counts, or other values of which many are 0 and none is negative.

Expected weights follow from the margins; a block is raised when its rows and columns meet more often than these say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from bivaluate._types import Floats, Ints
from bivaluate.chance.evidence._cells import NOT_RAISED, FirstSums, Judged, all_cells, by_chunks, sum_up
from bivaluate.chance.evidence.normal import restored
from bivaluate.matrix import Matrix
from bivaluate.solution import Bicluster, Biclustering

_STEPS, _ROUNDS = 6, 4
# Accepted blocks leave at least this share of the dispersion.
_LEAST = 0.1
# A profile is more than so many lines of the other side.
_ALONE = 2
# Positive values that the median is taken of.
_SAMPLE = 1 << 22
_LOG2 = math.log(2.0)


def deviance(observed: float, expected: float) -> float:
    """Return o·log(o/e) − o + e.

    >>> deviance(0.0, 2.0), round(deviance(4.0, 2.0), 3)
    (2.0, 0.773)
    """
    return (observed * math.log(observed / expected) if observed > 0 else 0.0) - observed + expected


def bound(ratio: float) -> float:
    """Return Chernoff's bound on −log p of a likelihood ratio with one degree of freedom, in nats.

    >>> bound(0.4), round(bound(10.0), 3)
    (0.0, 8.002)
    """
    return ratio - 0.5 * (1 + math.log(2 * ratio)) if 2 * ratio > 1 else 0.0


class Law(NamedTuple):
    """Expected weight of a cell with log odds x = log a + log b, and by how much it grows with x."""

    binary: bool

    def mean(self, x: Floats) -> Floats:
        """Return t/(1 + t) of zeros and ones, log2(1 + t) of other weights."""
        return np.asarray(1 / (1 + np.exp(-x)) if self.binary else np.logaddexp(0, x) / _LOG2)

    def slope(self, x: Floats) -> Floats:
        """Return the derivative."""
        p = 1 / (1 + np.exp(-x))
        return np.asarray(p * (1 - p) if self.binary else p / _LOG2)


def _nodes(x: Floats) -> tuple[Floats, Floats]:
    """Return nodes, and what turns values at them into values at x: Chebyshev interpolation, or all of few x."""
    low, high = float(x.min()), float(x.max())
    k = 24 + int(8 * (high - low))
    if len(x) <= k:
        return x, np.eye(len(x))
    half = (high - low) / 2
    angles = (np.arange(k) + 0.5) * math.pi / k
    fit = 2 / k * np.cos(np.arange(k)[:, None] * angles)
    fit[0] /= 2
    return low + half * (1 + np.cos(angles)), chebvander((x - low) / half - 1, k - 1) @ fit


class Full:
    """Expected weights of a matrix without gaps: a product of few columns, as they are smooth in log a + log b."""

    def __init__(self, law: Law, row_sums: Floats, col_sums: Floats) -> None:
        self.law = law
        self.x, self.y = fit_margins(law, row_sums, col_sums, self.line_sums)
        nodes, self.left = _nodes(self.x)
        self.right = law.mean(nodes[:, None] + self.y).T

    @staticmethod
    def line_sums(f: Callable[[Floats], Floats], x: Floats, y: Floats, by_row: bool) -> Floats:
        """Return Σ_j f(x_i + y_j) for every i."""
        nodes, at = _nodes(x)
        return np.asarray(at @ f(nodes[:, None] + y).sum(axis=1))

    def row_sums(self, cols: Ints, weights: Floats) -> Floats:
        """Return the weighted sum of each row over some columns."""
        return np.asarray(self.left @ (weights @ self.right[cols]))

    def col_sums(self, rows: Ints, weights: Floats) -> Floats:
        """Return the weighted sum of each column over some rows."""
        return np.asarray(self.right @ (weights @ self.left[rows]))

    def inside(self, rows: Ints, by_row: Floats, cols: Ints, by_col: Floats) -> float:
        """Return the weighted sum over some rows and columns."""
        return float((by_row @ self.left[rows]) @ (by_col @ self.right[cols]))


class Gappy:
    """The same of a matrix with missing cells: one by one, of those that are seen."""

    def __init__(self, law: Law, row_sums: Floats, col_sums: Floats, rows: Ints, cols: Ints) -> None:
        from scipy.sparse import csr_array

        self.rows, self.cols, self.shape = rows, cols, (len(row_sums), len(col_sums))
        self.x, self.y = fit_margins(law, row_sums, col_sums, self.line_sums)
        self.cells = csr_array((law.mean(self.x[rows] + self.y[cols]), (rows, cols)), shape=self.shape)
        self.by_cols = self.cells.T.tocsr()

    def line_sums(self, f: Callable[[Floats], Floats], x: Floats, y: Floats, by_row: bool) -> Floats:
        """Return Σ_j f(x_i + y_j) over the cells seen, for every i."""
        lines, others = (self.rows, self.cols) if by_row else (self.cols, self.rows)
        return np.bincount(lines, f(x[lines] + y[others]), minlength=len(x)).astype(np.float64)

    def row_sums(self, cols: Ints, weights: Floats) -> Floats:
        """Return the weighted sum of each row over some columns."""
        return np.asarray(self.cells @ _spread(self.shape[1], cols, weights))

    def col_sums(self, rows: Ints, weights: Floats) -> Floats:
        """Return the weighted sum of each column over some rows."""
        return np.asarray(self.by_cols @ _spread(self.shape[0], rows, weights))

    def inside(self, rows: Ints, by_row: Floats, cols: Ints, by_col: Floats) -> float:
        """Return the weighted sum over some rows and columns."""
        return float(by_row @ (self.cells[rows] @ _spread(self.shape[1], cols, by_col)))


def _spread(n: int, at: Ints, values: Floats) -> Floats:
    spread = np.zeros(n)
    spread[at] = values
    return spread


def fit_margins(law: Law, row_sums: Floats, col_sums: Floats, line_sums: Any) -> tuple[Floats, Floats]:
    """Return log a and log b, with which expected weights have the margins of the matrix.

    Newton's steps, of 1 at most, for all rows and then for all columns.
    """
    half = math.log(float(row_sums.sum())) / 2
    x, y = np.log(row_sums) - half, np.log(col_sums) - half
    for _ in range(_STEPS):
        for own, other, sums, by_row in ((x, y, row_sums, True), (y, x, col_sums, False)):
            off = sums - line_sums(law.mean, own, other, by_row)
            own += np.clip(off / np.maximum(line_sums(law.slope, own, other, by_row), 1e-300), -1, 1)
    return x, y


class Block(NamedTuple):
    """A bicluster: members whose sums are not 0, its weight, its cells, those of its rows and of its columns, ΣY²/E.

    The last is the weight of each line of the other side where it takes in one side of the matrix as a whole.
    """

    rows: Ints
    cols: Ints
    weight: float
    cells: float
    in_rows: float
    in_cols: float
    squares: float
    profile: Floats | None = None


class State(NamedTuple):
    """Factors of rows and columns, accepted blocks with the factor, less 1, of each, and the dispersion around them.

    The last of a block is by how much it makes ΣY²/E smaller.
    """

    by_row: Floats
    by_col: Floats
    dispersion: float
    raised: tuple[tuple[Ints, Ints, float, float], ...] = ()


class Weights:
    """Blocks of one matrix under the family of weights."""

    name = "weights"
    log_tests = 0.0
    series = 0.0
    patterns: ClassVar[dict[str, str]] = {"level": "shifted mean", "columns": "column profile", "rows": "row levels"}

    def __init__(self, matrix: Matrix, first: FirstSums) -> None:
        self.matrix, self.first = matrix, first
        self.unit = 0.0 if first.binary else 1.0 if first.whole else _median(matrix, first)
        parts = by_chunks(matrix, _margins, self.unit)
        row_sums, col_sums = np.concatenate([part[0] for part in parts]), sum_up(part[1] for part in parts)
        live = [np.flatnonzero(sums > 0) for sums in (row_sums, col_sums)]
        # place of each line among those with a positive sum, or -1
        self.place = [_places(len(sums), at) for sums, at in zip((row_sums, col_sums), live, strict=True)]
        self.row_sums, self.col_sums = row_sums[live[0]], col_sums[live[1]]
        self.law = law = Law(first.binary)
        self.seen: Any = None
        if first.gaps:
            self.seen = _seen(matrix)
            at = [place[line] for place, line in zip(self.place, self.seen.nonzero(), strict=True)]
            both = (at[0] >= 0) & (at[1] >= 0)
            self.expected: Full | Gappy = Gappy(law, self.row_sums, self.col_sums, at[0][both], at[1][both])
        else:
            self.expected = Full(law, self.row_sums, self.col_sums)
        # of every line, 0 of those without weights
        self.log_a = _spread(len(row_sums), live[0], self.expected.x)
        self.log_b = _spread(len(col_sums), live[1], self.expected.y)
        self.start = State(np.ones(len(live[0])), np.ones(len(live[1])), 1.0)
        if not first.binary:
            everything = self.inside(np.arange(len(live[0])), np.arange(len(live[1])), self.start)
            parts = by_chunks(matrix, _squares_of_chunk, self.unit, law, self.log_a, self.log_b)
            self.row_squares = np.concatenate([part[0] for part in parts])[live[0]]
            self.col_squares = sum_up(part[1] for part in parts)[live[1]]
            pearson = math.fsum(self.row_squares) - 2 * float(row_sums.sum()) + everything
            self.start = self.start._replace(dispersion=max(pearson / first.freedom, 1e-9))

    def given(self, solution: Biclustering) -> Weights:
        """Return the same."""
        return self

    def inside(self, rows: Ints, cols: Ints, state: State) -> float:
        """Return the expected weight of some rows and columns, given what has been accepted."""
        total = self.expected.inside(rows, state.by_row[rows], cols, state.by_col[cols])
        for others, other_cols, factor, _ in state.raised:
            r, c = np.intersect1d(rows, others, True), np.intersect1d(cols, other_cols, True)
            if len(r) and len(c):
                total += factor * self.expected.inside(r, state.by_row[r], c, state.by_col[c])
        return total

    def block(self, bicluster: Bicluster) -> Block:
        """Return the sums of a bicluster."""
        rows, cols = bicluster.rows, bicluster.cols
        given = self.matrix.without_cells(), self.unit, self.law
        if self.matrix.in_memory:
            parts = [_sums(*given, self.log_a[rows], self.log_b[cols], self.matrix.block(rows, cols))]
        else:
            function = partial(_sums_of_rows, *given, self.log_a, self.log_b, cols)
            parts = list(self.matrix.map_rows(function, rows))
        weight, squares = map(math.fsum, zip(*parts, strict=True))
        cells = float(len(rows) * len(cols)) if self.seen is None else float(self.seen[rows][:, cols].sum())
        at = [place[line] for place, line in zip(self.place, (rows, cols), strict=True)]
        in_rows, in_cols = float(self.first.in_row[rows].sum()), float(self.first.in_col[cols].sum())
        own = at[0][at[0] >= 0], at[1][at[1] >= 0]
        return Block(*own, weight, cells, in_rows, in_cols, squares, self.profile(rows, cols))

    def profile(self, rows: Ints, cols: Ints) -> Floats | None:
        """Return the weights of columns in some rows, of rows in some columns where all rows are given, else None."""
        n, m = self.matrix.shape
        if self.first.gaps or (len(rows) == n) == (len(cols) == m):
            return None
        if len(cols) == m:
            sums = self.matrix.map_rows(partial(_sums_by, self.matrix.without_cells(), self.unit, 0), rows)
            return np.asarray(sum_up(sums)[self.place[1] >= 0])
        parts = by_chunks(self.matrix, _sums_in_columns, self.unit, cols)
        return np.asarray(np.concatenate(parts)[self.place[0] >= 0])

    def judge(self, block: Block, state: State) -> Judged:
        """Return how far a block is raised, given what has been accepted; a group over a whole side by its profile."""
        if block.profile is not None:
            return self.judged_profile(block, block.profile, state)
        return self.raised(block, block.weight, self.inside(block.rows, block.cols, state), state.dispersion)

    def judged_profile(self, block: Block, weights: Floats, state: State) -> Judged:
        """Return how far the lines of a group agree on a profile, beyond what each of them scatters by itself.

        A bound on −log p of Σ(o − e)²/Σφe over the other side, φ the dispersion of each line of the group, without what
        totals of lines explain, and without the largest: one line is no profile. Sums of few counts are no normal
        numbers: their squares scatter as those of fewer lines.
        """
        whole = len(block.cols) == len(self.col_sums)
        own, of = (block.rows, self.expected.col_sums) if whole else (block.cols, self.expected.row_sums)
        by_own, by_other = (state.by_row, state.by_col) if whole else (state.by_col, state.by_row)
        others, scatter = max(len(weights) - 1, 1), np.ones(len(own))
        if not self.first.binary:
            squares = self.row_squares - self.row_sums if whole else self.col_squares - self.col_sums
            scatter = np.maximum(squares[own] / others, self.start.dispersion)
        expected, variance = (of(own, by_own[own] * more) * by_other for more in (1.0, scatter))
        for rows, cols, factor, _ in state.raised:
            shared, lines = (rows, cols) if whole else (cols, rows)
            shared = np.intersect1d(shared, own, True)
            expected[lines] += factor * (of(shared, by_own[shared]) * by_other)[lines]
        factors = np.vander(self.expected.y if whole else self.expected.x, 3) * (expected / np.sqrt(variance))[:, None]
        z = (weights - expected) / np.sqrt(variance)
        squares = np.sort((z - factors @ np.linalg.lstsq(factors, z)[0]) ** 2)[:-_ALONE]
        found = float(squares.sum()) / max(len(squares) - 3, 1)
        freedom = max(len(squares) - 3, 0) / (1 + 0.5 * float((1 / expected).mean()))
        raw = freedom / 2 * (found - 1 - math.log(found)) if found > 1 else 0.0
        return Judged(raw, "columns" if whole else "rows", 0.0, float(weights.sum()))

    def best(self, block: Block, enough: float) -> float:
        """Return what the bound would be if the rows and columns of a block met as often as they can."""
        most = min(float(self.row_sums[block.rows].sum()), float(self.col_sums[block.cols].sum()))
        most = min(most, block.cells) if self.first.binary else most
        return self.raised(block, most, self.inside(block.rows, block.cols, self.start), self.start.dispersion).raw

    def raised(self, block: Block, weight: float, expected: float, dispersion: float) -> Judged:
        """Return the bound for a block of this weight where another one is expected."""
        if weight <= expected or not expected > 0:
            return Judged(0.0, NOT_RAISED)
        by_rows, by_cols = float(self.row_sums[block.rows].sum()), float(self.col_sums[block.cols].sum())
        rest = float(self.row_sums.sum()) - by_rows - by_cols
        own = self.deviance(weight, expected, block.cells, dispersion)
        ratio = own * restored(block.cells / max(block.in_cols, 1.0)) * restored(block.cells / max(block.in_rows, 1.0))
        others = (
            (by_rows - weight, by_rows - expected, block.in_rows - block.cells),
            (by_cols - weight, by_cols - expected, block.in_cols - block.cells),
            (rest + weight, rest + expected, self.first.cells - block.in_rows - block.in_cols + block.cells),
        )
        if all(e > 0 for _, e, _ in others):
            ratio = min(ratio, own + sum(self.deviance(max(o, 0.0), e, n, dispersion) for o, e, n in others))
        return Judged(bound(ratio), "level", weight - expected, weight)

    def deviance(self, weight: float, expected: float, cells: float, dispersion: float) -> float:
        """Return the deviance of a weight, of zeros and ones with that of the zeros."""
        if self.first.binary:
            return deviance(weight, expected) + deviance(max(cells - weight, 0.0), max(cells - expected, 1e-9))
        return deviance(weight / dispersion, expected / dispersion)

    def accept(self, block: Block, judged: Judged, state: State) -> State:
        """Return expected weights that are right for a block and for the margins: by turns."""
        if block.profile is not None:  # margins have its weight as it is
            return state
        rows, cols = block.rows, block.cols
        by_row, by_col, factor = state.by_row, state.by_col, 0.0
        level = self.inside(rows, cols, state) / self.expected.inside(rows, by_row[rows], cols, by_col[cols])
        for _ in range(_ROUNDS):
            now = State(by_row, by_col, state.dispersion, (*state.raised, (rows, cols, factor, 0.0)))
            plain = self.expected.inside(rows, by_row[rows], cols, by_col[cols])
            factor += (block.weight - self.inside(rows, cols, now)) / plain
            less = block.squares * (1 / level - 1 / (level + max(factor, 0.0)))
            raised = (*state.raised, (rows, cols, factor, less))
            sums = self.expected.row_sums(np.arange(len(by_col)), by_col)
            for r, c, f, _less in raised:
                sums[r] += f * self.expected.row_sums(c, by_col[c])[r]
            by_row = self.row_sums / sums
            sums = self.expected.col_sums(np.arange(len(by_row)), by_row)
            for r, c, f, _less in raised:
                sums[c] += f * self.expected.col_sums(r, by_row[r])[c]
            by_col = self.col_sums / sums
        return State(by_row, by_col, self.dispersion(by_row, by_col, raised), raised)

    def dispersion(self, by_row: Floats, by_col: Floats, raised: Any) -> float:
        """Return Pearson's statistic by its freedom, from the sums of ΣY²/E of rows, of columns and of blocks."""
        if self.first.binary:
            return 1.0
        by_row, by_col = self.row_squares / by_row, self.col_squares / by_col
        total = by_row.sum() * by_col.sum() / self.row_squares.sum()
        for r, c, _, less in raised:
            total -= less * by_row[r].sum() / self.row_squares[r].sum() * by_col[c].sum() / self.col_squares[c].sum()
        return max(float(total - self.row_sums.sum()) / self.first.freedom, _LEAST * self.start.dispersion)


def log_weights(matrix: Matrix, first: FirstSums) -> Floats:
    """Return log2(1 + X/u) of a whole matrix that is small, u as for weights."""
    unit = 1.0 if first.whole else _median(matrix, first)
    return np.asarray(np.log2(1 + all_cells(matrix) / unit))


def _places(n: int, at: Ints) -> Ints:
    places = np.full(n, -1)
    places[at] = np.arange(len(at))
    return places


def _transformed(matrix: Matrix, unit: float, cells: Any) -> Any:
    """Return the weights of some rows, dense or CSR as they come; 0 where missing."""
    if isinstance(cells, np.ndarray):
        x = np.nan_to_num(cells)
        return np.log2(1 + x / unit) if unit else x
    x = np.nan_to_num(cells.data)
    return type(cells)((np.log2(1 + x / unit) if unit else x, cells.indices, cells.indptr), shape=cells.shape)


def _margins(matrix: Matrix, unit: float, start: int, cells: Any) -> tuple[Floats, Floats]:
    y = _transformed(matrix, unit, cells)
    return np.asarray(y.sum(axis=1)).ravel(), np.asarray(y.sum(axis=0)).ravel()


def _sums(matrix: Matrix, unit: float, law: Law, x: Floats, y: Floats, cells: Any) -> tuple[float, float]:
    """Return ΣY and, except for zeros and ones, ΣY²/E of cells, given log a of rows and log b of columns."""
    weights = _transformed(matrix, unit, cells)
    return float(weights.sum()), 0.0 if law.binary else float(_squares(weights, law, x, y)[2].sum())


def _squares(weights: Any, law: Law, x: Floats, y: Floats) -> tuple[Ints, Ints, Floats]:
    """Return rows, columns and Y²/E of the cells that are not 0."""
    at, to = weights.nonzero()
    values = weights[at, to] if isinstance(weights, np.ndarray) else weights.data[weights.data != 0]
    return at, to, values**2 / law.mean(x[at] + y[to])


def _squares_of_chunk(
    matrix: Matrix, unit: float, law: Law, x: Floats, y: Floats, start: int, cells: Any
) -> tuple[Floats, Floats]:
    at, to, squares = _squares(_transformed(matrix, unit, cells), law, x[start : start + cells.shape[0]], y)
    return np.bincount(at, squares, cells.shape[0]).astype(float), np.bincount(to, squares, len(y)).astype(float)


def _sums_of_rows(
    matrix: Matrix, unit: float, law: Law, x: Floats, y: Floats, cols: Ints, at: int, numbers: Ints, cells: Any
) -> tuple[float, float]:
    return _sums(matrix, unit, law, x[numbers], y[cols], cells[:, cols])


def _sums_by(matrix: Matrix, unit: float, axis: int, at: int, numbers: Ints, cells: Any) -> Floats:
    return np.asarray(_transformed(matrix, unit, cells).sum(axis=axis)).ravel()


def _sums_in_columns(matrix: Matrix, unit: float, cols: Ints, start: int, cells: Any) -> Floats:
    return _sums_by(matrix, unit, 1, start, cols, cells[:, cols])


def _seen(matrix: Matrix) -> Any:
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(by_chunks(matrix, _seen_of)))


def _seen_of(matrix: Matrix, start: int, cells: Any) -> Any:
    from scipy.sparse import csr_array

    if isinstance(cells, np.ndarray) or matrix.absent == "zero":
        return csr_array(~np.isnan(matrix.dense(cells)))
    keep = csr_array((~np.isnan(cells.data), cells.indices, cells.indptr), shape=cells.shape)
    keep.eliminate_zeros()
    return keep


def _median(matrix: Matrix, first: FirstSums) -> float:
    """Return the median of the positive values, or of every so many of them where there are very many."""
    step = 1 + int(first.cells - first.zeros) // _SAMPLE
    found, skip = [], 0
    for values in by_chunks(matrix, _positive):
        found.append(values[(-skip) % step :: step])
        skip += len(values)
    return float(np.median(np.concatenate(found)))


def _positive(matrix: Matrix, start: int, cells: Any) -> Floats:
    values = cells.ravel() if isinstance(cells, np.ndarray) else cells.data
    return np.asarray(values[values > 0])
