"""How many cells are covered, and how many more than once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bivaluate.solution import Biclustering


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
    def intersections(self) -> NDArray[np.float64]:
        """Cells two biclusters share, K x K; the diagonal holds the sizes."""
        rows, cols = _bits(self.solution.row_masks), _bits(self.solution.col_masks)
        shared = np.empty((len(rows), len(rows)))
        for k in range(len(rows)):
            shared[k] = np.bitwise_count(rows & rows[k]).sum(axis=1) * np.bitwise_count(cols & cols[k]).sum(
                axis=1
            )
        return shared

    @cached_property
    def jaccard(self) -> NDArray[np.float64]:
        """Cell Jaccard of all pairs, K x K."""
        sizes = np.diagonal(self.intersections)
        return self.intersections / (sizes[:, None] + sizes[None, :] - self.intersections)


def count_cover(solution: Biclustering) -> Cover:
    """Count the covered cells of a solution, with one bit per cell."""
    col_bits = _bits(solution.col_masks)
    once = np.zeros((solution.shape[0], col_bits.shape[1]), dtype=np.uint64)
    twice = np.zeros_like(once)
    for bicluster, bits in zip(solution, col_bits, strict=True):
        covered = once[bicluster.rows]
        twice[bicluster.rows] |= covered & bits
        once[bicluster.rows] = covered | bits
    return Cover(
        solution,
        solution.shape,
        cells=int(np.bitwise_count(once).sum()),
        cells_shared=int(np.bitwise_count(twice).sum()),
        cells_counted=sum(b.size for b in solution),
        rows=int(once.any(axis=1).sum()),
        cols=int(np.bitwise_count(np.bitwise_or.reduce(once, axis=0)).sum()),
    )


def _bits(masks: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return each mask as a row of 64-bit words."""
    packed = np.zeros((len(masks), 8 * -(-masks.shape[1] // 64)), dtype=np.uint8)
    bits = np.packbits(masks, axis=1)
    packed[:, : bits.shape[1]] = bits
    return packed.view(np.uint64)
