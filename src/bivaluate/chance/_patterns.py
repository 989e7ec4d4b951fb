"""Patterns a block may follow, fitted by least squares: raised, additive, row-affine, order-preserving."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance.moments import log_beta_tail, log_beta_tail_bound
from bivaluate.measures._blocks import midranks

Floats = NDArray[np.float64]
Shaped = tuple[Floats | None, Floats, float]

RAISED, ROW_LEVELS, COLUMN_PROFILE, ADDITIVE, ROW_AFFINE, ORDER_PRESERVING, NONE = (
    "shifted mean", "row levels", "column profile", "additive", "scaled profile", "same order", "none",
)  # fmt: skip
# The forms that are fitted: kind, and whether they have row levels, column levels and a shape common to the rows.
FORMS = (RAISED, ROW_LEVELS, COLUMN_PROFILE, ADDITIVE, ROW_AFFINE)
FORM_PARTS = (
    (False, False, False),
    (True, False, False),
    (False, True, False),
    (True, True, False),
    (True, False, True),
)
# What is tried for every block: each form against two variances, and order-preserving.
N_FORMS = 2 * len(FORMS) + 1
# A row that follows the pattern does so with a positive factor, at most this many times the median factor; the squares
# a row or a column explains count up to the square of this many times those of the median one.
LARGEST_FACTOR = 3.0
# Degrees of freedom a fit must leave over.
LEAST_LEFT_OVER = 4
ALTERNATIONS = 2
# A shape that explains less than this share of the squares is rounding.
NO_SHAPE = 1e-20
SWEEPS, SETTLED = 200, 1e-12
_ONES = np.ones(1 << 12)
# Fewer values than this are sorted faster than partitioned.
_FEW = 300
# Sums of squares left over below this share of the total are computed again from the residuals.
CANCELLED = 1e-6
# Rows looked at before the order of all rows is: enough to see that there is no common order.
_ROWS_LOOKED_AT = 64
# Ranks of a row can share this many times more than its values do, where a few extreme values hide the order.
_RANKS_SHARE_MORE = 6.0


class Pattern(NamedTuple):
    """A fitted pattern, level + a_i + b_j + s_i·p_j or any cells, and how improbable noise makes a fit as good."""

    kind: str = NONE
    log_p: float = 0.0
    level: float = 0.0
    rows: Floats | None = None
    cols: Floats | None = None
    factors: Floats | None = None
    shape: Floats | None = None
    cells: Any = None  # an array, or what makes the cells of a large block

    def values(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Floats:
        """Return the pattern in these rows and columns of the block, counted within the block."""
        if self.cells is not None:
            return np.asarray(self.cells[np.ix_(rows, cols)])
        values = np.full((len(rows), len(cols)), self.level)
        if self.rows is not None:
            values += self.rows[rows][:, None]
        if self.cols is not None:
            values += self.cols[cols]
        if self.factors is not None and self.shape is not None:
            values += np.outer(self.factors[rows], self.shape[cols])
        return values

    def line_sums(self, r: int, c: int) -> tuple[Floats, Floats]:
        """Return the sums of the rows and of the columns of the pattern in the whole block of r rows and c columns."""
        if isinstance(self.cells, np.ndarray):
            return self.cells.sum(axis=1), self.cells.sum(axis=0)
        if self.cells is not None:
            sums: tuple[Floats, Floats] = self.cells.line_sums()
            return sums
        rows, cols = np.full(r, c * self.level), np.full(c, r * self.level)
        if self.rows is not None:
            rows, cols = rows + c * self.rows, cols + float(self.rows.sum())
        if self.cols is not None:
            rows, cols = rows + float(self.cols.sum()), cols + r * self.cols
        if self.factors is not None and self.shape is not None:
            rows = rows + self.factors * float(self.shape.sum())
            cols = cols + float(self.factors.sum()) * self.shape
        return rows, cols


class Restore(NamedTuple):
    """By how much row and column means, taken out of the whole matrix, have shrunk the levels of a block.

    Row levels of a block of c of m columns are left with 1 − c/m of what they were, column levels with 1 − r/n, the
    mean with both, and so are their variances in noise: sums of squares are multiplied by 1/(1 − c/m). Past half of the
    columns a block cannot be told from what it leaves out, and counts less and less: 2(1 − c/m)/(c/m), 0 where it goes
    from side to side.
    """

    row_share: float
    col_share: float
    rows: float
    cols: float

    @classmethod
    def of(cls, row_share: float, col_share: float) -> Restore:
        """Return it with the factors of the sums of squares of row and of column levels."""
        return cls(row_share, col_share, _restored(col_share), _restored(row_share))

    def pattern(self, kind: str, log_p: float, fitted: Pattern) -> Pattern:
        """Return a pattern fitted to deviations as it is in the matrix itself."""
        by_rows, by_cols = (1 / max(share, 1 - share) for share in (self.col_share, self.row_share))
        return Pattern(
            kind,
            log_p,
            level=fitted.level * by_rows * by_cols,
            rows=None if fitted.rows is None else fitted.rows * by_rows,
            cols=None if fitted.cols is None else fitted.cols * by_cols,
            factors=fitted.factors,
            shape=fitted.shape,
        )


def _restored(share: float) -> float:
    return 1 / (1 - share) if share <= 0.5 else 2 * (1 - share) / share


class Sums(NamedTuple):
    """What the fits need of a block without missing cells, an array or what stands for a large one.

    `of_rows`, `of_cols` and `of_level` are the sums of squares that row means, column means and the mean explain;
    `shaped` is what :func:`common_shape` returns, None where it has not been asked yet, and `shape_at_most` the most
    a common shape can explain.
    """

    A: Any
    total: float
    row_means: Floats
    col_means: Floats
    level: float
    of_rows: float
    of_cols: float
    of_level: float
    shaped: Shaped | None
    shape_at_most: float


class Outside(NamedTuple):
    """The noise of cells outside a block: how many it is known from, and their sum of squares."""

    cells: float
    squares: float


class Series(NamedTuple):
    """For columns that are a series: what a cell counts, and the means of other rows over the columns of a block.

    Rows are independent of each other whatever columns do, so the levels of rows can be compared as they are:
    `squares` is the sum of squares of the means of `rows` other rows, about their own mean.
    """

    independent: float
    rows: int
    squares: float


class Ranks(NamedTuple):
    """Mean ranks inside a block, how far they are from those outside, and the mean variance of a row's ranks.

    Also the square of the median row's correlation with that difference: what only a few rows do is not a shared order.
    """

    means: Floats
    difference: Floats
    spread: float
    followed: float


class Orders(NamedTuple):
    """Values of the rows of a block, and of rows outside it, over its columns."""

    inside: Floats
    outside: Floats

    @property
    def n_outside(self) -> int:
        """Number of rows outside."""
        return len(self.outside)

    def every(self, step: int) -> Orders:
        """Return every so many rows."""
        return Orders(self.inside[::step], self.outside[::step])

    def mean_ranks(self) -> Ranks:
        """Return the mean ranks."""
        inside = midranks(self.inside)
        means = inside.mean(axis=0)
        difference = means - midranks(self.outside).mean(axis=0)
        followed = followed_by(correlations(inside, difference))
        return Ranks(means, difference, float(inside.var(axis=1).mean()), followed)

    def pattern(self, A: Floats, order: NDArray[np.intp], log_p: float) -> Pattern:
        """Return the order-preserving pattern: each row of the block monotone along the order."""
        unexplained = self.inside - monotone(self.inside, order)
        return Pattern(ORDER_PRESERVING, log_p, cells=A - unexplained)


class AskOrders(NamedTuple):
    """How many rows outside a block its orders are compared with, and a function that returns the :class:`Orders`."""

    n_outside: int
    ask: Callable[[], Any]


class _Form(NamedTuple):
    """A pattern fitted to deviations: the sums of squares it explains and leaves, the degrees of freedom it takes.

    `rows`, `cols` and `shaped` say whether it has row levels, column levels and a shape common to the rows.
    """

    kind: str
    explained: float
    left: float
    freedom: float
    rows: bool = False
    cols: bool = False
    shaped: Shaped | None = None

    def backing(self, of: Sums, restore: Restore) -> float:
        """Return the share of what it explains that most rows, and most columns, have a part in.

        A row explains what its squares lose by the pattern. Beyond nine times the median row it counts no more, and
        nothing counts where the median row explains nothing: what a few rows do is not what the bicluster does.
        """
        r, c = of.A.shape
        raised = restore.rows * restore.cols
        row_levels, col_levels = of.row_means - of.level, of.col_means - of.level
        each_row = (raised * c * of.level) * (of.row_means + row_levels)
        each_col = (raised * r * of.level) * (of.col_means + col_levels)
        if self.rows:
            each_row += (restore.rows * c) * row_levels**2
            each_col += (2 * restore.rows * row_levels) @ of.A - restore.rows * float(row_levels @ row_levels)
        if self.cols:
            each_row += of.A @ (2 * restore.cols * col_levels) - restore.cols * float(col_levels @ col_levels)
            each_col += (restore.cols * r) * col_levels**2
        factors, shape, _ = self.shaped or (None, of.col_means, 0.0)
        if factors is not None:
            each_row += factors * (2 * (of.A @ shape) - factors * float(shape @ shape))
            each_col += shape * (2 * (factors @ of.A) - shape * float(factors @ factors))
        return min(backed(each_row), backed(each_col))

    def cut_down(self, share: float, total: float) -> _Form:
        """Return the form as if it explained only a share of what it does."""
        return self._replace(explained=share * self.explained, left=self.left + (1 - share) * (total - self.left))

    def fitted(self, of: Sums) -> Pattern:
        """Return the pattern, fitted to deviations."""
        rows = of.row_means - of.level if self.rows else None
        cols = of.col_means - of.level if self.cols else None
        factors, shape = self.shaped[:2] if self.shaped else (None, None)
        return Pattern(self.kind, level=of.level, rows=rows, cols=cols, factors=factors, shape=shape)


def best_pattern(
    of: Sums,
    n_cells: int,
    floor: float,
    to_pay: float,
    restore: Restore,
    outside: Outside,
    series: Series | None = None,
    orders: AskOrders | None = None,
) -> Pattern:
    """Return the pattern that noise would follow least easily, for a block of deviations from the background.

    Each form takes `freedom` degrees of freedom of the N cells; for normal noise the share of the sum of squares it
    explains is Beta(freedom/2, (N − freedom)/2), and log p is the logarithm of the tail beyond the share observed. The
    same is asked with the cells `outside` added to what is left: low noise inside shows in the former, a level far
    beyond the noise of other cells in the latter. N = `n_cells` is smaller than the block where missing cells were
    filled, and what is explained counts less by as much. `floor` is the smallest variance the residuals may have. A
    block pays if log p is below `to_pay`, counting what most of its rows and columns explain; where it cannot, a form
    that comes near is returned. Cells of a `series` of columns count as a share of a cell each, and its row levels are
    compared with those outside. `orders` gives the values whose order may be shared; it is asked where the values have
    something in common.
    """
    independent = series.independent if series else 1.0
    counted = independent * n_cells
    outside = Outside(independent * outside.cells, outside.squares)

    form, log_p = _most_improbable(of, n_cells, floor, to_pay, restore, counted, outside)
    if series:
        flat = _Form(RAISED, 0.0, 0.0, 1)
        raised = _raised_rows(of, restore, series, 1.0)
        if raised < to_pay:
            raised = _raised_rows(of, restore, series, flat.backing(of, restore))
        if raised < log_p:
            form, log_p = flat, raised
    to_beat = min(log_p, to_pay)
    if orders is not None and _may_share_order(of, orders.n_outside, to_beat, independent):
        order = _order_preserving(of.A, orders.ask(), to_beat, independent)
        if order is not None:
            return order
    return restore.pattern(form.kind, log_p, form.fitted(of))


def _raised_rows(of: Sums, restore: Restore, series: Series, backing: float) -> float:
    """Return log p of the mean of the rows' levels, by how much levels differ inside the block and outside of it."""
    r, c = of.A.shape
    explained, within = backing * restore.rows * restore.cols * of.of_level / c, (of.of_rows - of.of_level) / c
    total = explained + within + series.squares
    return log_beta_tail(explained / total, 0.5, (r + series.rows - 2) / 2) if total > 0 else 0.0


def _most_improbable(
    of: Sums, n_cells: int, floor: float, to_pay: float, restore: Restore, counted: float, outside: Outside
) -> tuple[_Form, float]:
    """Return the form of lowest log p; where none can pay, one that comes near by a cheap bound.

    A form that would pay is asked again for what most rows and columns have a part in. The row-affine form is fitted
    where the most that one shape can explain would be better than what the others do. Of an array whose shape has been
    fitted, compiled code tells the same.
    """
    if of.shaped is not None and isinstance(of.A, np.ndarray):
        return _most_improbable_compiled(of, n_cells, floor, to_pay, restore, counted, outside)
    r, c = of.A.shape
    form = partial(_form, of, floor, restore, n_cells)
    levels = [form(number, freedom) for number, freedom in enumerate((1, r, c, r + c - 1))]
    best, lowest = _asked(levels, of, to_pay, restore, counted, outside, levels[0], math.inf)
    if c <= 2:
        return best, lowest
    row_affine = partial(form, 4, row_affine_freedom(r, c))
    shaped = of.shaped
    if shaped is None:
        most = row_affine((None, of.col_means, of.shape_at_most))
        if not any(log_beta_tail_bound(*test) < lowest for test in _tests(most, counted, outside)):
            return best, lowest
        shaped = common_shape(of.A, of.row_means, of.col_means - of.level, of.total)
    if shaped[0] is None:
        return best, lowest
    return _asked([row_affine(shaped)], of, to_pay, restore, counted, outside, best, lowest)


def _most_improbable_compiled(
    of: Sums, n_cells: int, floor: float, to_pay: float, restore: Restore, counted: float, outside: Outside
) -> tuple[_Form, float]:
    from bivaluate.chance._kernels_evidence import most_improbable

    assert of.shaped is not None
    factors, shape, explained = of.shaped
    number, log_p = most_improbable(
        of.A,
        of.row_means,
        of.col_means,
        of.row_means if factors is None else factors,
        shape,
        (of.total, of.level, of.of_rows, of.of_cols, of.of_level, 0.0 if factors is None else explained),
        (restore.rows, restore.cols),
        (float(n_cells), counted, floor, to_pay),
        (outside.cells, outside.squares),
        FORM_PARTS,
        (CANCELLED, float(LEAST_LEFT_OVER), LARGEST_FACTOR),
    )
    rows, cols, shaped = FORM_PARTS[number]
    # what it explains and leaves stays with the kernel
    return _Form(FORMS[number], math.nan, math.nan, math.nan, rows, cols, of.shaped if shaped else None), log_p


def _asked(
    forms: Sequence[_Form],
    of: Sums,
    to_pay: float,
    restore: Restore,
    counted: float,
    outside: Outside,
    best: _Form,
    lowest: float,
) -> tuple[_Form, float]:
    """Return the form of lowest log p among these and the best so far; if none can pay, only the nearest is tested."""
    tests = [
        (log_beta_tail_bound(*test), test, at, form)
        for form in forms
        for at, test in enumerate(_tests(form, counted, outside))
    ]
    tests.sort(key=itemgetter(0))
    for place, (bound, test, at, form) in enumerate(tests):
        if bound >= lowest or (place and bound >= to_pay):
            break
        log_p = log_beta_tail(*test)
        if log_p < to_pay:
            backed = form.cut_down(form.backing(of, restore), of.total)
            log_p = log_beta_tail(*_tests(backed, counted, outside)[at])
        if log_p < lowest:
            best, lowest = form, log_p
    return best, lowest


def backed(each: Floats) -> float:
    """Return the share of a sum that is left when no part counts more than nine times the median one."""
    ones = _ones(len(each))
    total, middle = float(each @ ones), _median(each)
    if total <= 0 or middle <= 0:
        return 0.0
    return max(0.0, min(1.0, float(np.minimum(each, LARGEST_FACTOR**2 * middle) @ ones) / total))


def _tests(form: _Form, n_cells: float, outside: Outside) -> Sequence[tuple[float, float, float]]:
    """Return the share explained and the two halves of the degrees of freedom, without and with the noise outside."""
    left_over, half, explained = n_cells - form.freedom, form.freedom / 2, form.explained
    if left_over < LEAST_LEFT_OVER:
        return ()
    if explained <= 0:
        return ((0.0, half, left_over / 2), (0.0, half, (left_over + outside.cells) / 2))
    total = explained + form.left
    return (
        (explained / total, half, left_over / 2),
        (explained / (total + outside.squares), half, (left_over + outside.cells) / 2),
    )


def row_affine_freedom(r: int, c: int) -> float:
    """Degrees of freedom of a_i + s_i·p_j: r levels, and the (√r + √(c−1))² the best pattern of noise explains."""
    return r + (math.sqrt(r) + math.sqrt(c - 1)) ** 2


def sums(A: Floats) -> Sums:
    """Return what the fits need of a block without missing cells."""
    r, c = A.shape
    row_means, col_means = A @ _ones(c) / c, _ones(r) @ A / r  # A.mean(axis=1), A.mean(axis=0)
    centred = A - row_means[:, None]
    products = centred.T @ centred if c <= r else centred @ centred.T
    # The largest eigenvalue is the most one shape can explain, and never above this norm.
    at_most = math.sqrt(_squared_norm(products))
    return with_means(A, _squared_norm(A), row_means, col_means, None, at_most)


def _ones(size: int) -> Floats:
    return _ONES[:size] if size <= len(_ONES) else np.ones(size)


def _squared_norm(A: Floats) -> float:
    flat = A.ravel()
    return float(flat @ flat)  # (A**2).sum()


def _residual_squares(A: Any, pattern: Pattern) -> float:
    """Return the sum of squares that a pattern leaves of a block."""
    if not isinstance(A, np.ndarray):
        return float(A.residual_squares(pattern))
    r, c = A.shape
    return _squared_norm(A - pattern.values(np.arange(r), np.arange(c)))


def with_means(
    A: Any, total: float, row_means: Floats, col_means: Floats, shaped: Shaped | None, at_most: float
) -> Sums:
    """Complete the sums of a block."""
    r, c = A.shape
    level = float(row_means.sum()) / r
    of_rows, of_cols = c * float(row_means @ row_means), r * float(col_means @ col_means)
    return Sums(A, total, row_means, col_means, level, of_rows, of_cols, r * c * level**2, shaped, at_most)


def _form(
    of: Sums, floor: float, restore: Restore, n_cells: int, number: int, freedom: float, shaped: Shaped | None = None
) -> _Form:
    """Return what a form explains of a block and leaves of it."""
    r, c = of.A.shape
    rows, cols, _ = FORM_PARTS[number]
    by_rows, by_cols = restore.rows, restore.cols
    of_rows, of_cols = of.of_rows - of.of_level, of.of_cols - of.of_level
    explained, left = by_rows * by_cols * of.of_level, of.total - of.of_level
    if rows:
        explained, left = explained + by_rows * of_rows, left - of_rows
    if cols:
        explained, left = explained + by_cols * of_cols, left - of_cols
    if shaped:  # what the shape explains as column means do is restored as they are
        as_cols = min(of_cols, shaped[2])
        explained, left = explained + by_cols * as_cols + (shaped[2] - as_cols), left - shaped[2]
    observed = n_cells / (r * c)
    made = _Form(FORMS[number], observed * explained, max(left, n_cells * floor), freedom, rows, cols, shaped)
    if left < CANCELLED * of.total and not (shaped and shaped[0] is None):
        return made._replace(left=max(_residual_squares(of.A, made.fitted(of)), n_cells * floor))
    return made


def common_shape(A: Any, row_means: Floats, shape: Floats, total: float) -> Shaped:
    """Fit s_i·p_j to the row-centred block, 0 ≤ s_i ≤ 3·median(s); return s, p and the sum of squares explained.

    The block has squares of `total`. The shape p adds up to 0, so centring the rows changes no product with it. No s
    where the median row does not follow.
    """
    for step in range(ALTERNATIONS + 1):
        length = float(shape @ shape)
        products = A @ shape
        largest = LARGEST_FACTOR * _median(products)
        # a shape of rounding alone is none: of a block with all rows the column means are taken out already
        if not (largest > 0 and length * len(products) > NO_SHAPE * total):
            return None, shape, 0.0
        factors = np.minimum(np.maximum(products, 0.0), largest) / length
        weight = float(factors @ factors)
        if step < ALTERNATIONS:
            shape = (factors @ A - float(factors @ row_means)) / weight
    return factors, shape, 2 * float(factors @ products) - weight * length


def _median(values: Floats) -> float:
    middle, odd = divmod(len(values), 2)
    if len(values) < _FEW:
        ordered = values.copy()
        ordered.sort()
    else:
        ordered = np.partition(values, (middle - 1, middle))
    return float(ordered[middle]) if odd else float(ordered[middle - 1] + ordered[middle]) / 2


def fill_missing(A: Floats) -> Floats:
    """Put missing cells where the additive fit to the observed cells has them, by alternating until nothing changes."""
    seen = np.isfinite(A)
    per_row, per_col = seen.sum(axis=1), seen.sum(axis=0)
    largest = np.nanmax(np.abs(A))
    rows, cols = np.nansum(A, axis=1) / per_row, np.zeros(A.shape[1])
    for _ in range(SWEEPS):
        before = cols
        cols = np.where(seen, A - rows[:, None], 0.0).sum(axis=0) / per_col
        rows = np.where(seen, A - cols, 0.0).sum(axis=1) / per_row
        if np.abs(cols - before).max() <= SETTLED * largest:
            break
    return np.where(seen, A, rows[:, None] + cols)


def _may_share_order(of: Sums, n_outside: int, to_beat: float, independent: float) -> bool:
    """Whether ranks are worth a look: not where the values themselves have next to nothing in common, nor where one
    order shared by all rows, compared with so many outside, would not be enough.
    """
    r, c = of.A.shape
    common, within = of.of_cols - of.of_level, of.total - of.of_rows
    if c <= 2 or not n_outside or not within > 0 or -(r - 1) * math.lgamma(c + 1) >= to_beat:
        return False
    share = min(1 / (1 + r / n_outside), _RANKS_SHARE_MORE * common / within)
    freedom = independent * (c - 1 - 2 / r)
    if freedom >= 1 and log_beta_tail_bound(share, freedom / 2, (r - 1) * freedom / 2) >= to_beat:
        return False
    return _concordance_log_p(share, r, c, independent) < to_beat


def _order_preserving(A: Any, orders: Any, to_beat: float, independent: float) -> Pattern | None:
    """Return the order-preserving pattern: one order of the columns shared by the rows, each row monotone along it.

    Mean ranks of the r rows are compared with those of q rows outside, so that an order all rows share counts for
    nothing: W = Var_j(difference)/(mean variance of the ranks of a row)/(1 + r/q), Kendall's W for q → ∞, which is
    Beta(f/2, (r−1)f/2) in noise, f = c − 1 − 2/r, to a good approximation. The orders of r rows cannot say more than
    r·log c!, and the shared order itself costs log c!. None where `to_beat` is not beaten.
    """
    r, c = A.shape
    most = (r - 1) * math.lgamma(c + 1)
    if not orders.n_outside:
        return None
    step = -(-r // _ROWS_LOOKED_AT)
    if step > 1:
        few = orders.every(step)
        _, difference, spread, _ = few.mean_ranks()
        # three standard errors up, less what chance adds
        by_chance = 1 / len(few.inside) + 1 / len(few.outside)
        common = float(difference.var()) / max(spread, SETTLED) + (3 * math.sqrt(2 / (c - 1)) - 1) * by_chance
        if _concordance_log_p((common + 1 / r) / (1 + r / orders.n_outside), r, c, independent) >= to_beat:
            return None
    means, difference, spread, followed = orders.mean_ranks()
    if not spread > 0:
        return None
    concordance = min(float(difference.var()) / spread, followed) / (1 + r / orders.n_outside)
    log_p = max(-most, _concordance_log_p(concordance, r, c, independent))
    if log_p >= to_beat:
        return None
    pattern: Pattern = orders.pattern(A, np.argsort(means, kind="stable"), log_p)
    return pattern


def correlations(ranks: Floats, difference: Floats) -> Floats:
    """Return how each row of ranks follows a difference of mean ranks."""
    lengths = len(difference) * np.sqrt(ranks.var(axis=1) * difference.var())
    return np.asarray(ranks @ (difference - difference.mean()) / np.where(lengths > 0, lengths, np.inf))


def followed_by(correlation: Floats) -> float:
    """Return the square of the median row's correlation, 0 where it is negative."""
    return max(0.0, _median(correlation)) ** 2


def _concordance_log_p(concordance: float, r: int, c: int, independent: float) -> float:
    freedom = independent * (c - 1 - 2 / r)
    return log_beta_tail(min(1.0, concordance), freedom / 2, (r - 1) * freedom / 2)


def monotone(A: Floats, order: NDArray[np.intp]) -> Floats:
    """Return each row's best fit that never falls along `order`, by pooling adjacent violators."""
    fitted = np.empty(A.shape)
    for row, line in zip(A[:, order].tolist(), fitted, strict=True):
        means: list[float] = []
        sizes: list[int] = []
        for value in row:
            mean, size = value, 1
            while means and means[-1] >= mean:
                mean = (mean * size + means[-1] * sizes[-1]) / (size + sizes[-1])
                size += sizes.pop()
                means.pop()
            means.append(mean)
            sizes.append(size)
        line[order] = np.repeat(means, sizes)
    return fitted
