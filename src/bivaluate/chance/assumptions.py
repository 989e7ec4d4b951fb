"""Does a matrix look like the noise that is assumed, and what to do where it does not: centre it, or take ranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bivaluate._check import check_choice, check_values
from bivaluate._rows import CHUNK_CELLS
from bivaluate._text import percent
from bivaluate.matrix import Matrix
from bivaluate.measures._blocks import CONSTANT, midranks, standardise
from bivaluate.solution import Biclustering

Floats = NDArray[np.float64]
Groups = Callable[[], NDArray[np.int64]]

COLUMN_EFFECT_LIMIT = 0.10
SKEW_LIMIT = 1.0
KURTOSIS_LIMIT = 3.0
ZEROS_LIMIT = 0.50
AUTOCORRELATION_LIMIT = 0.20
# How far totals of columns of counts differ, as a share of their mean; how alike two halves of the rows see that.
DEPTH_LIMIT, DEPTH_AGREED = 0.30, 0.70
# Standard deviations from a normal mean to its lower quartile; rounds in which the correlation and its spread settle.
_QUARTILE, _ROUNDS, _MOST_CORRELATED = 0.6745, 10, 0.99
# One value in more than this share of the cells (as zeros in counts): differences say little, ranks with ties say more.
TIE_LIMIT = 0.25
_ROWS_LOOKED_AT, _CELLS_LOOKED_AT, _VALUES_LOOKED_AT = 500, 100_000, 2000
_FEWEST_ROWS = 10
# Rows with less than this share of the squares of others hold nothing but rounding.
_ROUNDING = 1e-24
COLUMN_EFFECTS, TAILS, SMOOTHNESS, DEPTH = "column effects", "tails", "smoothness", "depth"


def centre_columns(X: Any) -> Floats:
    """Subtract from each column of `X` its mean over all rows; missing cells stay missing.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Data matrix.

    Returns
    -------
    ndarray of shape (n, m)
        The centred values.

    Raises
    ------
    MatrixError
        If `X` is not a matrix of numbers.

    Examples
    --------
    >>> centre_columns([[1, 10], [3, 30]])
    array([[ -1., -10.],
           [  1.,  10.]])
    """
    return prepare_values(check_values(X, "omit"), "columns")


def column_means(values: Floats) -> Floats:
    """Mean of each column over its observed cells; 0 for a column without any."""
    seen = np.isfinite(values)
    if seen.all():
        return np.asarray(values.mean(axis=0))
    count = seen.sum(axis=0)
    return np.asarray(np.where(seen, values, 0).sum(axis=0) / np.maximum(count, 1))


def column_means_of(matrix: Matrix) -> Floats:
    """Mean of each column of a matrix in whatever form over its observed cells, some rows at a time."""
    if matrix.in_memory:
        return column_means(matrix.values)
    total, count = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    for sums, seen in matrix.map_chunks(partial(_column_sums, matrix.absent == "missing")):
        total += sums
        count += seen
    return np.asarray(total / np.maximum(count, 1))


def _column_sums(absent_is_missing: bool, start: int, cells: Any) -> tuple[Floats, Floats]:
    """Return the sums of the observed cells of each column of some rows, and their numbers."""
    n, m = cells.shape
    if isinstance(cells, np.ndarray):
        seen = ~np.isnan(cells)
        return np.where(seen, cells, 0.0).sum(axis=0), seen.sum(axis=0).astype(np.float64)
    known = ~np.isnan(cells.data)
    sums = np.bincount(cells.indices[known], cells.data[known], minlength=m).astype(np.float64)
    stored, unknown = (np.bincount(cells.indices[which], minlength=m).astype(np.float64) for which in (known, ~known))
    return sums, stored if absent_is_missing else n - unknown


def prepare_values(values: Floats, centre: str = "none", normalise: str = "none") -> Floats:
    """Return checked values as the chance correction is to see them: rank-normalised, column-centred, both or neither.

    Rank-normalised rows hold the normal scores of their mid-ranks, Φ⁻¹((rank − 1/2)/m): that takes out skew and heavy
    tails, for which the search reference does not hold. Missing cells have no rank and stay missing.

    >>> prepare_values(np.array([[1.0, 100.0, 10.0]]), normalise="rank").round(4)
    array([[-0.9674,  0.9674,  0.    ]])
    >>> prepare_values(np.array([[1.0, 10.0], [3.0, 30.0]]), centre="columns").tolist()
    [[-1.0, -10.0], [1.0, 10.0]]
    """
    check_choice("centre", centre, ("none", "columns"))
    if check_choice("normalise", normalise, ("none", "rank")) == "rank":
        values = normal_scores(values)
    return np.asarray(values - column_means(values)) if centre == "columns" else values


def prepared(matrix: Matrix, centre: str = "none", normalise: str = "none") -> Matrix:
    """Return a matrix that was checked already as `prepare_values` says; itself where nothing is to be done."""
    if (centre, normalise) == ("none", "none"):
        return matrix
    return Matrix(prepare_values(matrix.values, centre, normalise), name=matrix.name)


def broken_assumptions(
    matrix: Matrix, solution: Biclustering | None = None, given: Matrix | None = None
) -> dict[str, str]:
    """Say in words where a matrix breaks the assumptions of E0 and V* (independent, roughly normal cells).

    Looks at the observed cells of no more than 500 rows, evenly spread. Three questions, all on rows standardised to
    mean 0 and variance 1:
    what share of the variance do column means explain (limit 0.10); how skewed and heavy-tailed are the cells (limits 1
    and 3); how strongly do neighbouring columns correlate in a typical row (limit 0.20). Limits are widened by about
    three standard errors for small matrices. Columns on which biclusters of a `solution` lie side by side are no
    series, as :func:`independent_share` says. What the matrix was before it was :func:`prepared` is `given`: centred
    zeros are zeros no more. The sentences are keyed by what they are about.

    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> broken_assumptions(Matrix(X))
    {}
    >>> broken_assumptions(Matrix(X + 2 * np.sin(np.arange(30))))[COLUMN_EFFECTS][:28]
    'Columns have strong effects '
    """
    sentences, tails, step, series = matrix.once(_departures)
    raw = matrix if given is None else given
    if tails:
        sentences = sentences | {TAILS: _about_tails(tails, raw.once(_share_of_zeros))}
    if raw.once(_unequal_depth):
        sentences = sentences | {DEPTH: _ABOUT_DEPTH}
    correlation = None
    if series is not None:
        correlation = series.correlation_given(None if solution is None else partial(rows_alike, solution, step))
    if correlation is None:
        return dict(sentences)
    share = (1 - correlation) / (1 + correlation)
    found = f"Neighbouring columns are correlated ({correlation:.2f})"
    counts = f"evidence counts a cell as {share:.2f} of an independent one"
    smooth = f"{found}, as in a time series, so {counts}. If the order of columns means nothing, shuffle them."
    return sentences | {SMOOTHNESS: smooth}


_ABOUT_DEPTH = (
    "The totals of columns of counts differ: where that is the depth to which cells or samples were sequenced, rows of high "
    "counts follow it, and look like a bicluster. Divide each column by its total first, and take logarithms."
)


def _unequal_depth(matrix: Matrix) -> bool:
    """Return whether columns are counts, or logarithms of 1 + counts, of unequal totals: in both halves of the rows.

    >>> rng = np.random.default_rng(0)
    >>> mean, depth = rng.gamma(1, 2, size=(200, 1)), rng.lognormal(0, 0.5, size=60)
    >>> _unequal_depth(Matrix(rng.poisson(mean * depth))), _unequal_depth(Matrix(rng.poisson(mean + 0 * depth)))
    (True, False)
    """
    cells, _ = _some_rows(matrix)
    counts = cells if (cells == np.floor(cells)).all() else np.expm1(np.minimum(cells, 30.0))
    whole = np.round(counts)
    if len(cells) < _FEWEST_ROWS or not (whole >= 0).all() or not np.allclose(counts, whole, rtol=1e-9, atol=1e-9):
        return False
    if whole.max() < 2 or whole.min() > 0:  # zeros and ones, or ratings
        return False
    halves = np.array([whole[start::2].sum(axis=0) for start in (0, 1)])
    means = halves.mean(axis=1)
    if not (means > 0).all() or not (halves.std(axis=1) > 0).all():
        return False
    beyond_chance = (halves.var(axis=1) - means) / means**2
    return bool((beyond_chance > DEPTH_LIMIT**2).all() and np.corrcoef(halves)[0, 1] > DEPTH_AGREED)


def _about_tails(shape: str, zeros: float) -> str:
    """Say that values are heavily skewed or heavy-tailed, and what to do, given the share of zeros."""
    if zeros > ZEROS_LIMIT:
        return (
            f"Most cells are 0 ({percent(zeros)}), so values are heavily skewed {shape}, and stay so as logarithms: a search "
            "finds more in them than the null of errors allows for; go by evidence, which takes the ranks of such values."
        )
    return (
        f"Values are heavily skewed or heavy-tailed {shape}: a search finds more in them than the null allows for; "
        "take logarithms, or rank-normalise the rows, first."
    )


def _departures(matrix: Matrix) -> tuple[dict[str, str], str, int, ColumnSeries | None]:
    """Return what is said of column effects, the figures of tails beyond the limits ("" where they are not), the step
    between the rows looked at, and the series they are.
    """
    cells, step = _some_rows(matrix)
    rows = standardise(cells)
    n, m = rows.shape
    findings: dict[str, str] = {}
    tails = ""
    if n < _FEWEST_ROWS or m < 3:
        return findings, tails, step, None
    seen = ~np.isnan(cells)
    seen &= seen.sum(axis=1, keepdims=True) > 1  # one cell alone has no deviation
    in_cols = seen.sum(axis=0)
    n_cells = int(in_cols.sum())
    if not n_cells:
        return findings, tails, step, None
    error = 3 / math.sqrt(n_cells)
    means = rows.sum(axis=0) / np.maximum(in_cols, 1)
    # cells of a column count, and chance alone would explain one in as many
    explained = float((means**2 * (in_cols / in_cols.mean())).mean()) - int(np.count_nonzero(in_cols)) / n_cells
    if explained > COLUMN_EFFECT_LIMIT + error:
        findings[COLUMN_EFFECTS] = (
            f"Columns have strong effects of their own ({percent(explained)} of the variance within rows): chance-corrected "
            "scores are too favourable on raw data; centre the columns first."
        )
    residual = standardise(np.where(seen, rows - means, np.nan))
    skew, kurtosis = float((residual**3).sum()) / n_cells, float((residual**4).sum()) / n_cells - 3
    if abs(skew) > SKEW_LIMIT + 3 * error or kurtosis > KURTOSIS_LIMIT + 5 * error:
        tails = f"(skewness {skew:.1f}, excess kurtosis {kurtosis:.1f})"
    return findings, tails, step, series_in(residual)


def _some_rows(matrix: Matrix) -> tuple[Floats, int]:
    """Return rows of a matrix, evenly spread, and the step between them."""
    n, m = matrix.shape
    if matrix.in_memory:
        step = -(-n // _ROWS_LOOKED_AT)
        return matrix.values[::step], step
    step = -(-n // min(_ROWS_LOOKED_AT, max(_FEWEST_ROWS, CHUNK_CELLS // m)))
    return matrix.block(np.arange(0, n, step), np.arange(m)), step


def _share_of_zeros(matrix: Matrix) -> float:
    """Return the share of zeros among the observed cells of some rows."""
    cells, _ = _some_rows(matrix)
    return float((cells == 0).sum() / max(1, int((~np.isnan(cells)).sum())))


class RowSums(NamedTuple):
    """Sums over each of some rows without row and column means, missing cells 0, of so many columns.

    Of squares, cubes and fourth powers, and of the products of neighbouring columns; `in_row` is how many cells of each
    row are observed.
    """

    n_cols: int
    squares: Floats
    cubes: Floats
    fourths: Floats
    neighbours: Floats
    in_row: Floats

    @classmethod
    def of(cls, cells: Floats, in_row: Floats | None = None) -> RowSums:
        """Add up the rows, of which so many cells each are observed: all of them, unless they are given."""
        squared = cells * cells
        return cls(
            cells.shape[1],
            squared @ np.ones(cells.shape[1]),  # squared.sum(axis=1)
            np.einsum("ij,ij->i", squared, cells),
            np.einsum("ij,ij->i", squared, squared),
            np.einsum("ij,ij->i", cells[:, 1:], cells[:, :-1]),
            np.full(len(cells), float(cells.shape[1])) if in_row is None else in_row,
        )

    def correlation(self) -> float:
        """Return the correlation of neighbouring columns in a typical row, as :func:`neighbour_correlation` says."""
        squares, each, m = self.squares, self.neighbours, self.n_cols
        varies = squares > _ROUNDING * float(squares.max())
        if not varies.all():
            each, squares = each[varies], squares[varies]
            if not len(each):
                return 0.0
        each = each / squares
        at = len(each) // 4
        lower = float(np.partition(each, at)[at])
        correlation = lower
        for _ in range(_ROUNDS):
            raised = lower + _QUARTILE * math.sqrt(max(0.0, 1 - correlation**2) / m)
            correlation = min(_MOST_CORRELATED, (raised + 1 / m) / (1 - 4 / max(m, 8)))
        return correlation

    def heavy_tails(self, rounding: float = 0.0) -> bool:
        """Return whether skewness or kurtosis, rows at variance 1, are beyond the limits.

        Rows whose variance is at most that of `rounding`, or of one observed cell, do not count.
        """
        variance = self.squares / self.in_row
        varies = (variance > max(_ROUNDING * float(variance.max()), rounding)) & (self.in_row > 1)
        n_cells = float(self.in_row[varies].sum())
        if not n_cells:
            return False
        if not varies.all():
            variance = np.where(varies, variance, np.inf)
        weight = 1 / np.sqrt(variance)
        skew = float(weight**3 @ self.cubes) / n_cells  # (rows at variance 1)**3, averaged
        kurtosis = float(weight**4 @ self.fourths) / n_cells - 3
        error = 3 / math.sqrt(n_cells)
        return bool(abs(skew) > SKEW_LIMIT + 3 * error or kurtosis > KURTOSIS_LIMIT + 5 * error)


def neighbour_correlation(cells: Floats) -> float:
    """Correlation of neighbouring columns in a typical row without row and column means; missing cells are 0.

    From the lower quartile of the rows, so that biclusters on neighbouring columns are passed over as long as a quarter
    of the rows is in none. With m columns the sample correlation of an autoregressive row has a standard deviation of
    √((1 − ρ²)/m), by which the quartile is raised again, and is too low by (1 + 4ρ)/m. Column means carry a bicluster
    into all other rows; where they may have, columns are centred at their medians instead.

    >>> rng = np.random.default_rng(0)
    >>> walk = np.cumsum(rng.normal(size=(50, 20)), axis=1)
    >>> white = rng.normal(size=(50, 20))
    >>> [bool(neighbour_correlation(X - X.mean(axis=1, keepdims=True)) > 0.5) for X in (walk, white)]
    [True, False]
    """
    found = RowSums.of(cells).correlation()
    if found <= AUTOCORRELATION_LIMIT:
        return found
    at_medians = cells - np.median(cells, axis=0)
    return min(found, RowSums.of(at_medians - at_medians.mean(axis=1, keepdims=True)).correlation())


def correlation_within(cells: Floats, groups: NDArray[np.int64]) -> float:
    """Return :func:`neighbour_correlation` of what rows of one group do not share: each less the mean of its group.

    Biclusters on neighbouring columns are what the rows in the same ones share; the noise of a series is every row's
    own. NaN where fewer than ten rows are in a group with others.

    >>> X = np.random.default_rng(0).normal(size=(60, 20)) + np.arange(60)[:, None]
    >>> groups = np.repeat([0, 1, 2], 20)
    >>> X += 4 * (groups[:, None] == np.arange(20) // 7)
    >>> bool(correlation_within(X, groups) < 0.1 < 0.5 < neighbour_correlation(X - X.mean(axis=1, keepdims=True)))
    True
    """
    sizes = np.bincount(groups)
    means = np.zeros((len(sizes), cells.shape[1]))
    np.add.at(means, groups, cells)
    means /= np.maximum(sizes, 1)[:, None]
    own = (cells - means[groups])[sizes[groups] > 1]
    if len(own) < _FEWEST_ROWS:
        return math.nan
    return RowSums.of(own - own.mean(axis=1, keepdims=True)).correlation()


def rows_alike(solution: Biclustering, step: int) -> NDArray[np.int64]:
    """Return a number for every `step`-th row, the same for rows that are in the same biclusters.

    >>> numbers = rows_alike(Biclustering([([0, 1, 2], [0]), ([2, 4], [1])], (5, 2)), 1)
    >>> [int(np.flatnonzero(numbers == number)[0]) for number in numbers]
    [0, 0, 2, 3, 4]
    """
    memberships = np.zeros((-(-solution.shape[0] // step), len(solution)), dtype=np.bool_)
    for k, bicluster in enumerate(solution):
        memberships[bicluster.rows[bicluster.rows % step == 0] // step, k] = True
    packed = np.packbits(memberships, axis=1)
    if packed.shape[1] <= 8:  # as one number each they are told apart faster
        words = np.zeros((len(packed), 8), dtype=np.uint8)
        words[:, : packed.shape[1]] = packed
        return np.unique(words.view(np.uint64)[:, 0], return_inverse=True)[1].astype(np.int64, copy=False)
    _, groups = np.unique(packed, axis=0, return_inverse=True)
    return np.asarray(groups, dtype=np.int64).reshape(-1)


class ColumnSeries(NamedTuple):
    """Rows without row and column means whose neighbouring columns are correlated beyond the limit."""

    cells: Floats
    correlation: float
    limit: float

    def correlation_given(self, groups: Groups | None) -> float | None:
        """Return the correlation, at most that within `groups` of rows; None where that is not beyond the limit."""
        within = math.nan if groups is None else correlation_within(self.cells, groups())
        correlation = self.correlation if math.isnan(within) else min(self.correlation, within)
        return correlation if correlation > self.limit else None


def series_in(cells: Floats) -> ColumnSeries | None:
    """Return rows without row and column means as a series, if their neighbouring columns are correlated."""
    return series_by(RowSums.of(cells), lambda: cells)


def series_by(sums: RowSums, cells: Callable[[], Floats]) -> ColumnSeries | None:
    """Do what `series_in` does from the sums of the rows; the cells are asked for where they may be a series.

    The limit of :func:`neighbour_correlation` is widened by three standard errors; fewer than ten rows or three columns
    cannot tell.
    """
    n, m = len(sums.squares), sums.n_cols
    if n < _FEWEST_ROWS or m < 3 or sums.correlation() <= AUTOCORRELATION_LIMIT:
        return None
    limit = AUTOCORRELATION_LIMIT + 3 / math.sqrt(n * m)
    correlation = neighbour_correlation(cells())
    return ColumnSeries(cells(), correlation, limit) if correlation > limit else None


def independent_share(series: ColumnSeries | None, groups: Groups | None = None) -> float:
    """What a cell counts, as a share of an independent one.

    1 unless rows are a series; then (1 − ρ)/(1 + ρ), by which the mean of neighbours in an autoregressive row of
    correlation ρ is known less well. Where `groups` of rows that are in the same biclusters are given, ρ is at most
    their :func:`correlation_within`.

    >>> independent_share(series_in(np.random.default_rng(0).normal(size=(50, 20))))
    1.0
    """
    correlation = None if series is None else series.correlation_given(groups)
    return 1.0 if correlation is None else (1 - correlation) / (1 + correlation)


def deviations(X: Floats, effects: tuple[Floats, Floats, Floats, Floats] | None = None) -> Floats:
    """Return the :func:`rows_looked_at` without row and column means; missing cells are 0.

    `effects` are the :func:`row_and_column_means`, if they were asked for before.
    """
    row_means, col_means, _, _ = row_and_column_means(X) if effects is None else effects
    at = rows_looked_at(X.shape)
    return without_effects(X[at], row_means[at], col_means)


def without_effects(rows: Floats, row_means: Floats, col_means: Floats) -> Floats:
    """Return rows without their means and those of columns; missing cells are 0."""
    cells = rows - row_means[:, None]
    cells -= col_means
    return np.nan_to_num(cells) if math.isnan(float(cells.sum())) else cells


def rows_looked_at(shape: tuple[int, ...]) -> slice:
    """Return the rows evenly spread, of about 100,000 cells, that tails and series are judged by."""
    return slice(None, None, row_step(shape))


def row_step(shape: tuple[int, ...]) -> int:
    """Return the step between the :func:`rows_looked_at`."""
    return -(-shape[0] * shape[1] // _CELLS_LOOKED_AT)


def needs_ranks(sample: Floats, sums: RowSums, rounding: float = 0.0) -> bool:
    """Whether rows are better replaced by normal scores: heavy tails, heavy skew, or one value in every fourth cell.

    Skewness and kurtosis are those of the cells without row and column means, rows at variance 1, beyond the limits
    the chance correction states for them, widened by about three standard errors. Asked of the sums of the
    :func:`deviations`, in which rows of a variance up to that of `rounding` do not count, and for ties of the
    :func:`sorted_sample`.

    >>> rng = np.random.default_rng(0)
    >>> several = rng.normal(size=(100, 30)), rng.standard_t(2, size=(100, 30))
    >>> [needs_ranks(sorted_sample(X), RowSums.of(deviations(X))) for X in several]
    [False, True]
    """
    return is_tied(sample) or sums.heavy_tails(rounding)


def row_and_column_means(X: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return row means, the means of columns once row means are taken out, and how many cells each is over.

    >>> rows, cols, in_row, in_col = row_and_column_means(np.array([[1.0, 3.0], [2.0, np.nan]]))
    >>> rows, cols, in_row, in_col
    (array([2., 2.]), array([-0.5,  1. ]), array([2., 1.]), array([2., 1.]))
    """
    n, m = X.shape
    rows = X @ np.full(m, 1 / m)  # X.mean(axis=1)
    if not math.isnan(float(rows.sum())):
        return rows, np.full(n, 1 / n) @ X - float(rows.sum()) / n, np.full(n, float(m)), np.full(m, float(n))
    seen = np.isfinite(X)
    in_row, in_col = (np.maximum(seen.sum(axis=axis), 1).astype(np.float64) for axis in (1, 0))
    rows = np.where(seen, X, 0.0).sum(axis=1) / in_row
    return rows, np.where(seen, X - rows[:, None], 0.0).sum(axis=0) / in_col, in_row, in_col


def normal_scores(X: ArrayLike) -> Floats:
    """Replace each row by the normal scores of its mid-ranks, Φ⁻¹((rank − 1/2)/m); missing cells stay missing.

    >>> normal_scores([[1, 100, np.nan, 10]]).round(4)
    array([[-0.9674,  0.9674,     nan,  0.    ]])
    """
    from scipy.special import ndtri

    values = np.asarray(X, dtype=np.float64)
    seen = np.isfinite(values)
    if seen.all():
        return np.asarray(ndtri((midranks(values) - 0.5) / values.shape[1]))
    ranks = midranks(np.where(seen, values, np.inf))  # missing cells come last and get no rank
    count = np.maximum(seen.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(seen, ndtri(np.where(seen, ranks - 0.5, 0.5 * count) / count), np.nan))


def lost_to_ties(scores: Floats) -> float:
    """Variance that ties take out of normal scores: nothing can be known about the order within a tie.

    >>> lost_to_ties(normal_scores([[1, 2, 3, 4]])), round(lost_to_ties(normal_scores([[1, 1, 1, 4]])), 4)
    (0.0, 0.3054)
    """
    full, kept, count = tie_sums(scores)
    return max(0.0, full - kept) / max(1.0, count)


def tie_sums(scores: Any, base: Floats | None = None) -> tuple[float, float, float]:
    """Return the sum of squares of normal scores without ties, as they are, and their number.

    With `base`, `scores` are the entries of CSR rows less `base`, which is what all other cells of a row are.
    """
    n, m = scores.shape
    if base is not None:
        of_rows = np.repeat(np.arange(n), np.diff(scores.indptr))
        entries = scores.data + base[of_rows]
        kept = float(entries @ entries) + float((m - np.diff(scores.indptr)) @ base**2)
        return n * float((normal_scores(np.arange(float(m))[None]) ** 2).sum()), kept, float(n * m)
    seen = np.isfinite(scores)
    lengths, times = np.unique(seen.sum(axis=1), return_counts=True)
    full = sum(
        float(times[k] * (normal_scores(np.arange(float(length))[None]) ** 2).sum())
        for k, length in enumerate(lengths)
        if length
    )
    kept = float((scores[seen] ** 2).sum()) if not seen.all() else float((scores**2).sum())
    return full, kept, float(seen.sum())


def spacing(values: Floats) -> float:
    """Smallest difference between distinct values, given sorted: the resolution of counts and of rounded data.

    Differences up to 32·eps·max|x| are rounding; 0 where all are equal.

    >>> spacing(np.array([0.0, 2.0, 6.0]))
    2.0
    """
    if not len(values):
        return 0.0
    gaps = np.diff(values)
    gaps = gaps[gaps > CONSTANT * max(abs(values[0]), abs(values[-1]))]
    return float(gaps.min()) if len(gaps) else 0.0


def is_tied(sample: Floats) -> bool:
    """Whether one value fills more than a quarter of the cells; given a :func:`sorted_sample`.

    >>> is_tied(np.array([0.0, 0.0, 1.0, 2.0])), is_tied(np.arange(4.0))
    (True, False)
    """
    return _most_common(sample) > TIE_LIMIT


def _most_common(values: Floats) -> float:
    """Return the share of the most common of sorted values, 0 where all are equal or few are ties."""
    ties = np.count_nonzero(values[1:] == values[:-1])
    if ties + 1 < TIE_LIMIT * len(values) or not len(values) or values[0] == values[-1]:
        return 0.0
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1], [True]]))
    return float(np.diff(starts).max()) / len(values)


def sorted_sample(X: Floats) -> Floats:
    """Return some 2000 observed values in order; the step shares no factor with the number of columns.

    >>> sorted_sample(np.array([[3.0, np.nan], [1.0, 2.0]]))
    array([1., 2., 3.])
    """
    sample = np.sort(X.reshape(-1)[:: sample_step(X.shape)])
    return np.asarray(sample[: np.searchsorted(sample, np.inf)])  # missing cells are sorted last


def sample_step(shape: tuple[int, ...]) -> int:
    """Return the step between cells of the :func:`sorted_sample`."""
    step = max(1, shape[0] * shape[1] // _VALUES_LOOKED_AT)
    while math.gcd(step, shape[1]) > 1:
        step += 1
    return step
