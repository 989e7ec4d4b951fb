"""Pairs of cells counted by the biclusters they share, without a list of cells: for many biclusters that overlap.

What depends on a pair only through the number of biclusters of each solution it shares, J and J', is a sum of three
parts: pairs that share nothing, where cells count by how often they are covered; what each bicluster adds to its own
pairs, were it their only one; and corrections for pairs that share at least two, the only ones that are looked at one
by one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bivaluate._parallel import count_cores, share_out
from bivaluate.measures._cell_classes import PairSums, overlaps, patterns
from bivaluate.solution import Biclustering

Floats = NDArray[np.float64]
_PARTS = 64


class CellPairs:
    """Two solutions of one matrix, their rows and columns grouped into classes with the same memberships."""

    def __init__(self, first: Biclustering, second: Biclustering, jaccard: Floats) -> None:
        from bivaluate.measures._kernels_pairs import Blocks, Lists

        self.n_cells = first.shape[0] * first.shape[1]
        sides = (first, second)
        number = _numbered(sides)
        chosen = [sides[0][k] if k >= 0 else sides[1][other] for k, other in number.T.tolist()]
        self.sizes = np.array([float(b.shape[0] * b.shape[1]) for b in chosen])
        members, times, classes = [], [], []
        for masks in ([s.row_masks for s in sides], [s.col_masks for s in sides]):
            _, where = patterns(np.concatenate(masks))
            example = np.unique(where, return_index=True)[1]
            members.append([mask[:, example] for mask in masks])
            times.append(np.bincount(where).astype(np.float64))
            classes.append(where)
        cover = np.stack([overlaps(members[0][s].T, members[1][s].T) for s in (0, 1)]).astype(np.int64)
        self.kinds, self.kind, self.cells_of_kind = _kinds(cover, np.multiply.outer(*times))
        self.lists = [
            _lists([np.unique(where[axis]) for where in ((classes[0][b.rows], classes[1][b.cols]) for b in chosen)])
            for axis in (0, 1)
        ]
        self.blocks = Blocks(
            Lists(*_inverted(self.lists[0], len(times[0]))), Lists(*self.lists[0]), Lists(*self.lists[1]), times[0], times[1],
            self.sizes, number, self.kind, np.maximum(self.kinds, 1).T.copy(), jaccard,
        )  # fmt: skip

    @property
    def cover(self) -> tuple[Floats, Floats, Floats]:
        """For each kind of cell: how often the first and the second solution cover it, and how many there are."""
        return self.kinds[:, 0].astype(np.float64), self.kinds[:, 1].astype(np.float64), self.cells_of_kind

    def sums(self, progress: Callable[[int, int], None] | None = None) -> PairSums:
        """Return what the measures need to know of all pairs of cells."""
        from bivaluate.measures._kernels_pairs import Together, add_pairs

        most = np.maximum(self.kinds, 1).max(axis=0)
        parts = np.array_split(np.arange(len(self.blocks.row_times)), _PARTS)
        spans = [(int(part[0]), int(part[-1]) + 1) for part in parts if len(part)]
        sizes = (2, int(self.kinds.max()) + 2), (2, int(most.max()) ** 2 + 1), (2,), (2,)
        found = [Together(*map(np.zeros, sizes)) for _ in spans]
        done: list[None] = []

        def add(span: tuple[int, int], into: Together) -> None:
            add_pairs(self.blocks, *span, into)
            done.append(None)
            if progress is not None:
                progress(len(done), len(spans))

        share_out([partial(add, *one) for one in zip(spans, found, strict=True)], count_cores(None))
        common, apart, least, bcubed = (np.sum(arrays, axis=0) for arrays in zip(*found, strict=True))
        self._add_none(apart, least)
        self._add_alone(apart, least)
        self._complete(common)
        self._take_off_selves(common, apart, least)
        covered = [self.cells_of_kind[self.kinds[:, side] > 0].sum() for side in (0, 1)]
        return PairSums(tuple(common / 2), tuple(apart / 2), *(least / 2).tolist(), *(bcubed / covered).tolist())

    def _add_none(self, apart: Floats, least: Floats) -> None:
        """Count all pairs as if they shared nothing."""
        one, two = np.maximum(self.kinds, 1).T
        for k, weight in enumerate(self.cells_of_kind.tolist()):
            weights = weight * self.cells_of_kind
            products = one[k] * one, two[k] * two
            for side in (0, 1):
                apart[side] += np.bincount(products[side], weights=weights, minlength=apart.shape[1])
            least[1] += np.minimum(*products) @ weights

    def _add_alone(self, apart: Floats, least: Floats) -> None:
        """Add what each block changes for its pairs, were it the only one they share."""
        times = self.blocks.row_times, self.blocks.col_times
        for block, in_side in enumerate((self.blocks.number >= 0).T):
            rows, cols = (items[start[block] : start[block + 1]] for start, items in self.lists)
            cells = np.multiply.outer(times[0][rows], times[1][cols])
            counted = np.bincount(self.kind[np.ix_(rows, cols)].ravel(), weights=cells.ravel())
            present = np.flatnonzero(counted)
            weights = np.multiply.outer(counted[present], counted[present]).ravel()
            products = [np.multiply.outer(many, many).ravel() for many in np.maximum(self.kinds[present], 1).T]
            least[0] += weights.sum() * in_side.all()
            least[1] += (
                np.minimum(products[0] - in_side[0], products[1] - in_side[1]) - np.minimum(*products)
            ) @ weights
            for side in np.flatnonzero(in_side):
                changed = np.bincount(products[side], weights=weights, minlength=apart.shape[1])
                apart[side] -= changed
                apart[side, :-1] += changed[1:]

    def _complete(self, common: Floats) -> None:
        """Count the pairs that share one bicluster or none: the rest of what all biclusters hold, and of all pairs."""
        many = np.arange(common.shape[1])
        for side in (0, 1):
            common[side, :2] = 0
            held = float((self.sizes[self.blocks.number[side] >= 0] ** 2).sum())
            common[side, 1] = held - many @ common[side]
            common[side, 0] = float(self.n_cells) ** 2 - common[side].sum()

    def _take_off_selves(self, common: Floats, apart: Floats, least: Floats) -> None:
        """Take off each cell with itself."""
        others = np.maximum(self.kinds, 1) ** 2 - self.kinds
        for side in (0, 1):
            np.subtract.at(common[side], self.kinds[:, side], self.cells_of_kind)
            np.subtract.at(apart[side], others[:, side], self.cells_of_kind)
        least -= [values.min(axis=1) @ self.cells_of_kind for values in (self.kinds, others)]


def _numbered(sides: tuple[Biclustering, Biclustering]) -> NDArray[np.int64]:
    """Return the distinct blocks of two solutions by their positions in them; -1 where one does not have it."""
    waiting: dict[tuple[bytes, bytes], list[int]] = {}
    pairs = []
    for k, b in enumerate(sides[0]):
        waiting.setdefault((b.rows.tobytes(), b.cols.tobytes()), []).append(k)
        pairs.append([k, -1])
    for other, b in enumerate(sides[1]):
        same = waiting.get((b.rows.tobytes(), b.cols.tobytes()))
        if same:
            pairs[same.pop()][1] = other
        else:
            pairs.append([-1, other])
    return np.array(pairs, dtype=np.int64).T.copy()


def _kinds(cover: NDArray[np.int64], cells: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return the distinct pairs of covers, which of them each crossing has, and how many cells have each."""
    base = int(cover[1].max()) + 1
    codes, kind = np.unique(cover[0] * base + cover[1], return_inverse=True)
    kinds = np.stack(np.divmod(codes, base), axis=1)
    counted = np.bincount(kind.ravel(), weights=cells.ravel())
    return kinds, np.asarray(kind.reshape(cells.shape), dtype=np.int64), counted.astype(np.float64)


def _lists(parts: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    start = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return start, np.concatenate(parts)


def _inverted(
    lists: tuple[NDArray[np.int64], NDArray[np.int64]], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    start, items = lists
    owners = np.repeat(np.arange(len(start) - 1), np.diff(start))
    order = np.argsort(items, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(items, minlength=size))]), owners[order]
