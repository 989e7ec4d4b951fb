"""Who is redundant with whom: the rule behind findings, the report's verdict and rings, and pruning."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance.moments import null_mean
from bivaluate.chance.scores import score_blocks
from bivaluate.judge.limits import COHERENT, DUPLICATE, NOISY, SAME_PATTERN, is_thin
from bivaluate.measures.cover import Cover
from bivaluate.solution import Biclustering


@dataclass(frozen=True)
class RedundantGroup:
    """Biclusters any two of which are redundant.

    Attributes
    ----------
    members : tuple of int
        Their positions in the solution, in order.
    duplicates : bool
        Whether any two of them share at least 90 % of their cells; otherwise they repeat one pattern on other cells.
    """

    members: tuple[int, ...]
    duplicates: bool

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Return every two members."""
        return list(combinations(self.members, 2))


def redundant_groups(merged_ve: Any, solution: Biclustering) -> list[RedundantGroup]:
    """Split the redundant biclusters into groups in which any two are redundant.

    Two biclusters are redundant if they are duplicates (cell Jaccard index 0.9 or more), or if both are coherent and
    merging them costs nothing: the virtual error of the merger is at most 1.1 times the mean of the two, or one lies
    within the other, whose chance-corrected error aVE is no higher. A bicluster is coherent if it has two rows and
    three columns or more and a virtual error below 0.8 and below 0.8 times the mean of noise of its shape, so noise is never
    called redundant. Every bicluster is in one group at most: the largest group is taken first, then the largest among the
    others. Findings, the report's verdict and rings, and pruning all call this function; pruning asks it again after
    every change it proposes.

    Parameters
    ----------
    merged_ve : array-like of shape (K, K)
        Virtual errors of all mergers, of the biclusters themselves on the diagonal; NaN where undefined.
    solution : Biclustering
        The biclusters.

    Returns
    -------
    list of RedundantGroup
        Ordered by their first member.

    Examples
    --------
    >>> S = Biclustering([(range(8), range(5)), (range(8, 16), range(5)), (range(16, 24), range(4, 9))], (30, 12))
    >>> redundant_groups([[0.30, 0.31, 0.9], [0.31, 0.31, 0.9], [0.9, 0.9, 0.2]], S)
    [RedundantGroup(members=(0, 1), duplicates=False)]
    """
    merged = np.asarray(merged_ve, dtype=np.float64)
    if len(solution) < 2:
        return []
    cover = Cover(solution)
    duplicates = cover.jaccard >= DUPLICATE
    np.fill_diagonal(duplicates, False)
    related = duplicates | _same_pattern(merged, solution) | _within(np.diagonal(merged), cover)
    return [
        RedundantGroup(members, all(duplicates[pair] for pair in combinations(members, 2)))
        for members in _cliques(related)
    ]


def is_coherent(ve: NDArray[np.float64], rows: Any, cols: Any) -> NDArray[np.bool_]:
    """Return which blocks of these shapes follow a pattern: not thin, VE below `NOISY` and `COHERENT` times that of noise."""
    rows, cols = np.asarray(rows), np.asarray(cols)
    with np.errstate(invalid="ignore"):
        limit = np.minimum(NOISY, COHERENT * null_mean(rows, cols))
        return np.asarray(~is_thin(rows, cols) & (ve < limit))


def costs_nothing(together: Any, apart: Any) -> Any:
    """Return whether a merger's virtual error is at most `SAME_PATTERN` times the mean of its parts'."""
    return together <= SAME_PATTERN * apart + 1e-12


def _same_pattern(merged: NDArray[np.float64], solution: Biclustering) -> NDArray[np.bool_]:
    ve = np.diagonal(merged)
    coherent = is_coherent(ve, [len(b.rows) for b in solution], [len(b.cols) for b in solution])
    with np.errstate(invalid="ignore"):
        alike = costs_nothing(merged, np.add.outer(ve, ve) / 2) & coherent[:, None] & coherent[None, :]
    np.fill_diagonal(alike, False)
    return np.asarray(alike)


def _within(ve: NDArray[np.float64], cover: Cover) -> NDArray[np.bool_]:
    """Return the pairs of coherent biclusters one of which lies within the other and adds nothing to it."""
    solution = cover.solution
    rows, cols = np.array([b.shape for b in solution]).T
    coherent = is_coherent(ve, rows, cols)
    inside = cover.intersections == np.diagonal(cover.intersections)[:, None]
    inside &= coherent[:, None] & coherent[None, :]
    np.fill_diagonal(inside, False)
    inner, outer = np.nonzero(inside)
    if not len(inner):
        return np.asarray(inside)
    error = score_blocks(ve, rows, cols, solution.shape).adjusted
    inside[inner, outer] = error[outer] <= error[inner]
    return np.asarray(inside | inside.T)


def _cliques(related: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return disjoint groups in which everyone is related to everyone, ordered by their first member."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(csr_array(related), directed=False)
    connected = np.flatnonzero(related.any(axis=1))
    order = connected[np.argsort(component[connected], kind="stable")]
    parts = np.split(order, np.flatnonzero(np.diff(component[order])) + 1) if len(order) else []
    # Groups of different components do not touch each other, so each is split by itself.
    groups = [tuple(part[list(group)].tolist()) for part in parts for group in _split(related[np.ix_(part, part)])]
    return sorted(groups)


def _split(related: NDArray[np.bool_]) -> list[list[int]]:
    """Return the groups of one component: the largest first, as greed finds it, then the largest among the others."""
    groups = []
    while related.any():
        group = [int(related.sum(axis=1).argmax())]
        candidates = related[group[0]].copy()
        while candidates.any():
            group.append(int(np.where(candidates, (related & candidates).sum(axis=1), -1).argmax()))
            candidates &= related[group[-1]]
        related[group, :] = related[:, group] = False
        groups.append(sorted(group))
    return groups
