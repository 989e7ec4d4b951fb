"""Spectral co-clustering (Dhillon 2001) as scikit-learn does it, empty rows and columns set aside."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import dia_array, issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import randomized_svd

from bivaluate._errors import MatrixError, ParameterError
from bivaluate._parallel import one_thread
from bivaluate._text import plural
from bivaluate.algorithms._estimator import BiclusteringEstimator, Pair
from bivaluate.algorithms._k_means import k_means
from bivaluate.algorithms._k_means import k_means_of_scikit_learn as theirs
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm

STARTS = 10  # of k-means, as scikit-learn's SpectralCoclustering has them


@algorithm(
    "spectral_co",
    "Spectral co-clustering",
    "SpectralCo",
    "Cuts the bipartite graph of rows and columns into K parts with many or large values, by singular vectors.",
    seeks=("dense", "raised"),
    sparse=True,
    reference="Dhillon 2001, Co-clustering documents and words using bipartite spectral graph partitioning, Proc. KDD, "
    "269-274, doi:10.1145/502512.502550",
)
class SpectralCoclusters(BiclusteringEstimator):
    """Spectral co-clustering: rows and columns are the nodes of a graph, cells its weights; K parts are cut out.

    Every row and every column belongs to one of K clusters, and cluster k of the rows with cluster k of the columns is
    a bicluster: a block diagonal after sorting.

    Parameters
    ----------
    n_biclusters : int, default=2
        K: the number of clusters. A cluster without rows or without columns is left out.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of each row and column, counted from 0; -1 for one that is empty, that is zero throughout.

    See Also
    --------
    SpectralCheckerboard, ModularityCoclustering

    Notes
    -----
    Weights cannot be negative: a dense matrix with negative cells is raised until its lowest cell is 0; a sparse one
    is refused, because that would fill it. scikit-learn's threads are held to one, because more are slower on such
    small problems.

    Examples
    --------
    >>> X = np.kron([[9, 0], [0, 4], [0, 0]], np.ones((4, 3))) + np.tile([0, 0, 1, 0, 1, 0], (12, 1))
    >>> X[8:] = 0
    >>> model = SpectralCoclusters(2, random_state=0).fit(X)
    >>> sorted(b.shape for b in model.solution_), model.row_labels_[-1]
    ([(4, 3), (4, 3)], np.int64(-1))
    """

    n_biclusters: int = 2
    _: KW_ONLY

    def _find(self, X: Any) -> Iterator[Pair]:
        K = int(self.n_biclusters)
        if issparse(X) and X.min() < 0:
            how = "Pass X.toarray() if it fits in memory (all cells are raised then), or choose another algorithm"
            found = f"SpectralCoclusters cannot use a sparse X with negative values: the lowest is {X.min():g}"
            raise MatrixError(f"{found}. {how}.")
        weights = X if issparse(X) else X - min(float(X.min()), 0.0)
        rows, cols = (np.flatnonzero(np.asarray(weights.sum(axis=axis)).ravel() > 0) for axis in (1, 0))
        n, m = len(rows), len(cols)
        if min(X.shape) < K or (n and min(n, m) < K):
            need = f"{plural(K, 'co-cluster')} need at least {K} rows and {K} columns that are not zero throughout"
            given = f"(n_samples={X.shape[0]}, n_features={X.shape[1]}). Ask for at most {max(1, min(n, m))}"
            found = f"X has {plural(n, 'row')} and {plural(m, 'column')} {given}"
            raise ParameterError(f"n_biclusters is {K}, and {need}, but {found}.")
        self.row_labels_, self.column_labels_ = (np.full(size, -1, dtype=np.int64) for size in X.shape)
        if n:
            filled = weights if (n, m) == X.shape else weights[rows][:, cols]
            self.row_labels_[rows], self.column_labels_[cols] = self._labels(filled, K)
        for k in range(K):
            yield np.flatnonzero(self.row_labels_ == k), np.flatnonzero(self.column_labels_ == k)

    def _labels(self, weights: Any, K: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the cluster of each row and each column, none of which is empty."""
        if K == 1:
            return np.zeros(weights.shape[0], dtype=np.int64), np.zeros(weights.shape[1], dtype=np.int64)
        rows, cols = (1.0 / np.sqrt(np.asarray(weights.sum(axis=axis)).ravel()) for axis in (1, 0))
        if issparse(weights):
            left, right = (dia_array((d, [0]), shape=(len(d), len(d))) for d in (rows, cols))
            weights = left @ weights @ right
        else:
            weights *= rows[:, np.newaxis]  # a copy already: a large matrix is not held a third time
            weights *= cols
        # Fewer distinct clusters than K: the empty ones are left out.
        with one_thread(), warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            U, _, Vt = randomized_svd(weights, 1 + math.ceil(math.log2(K)), random_state=self.random_state)
            points = np.vstack((rows[:, np.newaxis] * U[:, 1:], cols[:, np.newaxis] * Vt[1:].T))
            # In a sweep, whose seeds are numbers, compiled k-means gives the same labels.
            labels, _ = (theirs if self._shared is None else k_means)(points, K, STARTS, self.random_state)
        return labels[: len(rows)], labels[len(rows) :]
