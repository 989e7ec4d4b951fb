"""Cells that lie in the same biclusters, counted together: pairs of cells without a list of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bivaluate.solution import Biclustering

if TYPE_CHECKING:
    from bivaluate.measures._cell_pairs import CellPairs

_CHUNK = 1 << 21
# Beyond these, pairs are counted by compiled loops.
_MANY_CLASSES = 20_000
_MANY_STEPS = 30_000_000
Words = NDArray[np.uint64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairSums:
    """What the measures need to know of all pairs of cells; the biclusters of a side are those of one solution.

    Attributes
    ----------
    common
        For each side: how many pairs lie together in 0, 1, 2, … biclusters, J.
    apart
        For each side: how many pairs have S = m·m' − J equal to 0, 1, 2, …, m the cells' numbers of memberships; a cell
        in no bicluster is a cluster of its own.
    least_common, least_apart
        Sum over pairs of the smaller J, and of the smaller S.
    precision, recall
        MOCICE-BCubed means: over cells of the first side, and of the second.
    """

    common: tuple[Floats, ...]
    apart: tuple[Floats, ...]
    least_common: float
    least_apart: float
    precision: float
    recall: float


@dataclass(frozen=True)
class CellClasses:
    """Distinct memberships of cells in two solutions and how many cells have each.

    Attributes
    ----------
    first, second
        Membership of each class in the biclusters of the two solutions, (C, K) and (C, L), 0 or 1.
    counts
        Number of cells of each class; they add up to the size of the matrix.
    jaccard
        Cell Jaccard index of each bicluster of the first with each of the second, (K, L).
    """

    first: NDArray[np.float32]
    second: NDArray[np.float32]
    counts: Floats
    jaccard: Floats

    @property
    def cover(self) -> tuple[Floats, Floats, Floats]:
        """For each class: how often the first solution covers it, how often the second does, how many cells it has."""
        first, second = (side.sum(axis=1).astype(np.float64) for side in (self.first, self.second))
        return first, second, self.counts

    def sums(self, progress: Callable[[int, int], None] | None = None) -> PairSums:
        """Return what the measures need to know of all pairs of cells."""
        sides = self.first, self.second
        n = len(self.counts)
        many = [np.maximum(side.sum(axis=1), 1).astype(np.int64) for side in sides]
        common = [np.zeros(int(m.max()) + 1) for m in many]
        apart = [np.zeros(int(m.max()) ** 2 + 1) for m in many]
        least_common = least_apart = 0.0
        step = max(1, _CHUNK // n)
        for start in range(0, n, step):
            part = slice(start, start + step)
            weight = self.counts[part, None] * self.counts[None, start:]
            own = np.arange(len(weight))
            weight[own, own] = self.counts[part] * (self.counts[part] - 1) / 2
            weight[np.tril_indices(len(weight), -1, weight.shape[1])] = 0
            together = [(side[part] @ side[start:].T).astype(np.int64) for side in sides]
            rest = [m[part, None] * m[None, start:] - j for m, j in zip(many, together, strict=True)]
            for values, counted in (*zip(together, common, strict=True), *zip(rest, apart, strict=True)):
                counted += np.bincount(values.ravel(), weights=weight.ravel(), minlength=len(counted))
            least_common += float((np.minimum(*together) * weight).sum())
            least_apart += float((np.minimum(*rest) * weight).sum())
        return PairSums(tuple(common), tuple(apart), least_common, least_apart, *self._bcubed())

    def _bcubed(self) -> tuple[float, float]:
        """Return precision and recall of MOCICE-BCubed."""
        found, truth = (side.astype(bool) for side in (self.first, self.second))
        covered = found.any(axis=1) | truth.any(axis=1)
        found, truth, counts = found[covered], truth[covered], self.counts[covered]
        means = np.zeros((2, len(counts)))
        for k in range(len(counts)):
            common_found, common_truth = found & found[k], truth & truth[k]
            shared = np.stack([common_found.sum(axis=1), common_truth.sum(axis=1)])
            # The best true bicluster both cells are in, for every found one both are in.
            best = np.where(common_truth[:, None, :], self.jaccard[None, :, :], 0.0).max(axis=2)
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
        return precision, recall


def group_cells(first: Biclustering, second: Biclustering, jaccard: Floats) -> CellClasses | CellPairs:
    """Group the cells by the biclusters of two solutions they lie in, in the way that suits their number."""
    row_classes, col_classes = (patterns(np.concatenate(masks))[0] for masks in _masks(first, second))
    if len(row_classes) * len(col_classes) <= _MANY_CLASSES:
        classes = cell_classes(first, second, jaccard)
        if len(classes.counts) ** 2 * jaccard.size <= _MANY_STEPS:
            return classes
    from bivaluate.measures._cell_pairs import CellPairs

    return CellPairs(first, second, jaccard)


def cell_classes(first: Biclustering, second: Biclustering, jaccard: Floats) -> CellClasses:
    """Group the cells of the matrix by the biclusters of two solutions they lie in."""
    masks = [np.concatenate(both) for both in _masks(first, second)]
    n_members = len(masks[0])
    (row_words, row_class), (col_words, col_class) = (patterns(mask) for mask in masks)
    row_times, col_times = (np.bincount(where).astype(np.float64) for where in (row_class, col_class))
    found, times = [], []
    step = max(1, _CHUNK // len(col_words))
    for start in range(0, len(row_words), step):
        words = row_words[start : start + step, None, :] & col_words[None, :, :]
        weight = row_times[start : start + step, None] * col_times[None, :]
        distinct, where = _distinct(words.reshape(-1, words.shape[2]))
        found.append(distinct)
        times.append(np.bincount(where, weights=weight.ravel(), minlength=len(distinct)))
    distinct, where = _distinct(np.concatenate(found))
    counts = np.bincount(where, weights=np.concatenate(times)).astype(np.float64)
    bits = np.unpackbits(distinct.view(np.uint8), axis=1, count=n_members, bitorder="little")
    members = bits.astype(np.float32)
    return CellClasses(members[:, : len(first)], members[:, len(first) :], counts, jaccard)


def _masks(first: Biclustering, second: Biclustering) -> list[list[NDArray[np.bool_]]]:
    return [[getattr(solution, side) for solution in (first, second)] for side in ("row_masks", "col_masks")]


def patterns(masks: NDArray[np.bool_]) -> tuple[Words, NDArray[np.int64]]:
    """Return the distinct membership patterns of the columns of `masks` as 64-bit words, and which of them each has."""
    n_words = max(1, -(-len(masks) // 64))
    packed = np.zeros((masks.shape[1], 8 * n_words), dtype=np.uint8)
    if len(masks):
        bits = np.packbits(masks, axis=0, bitorder="little").T
        packed[:, : bits.shape[1]] = bits
    return _distinct(packed.view(np.uint64))


def _distinct(words: Words) -> tuple[Words, NDArray[np.int64]]:
    """Return the distinct rows of `words` and which of them each row is."""
    _, where = np.unique(words[:, 0], return_inverse=True)
    for column in words.T[1:]:
        values, further = np.unique(column, return_inverse=True)
        _, where = np.unique(where * len(values) + further, return_inverse=True)
    example = np.empty(int(where.max()) + 1, dtype=np.int64)
    example[where] = np.arange(len(words))
    return np.ascontiguousarray(words[example]), where


def overlaps(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how many members each mask of `first` shares with each of `second`."""
    return np.asarray(first.astype(np.float32) @ second.astype(np.float32).T, dtype=np.float64)
