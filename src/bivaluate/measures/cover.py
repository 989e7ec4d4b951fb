"""How many cells are covered, how many more than once, and what biclusters share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.solution import Bicluster, Biclustering, check_solution

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Cover:
    """Counts over a solution, each made when first asked for."""

    solution: Biclustering

    def __post_init__(self) -> None:
        check_solution(self.solution)

    @classmethod
    def of(cls, solution: Any) -> Cover:
        """Return the counts of a solution, or the counts given as they are."""
        return solution if isinstance(solution, Cover) else cls(solution)

    @cached_property
    def shared_rows(self) -> Counts:
        """Rows two biclusters share, K x K; the diagonal holds their own."""
        return _shared(self.solution.row_masks)

    @cached_property
    def shared_cols(self) -> Counts:
        """Columns two biclusters share, K x K; the diagonal holds their own."""
        return _shared(self.solution.col_masks)

    @cached_property
    def merged_shapes(self) -> tuple[Counts, Counts]:
        """Rows and columns of every super-bicluster, K x K each."""
        rows, cols = (
            np.add.outer(np.diagonal(shared), np.diagonal(shared)) - shared
            for shared in (self.shared_rows, self.shared_cols)
        )
        return rows, cols

    @cached_property
    def intersections(self) -> Counts:
        """Cells two biclusters share, K x K; the diagonal holds the sizes."""
        return self.shared_rows * self.shared_cols

    @cached_property
    def jaccard(self) -> NDArray[np.float64]:
        """Cell Jaccard index of all pairs, K x K."""
        sizes = np.diagonal(self.intersections)
        return np.asarray(jaccard_index(self.intersections, sizes[:, None], sizes[None, :]))

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
        return int(self.solution.row_masks.any(axis=0).sum())

    @property
    def cols(self) -> int:
        """Columns in at least one bicluster."""
        return int(self.solution.col_masks.any(axis=0).sum())

    @cached_property
    def _once_and_more(self) -> tuple[int, int]:
        """Only biclusters that share cells with another need to be laid over each other, with one bit per cell."""
        overlapping = self.solution.select(np.flatnonzero((self.intersections > 0).sum(axis=1) > 1))
        col_bits = _bits(overlapping.col_masks)
        once = np.zeros((self.solution.shape[0], col_bits.shape[1]), dtype=np.uint64)
        twice = np.zeros_like(once)
        for bicluster, bits in zip(overlapping, col_bits, strict=True):
            covered = once.take(bicluster.rows, axis=0)
            once[bicluster.rows] = covered | bits
            covered &= bits
            twice[bicluster.rows] |= covered
        alone = self.cells_counted - sum(b.size for b in overlapping)
        return alone + int(np.bitwise_count(once).sum()), int(np.bitwise_count(twice).sum())


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


def _shared(masks: NDArray[np.bool_]) -> Counts:
    """Return how many members two masks have in common, K x K."""
    bits = _bits(masks)
    shared = np.empty((len(bits), len(bits)), dtype=np.int64)
    for k in range(len(bits)):
        shared[k, k:] = shared[k:, k] = np.bitwise_count(bits[k:] & bits[k]).sum(axis=1)
    return shared


def _bits(masks: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return each mask as a row of 64-bit words."""
    packed = np.zeros((len(masks), 8 * -(-masks.shape[1] // 64)), dtype=np.uint8)
    bits = np.packbits(masks, axis=1)
    packed[:, : bits.shape[1]] = bits
    return packed.view(np.uint64)
