"""Evidence: how many nats each bicluster saves in describing the matrix, its kind of pattern, and whether it pays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_choice
from bivaluate._parallel import count_cores, share_out
from bivaluate.chance._background import Lines, Values, all_squares, look_at_all
from bivaluate.chance._large_blocks import LargeBlock, LargeOrders, Taken, row_means, subtract
from bivaluate.chance._patterns import (
    ALTERNATIONS,
    LARGEST_FACTOR,
    N_FORMS,
    NONE,
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
    with_means,
)
from bivaluate.chance.assumptions import (
    deviations,
    independent_share,
    lost_to_ties,
    needs_ranks,
    needs_ranks_by,
    normal_scores,
    row_and_column_means,
    row_step,
    rows_alike,
    rows_looked_at,
    sorted_sample,
    spacing,
    without_effects,
)
from bivaluate.chance.moments import log_choose
from bivaluate.matrix import Matrix, cut_block
from bivaluate.measures._blocks import CONSTANT, is_constant_row
from bivaluate.measures._mergers import large_enough_for_kernels
from bivaluate.measures.cover import Cover
from bivaluate.measures.measure import COL_SHIFT, REAL, ROW_SHIFT, SCALE, SHIFT, UNIT, measure
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Bicluster, Biclustering, check_solution

Floats = NDArray[np.float64]
Groups = Callable[[], NDArray[np.int64]]

_INVARIANCES = frozenset({SHIFT, SCALE, ROW_SHIFT, COL_SHIFT})
_REFERENCE = "derived for bivaluate, see docs/choosing.md; after Rissanen 1978, doi:10.1016/0005-1098(78)90005-5"

MIN_CELLS = 12
# From this many cells of blocks on, compiled gathering and a second thread pay for themselves.
_MANY_CELLS = 200_000
_LARGE_BLOCK = 4_000
# Rows outside a block whose order of its columns is looked at, at least.
_FEWEST_OUTSIDE = 256
_CHUNK = 1 << 15
# Rows whose means are this many standard deviations from 0 are centred before anything else is done with them.
_FAR = 1e4
# Outside this range squares overflow or underflow, and X is seen times a power of two.
_TINY, _HUGE = 1e-140, 1e150


@dataclass(frozen=True)
class Evidence:
    """What each bicluster, and the solution, saves in describing the matrix; made by :func:`evidence_table`.

    Attributes
    ----------
    gain
        Nats saved by each bicluster given those that came before it in the selection; NaN where undefined.
    alone
        Nats saved by each bicluster as if it were the only one.
    kinds
        Pattern of each bicluster that pays: raised (or lowered), additive, row-affine, order-preserving; else none.
    pays
        Whether the gain is positive.
    reasons
        Why the gain of a bicluster is undefined; empty where it is defined.
    order
        Positions of the biclusters that pay, in the order they were accepted.
    total
        Σ of the gains that pay, less the cost of naming the members of every bicluster that does not.
    explained
        Share of the cells of the matrix in biclusters that pay.
    ranks
        Whether rows were replaced by normal scores.
    independent
        What a cell counts as a share of an independent one: below 1 where neighbouring columns are correlated.
    """

    gain: Floats
    alone: Floats
    kinds: tuple[str, ...]
    pays: NDArray[np.bool_]
    reasons: tuple[str, ...]
    order: tuple[int, ...]
    total: float
    explained: float
    ranks: bool
    independent: float

    @property
    def n_paying(self) -> int:
        """Number of biclusters that pay."""
        return len(self.order)


def evidence_table(
    X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise", n_jobs: int | None = None
) -> Evidence:
    """Return the evidence of every bicluster: nats saved, kind of pattern, and whether it pays.

    The background is R = X − row means − column means + grand mean. A block of r × c cells is tried as raised (or
    lowered) throughout, as additive (row levels, column levels or both), as row-affine (every row a positive multiple,
    at most three times the median one, of one shape, at its own level) and as order-preserving (one order of the
    columns shared by the rows, and not by other rows). Of the N = r·c cells a form takes f degrees of freedom, and the
    share of the sum of squares it explains is Beta(f/2, (N − f)/2) in normal noise; the same is asked with the noise
    outside the block, at the variance its rows and columns have there, added to what the form leaves. With p the
    smallest probability among these eleven tests, each for as much as most rows and most columns have a part in (beyond
    nine times the median row, or column, nothing counts),

        gain = −log p − [log C(n, r) + log C(m, c) + log n + log m + log 11],

    so that, by the union bound, noise rarely holds a block that pays, and a gain of g or more with a probability of
    about e^(−g) of that. The residual variance is taken to be at least that of rounding, (32·eps·max|x|)², and of the
    spacing δ of the values, δ²/12. Levels that the row and column means of the whole matrix have taken out of the block
    are restored. Rows and columns that are constant over the whole matrix say nothing and are left out. Where
    neighbouring columns are correlated by ρ in a typical row, beyond a stated limit and once what rows in the same
    biclusters share is taken out, the columns are a series: N counts (1 − ρ)/(1 + ρ) per cell, and a twelfth test
    compares the levels of the rows with those of other rows, which need no independent columns.

    A solution is judged by forward selection: the bicluster of largest gain is accepted and its pattern subtracted; the
    next one is judged on what is left, and takes its place in the queue again if that costs it the lead; the selection
    stops at a gain of 0 or less. Accepted biclusters *pay*.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix of shape (n, m)
        Data matrix.
    solution : Biclustering
        The biclusters.
    normalise : {"auto", "none", "rank"}, default="auto"
        ``"rank"`` replaces each row by normal scores of its ranks, ``"none"`` takes the values as they are;
        ``"auto"`` chooses ranks for heavy tails, heavy skew, and data in which one value fills a quarter of the cells.
    missing : {"raise", "omit"}, default="raise"
        With ``"omit"`` all means and fits are over observed cells; the order-preserving kind is not tried in blocks
        with missing cells.
    n_jobs : int or None, default=None
        Threads for large inputs.

    Returns
    -------
    Evidence
        Nats, kinds and reasons per bicluster, and the total.

    Raises
    ------
    MatrixError, SolutionError, ParameterError
        If X, the solution or an option cannot be used.

    See Also
    --------
    total_evidence, explained_share

    Notes
    -----
    Undefined (NaN, with a reason) for fewer than two rows or two columns, for fewer than 12 observed cells, and for
    blocks that deviate from the row and column means by no more than ties and rounding allow. A raised block that fills a matrix from side to
    side is part of the row or column means and cannot be seen. Where columns are a series, evidence depends on their order;
    shuffle them if it means nothing. A matrix sorted so that biclusters on neighbouring columns hold three quarters of its
    rows looks like a series to a solution that holds few of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6)), (range(30, 45), range(10, 16))], X.shape)
    >>> result = evidence_table(X, S)
    >>> result.kinds, result.pays.tolist()
    (('raised', 'none'), [True, False])
    """
    matrix = Matrix.of(X, missing)
    cover = Cover(check_solution(solution).with_shape(matrix.shape))
    return _evidence(matrix, cover, normalise, None if n_jobs == -1 else n_jobs)


@measure("evidence", "evidence", "evidence",
    "Nats the bicluster saves in describing the matrix; positive means it pays.", direction="high", range=REAL,
    compute=lambda w: evidence_scores(w).gain, invariances=_INVARIANCES, reference=_REFERENCE, default=True)  # fmt: skip
def bicluster_evidence(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> Floats:
    """Return the nats each bicluster saves, given those accepted before it; positive means that it pays.

    High is better; NaN where undefined. See :func:`evidence_table` for the parameters, the formula and the reasons.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6)), (range(30, 45), range(10, 16))], X.shape)
    >>> (bicluster_evidence(X, S) > 0).tolist()
    [True, False]
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).gain


@measure("total_evidence", "evidence", "total evidence",
    "Nats all biclusters save together, less the cost of those that save nothing.", level="solution",
    formula=r"E=\sum_{k:\,g_k>0}g_k-\sum_{k:\,g_k\leq 0}\log\binom{n}{|I_k|}\binom{m}{|J_k|}",
    direction="high", range=REAL, main_rank=1, nothing=0.0, compute=lambda w: evidence_scores(w).total, invariances=_INVARIANCES,
    reference=_REFERENCE, default=True)  # fmt: skip
def total_evidence(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> float:
    """Total evidence of a solution, in nats: what its biclusters save, less the cost of those that save nothing.

    High is better; 0 for a solution without biclusters; negative where only noise was described. See
    :func:`evidence_table` for the parameters and the formula.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> good, noise = ([(range(15), range(6))], [(range(30, 45), range(10, 16))])
    >>> total_evidence(X, Biclustering(good, X.shape)) > 0 > total_evidence(X, Biclustering(noise, X.shape))
    True
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).total


@measure("n_paying", "K paying", "biclusters that pay",
    "Number of biclusters that save nats, each judged after those before it.", level="solution", direction="none",
    range=(0.0, math.inf), compute=lambda w: evidence_scores(w).n_paying, invariances=_INVARIANCES,
    reference=_REFERENCE, default=True)  # fmt: skip
def paying_biclusters(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> int:
    """Return the number of biclusters that pay; see :func:`evidence_table`.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> paying_biclusters(X, Biclustering([(range(15), range(6))], X.shape))
    0
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).n_paying


@measure("explained", "explained", "explained share", "Share of the cells of the matrix in biclusters that pay.",
    level="solution", direction="high", range=UNIT, percent=True,
    compute=lambda w: evidence_scores(w).explained,
    invariances=_INVARIANCES, reference=_REFERENCE, default=True)  # fmt: skip
def explained_share(X: Any, solution: Biclustering, *, normalise: str = "auto", missing: str = "raise") -> float:
    """Return the share of the cells of the matrix in biclusters that pay; see :func:`evidence_table`. In [0, 1].

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> explained_share(X, Biclustering([(range(15), range(6))], X.shape))
    0.0
    """
    return evidence_table(X, solution, normalise=normalise, missing=missing).explained


@dataclass
class _Background:
    """The values as they are judged, what rows and columns hold by themselves, and the smallest residual variance.

    The effects of rows and columns are those of the values less the patterns accepted so far; their sums of squared
    deviations are those of the beginning.
    """

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
    compiled: bool = False

    def __post_init__(self) -> None:
        self.accepted: list[_Judged] = []
        self.any_flat = bool(self.flat_rows.any() or self.flat_cols.any())
        self.n_seen, self.squares = float(self.seen_in_row.sum()), float(self.row_squares.sum())

    def block(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Floats:
        """Return the values of some rows and columns."""
        if isinstance(self.values, Values):
            return self.values.block(rows, cols)
        return cut_block(self.values, rows, cols)

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


class _Judged(NamedTuple):
    """A bicluster judged on what is left of the matrix."""

    gain: float
    pattern: Pattern | None
    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    outside: Outside | None = None
    reason: str = ""


def _evidence(matrix: Matrix, cover: Cover, normalise: str, n_jobs: int | None) -> Evidence:
    solution = cover.solution
    check_choice("normalise", normalise, ("auto", "none", "rank"))
    K, shape = len(solution), matrix.shape
    accepted: dict[int, _Judged] = {}
    background = _background(matrix, normalise, partial(rows_alike, solution, row_step(shape)))
    background.compiled = large_enough_for_kernels(solution)

    members = [log_choose(shape[0], len(b.rows)) + log_choose(shape[1], len(b.cols)) for b in solution]
    n_tests = N_FORMS + (background.independent < 1)
    choices = math.log(shape[0]) + math.log(shape[1]) + math.log(n_tests)

    def judge(k: int, outside: Outside | None = None) -> _Judged:
        before = [judged for other, judged in accepted.items() if cover.intersections[k, other]]
        return _judge(background, solution[k], members[k] + choices, before, outside)

    many = sum(b.size for b in solution) >= _MANY_CELLS
    judged = _for_each(judge, range(K), 1 if not many else n_jobs)
    alone = np.array([one.gain for one in judged])
    stale: set[int] = set()
    waiting = {k for k in range(K) if judged[k].pattern is not None}
    order: list[int] = []
    while waiting:
        k = max(waiting, key=lambda position: (judged[position].gain, -position))
        if judged[k].gain > 0 and k not in stale:
            waiting.remove(k)
            order.append(k)
            accepted[k] = judged[k]
            if waiting:
                _take_out(background, judged[k])
            stale |= waiting  # the mean of the matrix has changed, and with it every block
            continue
        again = {k} & stale if judged[k].gain > 0 else stale & waiting
        if not again:
            break
        for other in again:
            judged[other] = judge(other, judged[other].outside)
        stale -= again
        waiting = {other for other in waiting if judged[other].pattern is not None}
    pays = np.zeros(K, dtype=np.bool_)
    pays[order] = True
    gain = np.array([one.gain for one in judged])
    unpaid = math.fsum(cost for k, cost in enumerate(members) if not pays[k])
    return Evidence(
        gain=gain,
        alone=alone,
        kinds=tuple(_kind(one) if pays[k] else NONE for k, one in enumerate(judged)),
        pays=pays,
        reasons=tuple(one.reason for one in judged),
        order=tuple(order),
        total=math.fsum(gain[order]) - unpaid,
        explained=cover.share if len(order) == K else Cover(solution.select(order)).share,
        ranks=background.ranks,
        independent=background.independent,
    )


def _kind(judged: _Judged) -> str:
    return judged.pattern.kind if judged.pattern is not None else NONE


def _background(matrix: Matrix, normalise: str, groups: Groups) -> _Background:
    if matrix.in_memory:
        return _background_of(matrix.values, normalise, groups)
    return _background_by_chunks(matrix, normalise, groups)


def _background_by_chunks(matrix: Matrix, normalise: str, groups: Groups) -> _Background:
    """Do what `_background_of` does, some rows at a time."""
    values = Values(matrix)
    lines = look_at_all(values)
    flat = lines.flat_rows, lines.flat_cols
    cells = _looked_at(values, lines)
    ranks = normalise == "rank" or (normalise == "auto" and needs_ranks_by(lines.sample, cells))
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
    return _Background(values, *lines.effects, floor, *flat, *squares, ranks, independent_share(cells, groups))


def _looked_at(values: Values, lines: Lines) -> Floats:
    """Return what `deviations` returns of a matrix in memory."""
    at = np.arange(values.shape[0])[rows_looked_at(values.shape)]
    return without_effects(values.block(at, np.arange(values.shape[1])), lines.effects[0][at], lines.effects[1])


def _background_of(X: Floats, normalise: str, groups: Groups) -> _Background:
    values, largest = X, max(float(X.max()), -float(X.min()))
    if math.isnan(largest):
        largest = max(float(np.nanmax(X)), -float(np.nanmin(X)))
    if not _TINY < largest < _HUGE and largest > 0:
        scale = 2.0 ** -math.floor(math.log2(largest))
        values, largest = X * scale, largest * scale
    sample, seen = sorted_sample(values), _seen(values)
    ranks = normalise == "rank" or (normalise == "auto" and needs_ranks(values, sample, seen.cells, seen.squared))
    if ranks:
        values = normal_scores(values)
        floor = lost_to_ties(values)
        seen = _seen(values)
    else:
        floor = max((CONSTANT * largest) ** 2, spacing(sample) ** 2 / 12)
    independent = independent_share(seen.cells, groups, seen.looked_at)
    means, squares = seen.means, seen.squares
    spread = math.sqrt(float(squares[0].sum()) / float(means[2].sum()))
    if float(np.abs(means[0]).max()) > _FAR * spread:  # the offsets of rows would cost digits
        values = values - means[0][:, None]
        means = row_and_column_means(values)
        squares = _squares(values, *means[:2])
    return _Background(values, *means, floor, *_flat_lines(X), *squares, ranks, independent)


class _Seen(NamedTuple):
    """Row and column means, the deviations looked at, their squares, those added up by row, and all added up by row and column."""

    means: tuple[Floats, Floats, Floats, Floats]
    cells: Floats
    squared: Floats
    looked_at: Floats
    squares: tuple[Floats, Floats]


def _seen(values: Floats) -> _Seen:
    """Look at a matrix in memory; the squares of all cells come from those looked at, where that is all of them."""
    means = row_and_column_means(values)
    cells = deviations(values, means)
    squared = cells * cells
    looked_at = squared @ np.ones(cells.shape[1])  # squared.sum(axis=1)
    if len(cells) == len(values):
        return _Seen(means, cells, squared, looked_at, (looked_at, np.ones(len(cells)) @ squared))
    return _Seen(means, cells, squared, looked_at, _squares(values, *means[:2]))


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


def _judge(
    background: _Background, bicluster: Bicluster, cost: float, before: Sequence[_Judged], outside: Outside | None
) -> _Judged:
    """Judge a bicluster on what is left of it once the patterns of those `before` it are taken out."""
    rows, cols = bicluster.rows, bicluster.cols
    left_out = ""
    if background.any_flat:
        rows, cols = rows[~background.flat_rows[rows]], cols[~background.flat_cols[cols]]
        if len(rows) < len(bicluster.rows) or len(cols) < len(bicluster.cols):
            left_out = "without the rows and columns that are constant over the whole matrix "
    if len(rows) < 2 or len(cols) < 2:
        return _undefined(rows, cols, f"{left_out}it does not have two rows and two columns to compare")
    found = _block(background, rows, cols, before)
    A, total = found.A, found.total
    n_cells = A.size
    observed = math.isnan(total)
    if observed:
        A, rows, cols, total, n_cells = _observed(A, rows, cols)
        if len(rows) < 2 or len(cols) < 2:
            return _undefined(rows, cols, "its observed cells do not leave two rows and two columns to compare")
    if background.independent * n_cells < MIN_CELLS:
        counted = (
            "" if background.independent == 1 else f", worth {background.independent * n_cells:.3g} independent ones"
        )
        return _undefined(rows, cols, f"{left_out}it has {n_cells} cells{counted}; fewer than {MIN_CELLS} tell nothing")
    if total <= n_cells * background.floor:
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
    pattern = best_pattern(of, n_cells, background.floor, -cost, restore, outside, series, orders)
    return _Judged(-pattern.log_p - cost, pattern, rows, cols, outside)


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


def _undefined(rows: NDArray[np.int64], cols: NDArray[np.int64], reason: str) -> _Judged:
    return _Judged(math.nan, None, rows, cols, reason=reason)


def _block(
    background: _Background, rows: NDArray[np.int64], cols: NDArray[np.int64], before: Sequence[_Judged]
) -> Sums:
    """Return the block of deviations from the background, and what the fits need of it."""
    if isinstance(background.values, Values) and not background.values.matrix.may_hold(len(rows), len(cols)):
        effects = background.row_effect[rows], background.col_effect[cols]
        return LargeBlock(background.values, rows, cols, *effects, _taken(before)).sums()
    large = background.compiled and len(rows) * len(cols) >= _LARGE_BLOCK
    if large:
        from bivaluate.chance._evidence_kernels import block_of, block_sums
    if large and not isinstance(background.values, Values):
        A = block_of(background.values, rows, cols, background.row_effect, background.col_effect)
    else:
        A = background.block(rows, cols)
        A -= background.row_effect[rows][:, None]
        A -= background.col_effect[cols]
    subtract(A, rows, cols, _taken(before))
    if not large:
        return sums(A)
    total, row_means, col_means, factors, shape, explained = block_sums(A, ALTERNATIONS, LARGEST_FACTOR)
    return with_means(A, total, row_means, col_means, (factors if explained > 0 else None, shape, explained), explained)


def _series(background: _Background, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Series:
    """Return how the means of other rows over these columns differ, without effects and the patterns accepted so far."""
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


def _outside_of(background: _Background, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.setdiff1d(np.arange(background.values.shape[0]), rows, assume_unique=True)


def _taken(judged: Sequence[_Judged]) -> list[Taken]:
    return [Taken(one.rows, one.cols, one.pattern) for one in judged if one.pattern is not None]


def _step_outside(n: int, r: int) -> int:
    """Return every which of the rows outside a block of r rows is looked at."""
    return -(-(n - r) // max(_FEWEST_OUTSIDE, r)) or 1


def _orders(background: _Background, rows: NDArray[np.int64], cols: NDArray[np.int64], A: Any) -> Orders | LargeOrders:
    """Return the values of the block, and those of other rows evenly spread, as many as the block has or 256."""
    spread = _outside_of(background, rows)[:: _step_outside(background.values.shape[0], len(rows))]
    if isinstance(A, LargeBlock):
        assert isinstance(background.values, Values)
        return LargeOrders(A, background.values, cols, spread)
    others = background.block(spread, cols)
    return Orders(background.block(rows, cols), others[~np.isnan(others).any(axis=1)])


def _take_out(background: _Background, judged: _Judged) -> None:
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


def _for_each(function: Callable[[int], _Judged], positions: range, n_jobs: int | None) -> list[_Judged]:
    if n_jobs == 1 or len(positions) < 2:
        return [function(k) for k in positions]
    judged: dict[int, _Judged] = {}
    share_out([partial(_judge_into, judged, function, k) for k in positions], count_cores(n_jobs))
    return [judged[k] for k in positions]


def _judge_into(judged: dict[int, _Judged], function: Callable[[int], _Judged], k: int) -> None:
    judged[k] = function(k)


def evidence_scores(workspace: Workspace) -> Evidence:
    """Return the evidence of a workspace, computed once."""
    return workspace.once(_of_workspace)


def _of_workspace(workspace: Workspace) -> Evidence:
    n_jobs = None if workspace.options.n_jobs == -1 else workspace.options.n_jobs
    return _evidence(workspace.matrix, workspace.cover, "auto", n_jobs)
