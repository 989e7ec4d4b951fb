"""Order-preserving submatrices (Ben-Dor et al. 2003): rows that put a set of columns in the same order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Pair, Values
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm
from bivaluate.algorithms.large_average import log_binomial

# e to this is still a number.
LARGEST_EXPONENT = 700.0


@algorithm(
    "opsm",
    "Order-preserving submatrices",
    "OPSM",
    "Grows orders of columns from both ends, keeps those most rows follow, the best of each length; finds K itself.",
    seeks=("order", "additive", "multiplicative"),
    reference="Ben-Dor, Chor, Karp & Yakhini 2003, Discovering local structure in gene expression data: the order-preserving "
    "submatrix problem, J. Comput. Biol. 10(3-4):373-384, doi:10.1089/10665270360688075",
    finds_k=True,
)
class OrderPreservingSubmatrices(BiclusteringEstimator):
    """Biclusters whose rows all put the columns in the same order (OPSM).

    A model is a set T of s columns with an order π; a row supports it if its cells rise strictly along π. For each s,
    partial models of order (a, b), which name the a lowest and b highest columns of T, grow by one column at a time.
    Each is scored by p, the share of rows estimated (by maximum likelihood, from how many columns lie between the two
    ends in each row) to support the completed model, and the best ℓ go on. The best model of every s is kept whose
    number of rows k is not explained by chance: U(s, k) = m!/(m − s)! · P[Binomial(n, 1/s!) ≥ k] bounds the
    probability that any model of s columns has that many rows in a matrix of n × m independent cells.

    Parameters
    ----------
    n_biclusters : int or "auto", default="auto"
        The largest number of biclusters to return, those with the smallest U first; "auto" returns all. The first k of
        K are those found by a run for k.
    n_models : int, default=100
        Partial models kept at each step (ℓ in the paper).
    min_rows, min_columns : int
        Fewest rows and columns of a bicluster; longer models are not tried once none has as many rows.
    max_p_value : float, default=0.05
        Largest U(s, k) of a bicluster.

    Attributes
    ----------
    solution_ : Biclustering
        The biclusters, one for a number of columns, the most significant first.
    orders_ : list of ndarray
        The columns of each bicluster from the lowest to the highest.
    log_p_values_ : ndarray
        log U(s, k) of each bicluster.

    See Also
    --------
    XMotifs, Qubic

    Notes
    -----
    The biclusters of different numbers of columns often describe the same rows. Among models with the same p (to nine
    digits) the one met first goes on. Equal cells of a row are in no order, and such a row supports no model that has
    both columns.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 12))
    >>> X[:25, 2:8] = np.sort(X[:25, 2:8], axis=1)
    >>> model = OrderPreservingSubmatrices(1).fit(X)
    >>> model.solution_[0].shape, model.orders_[0].tolist()
    ((25, 6), [2, 3, 4, 5, 6, 7])
    """

    n_biclusters: Any = "auto"
    _: KW_ONLY
    n_models: Count = 100
    min_rows: Count = 2
    min_columns: Annotated[int, 2, None] = 3
    max_p_value: Annotated[float, np.finfo(float).tiny, None] = 0.05

    def _find(self, X: Values) -> Iterator[Pair]:
        n, m = X.shape
        found = []
        ranks = ranks_of(X)
        for size in range(2, m + 1):
            rows, order = best_model(ranks, size, self.n_models)
            if len(rows) < self.min_rows:
                break
            log_p = log_significance(n, m, size, len(rows))
            if size >= self.min_columns and log_p <= math.log(self.max_p_value):
                found.append((log_p, rows, order))
        found.sort(key=lambda block: block[0])
        found = found[: self.most]
        self.log_p_values_ = np.array([log_p for log_p, _, _ in found])
        self.orders_ = [order for _, _, order in found]
        for _, rows, order in found:
            yield rows, np.sort(order)


def ranks_of(X: Values) -> NDArray[np.int32]:
    """Return how many cells of its row are smaller than each cell."""
    ordered = np.sort(X, axis=1)
    return np.array([np.searchsorted(line, row) for line, row in zip(ordered, X, strict=True)], dtype=np.int32)


def gains_of(m: int, size: int) -> Values:
    """Return A/B − 1 for every number r of columns to come and every gap g.

    A = C(g, r) / C(m, s) is the probability of a row's ranks of the a + b = s − r named columns if the row supports the
    model, B = (m − a − b)!/m! otherwise.
    """
    gains = np.full((max(1, size - 1), m), -1.0)
    for r in range(size - 1):
        g = np.arange(r, m)
        log_ratio = log_binomial(g, r) - log_binomial(m, size) - gammaln(m - size + r + 1.0) + gammaln(m + 1.0)
        gains[r, r:] = np.expm1(np.minimum(log_ratio, LARGEST_EXPONENT))
    return gains


def best_model(ranks: NDArray[np.int32], size: int, n_models: int) -> Pair:
    """Return rows and ordered columns of the best model of `size` columns."""
    from bivaluate.algorithms._kernels_opsm import grow_models

    n, m = ranks.shape
    order, rows = np.empty(m, dtype=np.int64), np.empty(n, dtype=np.int64)
    n_models = min(n_models, m * (m - 1))
    count = grow_models(ranks, size, n_models, gains_of(m, size), order, rows)
    return rows[:count].copy(), order[:size].copy()


def log_significance(n: int, m: int, size: int, count: int) -> float:
    """Return log U(s, k): log(m!/(m − s)!) + log P[Binomial(n, 1/s!) ≥ k]."""
    log_p = -float(gammaln(size + 1.0))
    i = np.arange(count, n + 1)
    terms = log_binomial(n, i) + i * log_p + (n - i) * math.log1p(-math.exp(log_p))
    tail = float(np.logaddexp.reduce(terms))
    return float(gammaln(m + 1.0) - gammaln(m - size + 1.0)) + tail
