"""How often cells are covered, counted without a matrix of cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bivaluate.solution import Biclustering

CHUNK = 1 << 20


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
    """Count the covered cells of a solution.

    Rows with the same memberships are counted together, and so are columns: cell (i, j) is covered as
    often as row i and column j have a bicluster in common.
    """
    shape = solution.shape
    counted = sum(b.size for b in solution)
    row_patterns, row_times = _patterns(solution.row_masks)
    col_patterns, col_times = _patterns(solution.col_masks)
    covered = shared = 0
    step = max(1, CHUNK // max(1, len(col_patterns)))
    for start in range(0, len(row_patterns), step):
        times = row_patterns[start : start + step] @ col_patterns.T
        weight = row_times[start : start + step]
        covered += int(weight @ ((times > 0) @ col_times))
        shared += int(weight @ ((times > 1) @ col_times))
    return Cover(solution, shape, covered, shared, counted, int(row_times.sum()), int(col_times.sum()))


def _patterns(masks: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the distinct non-empty membership patterns of the members and how often each occurs."""
    if not len(masks):
        return np.zeros((0, 0), dtype=np.float32), np.zeros(0, dtype=np.int64)
    packed = np.ascontiguousarray(np.packbits(masks, axis=0).T)
    packed = packed[packed.any(axis=1)]
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    distinct, times = np.unique(keys, return_counts=True)
    bits = distinct.view(np.uint8).reshape(len(distinct), packed.shape[1])
    return np.unpackbits(bits, axis=1, count=len(masks)).astype(np.float32), times.astype(np.int64)
