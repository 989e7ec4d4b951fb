"""VE and MSR of every merger of two biclusters: the K x K matrices behind NVE and NSR.

The merger (super-bicluster) of two biclusters is the union of their rows by the union of their columns. Small inputs
are answered with plain NumPy, larger ones by compiled code, one merger after the other, and large ones in two passes
over all rows. The size of the input decides, and whether the installation brought machine code.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bivaluate._files import has_machine_code
from bivaluate._parallel import count_cores
from bivaluate.matrix import Matrix, flat_view
from bivaluate.measures._blocks import HUGE, TINY, block_values, block_values_missing
from bivaluate.measures._passes import (
    Largest,
    Members,
    Picked,
    Plan,
    Rows,
    Sums,
    Total,
    add_careful_deviations,
    add_careful_errors,
    add_errors,
    add_shared,
    add_sums,
    largest_value,
    pick_rows,
    rows_for,
    starts,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bivaluate.measures._kernels import Errors, Indices, Values
    from bivaluate.solution import Biclustering

    Masks = NDArray[np.bool_]

# From this many cells of mergers on, two passes answer; a call of NumPy costs as much as this many cells.
KERNEL_CELLS = 600_000
CELLS_PER_MERGER = 200
# From this many on compiled code answers, one merger after the other, if it came with the installation.
COMPILED_CELLS = 8_000
# From this many mergers of one bicluster on, compiled code answers.
MANY_MERGERS = 64
# A command that scores and ends has no use for compiled kernels before this many: loading them takes longer, and
# compiling them much longer, than NumPy needs.
KERNEL_CELLS_ONCE = 50_000_000
# A merger is computed again with care when its VE, or the residue as a share of the variance, falls below these.
DOUBTFUL_VE = 1e-7
DOUBTFUL_RESIDUE = 1e-4
# One more thread for each of this many cells of mergers.
CELLS_PER_THREAD = 300_000
# Centring and summing rows costs this many times less per cell than merging.
READING_IS_CHEAPER = 16
# A call of a kernel costs about 0.1 ms: few parts for little work, more for better balance of much work.
MANY_CELLS, PARTS_PER_THREAD = 20_000_000, 8
# Cells of an average merger to work on at once: they fit the nearest caches.
TILE_CELLS = 8000
# Patterns of mergers that are held together, and columns of mergers that are computed again together.
PATTERN_BYTES, PAIR_CELLS = 1 << 26, 1 << 22


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
    if compiled_pays(solution):
        return mergers_one_by_one(X, solution)
    return all_pairs(Matrix(X).block, solution, block_values)[:2]


def mergers_one_by_one(X: Values, solution: Biclustering) -> tuple[Values, Values]:
    """Return what `merger_matrices` promises, through compiled code for one merger after the other."""
    return all_pairs(Matrix(X).block, solution, block_values, quick=X)[:2]


def compiled_merger_matrices(X: Values, solution: Biclustering, n_jobs: int | None = None) -> tuple[Values, Values]:
    """Return what `merger_matrices` promises, through compiled kernels."""
    return compiled_mergers(Matrix(X), solution, n_jobs).matrices()[:2]


def compiled_mergers(matrix: Matrix, solution: Biclustering, n_jobs: int | None = None) -> CompiledMergers:
    """Return the compiled kernels for a matrix in whatever form."""
    memory = PATTERN_BYTES if matrix.memory is None else min(PATTERN_BYTES, matrix.memory // 4)
    return CompiledMergers(rows_for(matrix), solution, matrix.shape, matrix.sparse, n_jobs, memory)


_least_cells: ContextVar[int | None] = ContextVar("_least_cells", default=None)


@contextmanager
def scored_once(matrix: Matrix, solutions: Sequence[Biclustering]) -> Iterator[None]:
    """Score these solutions as all that this process scores: by NumPy unless they are large together."""
    few = matrix.in_memory and sum(map(_work, solutions)) < KERNEL_CELLS_ONCE
    token = _least_cells.set(KERNEL_CELLS_ONCE if few else None)
    try:
        yield
    finally:
        _least_cells.reset(token)


def large_enough_for_kernels(solution: Biclustering) -> bool:
    """Whether compiled kernels answer for this solution."""
    least = _least_cells.get()
    return _work(solution) >= (KERNEL_CELLS if least is None else least)


def compiled_pays(solution: Biclustering) -> bool:
    """Whether this solution is large enough for compiled code of any kind."""
    least = _least_cells.get()
    if least is None:
        least = COMPILED_CELLS if has_machine_code() else KERNEL_CELLS
    return _work(solution) >= least


def _work(solution: Biclustering) -> float:
    """Return the cells of all mergers, and those that the calls are worth."""
    return union_cells(solution) + CELLS_PER_MERGER * len(solution) ** 2 / 2


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


def all_pairs(
    block: Callable[[Indices, Indices], Values],
    solution: Biclustering,
    values: Callable[[Values], tuple[float, float]],
    quick: Values | None = None,
) -> tuple[Values, Values, bool]:
    """Return the two matrices, one merger after the other, and whether each row of a bicluster is known to vary.

    `block` gives cells and `values` VE and MSR of one block, by plain NumPy. With all cells in `quick` compiled code
    answers, but for blocks whose digits need care, as they do where a row is constant.
    """
    K = len(solution)
    ve, msr = np.full((K, K), np.nan), np.full((K, K), np.nan)
    row_masks, col_masks = solution.row_masks, solution.col_masks
    if quick is not None:
        from bivaluate.measures._kernels_blocks import errors_of_all

        errors_of_all(flat_view(quick), row_masks, col_masks, ve, msr)
    left = np.isnan(ve)
    none_constant = not left.diagonal().any()
    for k, l in np.argwhere(np.tril(left)).tolist():  # noqa: E741
        if k == l:
            ve[k, k], msr[k, k] = values(block(solution[k].rows, solution[k].cols))
        else:
            rows = (row_masks[k] | row_masks[l]).nonzero()[0]
            cols = (col_masks[k] | col_masks[l]).nonzero()[0]
            ve[k, l], msr[k, l] = ve[l, k], msr[l, k] = values(block(rows, cols))
    return ve, msr, none_constant


def each_alone(
    block: Callable[[Indices, Indices], Values],
    solution: Biclustering,
    values: Callable[[Values], tuple[float, float]],
    quick: Values | None = None,
) -> tuple[Values, Values, bool]:
    """Return the diagonals of what `all_pairs` returns, to the bit, without the mergers."""
    ve, msr = np.full(len(solution), np.nan), np.full(len(solution), np.nan)
    if quick is not None:
        from bivaluate.measures._kernels_blocks import errors_of_each

        errors_of_each(flat_view(quick), solution.row_masks, solution.col_masks, ve, msr)
    left = np.isnan(ve)
    for k in np.flatnonzero(left).tolist():
        ve[k], msr[k] = values(block(solution[k].rows, solution[k].cols))
    return ve, msr, not left.any()


def errors_of_one(matrix: Matrix, row_masks: Masks, col_masks: Masks, k: int, others: Indices) -> Values:
    """Return VE of the mergers of one bicluster of a matrix in memory with some others, given by their masks."""
    errors = np.full(len(others), np.nan)
    if len(others) >= MANY_MERGERS and not matrix.has_missing:
        from bivaluate.measures import _kernels_blocks

        _kernels_blocks.errors_of_one(flat_view(matrix.values), row_masks, col_masks, k, others, errors)
    for at in np.flatnonzero(np.isnan(errors)).tolist():
        rows = (row_masks[k] | row_masks[others[at]]).nonzero()[0]
        cols = (col_masks[k] | col_masks[others[at]]).nonzero()[0]
        errors[at] = block_values_missing(matrix.block(rows, cols))[0]
    return errors


class CompiledMergers:
    """The compiled kernels: two passes over the rows, some leads at a time where there are many, and care where needed.

    Parameters
    ----------
    rows
        Takes passes to the rows of the matrix.
    solution
        Its biclusters.
    shape
        Of the matrix.
    n_jobs
        Threads.
    memory
        Bytes that patterns may take; leads that need more are taken in batches, each with passes over its own rows.
    """

    def __init__(
        self,
        rows: Rows,
        solution: Biclustering,
        shape: tuple[int, int],
        sparse: bool = False,
        n_jobs: int | None = None,
        memory: int = PATTERN_BYTES,
    ) -> None:
        self.rows, self.sparse, self.n_jobs, self.memory = rows, sparse, n_jobs, memory
        self.K = len(solution)
        if self.K:
            self.members = Members.of(solution, shape)
            self.step = _tile_rows(self.members)
            self.sums: Sums | None = None
            self.scale = 1.0

    def matrices(self) -> tuple[Values, Values, Indices]:
        """Return VE, MSR and numbers of constant rows of all mergers, K x K; the biclusters are on the diagonal."""
        return self._merge(alone=False)

    def blocks(self) -> tuple[Values, Values, Indices]:
        """Return those of the biclusters: the diagonals of `matrices` to the bit, without the mergers."""
        ve, msr, constant = self._merge(alone=True)
        return np.diagonal(ve), np.diagonal(msr), np.diagonal(constant)

    @property
    def largest_norm(self) -> float:
        """The largest norm of a row in use, which bounds every absolute value; known once something has been merged."""
        assert self.sums is not None
        return float(self.sums.top.max()) / self.scale

    def _merge(self, alone: bool) -> tuple[Values, Values, Indices]:
        from bivaluate.measures import _kernels

        K = self.K
        if not K:
            return np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0), dtype=np.int64)
        members, sizes = self.members, self.members.sizes
        n_cols = np.diff(members.col_start)
        cells = int(sizes @ n_cols) if alone else 2 * len(members.rows) * len(members.cols)
        threads = _threads(self.n_jobs, cells)
        errors = _kernels.Errors(np.zeros((K, K)), np.zeros((K, K)), np.zeros((K, K)), np.zeros((K, K), dtype=np.bool_))
        variance = np.zeros((K, K))
        for leads in self._turns(alone):
            plan = self._first_pass(leads, alone, threads)
            assert self.sums is not None
            _kernels.finish_patterns(
                members.layout(members.rows[:0]),
                plan.patterns,
                self.sums.sums,
                self.sums.top,
                leads,
                alone,
                errors.doubtful,
            )
            if self.sparse:
                from bivaluate.measures import _kernels_sparse

                plan = replace(plan, ordered=_kernels_sparse.order_patterns(members, plan.patterns, leads, alone))
            parts = threads * (PARTS_PER_THREAD if cells > MANY_CELLS else 1)
            work = partial(add_errors, parts=parts)
            wanted = None if len(leads) == K else members.rows_of(leads)
            errors = self.rows.run(work, plan, errors, wanted, threads)
            variance[leads] = plan.patterns.variance[leads]
        return self._joined(errors, variance, alone, threads)

    def _turns(self, alone: bool) -> Iterator[Indices]:
        """Yield leads whose patterns may be held together."""
        n_cols = np.diff(self.members.col_start)
        need = np.cumsum((n_cols if alone else self.K * n_cols + len(self.members.cols)) * (28 if self.sparse else 12))
        turn = (need - 1) // self.memory if self.K else need
        for number in np.unique(turn):
            yield np.flatnonzero(turn == number)

    def _first_pass(self, leads: Indices, alone: bool, threads: int) -> Plan:
        """Return the plan of these leads with all that the first pass adds up."""
        from bivaluate.measures import _kernels

        members, K, n_used = self.members, self.K, len(self.members.used)
        n_cols = np.diff(members.col_start)
        at = np.zeros(K, dtype=np.int64)
        length = n_cols if alone else K * n_cols + len(members.cols)
        at[leads] = starts(length[leads])[:-1]
        total = int(length[leads].sum())
        patterns = _kernels.Patterns(
            at, np.zeros((K, K + 1), dtype=np.int64), np.empty(total, np.uint32), np.zeros(total), np.zeros((K, K))
        )
        _kernels.unite_all(members.layout(members.rows[:0]), patterns, n_used, leads, alone)
        plan = Plan(members, leads, alone, self.scale, self.step, patterns)
        reading = len(members.rows) * n_used // READING_IS_CHEAPER
        threads = min(threads, _threads(self.n_jobs, reading))
        if self.sums is None:
            sums = Sums(np.zeros((K, n_used)), np.zeros(K), patterns.values)
            sums = self.rows.run(add_sums, plan, sums, None, threads)
            if not TINY < float(sums.top.max()) < HUGE:
                found = self.rows.run(largest_value, plan, Largest(np.zeros(1)), None, threads)
                self.scale = math.ldexp(1.0, min(-math.frexp(float(found.top[0]))[1], 1000))
                plan = replace(plan, scale=self.scale)
                sums = Sums(np.zeros((K, n_used)), np.zeros(K), np.zeros(total))
                sums = self.rows.run(add_sums, plan, sums, None, threads)
            self.sums = sums._replace(shared=np.empty(0))
            shared = sums.shared
        elif not alone and (self.members.overlap[leads].sum(axis=1) > members.sizes[leads]).any():
            sums = self.rows.run(
                add_shared, plan, self.sums._replace(shared=patterns.values), members.rows_of(leads), threads
            )
            shared = sums.shared
        else:
            shared = patterns.values
        return replace(plan, patterns=patterns._replace(values=shared))

    def _joined(self, errors: Errors, variance: Values, alone: bool, threads: int) -> tuple[Values, Values, Indices]:
        """Join the two halves of every merger, and compute again with care those that lost digits."""
        K = self.K
        for halves in (errors.ve, errors.msr, errors.constant):
            half_diagonal = np.diag(halves) / 2
            np.fill_diagonal(halves, half_diagonal)
        ve, row_part = errors.ve + errors.ve.T, errors.msr + errors.msr.T
        msr = row_part - (np.triu(variance) + np.triu(variance, 1).T)
        constant = np.rint(errors.constant + errors.constant.T).astype(np.int64)
        doubtful = errors.doubtful | errors.doubtful.T
        doubtful |= (ve < DOUBTFUL_VE) | (msr < DOUBTFUL_RESIDUE * row_part)
        pairs = np.argwhere(doubtful & np.eye(K, dtype=np.bool_) if alone else np.triu(doubtful))
        if len(pairs):
            self._carefully(pairs, ve, msr, threads)
        if self.scale != 1.0:
            with np.errstate(over="ignore", under="ignore"):
                msr = msr / self.scale / self.scale
        one_column = np.flatnonzero(np.diff(self.members.col_start) == 1)
        constant[one_column] = constant[:, one_column] = 0
        constant[one_column, one_column] = self.members.sizes[one_column]
        return ve, msr, constant

    def _carefully(self, pairs: Indices, ve: Values, msr: Values, threads: int) -> None:
        """Compute VE and MSR of these pairs again, in two careful passes."""
        from bivaluate.measures._kernels_careful import Deviations, Pairs

        members = self.members
        own = [members.cols[a:b] for a, b in itertools.pairwise(members.col_start)]
        held = np.zeros((self.K, len(members.used)), dtype=np.bool_)
        for mask, cols in zip(held, own, strict=True):
            mask[cols] = True
        first_rows = members.rows[members.row_start[:-1]]
        lengths = np.diff(members.col_start)[pairs].sum(axis=1)
        for turn in np.split(pairs, np.flatnonzero(np.diff(np.cumsum(lengths) // PAIR_CELLS)) + 1):
            # own[i], then np.setdiff1d(own[j], own[i])
            unions = [np.concatenate([own[i], own[j][~held[i][own[j]]]]) for i, j in turn.tolist()]
            leads = np.unique(turn)
            rows = None if len(leads) == self.K else members.rows_of(leads)
            pivots = first_rows[turn].min(axis=1)
            picked, which = np.unique(pivots, return_inverse=True)
            plan = Plan(members, leads, scale=self.scale, picked=picked)
            lines = self.rows.run(pick_rows, plan, Picked(np.zeros((len(picked), len(members.used)))), picked).lines
            pivot = np.concatenate([lines[line, union] for line, union in zip(which, unions, strict=True)])
            start = starts([len(union) for union in unions])
            plan = replace(plan, pairs=Pairs(turn, start, np.concatenate(unions), pivot))
            deviations = Deviations(np.zeros(len(pivot)), np.zeros(len(turn)))
            plan = replace(plan, deviations=self.rows.run(add_careful_deviations, plan, deviations, rows, threads))
            total = Total(np.zeros(len(turn)), np.zeros(len(turn)))
            error, residue = self.rows.run(add_careful_errors, plan, total, rows, threads)
            i, j = turn.T
            ve[i, j] = ve[j, i] = error
            msr[i, j] = msr[j, i] = residue


def _tile_rows(members: Members) -> int:
    """Return how many rows of a bicluster to hold at once."""
    from bivaluate.measures._kernels import LANES

    width = 2 * len(members.cols) // members.K
    longest = int(members.sizes.max())
    tile = min(max(TILE_CELLS // width // 32 * 32, 32), 256)
    return min(tile, -(-longest // LANES) * LANES)


def _threads(n_jobs: int | None, cells: int) -> int:
    return max(1, min(count_cores(n_jobs), 1 + cells // CELLS_PER_THREAD))
