"""The iterative signature algorithm (Bergmann, Ihmels & Barkai 2003): rows and columns that select each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack
from sklearn.utils.random import sample_without_replacement

from bivaluate.algorithms._estimator import Amount, BiclusteringEstimator, Count, Natural, Pair, Values
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm
from bivaluate.measures._blocks import is_constant_range

THRESHOLDS = (1.0, 1.5, 2.0, 2.5, 3.0)
MAX_ITERATIONS = 100
CONVERGED = 1e-4
# Modules are one if the cosine of their row scores times the cosine of their column scores exceeds this.
SAME = 0.5
# Cells of row scores worked on at a time.
CHUNK = 1 << 22
# Scores are multiplied as sparse ones while fewer than this share of them is not 0.
FEW = 0.08


class Modules(NamedTuple):
    """Fixed points, one per line: row scores, column scores, strength, and which pair of thresholds found them."""

    rows: Any
    cols: Any
    strength: Values
    pair: NDArray[np.int64]


@algorithm(
    "isa",
    "Iterative signature algorithm",
    "ISA",
    "Lets random sets of rows and columns select each other until they no longer change; finds K itself.",
    seeks=("raised", "multiplicative"),
    finds_k=True,
    sparse=True,
    reference="Bergmann, Ihmels & Barkai 2003, Iterative signature algorithm for the analysis of large-scale gene "
    "expression data, Phys. Rev. E 67:031902, doi:10.1103/PhysRevE.67.031902",
)
class IterativeSignature(BiclusteringEstimator):
    """Modules of rows and columns that select each other (the iterative signature algorithm, ISA).

    From a random set of rows, every column is scored by the average of these rows in it and those that deviate by
    more than t_C standard deviations are kept; then every row is scored by its average over these columns, weighted by
    their scores, and those above t_G standard deviations are kept; and so on until nothing changes. What does not
    change is a module. A scrambled copy of the matrix says how strong a module must be.

    Parameters
    ----------
    n_biclusters : int or "auto", default="auto"
        Largest number of modules returned; ``"auto"`` for all that are found. The most robust come first.
    row_threshold, col_threshold : float or None, default=None
        How many standard deviations the score of a row must be above average (t_G in the paper), that of a column
        above or below (t_C). None: 1, 1.5, 2, 2.5 and 3, each with every one of the other side.
    n_seeds : int, default=100
        Random sets of rows to start from, for every pair of thresholds.
    two_sided : bool, default=False
        Also keep columns whose score is low; a module may then hold columns that are high and columns that are low.
    n_scrambled : int, default=1
        Scrambled copies of the matrix; a module must be stronger than all that the same thresholds find in them.
        0 keeps every module.

    Attributes
    ----------
    robustness_ : ndarray of float
        Strength of each module over the largest strength in scrambled copies at the same thresholds.
    row_scores_, col_scores_ : ndarray of float, of shape (K, n_rows) and (K, n_cols)
        Scores of members, of length 1; 0 for the others.

    See Also
    --------
    Qubic, LargeAverageSubmatrices

    Notes
    -----
    E_G is the matrix with columns of mean 0 and variance 1, E_C the same for rows; neither is ever built, so that a
    sparse matrix stays sparse. One round is c = f(E_Gᵀ g; t_C) and g = f(E_C c; t_G), where f standardises the
    scores, sets those within the threshold to 0 and scales the rest to length 1. All seeds advance together; two
    that hold the same rows at the same thresholds go on as one. A seed has converged when ‖g′ − g‖ < 1e-4 ‖g′ + g‖;
    one that has not after 100 rounds is dropped. The strength of a module is √(gᵀE_C c · gᵀE_G c). Of modules
    that agree (cosine of row scores times cosine of column scores above 0.5) the most robust is kept. Modules of a
    single row or column are dropped.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:12, :5] += 4
    >>> model = IterativeSignature(1, random_state=0).fit(X)
    >>> model.solution_[0].shape
    (12, 5)
    """

    n_biclusters: int | str = "auto"
    _: KW_ONLY
    row_threshold: Amount | None = None
    col_threshold: Amount | None = None
    n_seeds: Count = 100
    two_sided: bool = False
    n_scrambled: Natural = 1

    def _find(self, X: Any) -> Iterator[Pair]:
        thresholds = (self.row_threshold, self.col_threshold)
        pairs = np.array(list(product(*(THRESHOLDS if value is None else (float(value),) for value in thresholds))))
        rng = self._random()
        seeds = random_sets(X.shape[0], self.n_seeds, rng)
        found = iterate(X, seeds, pairs, bool(self.two_sided))
        chance = [iterate(scrambled(X, rng), seeds, pairs, bool(self.two_sided)) for _ in range(self.n_scrambled)]
        robustness = found.strength / strength_by_chance(chance, pairs)[found.pair]
        kept = [k for k in distinct_modules(found, robustness) if self.n_scrambled == 0 or robustness[k] > 1]
        kept = kept[: self.most]
        self.robustness_ = robustness[kept]
        rows, cols = found.rows[kept], found.cols[kept]
        self.row_scores_, self.col_scores_ = rows.toarray(), cols.toarray()
        for k in range(len(kept)):
            yield rows[[k]].nonzero()[1], cols[[k]].nonzero()[1]


def random_sets(n: int, n_seeds: int, rng: np.random.RandomState) -> NDArray[np.bool_]:
    """Return random sets of 1 … ⌈n/2⌉ rows as masks; small sets are as likely as large ones, by order of size."""
    sizes = np.exp(rng.uniform(0, np.log(-(-n // 2) + 1), n_seeds)).astype(np.int64)
    seeds = np.zeros((n_seeds, n), dtype=np.bool_)
    for seed, size in zip(seeds, sizes, strict=True):
        seed[rng.choice(n, size, replace=False)] = True
    return seeds


def strength_by_chance(chance: list[Modules], pairs: Values) -> Values:
    """Return, for every pair of thresholds, the largest strength in scrambled copies.

    Higher thresholds give weaker modules: where scrambled copies hold none, the least of lower thresholds counts, and
    where there is none either 1, the strength of a cell one standard deviation from the mean.
    """
    largest = np.zeros(len(pairs))
    for found in chance:
        np.maximum.at(largest, found.pair, found.strength)
    limit = largest.copy()
    for p in np.flatnonzero(largest == 0):
        lower = largest[(pairs <= pairs[p]).all(axis=1) & (largest > 0)]
        limit[p] = lower.min() if len(lower) else 1.0
    return limit


def scrambled(X: Any, rng: np.random.RandomState) -> Any:
    """Return `X` with its cells in random places; dense and sparse give the same for the same seed."""
    n, m = X.shape
    values = X.data if issparse(X) else X[X != 0]
    places = sample_without_replacement(n * m, len(values), random_state=rng)
    values = values[rng.permutation(len(values))]
    if issparse(X):
        return csr_array((values, np.divmod(places, m)), shape=(n, m))
    copy = np.zeros(n * m)
    copy[places] = values
    return copy.reshape(n, m)


def iterate(X: Any, seeds: NDArray[np.bool_], pairs: Values, two_sided: bool) -> Modules:
    """Return the fixed points reached from every seed under every pair of (row, column) thresholds."""
    to_cols, to_rows = _turn(X, axis=0), _turn(X, axis=1)
    pair = np.tile(np.arange(len(pairs)), len(seeds))
    seed = np.repeat(np.arange(len(seeds)), len(pairs))
    size = max(1, CHUNK // max(X.shape))
    none = (csr_array((0, X.shape[0])), csr_array((0, X.shape[1])))
    parts = [Modules(*none, np.empty(0), np.empty(0, np.int64))]
    for start in range(0, len(pair), size):
        which = pair[start : start + size]
        g = csr_array(seeds[seed[start : start + size]], dtype=np.float64)
        g.data /= np.repeat(np.sqrt(np.diff(g.indptr)), np.diff(g.indptr))
        for _ in range(MAX_ITERATIONS):
            c, col_strength = to_cols(g, pairs[which, 1], two_sided)
            new, row_strength = to_rows(c, pairs[which, 0], False)
            alive = (np.diff(c.indptr) > 0) & (np.diff(new.indptr) > 0)
            # For vectors of length 1, ‖g′ − g‖² / ‖g′ + g‖² = (1 − g·g′) / (1 + g·g′).
            cosine = np.asarray(new.multiply(g).sum(axis=1)).ravel()
            done = alive & (1.0 - cosine < CONVERGED**2 * (1.0 + cosine))
            large = done & (np.diff(c.indptr) > 1) & (np.diff(new.indptr) > 1)
            if large.any():
                strength = np.sqrt(np.maximum(row_strength[large] * col_strength[large], 0.0))
                parts.append(Modules(new[large], c[large], strength, which[large]))
            on = np.flatnonzero(alive & ~done)
            if len(on) == 0:
                break
            on = on[_first_of_each(new[on], which[on])]
            g, which = new[on], which[on]
    rows, cols, strength, found = zip(*parts, strict=True)
    return Modules(vstack(rows, "csr"), vstack(cols, "csr"), np.concatenate(strength), np.concatenate(found))


def _turn(X: Any, axis: int) -> Callable[[Any, Values, bool], tuple[Any, Values]]:
    """Return what takes weights, one line per seed, and thresholds to the weights of the other side and their strength.

    The scores are the product with the matrix standardised along `axis`: gᵀE_G for 0, cᵀE_Cᵀ for 1.
    """
    from bivaluate.algorithms._kernels_signature import beyond

    n = X.shape[axis]
    mean = np.asarray(X.mean(axis=axis)).ravel()
    if issparse(X):
        A = X if axis == 0 else X.T.tocsr()
        variance = np.asarray(X.multiply(X).sum(axis=axis)).ravel() / n - mean**2
        variance[variance <= 1e-14 * mean**2] = 0.0
    else:
        A = X if axis == 0 else np.ascontiguousarray(X.T)
        variance = X.var(axis=axis)
        variance[is_constant_range(X.min(axis=axis), X.max(axis=axis))] = 0.0
    scale = np.zeros(len(variance))
    np.divide(1.0, np.sqrt(variance), out=scale, where=variance > 0)

    def turn(weights: Any, thresholds: Values, two_sided: bool) -> tuple[Any, Values]:
        # weights @ ((A - mean) / std)
        few = issparse(A) or weights.nnz < FEW * weights.shape[0] * weights.shape[1]
        out = weights @ A if few else weights.toarray() @ A
        out = np.ascontiguousarray(out.toarray() if issparse(out) else out)
        totals = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
        bounds, places, kept, strength = beyond(out, totals, mean, scale, thresholds, two_sided)
        return csr_array((kept, places, bounds), shape=out.shape), strength

    return turn


def _first_of_each(members: Any, which: NDArray[np.int64]) -> list[int]:
    """Return the first of the seeds that hold the same rows at the same thresholds, in order."""
    ends = members.indptr
    first: dict[tuple[int, bytes], int] = {}
    for s, pair in enumerate(which):
        first.setdefault((int(pair), members.indices[ends[s] : ends[s + 1]].tobytes()), s)
    return list(first.values())


def distinct_modules(found: Modules, robustness: Values) -> list[int]:
    """Return the modules that repeat no better one, the most robust first."""
    left = np.argsort(-np.round(robustness, 9), kind="stable")
    kept: list[int] = []
    while len(left):
        best = int(left[0])
        kept.append(best)
        rows = (found.rows[left] @ found.rows[[best]].T).toarray().ravel()
        cols = (found.cols[left] @ found.cols[[best]].T).toarray().ravel()
        same = rows * cols > SAME
        same[0] = True
        left = left[~same]
    return kept
