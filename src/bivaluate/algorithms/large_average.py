"""Large Average Submatrices (Shabalin et al. 2009): blocks whose average is too high to be chance."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtri

from bivaluate._parallel import SliceThreads
from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Pair, Values
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm
from bivaluate.measures._blocks import is_constant_range

Masks = NDArray[np.uint8]
# Sets of columns that one call works on.
TOGETHER = 32


@algorithm(
    "las",
    "Large Average Submatrices",
    "LAS",
    "Searches from many random starts for blocks with a significantly high average.",
    seeks=("raised",),
    nested=True,
    reference="Shabalin, Weigman, Perou & Nobel 2009, Finding large average submatrices in high dimensional data, "
    "Ann. Appl. Stat. 3(3):985-1012, doi:10.1214/09-AOAS239",
)
class LargeAverageSubmatrices(BiclusteringEstimator):
    """Biclusters with a significantly large average (LAS).

    Columns are standardised. For each bicluster, many searches start from a random set of l columns and alternate
    between the k rows and the l columns with the largest sums; then the numbers of rows and columns are adapted
    greedily to maximise the score S(U) = −log[C(n, r) · C(m, c) · Φ(−τ√(rc))], τ the average of the block. The best
    block is kept and its average subtracted from it before the next search.

    Parameters
    ----------
    n_biclusters : int, default=10
        Number of biclusters to find (K); fewer are returned once no block reaches `min_score`.
        The first k of K are those found by a run for k.
    n_restarts : int, default=1000
        Searches per bicluster, each from l random columns for k rows; k of 1 … ⌈n/2⌉ and l of 1 … ⌈m/2⌉ are drawn.
    min_score : float, default=1.0
        Smallest score S(U) a bicluster may have.
    two_sided : bool, default=False
        Look for low averages too: as many searches again for blocks with a significantly small average.
    n_jobs : int or None, default=None
        Threads; None or -1 for as many as there are cores. The answer never depends on it.

    Attributes
    ----------
    scores_ : ndarray of float
        Score of each bicluster, in nats.
    averages_ : ndarray of float
        Average τ of each bicluster at the time it was found, in standard deviations.

    See Also
    --------
    ChengChurch, CoherentSubmatrices

    Notes
    -----
    Among equal sums the row or column with the lower index comes first; among equal scores the smaller block, and
    the search that started earlier.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:12, :5] += 4
    >>> model = LargeAverageSubmatrices(1, n_restarts=50, random_state=0).fit(X)
    >>> model.solution_[0].shape
    (12, 5)
    """

    n_biclusters: int = 10
    _: KW_ONLY
    n_restarts: Count = 1000
    min_score: float = 1.0
    two_sided: bool = False
    n_jobs: int | None = None

    def _find(self, X: Values) -> Iterator[Pair]:
        rng = self._random()
        scores: list[float] = []
        averages: list[float] = []
        values = standardised(X)
        with SliceThreads(self.n_jobs, X.size * self.n_restarts) as workers:
            for _ in range(self.n_biclusters):
                score, rows, cols = search(values, self.n_restarts, rng, workers)
                if self.two_sided:
                    low_score, low_rows, low_cols = search(-values, self.n_restarts, rng, workers)
                    if low_score > score:
                        score, rows, cols = low_score, low_rows, low_cols
                if score < self.min_score:
                    break
                block = np.ix_(rows, cols)
                average = float(values[block].mean())
                values[block] -= average
                scores.append(score)
                averages.append(average)
                yield rows, cols
        self.scores_ = np.array(scores)
        self.averages_ = np.array(averages)


def standardised(X: Values) -> Values:
    """Return a copy of `X` with columns of mean 0 and standard deviation 1; constant columns become 0."""
    centred = X - X.mean(axis=0)
    centred -= centred.mean(axis=0)
    spread = centred.std(axis=0)
    constant = is_constant_range(X.min(axis=0), X.max(axis=0))
    centred[:, constant] = 0.0
    centred /= np.where(constant, 1.0, spread)
    return np.ascontiguousarray(centred)


def log_binomial(n: Any, k: Any) -> Any:
    """Return log C(n, k)."""
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


@lru_cache(8)
def log_binomials(n: int) -> Values:
    """Return log C(n, r) for r = 0 … n."""
    return np.asarray(log_binomial(n, np.arange(n + 1.0)), dtype=np.float64)


def search(
    X: Values, n_restarts: int, rng: np.random.RandomState, workers: SliceThreads
) -> tuple[float, NDArray[np.int64], NDArray[np.int64]]:
    """Return (score, rows, cols) of the best block found from random starts."""
    from bivaluate.algorithms._kernels_las import adapt_size, constrained_search

    n, m = X.shape
    Xt = np.ascontiguousarray(X.T)
    n_rows = rng.randint(1, -(-n // 2) + 1, n_restarts)
    n_cols = rng.randint(1, -(-m // 2) + 1, n_restarts)
    lots = -rng.random_sample((n_restarts, m))
    # Row sums of standardised columns are near normal: a first guess at the k-th largest.
    guess = np.sqrt(n_cols) * ndtri(1.0 - n_rows / (n + 1.0))
    sets = np.empty((n_restarts, m), np.uint8)

    starts = n_rows, n_cols, lots, guess, sets
    workers.run(lambda part: constrained_search(X, Xt, *(of[part] for of in starts)), n_restarts, TOGETHER)
    choices = log_binomials(n), log_binomials(m)
    best, best_set, best_rows = -np.inf, sets[0], sets[0]
    seen: set[bytes] = set()
    while True:
        sets = sets[_unseen(sets, seen)]
        if len(sets) == 0:
            return best, np.flatnonzero(best_rows), np.flatnonzero(best_set)
        rows, new_sets, scores = np.empty((len(sets), n), np.uint8), np.empty_like(sets), np.empty(len(sets))

        def adapt(part: slice, some: tuple[np.ndarray, ...] = (sets, rows, new_sets, scores)) -> None:
            adapt_size(X, Xt, choices, *(of[part] for of in some))

        workers.run(adapt, len(sets), TOGETHER)
        top = int(scores.argmax())
        if scores[top] > best:
            best, best_rows, best_set = float(scores[top]), rows[top], new_sets[top]
        sets = new_sets


def _unseen(sets: Masks, seen: set[bytes]) -> list[int]:
    """Return the first of each set that has not been seen before, and remember them."""
    packed = np.packbits(sets, axis=1)
    together, size = packed.tobytes(), packed.shape[1]
    first = []
    for i in range(len(sets)):
        key = together[i * size : (i + 1) * size]
        if key not in seen:
            seen.add(key)
            first.append(i)
    return first
