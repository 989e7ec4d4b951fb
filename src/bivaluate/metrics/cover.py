"""How many cells are covered, and how many more than once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bivaluate.solution import Biclustering, check_solution


@dataclass(frozen=True)
class Cover:
    """Counts over a solution."""

    solution: Biclustering
    shape: tuple[int, int]
    cells: int
    cells_shared: int
    cells_counted: int
    rows: int
    cols: int

    @cached_property
    def shared_rows(self) -> NDArray[np.int64]:
        """Rows two biclusters share, K x K; the diagonal holds their own."""
        return _shared(self.solution.row_masks)

    @cached_property
    def shared_cols(self) -> NDArray[np.int64]:
        """Columns two biclusters share, K x K; the diagonal holds their own."""
        return _shared(self.solution.col_masks)

    @cached_property
    def merged_shapes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns of every super-bicluster, K x K each."""
        rows, cols = (
            np.add.outer(np.diagonal(shared), np.diagonal(shared)) - shared
            for shared in (self.shared_rows, self.shared_cols)
        )
        return rows, cols

    @cached_property
    def intersections(self) -> NDArray[np.int64]:
        """Cells two biclusters share, K x K; the diagonal holds the sizes."""
        return self.shared_rows * self.shared_cols

    @cached_property
    def jaccard(self) -> NDArray[np.float64]:
        """Cell Jaccard of all pairs, K x K."""
        sizes = np.diagonal(self.intersections)
        return self.intersections / (sizes[:, None] + sizes[None, :] - self.intersections)


def count_cover(solution: Biclustering) -> Cover:
    """Count the covered cells of a solution, with one bit per cell."""
    col_bits = _bits(check_solution(solution).col_masks)
    once = np.zeros((solution.shape[0], col_bits.shape[1]), dtype=np.uint64)
    twice = np.zeros_like(once)
    for bicluster, bits in zip(solution, col_bits, strict=True):
        covered = once.take(bicluster.rows, axis=0)
        once[bicluster.rows] = covered | bits
        covered &= bits
        if covered.any():
            twice[bicluster.rows] |= covered
    return Cover(
        solution,
        solution.shape,
        cells=int(np.bitwise_count(once).sum()),
        cells_shared=int(np.bitwise_count(twice).sum()),
        cells_counted=sum(b.size for b in solution),
        rows=int(once.any(axis=1).sum()),
        cols=int(np.bitwise_count(np.bitwise_or.reduce(once, axis=0)).sum()),
    )


def _shared(masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many members two masks have in common, K x K."""
    bits = _bits(masks)
    shared = np.empty((len(bits), len(bits)), dtype=np.int64)
    for k in range(len(bits)):
        shared[k] = np.bitwise_count(bits & bits[k]).sum(axis=1)
    return shared


def _bits(masks: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return each mask as a row of 64-bit words."""
    packed = np.zeros((len(masks), 8 * -(-masks.shape[1] // 64)), dtype=np.uint8)
    bits = np.packbits(masks, axis=1)
    packed[:, : bits.shape[1]] = bits
    return packed.view(np.uint64)
