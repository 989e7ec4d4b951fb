"""Who is redundant with whom: the rule behind findings, the report's verdict and rings, and pruning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance.evidence import evidence_alone
from bivaluate.chance.moments import null_mean
from bivaluate.chance.scores import score_blocks
from bivaluate.judge.limits import COHERENT, NOISY, SAME_PATTERN, is_duplicate, is_thin, pays
from bivaluate.matrix import Matrix
from bivaluate.measures.cover import Cover, jaccard_index
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Bicluster, Biclustering


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


def redundant_groups(merged_ve: Any, solution: Biclustering, matrix: Matrix) -> list[RedundantGroup]:
    """Split the redundant biclusters into groups in which any two are redundant.

    Two biclusters are redundant if they are duplicates (cell Jaccard index 0.9 or more), or if both are coherent and
    merging them costs nothing: the virtual error of the merger is at most 1.1 times the mean of the two, or one lies
    within the other, whose chance-corrected error aVE is no higher. Two that share no cells have to be worth merging,
    too: if either saves something, their union must save as much and be coherent itself. A bicluster is
    coherent if it has two rows and three columns or more and a virtual error below 0.8 and below 0.8 times the mean of
    noise of its shape, so noise is never called redundant. Every bicluster is in one group at most: the largest group
    is taken first, then the largest among the others. Findings, the report's verdict and rings, and pruning all use
    this rule; pruning asks it again after every change it proposes.

    Parameters
    ----------
    merged_ve : array-like of shape (K, K)
        Virtual errors of all mergers, of the biclusters themselves on the diagonal; NaN where undefined.
    solution : Biclustering
        The biclusters.
    matrix : Matrix
        The data.

    Returns
    -------
    list of RedundantGroup
        Ordered by their first member.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 12))
    >>> S = Biclustering([(range(8), range(5)), (range(8, 16), range(5)), (range(16, 24), range(4, 9))], X.shape)
    >>> redundant_groups([[0.30, 0.31, 0.9], [0.31, 0.31, 0.9], [0.9, 0.9, 0.2]], S, Matrix.of(X))
    [RedundantGroup(members=(0, 1), duplicates=False)]
    """
    merged = np.asarray(merged_ve, dtype=np.float64)
    if len(solution) < 2:
        return []
    shapes = np.array([b.shape for b in solution])
    shared, everyone = Cover(solution).intersections, np.arange(len(solution))
    merging = Merging(matrix, solution, list(solution))
    return groups_among(*relations(merged, np.diagonal(merged), shapes, shared, merging, everyone))


def groups_of(workspace: Workspace) -> list[RedundantGroup]:
    """Return the redundant groups of a workspace, computed once."""
    return workspace.once(_groups_of)


def _groups_of(workspace: Workspace) -> list[RedundantGroup]:
    return redundant_groups(workspace.merged_ve, workspace.solution, workspace.matrix)


def told_apart(groups: Sequence[RedundantGroup], cover: Cover) -> bool:
    """Return whether no two biclusters are redundant, nor share a cell.

    >>> told_apart([], Cover(Biclustering([([0, 1], [0, 1]), ([2, 3], [0, 1])], (4, 4))))
    True
    """
    return not groups and int(cover.intersections.sum()) == int(np.trace(cover.intersections))


@dataclass(frozen=True)
class Merging:
    """Biclusters that may merge, on the matrix and beside the biclusters of the solution they came from."""

    matrix: Matrix
    solution: Biclustering
    biclusters: list[Bicluster]

    def costs(self, pairs: Sequence[tuple[int, int]], together: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which pairs (positions) are better apart; `together` are the virtual errors of their unions.

        One of the two pays, and their union saves less than it or is not coherent.
        """
        asked = sorted({k for pair in pairs for k in pair})
        alone = dict(zip(asked, self._alone([self.biclusters[k] for k in asked]), strict=True))
        most = np.array([max((alone[k] for k in pair if pays(alone[k])), default=0.0) for pair in pairs])
        costs, at_stake = np.zeros(len(pairs), dtype=np.bool_), np.flatnonzero(pays(most))
        if len(at_stake):
            unions = [union_of(*(self.biclusters[k] for k in pairs[place])) for place in at_stake.tolist()]
            coherent = is_coherent(together[at_stake], *np.array([union.shape for union in unions]).T)
            costs[at_stake] = ~(self._alone(unions) >= most[at_stake]) | ~coherent
        return costs

    def _alone(self, biclusters: Sequence[Bicluster]) -> NDArray[np.float64]:
        return evidence_alone(self.matrix, self.solution, biclusters)


def union_of(one: Bicluster, other: Bicluster) -> Bicluster:
    """Return what two biclusters merge into: the rows of both and the columns of both."""
    return Bicluster(np.union1d(one.rows, other.rows), np.union1d(one.cols, other.cols))


def relations(
    merged: NDArray[np.float64],
    ve: NDArray[np.float64],
    shapes: NDArray[np.int64],
    shared: NDArray[np.int64],
    merging: Merging,
    lines: NDArray[np.int64],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for some biclusters, a line each, who is redundant with them, and who of these is a duplicate.

    Parameters
    ----------
    merged : ndarray of shape (L, K)
        Virtual errors of their mergers with everyone.
    ve, shapes : ndarray of shape (K,) and (K, 2)
        Virtual error, and numbers of rows and columns, of everyone.
    shared : ndarray of shape (L, K)
        Cells that they share with everyone.
    merging : Merging
        Everyone, and what their unions save.
    lines : ndarray of shape (L,)
        Which ones they are.
    """
    sizes, coherent = shapes.prod(axis=1), is_coherent(ve, *shapes.T)
    both = coherent[lines, np.newaxis] & coherent
    duplicates = is_duplicate(jaccard_index(shared, sizes[lines, np.newaxis], sizes))
    with np.errstate(invalid="ignore"):
        related = duplicates | (costs_nothing(merged, (ve[lines, np.newaxis] + ve) / 2) & both)
    # one that lies within the other and adds nothing to it
    inside, outside = (shared == sizes[lines, np.newaxis]) & both, (shared == sizes) & both
    for matrix in (duplicates, related, inside, outside):
        matrix[np.arange(len(lines)), lines] = False
    if inside.any() or outside.any():
        error = score_blocks(ve, shapes[:, 0], shapes[:, 1], merging.matrix.shape).adjusted
        related |= inside & (error <= error[lines, np.newaxis])
        related |= outside & (error[lines, np.newaxis] <= error)
    at, others = np.nonzero(related & (shared == 0))
    if len(at):
        low, high = np.minimum(lines[at], others), np.maximum(lines[at], others)
        _, first, place = np.unique(low * len(ve) + high, return_index=True, return_inverse=True)
        pairs = list(zip(low[first].tolist(), high[first].tolist(), strict=True))
        related[at, others] = ~merging.costs(pairs, merged[at[first], others[first]])[place]
    return related, duplicates


def groups_among(related: NDArray[np.bool_], duplicates: NDArray[np.bool_]) -> list[RedundantGroup]:
    """Return the groups of those who are redundant with each other, K x K."""
    return [
        RedundantGroup(members, all(duplicates[pair] for pair in combinations(members, 2)))
        for members in _cliques(related)
    ]


def is_coherent(ve: NDArray[np.float64], rows: Any, cols: Any) -> NDArray[np.bool_]:
    """Return which blocks follow a pattern: not thin, VE below `NOISY` and below `COHERENT` times that of noise."""
    rows, cols = np.asarray(rows), np.asarray(cols)
    with np.errstate(invalid="ignore"):
        limit = np.minimum(NOISY, COHERENT * null_mean(rows, cols))
        return np.asarray(~is_thin(rows, cols) & (ve < limit))


def costs_nothing(together: Any, apart: Any) -> Any:
    """Return whether a merger's virtual error is at most `SAME_PATTERN` times the mean of its parts'."""
    return together <= SAME_PATTERN * apart + 1e-12


def _cliques(related: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return disjoint groups in which everyone is related to everyone, ordered by their first member."""
    # Groups of different components do not touch each other, so each is split by itself.
    groups = [
        tuple(part[list(group)].tolist())
        for part in _components(related)
        for group in _split(related[np.ix_(part, part)].tobytes(), len(part))
    ]
    return sorted(groups)


def _components(related: NDArray[np.bool_]) -> Iterator[NDArray[np.intp]]:
    """Yield the connected components of those who are related to someone."""
    unseen = np.asarray(related.any(axis=1))
    for first in np.flatnonzero(unseen):
        if not unseen[first]:
            continue
        part, unseen[first] = [first], False
        for member in part:  # which grows meanwhile
            found = np.flatnonzero(related[member] & unseen)
            unseen[found] = False
            part.extend(found)
        yield np.sort(part)


@lru_cache(1024)
def _split(related_bytes: bytes, size: int) -> list[list[int]]:
    """Return the groups of one component: the largest first, as greed finds it, then the largest among the others.

    Pruning asks again after every change, and most components are as they were.
    """
    related = np.frombuffer(related_bytes, dtype=np.bool_).reshape(size, size).copy()
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
