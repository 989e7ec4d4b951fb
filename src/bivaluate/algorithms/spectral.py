"""Spectral checkerboard biclustering (Kluger et al. 2003), step by step as scikit-learn does it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import randomized_svd

from bivaluate._errors import DegenerateWarning, MatrixError, ParameterError
from bivaluate._parallel import one_thread
from bivaluate._text import plural
from bivaluate.algorithms._estimator import BiclusteringEstimator, Pair, Values
from bivaluate.algorithms._k_means import k_means, k_means_of_scikit_learn
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm
from bivaluate.measures.normalised import normalised_virtual_errors
from bivaluate.solution import Biclustering

# As scikit-learn's SpectralBiclustering has them: singular vectors looked at, those kept, starts of k-means, and when
# rows and columns are scaled well enough.
N_VECTORS, N_BEST, N_INIT = 6, 3, 10
MOST_SCALINGS, SCALED = 1000, 1e-5
# Vectors of length 1 that are approximated equally well but for this are told apart by scikit-learn's own arithmetic.
SAME_ERROR = 1e-9


@algorithm(
    "spectral",
    "Spectral checkerboard",
    "Spectral",
    "Clusters rows and columns into a K x K checkerboard by singular vectors, and takes K of its blocks.",
    seeks=("checkerboard",),
    reference="Kluger, Basri, Chang & Gerstein 2003, Spectral biclustering of microarray data, "
    "Genome Res. 13:703-716, doi:10.1101/gr.648603",
)
class SpectralCheckerboard(BiclusteringEstimator):
    """Spectral biclustering: a K × K checkerboard of row and column clusters, K of its cells taken.

    Parameters
    ----------
    n_biclusters : int, default=2
        K: the number of row clusters and of column clusters, and of biclusters taken from the K² cells.
    selection : {"first", "best", "all"}, default="first"
        Which cells become biclusters. ``"first"``: the first K, that is the first row cluster with every
        column cluster, as published comparisons do. ``"best"``: the K cells whose normalised virtual error
        NVE_k among all non-empty cells is lowest (ties and undefined ones in checkerboard order, undefined last).
        ``"all"``: every cell. Empty cells never become biclusters.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of each row and column.

    See Also
    --------
    SpectralCoclusters, BlockAverageCoclustering

    Notes
    -----
    The labels are those of scikit-learn's ``SpectralBiclustering``. In a sweep, fits for several K share the
    normalisation and the singular vectors. A row or column that is the minimum throughout cannot be normalised: only
    then is the matrix raised by 1 % of its range first. scikit-learn's threads are held to one, because more are slower
    on such small problems.

    Examples
    --------
    >>> X = np.kron([[9.0, 1.0], [2.0, 8.0]], np.ones((4, 3))) + np.arange(48).reshape(8, 6) / 100
    >>> model = SpectralCheckerboard(2, random_state=0).fit(X)
    >>> [b.shape for b in model.solution_]
    [(4, 3), (4, 3)]

    scikit-learn's own co-clustering can be scored as well:

    >>> from sklearn.cluster import SpectralCoclustering
    >>> from bivaluate.solution import Biclustering
    >>> Biclustering.from_estimator(SpectralCoclustering(2, random_state=0).fit(X))
    Biclustering(2 biclusters of a matrix of 8 x 6)
    """

    n_biclusters: int = 2
    _: KW_ONLY
    selection: Literal["first", "best", "all"] = "first"

    def _find(self, X: Values) -> Iterator[Pair]:
        K = int(self.n_biclusters)
        n, m = X.shape
        if min(n, m) < K:
            found = f"X has {plural(n, 'row')} and {plural(m, 'column')} (n_samples={n}, n_features={m})"
            needs = f"a {K} x {K} checkerboard needs at least {K} rows and {K} columns"
            raise ParameterError(f"n_biclusters is {K}, and {needs}, but {found}. Ask for at most {min(n, m)}.")
        self.row_labels_, self.column_labels_ = self._checkerboard(X, K)
        cells = [
            (np.flatnonzero(self.row_labels_ == r), np.flatnonzero(self.column_labels_ == c))
            for r in range(K)
            for c in range(K)
        ]
        if self.selection == "first":
            cells = cells[:K]
        cells = [(rows, cols) for rows, cols in cells if len(rows) and len(cols)]
        if self.selection == "best" and len(cells) > K:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DegenerateWarning)
                errors = normalised_virtual_errors(X, Biclustering(cells, X.shape))
            order = np.argsort(errors, kind="stable")[:K]
            cells = [cells[k] for k in order]
        yield from cells

    def _checkerboard(self, X: Values, K: int) -> tuple[Any, Any]:
        """Return the cluster of each row and of each column."""
        n, m = X.shape
        if K == 1 or X.min() == X.max():
            return np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64)
        X = _without_zero_lines(X)
        with one_thread(), warnings.catch_warnings():
            # Fewer distinct clusters than K leave empty cells, and those are left out.
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                U, V = self._singular_vectors(X)
                best_U, best_V = self._best(U, K), self._best(V, K)
                return self._k_means(X @ best_V, K)[0], self._k_means(X.T @ best_U, K)[0]
            except ValueError as error:
                raise MatrixError(f"no {K} x {K} checkerboard could be fitted to X: {error}") from error

    def _singular_vectors(self, X: Values) -> tuple[Values, Values]:
        """Return the left and right singular vectors of the normalised matrix; they are the same for every K."""
        shared = self._shared if self._compiled and self._shared is not None else {}
        if "vectors" not in shared:
            U, _, Vt = randomized_svd(bistochastic(X), N_VECTORS + 1, random_state=self.random_state)
            shared["vectors"] = U[:, 1:], Vt[1:].T  # the first ones are constant
        return shared["vectors"]  # type: ignore[no-any-return]

    def _best(self, vectors: Values, K: int) -> Values:
        """Return the vectors that k-means approximates best by K values."""
        lines = [vector[:, np.newaxis] for vector in vectors.T]
        errors = [self._k_means(line, K)[1] for line in lines]
        # errors of as many clusters as there are entries are scikit-learn's already
        doubtful = self._compiled and len(vectors) > K
        if doubtful and np.diff(np.sort(errors))[:N_BEST].min(initial=1.0) < SAME_ERROR:
            errors = [k_means_of_scikit_learn(line, K, N_INIT, self.random_state)[1] for line in lines]
        return vectors[:, np.argsort(errors)[:N_BEST]]

    def _k_means(self, points: Values, K: int) -> tuple[NDArray[np.int64], float]:
        """Return the clusters of the points, and how far they are from their centres."""
        if self._compiled:
            return k_means(points, K, N_INIT, int(self.random_state))
        return k_means_of_scikit_learn(points, K, N_INIT, self.random_state)

    @property
    def _compiled(self) -> bool:
        """Whether many fits share vectors, so that compiled k-means pays, and the same numbers can be drawn again."""
        return self._shared is not None and isinstance(self.random_state, (int, np.integer))


def bistochastic(X: Values) -> Values:
    """Return `X`, raised to be non-negative, with rows and columns scaled in turn until their sums agree."""
    scaled = X - min(float(X.min()), 0.0)
    for _ in range(MOST_SCALINGS):
        rows, cols = 1.0 / np.sqrt(scaled.sum(axis=1)), 1.0 / np.sqrt(scaled.sum(axis=0))
        before, scaled = scaled, rows[:, np.newaxis] * scaled * cols
        if norm(before - scaled) < SCALED:
            break
    return scaled


def _without_zero_lines(X: Values) -> Values:
    """Return `X`, raised a little if a row or column would be 0 throughout when shifted to be non-negative."""
    low = min(float(X.min()), 0.0)
    if (X.max(axis=1) > low).all() and (X.max(axis=0) > low).all():
        return X
    return np.asarray(X - low + 0.01 * (X.max() - low))
