"""How many cells are covered, how many more than once, and what biclusters share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bivaluate._types import Flags, Ints
from bivaluate.solution import Bicluster, Biclustering, check_solution

Members = Bicluster | tuple[Ints, Ints]
# 64-bit words that are laid over each other at once: 8 MB of them.
_WORDS_AT_ONCE = 1 << 20
# Up to this many cells of the matrix a plain product of memberships is quicker than bits.
_FEW_CELLS = 1 << 16
# Pairs whose shared cells are counted at once.
_PAIRS_AT_ONCE = 1 << 20
# Memberships are held as zeros and ones up to this many; a product of them this large may be made sparse, where a step
# takes this many times as long.
_FEW_MEMBERSHIPS, _MUCH_WORK, _SPARSE_STEP = 1 << 22, 1 << 26, 32


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
    def _held(self) -> tuple[Any, Any]:
        """Memberships in rows and in columns, K x n and K x m."""
        n, m = self.solution.shape
        return _memberships([b.rows for b in self.solution], n), _memberships([b.cols for b in self.solution], m)

    @cached_property
    def shared_rows(self) -> Ints:
        """Rows two biclusters share, K x K; the diagonal holds their own."""
        return _shared(self._held[0])

    @cached_property
    def shared_cols(self) -> Ints:
        """Columns two biclusters share, K x K; the diagonal holds their own."""
        return _shared(self._held[1])

    def merged_shapes(self, i: Ints, j: Ints) -> tuple[Ints, Ints]:
        """Return rows and columns of the mergers of biclusters i with biclusters j, one after the other."""
        one, other = slice(i[0], i[-1] + 1), slice(j[0], j[-1] + 1)
        rows, cols = (
            np.add.outer(own[one], own[other]) - shared[one, other]
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
        return int(np.count_nonzero(self._held[0].sum(axis=0)))

    @property
    def cols(self) -> int:
        """Columns in at least one bicluster."""
        return int(np.count_nonzero(self._held[1].sum(axis=0)))

    @cached_property
    def _once_and_more(self) -> tuple[int, int]:
        """Only biclusters that share cells with another need to be laid over each other, with one bit per cell."""
        n, m = self.solution.shape
        if n * m <= _FEW_CELLS:
            times = _product(self._held[0].T, self._held[1])
            return int(np.count_nonzero(times)), int(np.count_nonzero(times > 1))
        partners = [(self.shared_cells(part) > 0).sum(axis=1) for part in self.parts()]
        overlaps = np.concatenate([*partners, np.empty(0, dtype=np.int64)]) > 1
        if not overlaps.any():
            return self.cells_counted, 0
        overlapping = self.solution.select(np.flatnonzero(overlaps))
        col_bits = packed_masks(overlapping.col_masks)
        covered_once = covered_twice = 0
        step = max(1, _WORDS_AT_ONCE // max(1, col_bits.shape[1]))
        for start in range(0, self.solution.shape[0] if len(overlapping) else 0, step):
            once = np.zeros((min(step, self.solution.shape[0] - start), col_bits.shape[1]), dtype=np.uint64)
            twice = np.zeros_like(once)
            for bicluster, bits in zip(overlapping, col_bits, strict=True):
                rows = bicluster.rows[slice(*np.searchsorted(bicluster.rows, (start, start + step)))] - start
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


def shared_cells(a: Members, b: Members) -> int:
    """Return how many cells two biclusters, or pairs of rows and columns, have in common."""
    rows, cols = (np.intersect1d(*sides, assume_unique=True) for sides in zip(a, b, strict=True))
    return len(rows) * len(cols)


def cell_jaccard(a: Members, b: Members) -> float:
    """Return the cell Jaccard index of two biclusters, or pairs of rows and columns."""
    size, other_size = (len(rows) * len(cols) for rows, cols in (a, b))
    return float(jaccard_index(shared_cells(a, b), size, other_size))


def member_classes(masks: Flags) -> Ints:
    """Return the class of each row, or column: those with the same memberships share one.

    >>> member_classes(np.array([[True, True, False, False], [False, True, True, False]])).tolist()
    [2, 3, 1, 0]
    """
    where = np.zeros(masks.shape[1], dtype=np.int64)
    for word in packed_masks(masks.T, "big").T:
        values, further = np.unique(word, return_inverse=True)
        where = np.unique(where * len(values) + further, return_inverse=True)[1]
    return where


def _memberships(members: Sequence[Ints], n: int) -> Any:
    """Return lists of numbers below n as lines of zeros and ones, sparse where products take fewer steps so."""
    K = len(members)
    many = K * n > _FEW_MEMBERSHIPS
    if many or K * K * n > _MUCH_WORK:
        numbers = np.concatenate(members)
        if many or _SPARSE_STEP * (np.bincount(numbers).astype(np.float64) ** 2).sum() < K * K * n:
            from scipy.sparse import csr_array

            starts = np.cumsum([0, *map(len, members)])
            return csr_array((np.ones(len(numbers), dtype=np.int32), numbers, starts), shape=(K, n))
    held = np.zeros((K, n), dtype=np.float32)
    for line, own in zip(held, members, strict=True):
        line[own] = 1
    return held


def _product(one: Any, other: Any) -> Any:
    found = one @ other
    return found if isinstance(found, np.ndarray) else found.toarray()


def _shared(held: Any) -> Ints:
    """Return how many members two lines of memberships have in common, K x K; some lines at a time."""
    K, n = held.shape
    shared = np.empty((K, K), dtype=np.min_scalar_type(-2 * n - 257))  # sums of two fit in it, too
    step = max(1, _PAIRS_AT_ONCE // max(1, K))
    for start in range(0, K, step):
        shared[start : start + step] = _product(held[start : start + step], held.T)
    return shared


def packed_masks(masks: Flags, bitorder: Literal["little", "big"] = "little") -> NDArray[np.uint64]:
    """Return each mask as a row of 64-bit words: member j is bit j mod 64 of word j // 64."""
    packed = np.zeros((len(masks), 8 * max(1, -(-masks.shape[1] // 64))), dtype=np.uint8)
    bits = np.packbits(masks, axis=1, bitorder=bitorder)
    packed[:, : bits.shape[1]] = bits
    return packed.view("<u8").astype(np.uint64, copy=False)
