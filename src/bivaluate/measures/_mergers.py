"""VE and MSR of every merger of two biclusters: the K x K matrices behind NVE and NSR.

The merger (super-bicluster) of two biclusters is the union of their rows by the union of their columns. Small inputs
are answered by NumPy, one merger after the other, large ones in two passes over all rows: their size decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bivaluate._types import Floats, Ints
from bivaluate.measures._blocks import block_values, block_values_missing, quick_values

if TYPE_CHECKING:
    from bivaluate.solution import Biclustering

    Block = Callable[[Ints, Ints], Floats]

# From this many cells of mergers on, two passes answer; a call of NumPy costs as much as this many cells.
KERNEL_CELLS = 600_000
CELLS_PER_MERGER = 200


def is_large(solution: Biclustering) -> bool:
    """Whether compiled kernels answer for this solution."""
    return union_cells(solution) + CELLS_PER_MERGER * len(solution) ** 2 / 2 >= KERNEL_CELLS


def union_cells(solution: Biclustering) -> int:
    """Return the number of cells of all biclusters and all mergers, what two of them share counted twice.

    >>> from bivaluate.solution import Biclustering
    >>> union_cells(Biclustering([([0, 1], [0, 1]), ([2], [2, 3])], shape=(3, 4)))
    18
    """
    rows = cols = cells = 0
    for b in solution:
        r, c = len(b.rows), len(b.cols)
        rows, cols, cells = rows + r, cols + c, cells + r * c
    # the sum over k < l of (r_k + r_l)(c_k + c_l), plus the biclusters themselves
    return (len(solution) - 1) * cells + rows * cols


def all_pairs(block: Block, solution: Biclustering, missing: bool = False) -> tuple[Floats, Floats, bool]:
    """Return the two matrices, one merger after the other, and whether each row of a bicluster is known to vary.

    `block` gives the cells of some rows and columns; `missing` says whether some of them may be missing.
    """
    K, values = len(solution), block_values_missing if missing else block_values
    ve, msr = np.empty((K, K)), np.empty((K, K))
    ve.flat[:: K + 1], msr.flat[:: K + 1], none_constant = each_alone(block, solution, missing)
    row_masks, col_masks = solution.row_masks, solution.col_masks
    for k in range(K):
        for l in range(k):  # noqa: E741
            rows = (row_masks[k] | row_masks[l]).nonzero()[0]
            cols = (col_masks[k] | col_masks[l]).nonzero()[0]
            ve[k, l], msr[k, l] = ve[l, k], msr[l, k] = values(block(rows, cols))
    return ve, msr, none_constant


def each_alone(block: Block, solution: Biclustering, missing: bool = False) -> tuple[Floats, Floats, bool]:
    """Return the diagonals of what `all_pairs` returns, to the bit, without the mergers."""
    ve, msr, none_constant = np.empty(len(solution)), np.empty(len(solution)), not missing
    for k, b in enumerate(solution):
        A = block(b.rows, b.cols)
        found = None if missing else quick_values(A)
        none_constant = none_constant and found is not None
        ve[k], msr[k] = found or (block_values_missing(A) if missing else block_values(A))
    return ve, msr, none_constant
