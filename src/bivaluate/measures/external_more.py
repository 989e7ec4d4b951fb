"""Further external measures: cell Jaccard, the generalised Rand index, CARI and MOCICE-BCubed F1.

Every function takes a Comparison of two solutions that both have biclusters; high is always better.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bivaluate.measures.partition import row_classes
from bivaluate.metrics.external import Comparison, generalised_rand_index

Floats = NDArray[np.float64]


def cell_jaccard_relevance(comparison: Comparison) -> float:
    """Mean over found biclusters of the best cell Jaccard index with a true one. In [0, 1]; duplicates are not penalised.

    Eren et al. 2013, doi:10.1093/bib/bbs032.
    """
    return float(_cell_jaccard(comparison).max(axis=1).mean())


def cell_jaccard_recovery(comparison: Comparison) -> float:
    """Mean over true biclusters of the best cell Jaccard index with a found one. In [0, 1].

    Eren et al. 2013, doi:10.1093/bib/bbs032.
    """
    return float(_cell_jaccard(comparison).max(axis=0).mean())


def rand_index(comparison: Comparison) -> float:
    """13GRI, the generalised Rand index on cells before its correction for chance. In [0, 1].

    Horta & Campello 2015, Comparing hard and overlapping clusterings, JMLR 16:2949–2997.
    """
    return generalised_rand_index(comparison)[0]


def coclustering_adjusted_rand_index(comparison: Comparison) -> float:
    """CARI: the adjusted Rand index of the two partitions of the cells into crossings of row and column classes.

    Rows that lie in the same biclusters form a class, and so do columns; rows and columns in none form one of their own.
    The contingency table of cells is the Kronecker product of those of rows and of columns, and is never built. ≤ 1, and
    0 by chance; 1 where neither solution divides the matrix. Robert, Vasseur & Brault 2021, doi:10.1007/s00357-020-09379-w.
    """
    tables = [
        _contingency(row_classes(found), row_classes(truth))
        for found, truth in (
            (comparison.found.row_masks, comparison.truth.row_masks),
            (comparison.found.col_masks, comparison.truth.col_masks),
        )
    ]
    both, found, truth = (
        _pairs_in([table if axis is None else table.sum(axis=axis) for table in tables], comparison.n_cells)
        for axis in (None, 1, 0)
    )
    every = comparison.n_cells * (comparison.n_cells - 1) / 2
    expected = found * truth / every if every else 0.0
    most = (found + truth) / 2
    return float((both - expected) / (most - expected)) if most != expected else 1.0


def mocice_bcubed(comparison: Comparison) -> float:
    """MOCICE-BCubed F1: harmonic mean of BCubed precision and recall on cells, which checks who the clusters are.

    For two cells o, o' with C common found and L common true biclusters: Φ = mean over the common found of the best cell
    Jaccard index with a common true one; precision = min(C, L)·Φ/C, recall = min(C, L)·Φ/L (0 where L, or C, is 0).
    Precision is averaged over the o' that share a found bicluster with o (o itself included), then over the cells that
    are in one; recall likewise with true ones. In [0, 1]. Rosales-Méndez & Ramírez-Cruz 2015, arXiv:1512.00228.
    """
    classes = comparison.classes
    found, truth = (side.astype(bool) for side in (classes.first, classes.second))
    covered = found.any(axis=1) | truth.any(axis=1)
    found, truth, counts = found[covered], truth[covered], classes.counts[covered]
    jaccard = _cell_jaccard(comparison)
    means = np.zeros((2, len(counts)))
    for k in range(len(counts)):
        common_found, common_truth = found & found[k], truth & truth[k]
        shared = np.stack([common_found.sum(axis=1), common_truth.sum(axis=1)])
        # The best true bicluster both cells are in, for every found one both are in.
        best = np.where(common_truth[:, None, :], jaccard[None, :, :], 0.0).max(axis=2)
        identity = (best * common_found).sum(axis=1) / np.maximum(shared[0], 1)
        agree = shared.min(axis=0) * identity
        for side in (0, 1):
            weight = counts * (shared[side] > 0)
            if weight.any():
                means[side, k] = float(weight @ (agree / np.maximum(shared[side], 1))) / float(weight.sum())
    precision, recall = (
        float(counts[member] @ means[side, member]) / float(counts[member].sum())
        for side, member in ((0, found.any(axis=1)), (1, truth.any(axis=1)))
    )
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _cell_jaccard(comparison: Comparison) -> Floats:
    shared = comparison.shared_cells
    found, truth = comparison.sizes("cells")
    return np.asarray(shared / (found + truth - shared))


def _contingency(one: NDArray[np.int64], other: NDArray[np.int64]) -> Floats:
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1)
    return table


def _pairs_in(tables: list[Floats], n_cells: int) -> float:
    """Return the number of pairs of cells in one cell of the Kronecker product of two tables of counts."""
    squares = float((tables[0] ** 2).sum()) * float((tables[1] ** 2).sum())
    return (squares - n_cells) / 2
