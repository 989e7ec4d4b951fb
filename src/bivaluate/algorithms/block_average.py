"""Bregman block-average co-clustering (Banerjee et al. 2007): a checkerboard of blocks near their averages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse
from scipy.special import xlogy

from bivaluate._errors import MatrixError
from bivaluate._text import Advice, Option
from bivaluate.algorithms._coclusters import best_coclusters, chosen_blocks
from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Pair
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm

# Cells that the divergence of the whole matrix is added up from at a time: temporary arrays stay near the processor.
CELLS_AT_A_TIME = 1 << 14


@algorithm(
    "bregman",
    "Block-average co-clustering",
    "Bregman",
    "Clusters rows and columns so that values are near the average of their block, and takes the K most telling blocks.",
    seeks=("constant", "checkerboard"),
    sparse=True,
    reference="Banerjee, Dhillon, Ghosh, Merugu & Modha 2007, A generalized maximum entropy approach to Bregman "
    "co-clustering and matrix approximation, J. Mach. Learn. Res. 8:1919-1986",
)
class BlockAverageCoclustering(BiclusteringEstimator):
    """Row and column clusters whose cells are near the average of their block (Bregman co-clustering).

    Each cell is approximated by the average of its block. Row labels ρ and column labels γ take turns: every row goes
    to the cluster whose averages are nearest to it, by a Bregman divergence d, then every column; the loss
    Σ_ij d(z_ij, ẑ_ρ(i)γ(j)) never grows.

    Parameters
    ----------
    n_biclusters : int, default=3
        K: the number of row clusters (k in the paper), and of blocks taken.
    n_column_clusters : int or None, default=None
        Number of column clusters (l in the paper). None: as many as row clusters.
    divergence : {"squared", "i-divergence"}, default="squared"
        d: squared difference, or z·log(z/ẑ) − z + ẑ, which suits counts and needs cells that are not negative.
    selection : {"best", "all"}, default="best"
        Which blocks become biclusters: the K that keep most, or all. With the I-divergence blocks above the average of
        the matrix go before those below it.
    n_starts : int, default=4
        Starts: half from random rows and columns that gather those nearest to them, half from random labels. From the
        best of them clusters are merged and split while that makes the loss smaller.
    max_iter : int, default=100
        Rounds at most from each start.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of each row and column.
    kept_ : float
        Share of the divergence from the overall mean that block averages account for; NaN for a constant matrix.

    See Also
    --------
    InformationCoclustering

    Notes
    -----
    A block with averages ẑ keeps (number of its cells)·d(ẑ, z̄), z̄ the mean of the matrix; the loss is what is not
    kept. A row needs only its sums over column clusters, which are brought up to date from the columns that changed.
    Then each cluster in turn is split at random while the two others whose merger costs least are merged, and the
    labels take turns again; the best of these is kept while it is better than before. Of a dense matrix this is done
    in 150 random rows and columns, or 12 for each cluster, and what is found there is the start of the whole; only
    where it keeps less than nine tenths of what it did there, cell by cell, are clusters of the whole merged and
    split too. Zeros cost nothing, so that a sparse matrix stays sparse. A cluster that loses its last row or column
    stays empty, and among equal clusters the first is taken.

    Examples
    --------
    >>> X = np.kron([[9.0, 1.0, 4.0], [2.0, 8.0, 5.0]], np.ones((4, 3))) + np.arange(72).reshape(8, 9) / 100
    >>> model = BlockAverageCoclustering(2, n_column_clusters=3, selection="all", random_state=0).fit(X)
    >>> [b.shape for b in model.solution_]
    [(4, 3), (4, 3), (4, 3), (4, 3), (4, 3), (4, 3)]
    """

    n_biclusters: int = 3
    _: KW_ONLY
    n_column_clusters: Count | None = None
    divergence: Literal["squared", "i-divergence"] = "squared"
    selection: Literal["best", "all"] = "best"
    n_starts: Count = 4
    max_iter: Count = 100

    def _find(self, X: Any) -> Iterator[Pair]:
        divergence = self.divergence
        if divergence == "i-divergence" and (lowest := float(X.min())) < 0:
            said = f"the I-divergence needs values that are not negative, and the lowest value of X is {lowest:g}"
            instead = Option(python="divergence='squared'", command="--param divergence=squared")
            raise MatrixError(Advice(f"{said}. Transform the data, or use ", instead, "."))
        K = self.most, self.n_column_clusters or self.most
        found = best_coclusters(X, K, divergence, self.n_starts, self.max_iter, self._generator())
        self.row_labels_, self.column_labels_ = found.rows, found.cols
        mean = float(found.sums.sum()) / (X.shape[0] * X.shape[1])
        whole = _divergence_of_cells(X, divergence, mean)
        self.kept_ = float(found.kept.sum()) / whole if whole > 0 else float("nan")
        rank = found.kept
        if divergence == "i-divergence":
            averages = found.sums / np.maximum(np.outer(found.n_rows, found.n_cols), 1)
            rank = np.where(averages > mean, rank, rank - found.kept.sum() - 1)
        yield from chosen_blocks(found, rank, K[0] if self.selection == "best" else None)


def _divergence_of_cells(X: Any, divergence: str, mean: float) -> float:
    """Return Σ d(z_ij, z̄), z̄ the mean of the matrix."""
    values = X.data if issparse(X) else X.ravel()
    parts = (values[first : first + CELLS_AT_A_TIME] for first in range(0, len(values), CELLS_AT_A_TIME))
    if divergence == "squared":
        absent = float(X.shape[0] * X.shape[1] - len(values)) * mean**2
        return sum(float(((part - mean) ** 2).sum()) for part in parts) + absent
    # xlogy(values, values).sum() - xlogy(values.sum(), mean), with the logarithm that is computed many at a time
    tiny = np.finfo(np.float64).tiny  # multiplied and added: `@` would wake the threads of BLAS for so little
    logs = sum(float((part * np.log(np.maximum(part, tiny))).sum()) for part in parts)
    return logs - float(xlogy(values.sum(), mean))
