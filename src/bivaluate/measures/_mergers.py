"""VE and MSR of every merger of two biclusters: the K x K matrices behind NVE and NSR.

The merger (super-bicluster) of two biclusters is the union of their rows by the union of their columns.
Small inputs are answered with plain NumPy, large ones with compiled kernels; the size of the input alone decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bivaluate._parallel import count_cores, share_out
from bivaluate.measures._blocks import HUGE, TINY, block_values

if TYPE_CHECKING:
    from bivaluate.measures._kernels import Cells, Indices, Layout, Values
    from bivaluate.solution import Biclustering

# From this many cells of mergers on, compiled kernels answer; a call of NumPy costs as much as so many cells.
KERNEL_CELLS = 1_000_000
CELLS_PER_MERGER = 200
# A merger is computed again with care when its VE, or the residue as a share of the variance, falls below these.
DOUBTFUL_VE = 1e-7
DOUBTFUL_RESIDUE = 1e-4
# One more thread for each so many cells of mergers.
CELLS_PER_THREAD = 300_000
# Centring and summing rows costs so many times less per cell than merging.
READING_IS_CHEAPER = 16
# A call of a kernel costs about 0.1 ms: few parts for little work, more for better balance of much work.
MANY_CELLS, PARTS_PER_THREAD = 20_000_000, 8
# Cells of an average merger to work on at once: they fit the nearest caches.
TILE_CELLS = 8000


def merger_matrices(X: Values, solution: Biclustering, n_jobs: int | None = None) -> tuple[Values, Values]:
    """Return the K x K matrices of VE and MSR of all mergers; the diagonal holds the biclusters themselves.

    Parameters
    ----------
    X : ndarray
        The data, finite float64 in any memory order; never written, never copied.
    solution : Biclustering
        Biclusters of `X`.
    n_jobs : int or None
        Number of threads; ``None`` uses every core allowed. The result is the same to the bit.
    """
    if large_enough_for_kernels(solution):
        return compiled_merger_matrices(X, solution, n_jobs)
    return all_pairs(X, solution, block_values)


def compiled_merger_matrices(X: Values, solution: Biclustering, n_jobs: int | None = None) -> tuple[Values, Values]:
    """Return what `merger_matrices` promises, through compiled kernels."""
    return CompiledMergers(X, solution, n_jobs).matrices()


def large_enough_for_kernels(solution: Biclustering) -> bool:
    """Whether compiled kernels answer for this solution."""
    return union_cells(solution) + CELLS_PER_MERGER * len(solution) ** 2 / 2 >= KERNEL_CELLS


def union_cells(solution: Biclustering) -> int:
    """Return the number of cells of all biclusters and all mergers, what two of them share counted twice.

    >>> from bivaluate.solution import Biclustering
    >>> union_cells(Biclustering([([0, 1], [0, 1]), ([2], [2, 3])], shape=(3, 4)))
    18
    """
    rows, cols = (sum(b.shape[axis] for b in solution) for axis in (0, 1))
    # the sum over k < l of (r_k + r_l)(c_k + c_l), plus the biclusters themselves
    return (len(solution) - 1) * sum(b.size for b in solution) + rows * cols


def all_pairs(
    X: Values, solution: Biclustering, values: Callable[[Values], tuple[float, float]]
) -> tuple[Values, Values]:
    """Return the two matrices by plain NumPy, `values` giving VE and MSR of one block."""
    K = len(solution)
    ve, msr = np.empty((K, K)), np.empty((K, K))
    row_masks, col_masks = solution.row_masks, solution.col_masks
    for k in range(K):
        for l in range(k, K):  # noqa: E741
            rows = (row_masks[k] | row_masks[l]).nonzero()[0]
            cols = (col_masks[k] | col_masks[l]).nonzero()[0]
            ve[k, l], msr[k, l] = values(X[rows[:, None], cols])
            ve[l, k], msr[l, k] = ve[k, l], msr[k, l]
    return ve, msr


class CompiledMergers:
    """The compiled kernels with their arguments laid out, work shared out to threads."""

    def __init__(self, X: Values, solution: Biclustering, n_jobs: int | None = None) -> None:
        from bivaluate.measures import _kernels

        self.n_jobs = n_jobs
        self.K = len(solution)
        if self.K == 0:
            return
        used, cols = _used_columns(np.concatenate([b.cols for b in solution]), X.shape[1])
        self.layout = _layout(solution, cols, X.shape[0])
        self.step = _tile_rows(self.layout)
        threads = _threads(n_jobs, len(self.layout.rows) * len(used) // READING_IS_CHEAPER)
        rows = np.flatnonzero(np.diff(self.layout.owner_start))
        self.cells, self.level, self.norm = _centre_rows(X, used, rows, threads)
        self.sums = np.zeros((self.K, len(used)))
        shares = np.array_split(np.arange(self.K), min(self.K, threads))
        add = partial(_kernels.column_sums, self.cells, self.layout, self.level)
        share_out([partial(add, share, self.sums) for share in shares], threads)

    def matrices(self) -> tuple[Values, Values]:
        """Return VE and MSR of all mergers, K x K; the biclusters themselves on the diagonal."""
        return self._merge(alone=False)

    def blocks(self) -> tuple[Values, Values]:
        """Return VE and MSR of the biclusters: the diagonals of `matrices` to the bit, without the mergers."""
        ve, msr = self._merge(alone=True)
        return np.diagonal(ve), np.diagonal(msr)

    def _merge(self, alone: bool) -> tuple[Values, Values]:
        from bivaluate.measures import _kernels

        K, layout = self.K, self.layout if self.K else None
        if layout is None:
            return np.empty((0, 0)), np.empty((0, 0))
        sizes = np.diff(layout.row_start)
        cells = int(sizes @ np.diff(layout.col_start)) if alone else 2 * len(layout.rows) * len(layout.cols)
        threads = _threads(self.n_jobs, cells)
        ve, msr, pattern_part = np.zeros((K, K)), np.zeros((K, K)), np.zeros((K, K))
        doubtful = np.zeros((K, K), dtype=np.bool_)
        largest_first = np.argsort(-sizes, kind="stable")
        parts = min(K, threads * (PARTS_PER_THREAD if cells > MANY_CELLS else 1))
        groups = [largest_first[part::parts] for part in range(parts)]
        merge = partial(_kernels.merge_groups, self.cells, layout, self.level, self.norm, self.sums, self.step)
        share_out([partial(merge, group, alone, ve, msr, pattern_part, doubtful) for group in groups], threads)

        # join the two halves of every merger, and compute again with care those that lost digits
        for halves in (ve, msr):
            half_diagonal = np.diag(halves) / 2
            np.fill_diagonal(halves, half_diagonal)
        ve, row_part = ve + ve.T, msr + msr.T
        msr = row_part - (pattern_part + np.triu(pattern_part, 1).T)
        doubtful |= doubtful.T
        doubtful |= (ve < DOUBTFUL_VE) | (msr < DOUBTFUL_RESIDUE * row_part)
        pairs = np.argwhere(doubtful & np.eye(K, dtype=np.bool_) if alone else np.triu(doubtful))
        if len(pairs):
            from bivaluate.measures._kernels_careful import careful_pairs

            shares = np.array_split(pairs, min(len(pairs), 64))
            share_out([partial(careful_pairs, self.cells, layout, share, ve, msr) for share in shares], threads)
        if self.cells.scale != 1.0:
            with np.errstate(over="ignore", under="ignore"):
                msr = msr / self.cells.scale / self.cells.scale
        return ve, msr


def _layout(solution: Biclustering, cols: Indices, n_rows: int) -> Layout:
    from bivaluate.measures import _kernels

    row_start = _starts([len(b.rows) for b in solution])
    rows = np.concatenate([b.rows for b in solution])
    col_start = _starts([len(b.cols) for b in solution])
    owner_start = _starts(np.bincount(rows, minlength=n_rows))
    owners = _kernels.list_owners(row_start, rows, owner_start)
    col_set = _set_numbers([b.cols for b in solution])
    by_set = np.argsort(col_set, kind="stable")
    return _kernels.Layout(row_start, rows, col_start, cols, owner_start, owners, col_set, by_set)


def _centre_rows(X: Values, used: Indices, rows: Indices, threads: int) -> tuple[Cells, Values, Values]:
    """Return where the cells are, and the mean and the norm of every row in use."""
    from bivaluate.measures import _kernels

    flat, origin, row_stride, col_stride = _flat_view(X)
    dense = col_stride == 1 and len(used) == X.shape[1]
    cells = _kernels.Cells(flat, origin, row_stride, col_stride, 1.0, used, dense)
    level, norm = np.zeros(len(X)), np.zeros(len(X))
    parts = np.array_split(rows, threads)
    share_out([partial(_kernels.row_levels, cells, part, level, norm) for part in parts], threads)
    if not TINY < float(norm.max()) < HUGE:
        exponent = math.frexp(max(float(X.max()), -float(X.min())))[1]
        cells = cells._replace(scale=math.ldexp(1.0, min(-exponent, 1000)))
        share_out([partial(_kernels.row_levels, cells, part, level, norm) for part in parts], threads)
    return cells, level, norm


def _flat_view(X: Values) -> tuple[Values, int, int, int]:
    """Return a read-only flat view of the memory of `X`, the place of cell (0, 0) in it, and the two strides."""
    size = X.itemsize
    if any(stride % size for stride in X.strides) or not X.flags.aligned:
        X = np.ascontiguousarray(X)
    strides = [stride // size if length > 1 else 1 for stride, length in zip(X.strides, X.shape, strict=True)]
    reach = [stride * (length - 1) for stride, length in zip(strides, X.shape, strict=True)]
    corner = X[tuple(slice(None, None, -1) if r < 0 else slice(None) for r in reach)]
    flat = np.lib.stride_tricks.as_strided(
        corner, shape=(1 + sum(abs(r) for r in reach),), strides=(size,), writeable=False
    )
    return flat, -sum(r for r in reach if r < 0), strides[0], strides[1]


def _used_columns(cols: Indices, n_cols: int) -> tuple[Indices, Indices]:
    """Return the columns to work on, and `cols` as positions among them; all columns where most are used."""
    used = np.flatnonzero(np.bincount(cols, minlength=n_cols))
    if 2 * len(used) > n_cols:
        return np.arange(n_cols), cols
    return used, np.searchsorted(used, cols)


def _starts(lengths: Sequence[int] | Indices) -> Indices:
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _set_numbers(members: Iterable[Indices]) -> Indices:
    """Return one number per member list, equal where the lists are."""
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(m.tobytes(), len(known)) for m in members], dtype=np.int64)


def _tile_rows(layout: Layout) -> int:
    """Return how many rows of a bicluster to hold at once."""
    from bivaluate.measures._kernels import LANES

    width = 2 * len(layout.cols) // (len(layout.col_start) - 1)
    longest = int(np.diff(layout.row_start).max())
    tile = min(max(TILE_CELLS // width // 32 * 32, 32), 256)
    return min(tile, -(-longest // LANES) * LANES)


def _threads(n_jobs: int | None, cells: int) -> int:
    return max(1, min(count_cores(n_jobs), 1 + cells // CELLS_PER_THREAD))
