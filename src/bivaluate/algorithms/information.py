"""Information-theoretic co-clustering (Dhillon et al. 2003): clusters that keep what rows tell about columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from bivaluate.algorithms._coclusters import best_coclusters, chosen_blocks
from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Pair
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm


@algorithm(
    "itcc",
    "Information-theoretic co-clustering",
    "ITCC",
    "Clusters rows and columns of counts so that the clusters keep what rows tell about columns, and takes K blocks.",
    seeks=("dense", "checkerboard"),
    sparse=True,
    nonnegative=True,
    reference="Dhillon, Mallela & Modha 2003, Information-theoretic co-clustering, Proc. KDD 9:89-98, "
    "doi:10.1145/956750.956764",
)
class InformationCoclustering(BiclusteringEstimator):
    """Row and column clusters that keep the most mutual information (information-theoretic co-clustering, ITCC).

    The matrix, divided by its sum, is a joint distribution p(X, Y) of rows and columns. Row clusters X̂ and column
    clusters Ŷ are sought that lose as little of the mutual information I(X; Y) − I(X̂; Ŷ) as possible: every row goes
    to the cluster x̂ with the smallest Kullback–Leibler divergence D(p(Y|x) ‖ q(Y|x̂)), then every column likewise.

    Parameters
    ----------
    n_biclusters : int, default=3
        K: the number of row clusters (k in the paper), and of blocks taken.
    n_column_clusters : int or None, default=None
        Number of column clusters (ℓ in the paper). None: as many as row clusters.
    selection : {"best", "all"}, default="best"
        Which blocks become biclusters: the K with the most information that hold more than chance would put there, or
        all.
    n_starts : int, default=4
        Starts: half from random rows and columns that gather those nearest to them, half from random labels. From the
        best of them clusters are merged and split while that keeps more information.
    max_iter : int, default=100
        Rounds at most from each start.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of each row and column.
    information_ : float
        I(X̂; Ŷ), in nats; NaN if all cells are 0.

    See Also
    --------
    BlockAverageCoclustering

    Notes
    -----
    With q(y|x̂) = q(y|ŷ)·q(ŷ|x̂), the cluster of a row is the one with the largest Σ_ŷ p(x, ŷ) log q(ŷ|x̂): a row
    needs only its sums over column clusters, which are brought up to date from the columns that changed. Zeros cost
    nothing, so that a sparse matrix stays sparse. A cluster that loses its last row or column stays empty, and among
    equal clusters the first is taken.

    Examples
    --------
    >>> X = np.kron(np.eye(3), np.full((4, 2), 5.0)) + 1
    >>> model = InformationCoclustering(3, random_state=0).fit(X)
    >>> [b.shape for b in model.solution_]
    [(4, 2), (4, 2), (4, 2)]
    """

    n_biclusters: int = 3
    _: KW_ONLY
    n_column_clusters: Count | None = None
    selection: Literal["best", "all"] = "best"
    n_starts: Count = 4
    max_iter: Count = 100

    def _find(self, X: Any) -> Iterator[Pair]:
        K = self.most, self.n_column_clusters or self.most
        found = best_coclusters(X, K, "information", self.n_starts, self.max_iter, self._generator())
        self.row_labels_, self.column_labels_ = found.rows, found.cols
        total = float(found.sums.sum())
        self.information_ = float(found.kept.sum()) / total if total > 0 else float("nan")
        # p log(p / e) is above 0 where a block holds more than chance, e, would put there.
        yield from chosen_blocks(found, found.kept, K[0] if self.selection == "best" else None)
