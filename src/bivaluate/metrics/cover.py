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
        shared = np.ones((len(self.solution), len(self.solution)))
        for masks in (self.solution.row_masks, self.solution.col_masks):
            as_float = masks.astype(np.float32)
            shared *= as_float @ as_float.T
        return shared

    @cached_property
    def jaccard(self) -> NDArray[np.float64]:
        """Cell Jaccard of all pairs, K x K."""
        sizes = np.diagonal(self.intersections)
        return self.intersections / (sizes[:, None] + sizes[None, :] - self.intersections)


def count_cover(solution: Biclustering) -> Cover:
    """Count the covered cells of a solution, with one bit per cell."""
    n_rows, n_cols = solution.shape
    words = -(-n_cols // 64)
    once = np.zeros((n_rows, words), dtype=np.uint64)
    twice = np.zeros_like(once)
    for bicluster, bits in zip(solution, _bits(solution.col_masks, words), strict=True):
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


def _bits(masks: NDArray[np.bool_], words: int) -> NDArray[np.uint64]:
    """Return each mask as a row of 64-bit words."""
    packed = np.zeros((len(masks), 8 * words), dtype=np.uint8)
    bits = np.packbits(masks, axis=1)
    packed[:, : bits.shape[1]] = bits
    return packed.view(np.uint64)
