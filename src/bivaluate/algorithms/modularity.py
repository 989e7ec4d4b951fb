"""Co-clustering by maximum modularity (Ailem, Role & Nadif 2015): rows and columns that meet more often than chance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bivaluate.algorithms._coclusters import coclusters, lines_of
from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Pair
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm


@algorithm(
    "coclustmod",
    "Modularity co-clustering",
    "CoclustMod",
    "Gives rows and columns one of K labels so that the blocks of equal labels hold more than chance would put there.",
    seeks=("dense",),
    sparse=True,
    nonnegative=True,
    reference="Ailem, Role & Nadif 2015, Co-clustering document-term matrices by direct maximization of graph "
    "modularity, Proc. CIKM 24:1807-1810, doi:10.1145/2806416.2806639",
)
class ModularityCoclustering(BiclusteringEstimator):
    """K co-clusters with the largest modularity of the bipartite graph of rows and columns (CoclustMod).

    Every row and every column belongs to one co-cluster. The modularity is
    Q = (1/N) Σ_ij (a_ij − a_i. a_.j / N) Σ_k z_ik w_jk: what the co-clusters hold, less what they would hold by the
    sums of rows and columns alone. Rows are given their best label while columns stay, then columns, until Q no longer
    grows.

    Parameters
    ----------
    n_biclusters : int, default=3
        Number of co-clusters (K, g in the paper); fewer are returned if labels stay without rows or columns.
    n_starts : int, default=10
        Random labels of the columns to start from; the answer with the largest modularity is kept.
    max_iter : int, default=100
        Rounds at most from each start.

    Attributes
    ----------
    solution_ : Biclustering
        The co-clusters, the one that adds most to the modularity first.
    row_labels_, column_labels_ : ndarray of int
        Label of each row and column, counted from 0 in the order of the solution; labels of no bicluster come last.
    modularity_ : float
        The modularity reached; NaN if all cells are 0.

    See Also
    --------
    SpectralCoclusters, InformationCoclustering

    Notes
    -----
    The labels of rows maximise B W and those of columns Bᵀ Z, where B = A − a_i. a_.j / N, and Z and W hold a 1 for the
    label of each row and column. B is never built: B W = A W − a_i. (a_.jᵀ W) / N, so that a sparse matrix stays
    sparse, and A W is brought up to date from the columns that changed. Among equal labels the first is taken. The
    matrix must not be negative.

    Examples
    --------
    >>> X = np.kron(np.eye(3), np.ones((4, 2))) + np.arange(72).reshape(12, 6) / 500
    >>> model = ModularityCoclustering(3, random_state=0).fit(X)
    >>> [b.shape for b in model.solution_]
    [(4, 2), (4, 2), (4, 2)]
    """

    n_biclusters: int = 3
    _: KW_ONLY
    n_starts: Count = 10
    max_iter: Count = 100

    def _find(self, X: Any) -> Iterator[Pair]:
        K, rng = self.most, self._random()
        starts = np.zeros((self.n_starts, X.shape[0]), dtype=np.int64), rng.randint(K, size=(self.n_starts, X.shape[1]))
        found = coclusters(lines_of(X), *starts, "modularity", (K, K), self.max_iter)
        gains = found.kept.diagonal() / (found.sums.sum() or 1.0)
        order = np.argsort(-gains, kind="stable")
        rank = np.empty(K, dtype=np.int64)
        rank[order] = np.arange(K)
        self.row_labels_, self.column_labels_ = rank[found.rows], rank[found.cols]
        self.modularity_ = float(gains.sum()) if X.max() > 0 else float("nan")
        for k in range(K):
            yield np.flatnonzero(self.row_labels_ == k), np.flatnonzero(self.column_labels_ == k)
