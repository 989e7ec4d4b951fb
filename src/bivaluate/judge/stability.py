"""Stability: are biclusters reproducible when rows and columns are left out, more than in surrogates?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_choice, check_instance, check_int, check_real
from bivaluate._errors import ParameterError, SearchWarning
from bivaluate._text import plural
from bivaluate.chance.surrogates import SURROGATES, surrogate
from bivaluate.matrix import Matrix
from bivaluate.measures.cover import cell_jaccard
from bivaluate.solution import Biclustering, check_solution, fitted_solution

Floats = NDArray[np.float64]
Fit = Callable[[Floats], Biclustering]


@dataclass(frozen=True)
class Stability:
    """How reproducible biclusters are; made by :func:`stability`."""

    solution: Biclustering
    found_again: Floats
    by_chance: float

    @property
    def per_bicluster(self) -> Floats:
        """Found again, less what surrogates give."""
        return np.asarray(self.found_again - self.by_chance)

    @property
    def mean(self) -> float:
        """Mean over the biclusters; NaN without any."""
        kept = self.per_bicluster[~np.isnan(self.per_bicluster)]
        return float(kept.mean()) if len(kept) else float("nan")


def stability(
    X: Any,
    fit: Fit | Any,
    *,
    repeats: int = 10,
    share: float = 0.75,
    null: str = "permute",
    null_runs: int = 2,
    random_state: int | Sequence[int] = 0,
) -> Stability:
    """Find biclusters again in subsamples of rows and columns, and compare with surrogates treated the same way.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix of shape (n, m)
        Data matrix without missing cells.
    fit : callable or estimator
        ``fit(X)`` returns the Biclustering found in a matrix; or an estimator, of which a clone is fitted each time.
    repeats : int, default=10
        Subsamples of the matrix, and as many of each surrogate.
    share : float, default=0.75
        Share of the rows, and of the columns, in each.
    null : {"permute", "phase"}, default="permute"
        Kind of surrogate.
    null_runs : int, default=2
        Surrogates; 0 leaves out the comparison.
    random_state : int or sequence of int, default=0
        Seed.

    Returns
    -------
    Stability
        How reproducible each bicluster is.

    Raises
    ------
    ParameterError
        If an option is not allowed, or a subsample would have fewer than two rows or columns.

    See Also
    --------
    consensus_biclusters

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 20))
    >>> X[:12, :8] += 4
    >>> high = lambda X: Biclustering([(np.flatnonzero(X.mean(1) > 1), np.flatnonzero(X.mean(0) > 0.6))], X.shape)
    >>> round(stability(X, high, null_runs=0).mean, 2)
    0.95
    """
    values = Matrix.of(X).values
    check_instance("fit", fit)
    if not callable(fit):
        fit = _fitted_anew(fit)
    check_int("repeats", repeats, 1)
    check_int("null_runs", null_runs, 0)
    check_real("share", share, 0.0, 1.0)
    check_choice("null", null, SURROGATES)
    kept = tuple(round(share * size) for size in values.shape)
    if min(kept) < 2:
        left = f"{plural(kept[0], 'row')} and {plural(kept[1], 'column')}"
        raise ParameterError(f"share is {share:g}: that leaves {left} of X, and two of each are needed.")
    rng = np.random.default_rng(random_state)
    with warnings.catch_warnings(action="ignore", category=SearchWarning):  # less is found in parts, and in noise
        solution, again = _found_again(values, fit, repeats, kept, rng)
        nulls = [_found_again(surrogate(values, null, rng), fit, repeats, kept, rng)[1] for _ in range(null_runs)]
    chance = np.concatenate(nulls) if nulls else np.zeros(0)
    chance = chance[~np.isnan(chance)]
    return Stability(solution, again, float(chance.mean()) if len(chance) else 0.0)


def _fitted_anew(estimator: Any) -> Fit:
    """Return a function that fits a copy of the estimator and gives its solution."""
    from sklearn.base import clone

    if not hasattr(estimator, "fit"):
        how = "pass an estimator, or a function of a matrix"
        raise ParameterError(f"fit is of type {type(estimator).__name__}; {how}.")
    return lambda values: fitted_solution(clone(estimator).fit(values), values)


def _found_again(
    X: Floats, fit: Fit, repeats: int, kept: tuple[int, ...], rng: np.random.Generator
) -> tuple[Biclustering, Floats]:
    """Return what is found in the whole matrix, and how well each bicluster is found in subsamples."""
    solution = fit(X)
    best = np.full((repeats, len(solution)), np.nan)
    for repeat in range(repeats):
        rows, cols = (np.sort(rng.choice(size, n, replace=False)) for size, n in zip(X.shape, kept, strict=True))
        part = fit(np.ascontiguousarray(X[np.ix_(rows, cols)]))
        others = [(rows[b.rows], cols[b.cols]) for b in part]
        for k, bicluster in enumerate(solution):
            left = np.intersect1d(bicluster.rows, rows), np.intersect1d(bicluster.cols, cols)
            if len(left[0]) and len(left[1]):
                best[repeat, k] = max((cell_jaccard(left, other) for other in others), default=0.0)
    counts, sums = (~np.isnan(best)).sum(axis=0), np.nansum(best, axis=0)
    return solution, np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


@dataclass(frozen=True)
class Consensus:
    """Biclusters that recur over several solutions; made by :func:`consensus_biclusters`."""

    solution: Biclustering
    support: Floats


def consensus_biclusters(
    solutions: Sequence[Biclustering], *, min_support: float = 0.5, min_jaccard: float = 0.5
) -> Consensus:
    """Return the biclusters that recur in several solutions of one matrix, for instance over seeds.

    Every bicluster is a candidate: it gathers, from each solution, the bicluster nearest to it by cell Jaccard index,
    if that index is at least `min_jaccard`. The candidate with most followers (then with the largest mean index, then
    the earliest) becomes a group, its followers leave, and the rest is looked at again. A row or column belongs to the
    consensus if at least half of the group has it.

    Parameters
    ----------
    solutions : sequence of Biclustering
        Solutions of one matrix.
    min_support : float, default=0.5
        Smallest share of the solutions a consensus bicluster must come from.
    min_jaccard : float, default=0.5
        Smallest cell Jaccard index between a bicluster and its followers.

    Returns
    -------
    Consensus
        The biclusters that recur, and how often.

    Raises
    ------
    ParameterError
        If there are no solutions, or an option is out of range.
    SolutionError
        If the solutions belong to matrices of different shapes.

    See Also
    --------
    stability

    Examples
    --------
    >>> first = Biclustering([([0, 1, 2], [0, 1, 2]), ([7, 8], [3, 4])], (10, 6))
    >>> second = Biclustering([([0, 1, 2, 3], [0, 1, 2])], (10, 6))
    >>> found = consensus_biclusters([first, second, second])
    >>> found.solution[0].rows.tolist(), found.support.tolist()
    ([0, 1, 2, 3], [1.0])
    """
    if not solutions:
        raise ParameterError("there are no solutions; a consensus needs at least one.")
    check_real("min_support", min_support, 0.0, 1.0)
    check_real("min_jaccard", min_jaccard, 0.0, 1.0)
    shape = check_solution(solutions[0], "solutions[0]").shape
    members = [(s, b) for s, solution in enumerate(solutions) for b in check_solution(solution).with_shape(shape)]
    jaccard = np.array([[cell_jaccard(one, other) for _, other in members] for _, one in members])
    source = np.array([s for s, _ in members], dtype=np.int64)
    free = np.ones(len(members), dtype=np.bool_)
    groups: list[list[int]] = []
    while free.any():
        followers = [_followers(jaccard[k], source, free, min_jaccard) if free[k] else [] for k in range(len(members))]
        best = max(np.flatnonzero(free), key=lambda k: (len(followers[k]), float(jaccard[k, followers[k]].mean()), -k))
        group = followers[best]
        if len(group) < min_support * len(solutions):
            break
        groups.append(group)
        free[group] = False
    consensus = [
        tuple(_in_half([getattr(members[k][1], side) for k in group]) for side in ("rows", "cols")) for group in groups
    ]
    support = np.array([len(group) / len(solutions) for group in groups])
    return Consensus(Biclustering(consensus, shape), support)


def _followers(jaccard: Floats, source: NDArray[np.int64], free: NDArray[np.bool_], least: float) -> list[int]:
    """Return the nearest free bicluster of every solution that is near enough."""
    chosen = []
    for s in np.unique(source[free]):
        here = np.flatnonzero(free & (source == s))
        nearest = int(here[jaccard[here].argmax()])
        if jaccard[nearest] >= least:
            chosen.append(nearest)
    return chosen


def _in_half(sides: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    members, counts = np.unique(np.concatenate(sides), return_counts=True)
    return np.asarray(members[2 * counts >= len(sides)])
