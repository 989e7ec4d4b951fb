"""How many cells are covered, how many more than once, and what biclusters share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._types import Flags, Ints
from bivaluate.solution import Bicluster, Biclustering, check_solution

# 64-bit words that are laid over each other at once: 8 MB of them.
_WORDS_AT_ONCE = 1 << 20
# Up to this many cells of the matrix a plain product of memberships is quicker than bits.
_FEW_CELLS = 1 << 16
# Pairs whose shared cells are counted at once.
_PAIRS_AT_ONCE = 1 << 20
# A product is quicker for counts of shared members up to this many numbers, and memberships in all.
_FEW_NUMBERS, _FEW_MEMBERSHIPS = 1 << 12, 1 << 22


@dataclass(frozen=True)
class Cover:
    """Counts over a solution, each made when first asked for."""

    solution: Biclustering

    def __post_init__(self) -> None:
        object.__setattr__(self, "solution", check_solution(self.solution))

    @classmethod
    def of(cls, solution: Any) -> Cover:
        """Return the counts of a solution, or the counts given as they are."""
        return solution if isinstance(solution, Cover) else cls(solution)

    @cached_property
    def shared_rows(self) -> Ints:
        """Rows two biclusters share, K x K; the diagonal holds their own."""
        return _shared([b.rows for b in self.solution], self.solution.shape[0])

    @cached_property
    def shared_cols(self) -> Ints:
        """Columns two biclusters share, K x K; the diagonal holds their own."""
        return _shared([b.cols for b in self.solution], self.solution.shape[1])

    def merged_shapes(self, i: Ints, j: Ints) -> tuple[Ints, Ints]:
        """Return rows and columns of the super-biclusters of biclusters i with biclusters j."""
        rows, cols = (
            np.add.outer(own[i], own[j]).astype(np.int64) - shared[np.ix_(i, j)]
            for shared in (self.shared_rows, self.shared_cols)
            for own in (np.diagonal(shared),)
        )
        return rows, cols

    @cached_property
    def sizes(self) -> Ints:
        """Number of cells of each bicluster."""
        return np.array([b.size for b in self.solution], dtype=np.int64)

    def shared_cells(self, k: Any, others: Any = slice(None)) -> Any:
        """Return how many cells one bicluster, or each of a slice of them, shares with others."""
        return self.shared_rows[k, others].astype(np.int64) * self.shared_cols[k, others]

    def jaccard(self, k: Any, others: Any = slice(None)) -> Any:
        """Return the cell Jaccard index of one bicluster, or of each of a slice of them, with others."""
        size = self.sizes[k, None] if isinstance(k, slice) else self.sizes[k]
        return jaccard_index(self.shared_cells(k, others), size, self.sizes[others])

    def parts(self) -> Iterator[slice]:
        """Yield the biclusters in parts whose pairs are looked at together."""
        step = max(1, _PAIRS_AT_ONCE // max(1, len(self.solution)))
        return (slice(start, start + step) for start in range(0, len(self.solution), step))

    @property
    def cells(self) -> int:
        """Cells in at least one bicluster."""
        return self._once_and_more[0]

    @property
    def cells_shared(self) -> int:
        """Cells in two or more biclusters."""
        return self._once_and_more[1]

    @property
    def cells_counted(self) -> int:
        """Sizes of all biclusters added up."""
        return sum(b.size for b in self.solution)

    @property
    def share(self) -> float:
        """Covered cells as a share of the matrix."""
        return self.cells / (self.solution.shape[0] * self.solution.shape[1])

    @property
    def share_paid_once(self) -> float:
        """The same, charged for overlap: |∪B_k|²/(nm·Σ|B_k|)."""
        return self.share * self.cells / self.cells_counted if self.cells else 0.0

    @property
    def rows(self) -> int:
        """Rows in at least one bicluster."""
        return _united([b.rows for b in self.solution], self.solution.shape[0])

    @property
    def cols(self) -> int:
        """Columns in at least one bicluster."""
        return _united([b.cols for b in self.solution], self.solution.shape[1])

    @cached_property
    def _once_and_more(self) -> tuple[int, int]:
        """Only biclusters that share cells with another need to be laid over each other, with one bit per cell."""
        n, m = self.solution.shape
        partners = [(self.shared_cells(part) > 0).sum(axis=1) for part in self.parts()]
        overlaps = np.concatenate([*partners, np.empty(0, dtype=np.int64)]) > 1
        if not overlaps.any():
            return self.cells_counted, 0
        if n * m <= _FEW_CELLS:
            held = [masks.astype(np.float32) for masks in (self.solution.row_masks, self.solution.col_masks)]
            times = held[0].T @ held[1]
            return int(np.count_nonzero(times)), int(np.count_nonzero(times > 1))
        overlapping = self.solution.select(np.flatnonzero(overlaps))
        col_bits = _bits(overlapping.col_masks)
        covered_once = covered_twice = 0
        step = max(1, _WORDS_AT_ONCE // max(1, col_bits.shape[1]))
        for start in range(0, self.solution.shape[0] if len(overlapping) else 0, step):
            once = np.zeros((min(step, self.solution.shape[0] - start), col_bits.shape[1]), dtype=np.uint64)
            twice = np.zeros_like(once)
            for bicluster, bits in zip(overlapping, col_bits, strict=True):
                rows = _between(bicluster.rows, start, start + step) - start
                covered = once.take(rows, axis=0)
                once[rows] = covered | bits
                covered &= bits
                twice[rows] |= covered
            covered_once += int(np.bitwise_count(once).sum())
            covered_twice += int(np.bitwise_count(twice).sum())
        alone = self.cells_counted - sum(b.size for b in overlapping)
        return alone + covered_once, covered_twice


def jaccard_index(shared: Any, size: Any, other_size: Any) -> Any:
    """Return |A ∩ B| / |A ∪ B| from the number of shared cells and the two sizes.

    >>> jaccard_index(2, 4, 6)
    0.25
    """
    return shared / (size + other_size - shared)


def cell_jaccard(a: Bicluster, b: Bicluster) -> float:
    """Return the cell Jaccard index of two biclusters."""
    rows, cols = (np.intersect1d(*sides, assume_unique=True) for sides in ((a.rows, b.rows), (a.cols, b.cols)))
    return float(jaccard_index(len(rows) * len(cols), a.size, b.size))


def member_classes(masks: Flags) -> Ints:
    """Return the class of each row, or column: those with the same memberships share one.

    >>> member_classes(np.array([[True, True, False, False], [False, True, True, False]])).tolist()
    [2, 3, 1, 0]
    """
    where = np.zeros(masks.shape[1], dtype=np.int64)
    for word in _bits(masks.T).T:
        values, further = np.unique(word, return_inverse=True)
        where = np.unique(where * len(values) + further, return_inverse=True)[1]
    return where


def _shared(members: Sequence[Ints], n: int) -> Ints:
    """Return how many members two lists of numbers below n have in common, K x K; some numbers at a time."""
    K = len(members)
    shared = np.zeros((K, K), dtype=np.min_scalar_type(-2 * n - 257))  # sums of two fit in it, too
    if n <= _FEW_NUMBERS and K * n <= _FEW_MEMBERSHIPS:
        held = np.zeros((K, n), dtype=np.float32)
        for line, own in zip(held, members, strict=True):
            line[own] = 1
        lines = max(1, _PAIRS_AT_ONCE // max(1, K))
        for start in range(0, K, lines):
            shared[start : start + lines] = held[start : start + lines] @ held.T
        return shared
    step = max(64, 64 * _WORDS_AT_ONCE // max(1, K))
    for start in range(0, n, step):
        masks = np.zeros((K, min(step, n - start)), dtype=np.bool_)
        for mask, own in zip(masks, members, strict=True):
            mask[_between(own, start, start + step) - start] = True
        bits = _bits(masks)
        for k in range(K):
            here = np.bitwise_count(bits[k:] & bits[k]).sum(axis=1, dtype=shared.dtype)
            shared[k, k:] += here
            shared[k + 1 :, k] += here[1:]
    return shared


def _united(members: Sequence[Ints], n: int) -> int:
    """Return how many numbers below n are in at least one list."""
    mask = np.zeros(n, dtype=np.bool_)
    for own in members:
        mask[own] = True
    return int(mask.sum())


def _between(numbers: Ints, start: int, stop: int) -> Ints:
    first, last = np.searchsorted(numbers, (start, stop))
    return numbers[first:last]


def _bits(masks: Flags) -> NDArray[np.uint64]:
    """Return each mask as a row of 64-bit words."""
    packed = np.zeros((len(masks), 8 * -(-masks.shape[1] // 64)), dtype=np.uint8)
    bits = np.packbits(masks, axis=1)
    packed[:, : bits.shape[1]] = bits
    return packed.view(np.uint64)
