"""Pairs of cells counted by the biclusters of two solutions they share, without a list of pairs, in two ways.

`CellClasses` counts cells that lie in the same biclusters together. `CellPairs` is for many biclusters that overlap and
has no list of cells either: what depends on a pair only through the number of biclusters of each solution it shares, J
and J', is a sum of three parts: pairs that share nothing, where cells count by how often they are covered; what each
bicluster adds to its own pairs, were it their only one; and corrections for pairs that share at least two, the only
ones that are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bivaluate._parallel import count_cores, share_out
from bivaluate.solution import Biclustering

_CHUNK = 1 << 21
_PARTS = 64
# Beyond these, pairs are counted by compiled loops.
_MANY_CLASSES = 20_000
_MANY_STEPS = 30_000_000
Words = NDArray[np.uint64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairSums:
    """What the measures need to know of all pairs of cells; the biclusters of a side are those of one solution."""

    common: tuple[Floats, ...]
    apart: tuple[Floats, ...]
    least_common: float
    least_apart: float
    precision: float
    recall: float


@dataclass(frozen=True)
class CellClasses:
    """Distinct memberships of cells in two solutions and how many cells have each."""

    first: NDArray[np.float32]
    second: NDArray[np.float32]
    counts: Floats
    jaccard: Floats

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


def cover_counts(first: Biclustering, second: Biclustering) -> tuple[Floats, Floats, Floats]:
    """Return how often two solutions cover cells, by products of memberships, and how many cells each pair has."""
    (rows, n_rows), (cols, n_cols) = (_distinct_members(first, second, side) for side in ("row_masks", "col_masks"))
    K, base = len(first), len(second) + 1
    counted = np.zeros((K + 1) * base)
    step = max(1, _CHUNK // len(n_cols))
    for start in range(0, len(n_rows), step):
        part = rows[start : start + step]
        codes = base * (part[:, :K] @ cols[:, :K].T) + part[:, K:] @ cols[:, K:].T
        weights = np.multiply.outer(n_rows[start : start + step], n_cols)
        counted += np.bincount(codes.astype(np.int64).ravel(), weights.ravel(), len(counted))
    present = np.flatnonzero(counted)
    one, other = np.divmod(present, base)
    return one.astype(np.float64), other.astype(np.float64), counted[present]


def _distinct_members(first: Biclustering, second: Biclustering, side: str) -> tuple[NDArray[np.float32], Floats]:
    """Return the distinct memberships of rows, or of columns, in both solutions, and how many have each."""
    masks = np.concatenate([getattr(first, side), getattr(second, side)])
    words, where = patterns(masks)
    bits = np.unpackbits(words.view(np.uint8), axis=1, count=len(masks), bitorder="little")
    return bits.astype(np.float32), np.bincount(where).astype(np.float64)


def group_cells(first: Biclustering, second: Biclustering, jaccard: Floats) -> CellClasses | CellPairs:
    """Group the cells by the biclusters of two solutions they lie in, in the way that suits their number."""
    row_classes, col_classes = (patterns(np.concatenate(masks))[0] for masks in _masks(first, second))
    if len(row_classes) * len(col_classes) <= _MANY_CLASSES:
        classes = cell_classes(first, second, jaccard)
        if len(classes.counts) ** 2 * jaccard.size <= _MANY_STEPS:
            return classes
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
