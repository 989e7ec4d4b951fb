"""Does a matrix look like the noise that is assumed, and what to do where it does not: centre it, or take ranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bivaluate._check import check_choice
from bivaluate._rows import CHUNK_CELLS
from bivaluate._text import percent
from bivaluate._types import Floats, Ints
from bivaluate.matrix import Matrix
from bivaluate.measures._blocks import standardise
from bivaluate.measures.cover import member_classes
from bivaluate.solution import Biclustering

Groups = Callable[[], Ints]

COLUMN_EFFECT_LIMIT = 0.10
SKEW_LIMIT = 1.0
KURTOSIS_LIMIT = 3.0
AUTOCORRELATION_LIMIT = 0.20
# Standard deviations from a normal mean to its lower quartile; rounds in which the correlation and its spread settle.
_QUARTILE, _ROUNDS, _MOST_CORRELATED = 0.6745, 10, 0.99
_ROWS_LOOKED_AT = 500
_FEWEST_ROWS = 10
# Rows with less than this share of the squares of others hold nothing but rounding.
_ROUNDING = 1e-24
#: Columns whose order means nothing are no series, however alike neighbours are: samples may be sorted by class.
UNORDERED = {"samples", "cells", "patients", "tumours", "tissues", "donors", "people", "users", "items", "films"}
UNORDERED |= {"genes", "proteins", "words", "documents", "features"}
COLUMN_EFFECTS, TAILS, SMOOTHNESS = "column effects", "tails", "smoothness"


def column_means(values: Floats) -> Floats:
    """Mean of each column over its observed cells; 0 for a column without any."""
    sums, seen = _column_sums(False, 0, values)
    return np.asarray(sums / np.maximum(seen, 1))


def column_means_of(matrix: Matrix) -> Floats:
    """Mean of each column of a matrix in whatever form over its observed cells, some rows at a time."""
    if matrix.in_memory:
        return column_means(matrix.values)
    sums, seen = zip(*matrix.map_chunks(partial(_column_sums, matrix.absent == "missing")), strict=True)
    return np.asarray(sum(sums) / np.maximum(sum(seen), 1))


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


def broken_assumptions(matrix: Matrix, solution: Biclustering | None = None) -> dict[str, str]:
    """Say in words where a matrix breaks the assumptions of E0 and V* (independent, roughly normal cells).

    Looks at the observed cells of no more than 500 rows, evenly spread. Three questions, all on rows standardised to
    mean 0 and variance 1:
    what share of the variance do column means explain (limit 0.10); how skewed and heavy-tailed are the cells (limits 1
    and 3); how strongly do neighbouring columns correlate in a typical row (limit 0.20). Limits are widened by about
    three standard errors for small matrices. Columns on which biclusters of a `solution` lie side by side are no
    series, and neither are samples, cells and others whose order means nothing. The sentences are keyed by what they
    are about.

    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> broken_assumptions(Matrix(X))
    {}
    >>> broken_assumptions(Matrix(X + 2 * np.sin(np.arange(30))))[COLUMN_EFFECTS][:28]
    'Columns have strong effects '
    """
    sentences, step, series = matrix.once(_departures)
    groups = None if solution is None else partial(rows_alike, solution, step)
    series = None if matrix.nouns[1] in UNORDERED else series
    correlation = None if series is None else series.correlation_given(groups)
    if correlation is None:
        return dict(sentences)
    smooth = (
        f"Neighbouring columns are correlated ({correlation:.2f}), as in a time series: a search finds more in them than the "
        "null of errors allows for; go by evidence, which allows for it."
    )
    return sentences | {SMOOTHNESS: smooth}


def _departures(matrix: Matrix) -> tuple[dict[str, str], int, ColumnSeries | None]:
    """Return what is said of column effects and tails, the step between the rows looked at, and the series they are."""
    cells, step = _some_rows(matrix)
    rows = standardise(cells)
    n, m = rows.shape
    findings: dict[str, str] = {}
    seen = ~np.isnan(cells)
    seen &= seen.sum(axis=1, keepdims=True) > 1  # one cell alone has no deviation
    in_cols = seen.sum(axis=0)
    n_cells = int(in_cols.sum())
    if n < _FEWEST_ROWS or m < 3 or not n_cells:
        return findings, step, None
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
        findings[TAILS] = (
            f"Values are heavily skewed or heavy-tailed (skewness {skew:.1f}, excess kurtosis {kurtosis:.1f}): a search finds "
            "more in them than the null allows for; take logarithms, or rank-normalise the rows, first."
        )
    return findings, step, series_in(residual)


def _some_rows(matrix: Matrix) -> tuple[Floats, int]:
    """Return rows of a matrix, evenly spread, and the step between them."""
    n, m = matrix.shape
    step = -(-n // min(_ROWS_LOOKED_AT, max(_FEWEST_ROWS, CHUNK_CELLS // m)))
    return matrix.block(np.arange(0, n, step), np.arange(m)), step


def _correlation(cells: Floats) -> float:
    squares, neighbours = np.einsum("ij,ij->i", cells, cells), np.einsum("ij,ij->i", cells[:, 1:], cells[:, :-1])
    varies = squares > _ROUNDING * float(squares.max(initial=0.0))
    if not varies.any():
        return 0.0
    each, m = neighbours[varies] / squares[varies], cells.shape[1]
    at = len(each) // 4
    lower = float(np.partition(each, at)[at])
    correlation = lower
    for _ in range(_ROUNDS):
        raised = lower + _QUARTILE * math.sqrt(max(0.0, 1 - correlation**2) / m)
        correlation = min(_MOST_CORRELATED, (raised + 1 / m) / (1 - 4 / max(m, 8)))
    return correlation


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
    found = _correlation(cells)
    if found <= AUTOCORRELATION_LIMIT:
        return found
    at_medians = cells - np.median(cells, axis=0)
    return min(found, _correlation(at_medians - at_medians.mean(axis=1, keepdims=True)))


def correlation_within(cells: Floats, groups: Ints) -> float:
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
    return _correlation(own - own.mean(axis=1, keepdims=True))


def rows_alike(solution: Biclustering, step: int) -> Ints:
    """Return a number for every `step`-th row, the same for rows that are in the same biclusters.

    >>> numbers = rows_alike(Biclustering([([0, 1, 2], [0]), ([2, 4], [1])], (5, 2)), 1)
    >>> [int(np.flatnonzero(numbers == number)[0]) for number in numbers]
    [0, 0, 2, 3, 4]
    """
    memberships = np.zeros((len(solution), -(-solution.shape[0] // step)), dtype=np.bool_)
    for k, bicluster in enumerate(solution):
        memberships[k, bicluster.rows[bicluster.rows % step == 0] // step] = True
    return member_classes(memberships)


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
    """Return rows without row and column means as a series, if their neighbouring columns are correlated.

    The limit of :func:`neighbour_correlation` is widened by three standard errors; fewer than ten rows or three columns
    cannot tell.
    """
    n, m = cells.shape
    if n < _FEWEST_ROWS or m < 3:
        return None
    limit = AUTOCORRELATION_LIMIT + 3 / math.sqrt(n * m)
    correlation = neighbour_correlation(cells)
    return ColumnSeries(cells, correlation, limit) if correlation > limit else None


def normal_scores(X: ArrayLike) -> Floats:
    """Replace each row by the normal scores of its mid-ranks, Φ⁻¹((rank − 1/2)/m); missing cells stay missing.

    >>> normal_scores([[1, 100, np.nan, 10]]).round(4)
    array([[-0.9674,  0.9674,     nan,  0.    ]])
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    values = np.asarray(X, dtype=np.float64)
    seen = np.isfinite(values)
    ranks = rankdata(np.where(seen, values, np.inf), axis=1)  # missing cells come last and get no rank
    count = np.maximum(seen.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(seen, ndtri(np.where(seen, ranks - 0.5, 0.5 * count) / count), np.nan))
