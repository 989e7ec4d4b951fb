"""Cells by the set of biclusters of two solutions they lie in, and pairs of cells by the biclusters they share.

If W(t) cells lie in all biclusters of a set t, W(t)² ordered pairs share at least t, and inclusion and exclusion over
the sets that include t gives how many share exactly t. `count_by_subsets` does so with the subsets of the sets that
occur; `count_by_sets`, for cells in so many biclusters that these are too many, takes the sets one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._types import Floats, Ints
from bivaluate.measures.cover import member_classes, packed_masks
from bivaluate.solution import Biclustering

_CHUNK = 1 << 21
_MOST_SUBSETS = 1 << 25
Words = NDArray[np.uint64]
Progress = Callable[[int, int], None] | None


@dataclass
class PairSums:
    """What the measures need to know of all pairs of cells; sides are the found solution and the truth.

    `common` counts pairs by the number of biclusters of a side they share, `apart` by the number of other pairs of
    their biclusters; `bcubed` is precision and recall.
    """

    common: Floats
    apart: Floats
    least_common: float = 0.0
    least_apart: float = 0.0
    bcubed: list[float] = field(default_factory=list)

    @classmethod
    def for_depths(cls, depths: Ints) -> PairSums:
        """Return sums of nothing for cells in at most so many biclusters of each side."""
        most = max(1, int(depths.max()))
        return cls(np.zeros((2, most + 1)), np.zeros((2, most**2 + 1)))

    def add(self, shared: Ints, depths: Ints, partners: Ints, weight: Floats) -> None:
        """Add pairs of cells that share so many biclusters of each side and lie in so many."""
        rest = np.maximum(depths, 1) * np.maximum(partners, 1) - shared
        for side in (0, 1):
            self.common[side] += np.bincount(shared[side], weight, self.common.shape[1])
            self.apart[side] += np.bincount(rest[side], weight, self.apart.shape[1])
        self.least_common += float(shared.min(axis=0) @ weight)
        self.least_apart += float(rest.min(axis=0) @ weight)


@dataclass(frozen=True)
class CellSets:
    """The distinct sets of biclusters that cells lie in, those of one depth on each side together.

    `members[d]` are the sets with ``depths[d]`` biclusters of found and of truth, one a line, found ones first and
    those of truth numbered after them; `counts[d]` says how many cells have each.
    """

    depths: Ints
    members: list[Ints]
    counts: list[Floats]

    @classmethod
    def of(cls, found: Biclustering, truth: Biclustering) -> CellSets:
        """Return the sets of two solutions of one matrix."""
        numbers, n_found = np.arange(len(found) + len(truth)), len(found)
        words, cells = _sets_of_several(found, truth)
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=len(numbers), bitorder="little")
        which = np.flatnonzero(bits.view(np.bool_)) % len(numbers)
        sides = [packed_masks(((numbers < n_found) == side)[None]) for side in (True, False)]
        per_set = np.stack([np.bitwise_count(words & side).sum(axis=1, dtype=np.int64) for side in sides], axis=1)
        start = np.cumsum(per_set.sum(axis=1)) - per_set.sum(axis=1)
        several = np.bincount(which, np.repeat(cells, per_set.sum(axis=1)), len(numbers))
        alone = np.array([float(b.size) for b in (*found, *truth)]) - several
        none = found.shape[0] * found.shape[1] - cells.sum() - alone.sum()
        depths = [(0, 0), (1, 0), (0, 1)]
        members = [numbers[:0].reshape(1, 0), numbers[:n_found, None], numbers[n_found:, None]]
        counts = [np.array([none]), alone[:n_found], alone[n_found:]]
        for depth, at in _by_pair(per_set):
            depths.append(depth)
            members.append(which[start[at][:, None] + np.arange(sum(depth))])
            counts.append(cells[at])
        return cls(np.array(depths), members, counts)

    @property
    def cover(self) -> tuple[Floats, Floats, Floats]:
        """How often found covers cells, how often truth does, and how many cells each pair of these has."""
        found, truth = self.depths.T.astype(np.float64)
        return found, truth, np.array([n.sum() for n in self.counts])

    def pair_sums(self, jaccard: Floats, progress: Progress = None) -> PairSums:
        """Return what the measures need to know of all pairs of cells, by the way that takes fewer steps."""
        n_subsets = sum(len(m) * 2.0 ** m.shape[1] for m in self.members)
        few = min(_MOST_SUBSETS, sum(map(len, self.members)) ** 2)
        if n_subsets <= few and jaccard.size <= _MOST_SUBSETS // 4:
            return count_by_subsets(self, jaccard)
        return count_by_sets(self, jaccard, progress)

    def mean(self, side: int, values: list[Floats]) -> float:
        """Return the mean over the cells in biclusters of a side of values for each set."""
        covered = np.flatnonzero(self.depths[:, side])
        counts = np.concatenate([self.counts[d] for d in covered])
        return float(counts @ np.concatenate([values[d] for d in covered])) / float(counts.sum())


def count_by_subsets(sets: CellSets, jaccard: Floats) -> PairSums:
    """Count pairs of cells by inclusion and exclusion over the subsets of their sets."""
    from scipy.sparse import coo_array

    numbers, n_subsets = _numbered_subsets(sets.members, sum(jaccard.shape))
    where = np.concatenate([own.ravel() for own in numbers])
    kinds = np.repeat(np.arange(len(numbers), dtype=np.int32), [own.size for own in numbers])
    cells = np.concatenate([np.repeat(n, own.shape[1]) for n, own in zip(sets.counts, numbers, strict=True)])
    # W: the cells whose set includes a subset, by the depths of these cells
    W = coo_array((cells, (where, kinds)), (n_subsets, len(numbers))).tocsr()
    total, sizes = _sums_by(where, cells, n_subsets), np.zeros((n_subsets, 2), dtype=np.int64)
    sums, means = PairSums.for_depths(sets.depths), []
    for own, m, depth in zip(numbers, sets.members, sets.depths.tolist(), strict=True):
        masks = np.arange(own.shape[1])
        size = np.stack([np.bitwise_count(masks % 2 ** depth[0]), np.bitwise_count(masks >> depth[0])], axis=1)
        sizes[own] = size
        means.append(_bcubed_by_subsets(total[own], m, size.T.astype(np.float64), depth, jaccard))
    exact = _exact_counts(W, sizes, sets.depths)
    for kind, (depth, n) in enumerate(zip(sets.depths, sets.counts, strict=True)):
        exact[depth[0], depth[1], kind, kind] -= n.sum()  # each cell with itself
    at = exact.nonzero()
    sums.add(np.stack(at[:2]), sets.depths[at[2]].T, sets.depths[at[3]].T, exact[at] / 2)
    sums.bcubed = [sets.mean(side, [both[side] for both in means]) for side in (0, 1)]
    return sums


def _numbered_subsets(members: list[Ints], n: int) -> tuple[list[NDArray[np.int32]], int]:
    """Return a number for each subset of each set, the same for the same subset, and how many there may be.

    A subset is a mask of positions in its set. Those of one or two of the n biclusters are numbered by these, others
    are told apart by a hash.
    """
    hashes, found, codes = _hashes(n), [], []
    for m in members:
        masks = np.arange(1 << m.shape[1])
        few = np.flatnonzero(np.bitwise_count(masks) < 3)[1:]
        numbers = np.full((len(m), len(masks)), n * n, dtype=np.int32)  # of the empty subset
        lowest, highest = np.bitwise_count((few & -few) - 1), np.frexp(few)[1] - 1
        numbers[:, few] = m[:, lowest] * n + m[:, highest]
        found.append(numbers)
        codes.append(_over_subsets(hashes[m], np.bitwise_xor)[:, np.bitwise_count(masks) > 2])
    _, start, where = _grouped(np.concatenate([code.ravel() for code in codes]))
    parts = np.split(where, np.cumsum([code.size for code in codes])[:-1])
    for numbers, code, part in zip(found, codes, parts, strict=True):
        numbers[:, np.bitwise_count(np.arange(numbers.shape[1])) > 2] = n * n + 1 + part.reshape(code.shape)
    return found, n * n + 1 + len(start)


def _exact_counts(W: Any, sizes: Ints, depths: Ints) -> Floats:
    """Return how many ordered pairs share so many found and true biclusters, by these numbers and the cells' depths."""
    exact = np.zeros((*(depths.max(axis=0) + 1), len(depths), len(depths)))
    for (a, b), at in _by_pair(sizes):
        own = W[at]
        at_least = (own.T @ own).toarray()
        for i in range(a + 1):
            for j in range(b + 1):
                exact[i, j] += (-1) ** (a + b - i - j) * comb(a, i) * comb(b, j) * at_least
    return exact


def _bcubed_by_subsets(shared: Floats, members: Ints, sizes: Floats, depth: list[int], jaccard: Floats) -> Floats:
    """Return precision and recall of the cells of each set, from the cells whose sets include each subset of it."""
    for bit in range(sum(depth)):  # now: the cells whose set has exactly this subset in common with the set
        halves = shared.reshape(len(members), -1, 2, 1 << bit)
        halves[:, :, 0] -= halves[:, :, 1]
    like = jaccard[members[:, : depth[0], None], members[:, None, depth[0] :] - len(jaccard)]
    best = _over_subsets(like, np.maximum)  # of each found one with some of the true ones
    likeness = _over_subsets(best.swapaxes(1, 2), np.add).reshape(shared.shape)
    agree = likeness * shared * (sizes.min(axis=0) / np.maximum(sizes[0], 1))
    both = np.zeros((2, len(members)))
    for side in np.flatnonzero(depth):
        partners = shared[:, sizes[side] > 0].sum(axis=1)
        both[side] = (agree / np.maximum(sizes[side], 1)).sum(axis=1) / np.maximum(partners, 1)
    return both


def count_by_sets(sets: CellSets, jaccard: Floats, progress: Progress = None) -> PairSums:
    """Count pairs of cells by the sets they lie in, each set with all others in turn."""
    lengths = [len(m) for m in sets.members]
    counts, depths = np.concatenate(sets.counts), np.repeat(sets.depths, lengths, axis=0).T
    inside = np.zeros((sum(jaccard.shape), len(counts)), dtype=np.bool_)
    lines = [line for m in sets.members for line in m]
    for k, line in enumerate(lines):
        inside[line, k] = True
    sums, means = PairSums.for_depths(sets.depths), np.zeros((2, len(counts)))
    for k, line in enumerate(lines):
        found, truth = np.split(line, depths[:1, k])
        shared = np.stack([inside[found].sum(axis=0), inside[truth].sum(axis=0)])
        weight = counts[k] * counts / 2
        weight[k] -= counts[k] / 2  # each cell with itself
        sums.add(shared, depths[:, k, None], depths, weight)
        likeness = np.zeros(len(counts))
        for f in found:
            best = (jaccard[f, truth - len(jaccard)][:, None] * inside[truth]).max(axis=0, initial=0.0)
            likeness += inside[f] * best
        agree = likeness * counts * shared.min(axis=0) / np.maximum(shared[0], 1)
        for side in np.flatnonzero(depths[:, k]):
            partners = counts[shared[side] > 0].sum()
            means[side, k] = (agree / np.maximum(shared[side], 1)).sum() / max(partners, 1)
        if progress is not None:
            progress(k + 1, len(lines))
    sums.bcubed = [sets.mean(side, np.split(means[side], np.cumsum(lengths)[:-1])) for side in (0, 1)]
    return sums


def cover_counts(found: Biclustering, truth: Biclustering) -> tuple[Floats, Floats, Floats]:
    """Return how often two solutions cover cells, and how many cells each pair of these has."""
    (rows, n_rows), (cols, n_cols) = _distinct_members(found, truth)
    K, base = len(found), len(truth) + 1
    counted = np.zeros((K + 1) * base)
    for part, codes in _crossed(rows, cols, np.where(np.arange(K + base - 1) < K, base, 1)):
        weights = np.multiply.outer(n_rows[part], n_cols)
        counted += np.bincount(codes.astype(np.int64).ravel(), weights.ravel(), len(counted))
    present = np.flatnonzero(counted)
    one, other = np.divmod(present, base)
    return one.astype(np.float64), other.astype(np.float64), counted[present]


def _sets_of_several(found: Biclustering, truth: Biclustering) -> tuple[Words, Floats]:
    """Return the distinct sets of two biclusters or more that cells lie in, as words, and how many cells have each."""
    (rows, n_rows), (cols, n_cols) = _distinct_members(found, truth)
    hashes = _hashes(rows.shape[1])
    codes, places, cells = [], [], []
    for part, cover in _crossed(rows, cols, np.ones(len(hashes))):
        code = np.zeros(cover.shape, dtype=np.uint64)
        for value, own_rows, own_cols in zip(hashes, rows[part].T, cols.T, strict=True):
            code[np.ix_(own_rows.nonzero()[0], own_cols.nonzero()[0])] ^= value
        i, j = (cover > 1).nonzero()
        code = code[i, j]
        order, start, where = _grouped(code)
        codes.append(code[order[start]])
        cells.append(_sums_by(where, n_rows[part][i] * n_cols[j], len(start)))
        places.append(np.stack([part.start + i, j], axis=1)[order[start]])
    order, start, where = _grouped(np.concatenate(codes))
    i, j = np.concatenate(places)[order[start]].T
    words = [packed_masks(side.astype(np.bool_)) for side in (rows, cols)]
    return words[0][i] & words[1][j], _sums_by(where, np.concatenate(cells), len(start))


def _distinct_members(found: Biclustering, truth: Biclustering) -> list[tuple[NDArray[np.float32], Floats]]:
    """Return the distinct memberships of rows and of columns in both solutions, and how many have each."""
    sides = []
    for side in ("row_masks", "col_masks"):
        masks = np.concatenate([getattr(found, side), getattr(truth, side)])
        where = member_classes(masks)
        example = np.empty(where.max() + 1, dtype=np.int64)
        example[where] = np.arange(len(where))
        sides.append((masks.T[example].astype(np.float32), np.bincount(where).astype(np.float64)))
    return sides


def _crossed(rows: Any, cols: Any, weights: Any) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield, for some of the rows at a time, the sum of the weights of the biclusters that hold a row and a column."""
    weighted = (cols * weights).astype(np.float32).T
    step = max(1, _CHUNK // len(cols))
    for start in range(0, len(rows), step):
        part = slice(start, min(start + step, len(rows)))
        yield part, rows[part] @ weighted


def _by_pair(numbers: Ints) -> Iterator[tuple[tuple[int, int], Ints]]:
    """Yield each pair of numbers that is a line of some, and the lines that are."""
    base = int(numbers.max(initial=0)) + 1
    codes = numbers[:, 0] * base + numbers[:, 1]
    for code in np.flatnonzero(np.bincount(codes)).tolist():
        yield divmod(code, base), np.flatnonzero(codes == code)


def _hashes(n: int) -> Words:
    """Return random numbers of biclusters: a set is told from others by its numbers combined by exclusive or."""
    return np.random.default_rng(0).integers(0, 2**64, n, dtype=np.uint64)


def _over_subsets(values: Any, combine: Any) -> Any:
    """Return the values along the last axis combined over all subsets of them; nothing combined is 0."""
    found = np.zeros((*values.shape[:-1], 1 << values.shape[-1]), dtype=values.dtype)
    for bit in range(values.shape[-1]):
        found[..., 1 << bit : 2 << bit] = combine(found[..., : 1 << bit], values[..., bit : bit + 1])
    return found


def _sums_by(where: Ints, values: Floats, n: int) -> Floats:
    return np.asarray(np.bincount(where, values, n), dtype=np.float64)


def _grouped(codes: Words) -> tuple[Ints, Ints, Ints]:
    """Return an order of codes with equal ones side by side, where each new one starts, and the number of each."""
    order = np.argsort(codes)
    is_new = np.ones(len(codes), dtype=np.bool_)
    is_new[1:] = np.diff(codes[order]) > 0
    where = np.empty(len(codes), dtype=np.int64)
    where[order] = np.cumsum(is_new) - 1
    return order, np.flatnonzero(is_new), where
