"""Drives the compiled kernels of the matrices of mergers: lays out their arguments, shares out work to threads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bivaluate._parallel import count_cores, share_out
from bivaluate.measures import _kernels
from bivaluate.measures._kernels import Cells, Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bivaluate.measures._kernels import Indices, Values
    from bivaluate.solution import Biclustering

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
# Outside this range squares overflow or underflow, and the kernels see X times a power of two.
TINY, HUGE = 1e-140, 1e150


def compiled_merger_matrices(X: Values, solution: Biclustering, n_jobs: int | None = None) -> tuple[Values, Values]:
    """Return what `bivaluate.measures._blocks.merger_matrices` promises, through compiled kernels."""
    K, n = len(solution), X.shape[0]
    if K == 0:
        return np.empty((0, 0)), np.empty((0, 0))
    used, cols = _used_columns(np.concatenate([b.cols for b in solution]), X.shape[1])
    layout = _layout(solution, cols, n)
    merged_cells = 2 * len(layout.rows) * len(cols)
    threads = _threads(n_jobs, merged_cells)
    reading_threads = _threads(n_jobs, len(layout.rows) * len(used) // READING_IS_CHEAPER)
    cells, level, norm = _centre_rows(X, used, np.flatnonzero(np.diff(layout.owner_start)), reading_threads)

    sums = np.zeros((K, len(used)))
    shares = np.array_split(np.arange(K), min(K, reading_threads))
    share_out([partial(_kernels.column_sums, cells, layout, level, share, sums) for share in shares], reading_threads)

    ve, msr, pattern_part = np.zeros((K, K)), np.zeros((K, K)), np.zeros((K, K))
    doubtful = np.zeros((K, K), dtype=np.bool_)
    largest_first = np.argsort([-len(b.rows) for b in solution], kind="stable")
    parts = min(K, threads * (PARTS_PER_THREAD if merged_cells > MANY_CELLS else 1))
    groups = [largest_first[part::parts] for part in range(parts)]
    merge = partial(_kernels.merge_groups, cells, layout, level, norm, sums, _tile_rows(layout))
    share_out([partial(merge, group, ve, msr, pattern_part, doubtful) for group in groups], threads)
    return _finish(cells, layout, ve, msr, pattern_part, doubtful, threads)


def _layout(solution: Biclustering, cols: Indices, n_rows: int) -> Layout:
    row_start = _starts([len(b.rows) for b in solution])
    rows = np.concatenate([b.rows for b in solution])
    col_start = _starts([len(b.cols) for b in solution])
    owner_start = _starts(np.bincount(rows, minlength=n_rows))
    owners = _kernels.list_owners(row_start, rows, owner_start)
    col_set = _set_numbers([b.cols for b in solution])
    by_set = np.argsort(col_set, kind="stable")
    return Layout(row_start, rows, col_start, cols, owner_start, owners, col_set, by_set)


def _centre_rows(X: Values, used: Indices, rows: Indices, threads: int) -> tuple[Cells, Values, Values]:
    """Return where the cells are, and the mean and the norm of every row in use."""
    flat, origin, row_stride, col_stride = _flat_view(X)
    dense = col_stride == 1 and len(used) == X.shape[1]
    cells = Cells(flat, origin, row_stride, col_stride, 1.0, used, dense)
    level, norm = np.zeros(len(X)), np.zeros(len(X))
    parts = np.array_split(rows, threads)
    share_out([partial(_kernels.row_levels, cells, part, level, norm) for part in parts], threads)
    if not TINY < float(norm.max()) < HUGE:
        exponent = math.frexp(max(float(X.max()), -float(X.min())))[1]
        cells = cells._replace(scale=math.ldexp(1.0, min(-exponent, 1000)))
        share_out([partial(_kernels.row_levels, cells, part, level, norm) for part in parts], threads)
    return cells, level, norm


def _finish(
    cells: Cells,
    layout: Layout,
    ve: Values,
    msr: Values,
    pattern_part: Values,
    doubtful: NDArray[np.bool_],
    threads: int,
) -> tuple[Values, Values]:
    """Join the two halves of every merger, and compute again with care those that lost digits."""
    for halves in (ve, msr):
        half_diagonal = np.diag(halves) / 2
        np.fill_diagonal(halves, half_diagonal)
    ve, row_part = ve + ve.T, msr + msr.T
    msr = row_part - (pattern_part + np.triu(pattern_part, 1).T)
    doubtful |= doubtful.T
    doubtful |= (ve < DOUBTFUL_VE) | (msr < DOUBTFUL_RESIDUE * row_part)
    pairs = np.argwhere(np.triu(doubtful))
    if len(pairs):
        from bivaluate.measures._kernels_careful import careful_pairs

        parts = np.array_split(pairs, min(len(pairs), 64))
        share_out([partial(careful_pairs, cells, layout, part, ve, msr) for part in parts], threads)
    if cells.scale != 1.0:
        with np.errstate(over="ignore", under="ignore"):
            msr = msr / cells.scale / cells.scale
    return ve, msr


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
    width = 2 * len(layout.cols) // (len(layout.col_start) - 1)
    longest = int(np.diff(layout.row_start).max())
    tile = min(max(TILE_CELLS // width // 32 * 32, 32), 256)
    return min(tile, -(-longest // _kernels.LANES) * _kernels.LANES)


def _threads(n_jobs: int | None, cells: int) -> int:
    return max(1, min(count_cores(n_jobs), 1 + cells // CELLS_PER_THREAD))
