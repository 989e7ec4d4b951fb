"""Communities of the bipartite graph of rows and columns: Louvain and Leiden, by scikit-network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix

from bivaluate.algorithms._estimator import Amount, BiclusteringEstimator, Pair
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm


@dataclass(eq=False, repr=False)
class _Communities(BiclusteringEstimator):
    """What Louvain and Leiden share: the graph, and communities made into biclusters."""

    _method: ClassVar[str]
    n_biclusters: int | str = "auto"
    _: KW_ONLY
    resolution: Amount = 1.0

    def _find(self, X: Any) -> Iterator[Pair]:
        from sknetwork import clustering

        graph = csr_matrix(X)
        if not graph.sum() > 0:
            return
        how = {"shuffle_nodes": True, "return_probs": False, "return_aggregate": False}
        model = getattr(clustering, self._method)(self.resolution, **how, random_state=self.random_state)
        model.fit(graph, force_bipartite=True)
        rows, cols = model.labels_row_, model.labels_col_
        edges = graph.tocoo()
        inside = rows[edges.row] == cols[edges.col]
        weight = np.bincount(rows[edges.row[inside]], edges.data[inside], minlength=max(rows.max(), cols.max()) + 1)
        for label in np.argsort(-weight, kind="stable"):
            yield np.flatnonzero(rows == label), np.flatnonzero(cols == label)


@algorithm(
    "louvain",
    "Louvain communities",
    "Louvain",
    "Moves rows and columns between communities while the modularity of their graph grows; finds K itself.",
    seeks=("dense",),
    finds_k=True,
    sparse=True,
    nonnegative=True,
    extra="graph",
    reference="Blondel, Guillaume, Lambiotte & Lefebvre 2008, Fast unfolding of communities in large networks, "
    "J. Stat. Mech. P10008, doi:10.1088/1742-5468/2008/10/P10008",
)
class LouvainCommunities(_Communities):
    """Communities of rows and columns that meet in large cells, by Louvain's method; their number is found.

    Rows and columns are the nodes of a bipartite graph and cells are the weights of its edges. Nodes move between
    communities, and communities are merged, while Barber's modularity grows. A community with rows and columns is a
    bicluster; rows and columns of isolated nodes belong to none. Needs scikit-network.

    Parameters
    ----------
    n_biclusters : int or "auto", default="auto"
        The largest number of biclusters to return, those with the largest sums of cells; "auto" returns all.
    resolution : float, default=1.0
        Larger values give more and smaller communities.

    See Also
    --------
    LeidenCommunities, ModularityCoclustering

    Examples
    --------
    >>> X = np.kron(np.eye(3), np.ones((4, 2))) + 0.1
    >>> [b.shape for b in LouvainCommunities(random_state=0).fit(X).solution_]
    [(4, 2), (4, 2), (4, 2)]
    """

    _method = "Louvain"


@algorithm(
    "leiden",
    "Leiden communities",
    "Leiden",
    "Like Louvain, but refines communities before they are merged, so that none is in pieces; finds K itself.",
    seeks=("dense",),
    finds_k=True,
    sparse=True,
    nonnegative=True,
    extra="graph",
    reference="Traag, Waltman & van Eck 2019, From Louvain to Leiden: guaranteeing well-connected communities, "
    "Sci. Rep. 9:5233, doi:10.1038/s41598-019-41695-z",
)
class LeidenCommunities(_Communities):
    """Communities of rows and columns that meet in large cells, by Leiden's method; their number is found.

    Like :class:`LouvainCommunities`, but every community is refined before communities are merged, so that none
    consists of parts that have nothing to do with each other. Needs scikit-network.

    Parameters
    ----------
    n_biclusters : int or "auto", default="auto"
        The largest number of biclusters to return, those with the largest sums of cells; "auto" returns all.
    resolution : float, default=1.0
        Larger values give more and smaller communities.

    See Also
    --------
    LouvainCommunities, ModularityCoclustering

    Examples
    --------
    >>> X = np.kron(np.eye(3), np.ones((4, 2))) + 0.1
    >>> [b.shape for b in LeidenCommunities(random_state=0).fit(X).solution_]
    [(4, 2), (4, 2), (4, 2)]
    """

    _method = "Leiden"
