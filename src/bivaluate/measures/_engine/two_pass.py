"""All mergers in two passes over the rows by compiled kernels, dense or sparse; `_kernels_two_pass` says how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from bivaluate._parallel import count_cores
from bivaluate._types import Flags, Floats, Ints
from bivaluate.measures._blocks import HUGE, TINY, is_constant_row
from bivaluate.measures._engine.careful import careful_errors
from bivaluate.measures._engine.passes import (
    Members,
    PassPlan,
    Rows,
    Sums,
    add_errors,
    add_shared,
    add_sums,
    list_starts,
    used_columns,
)

if TYPE_CHECKING:
    from bivaluate.matrix import Matrix
    from bivaluate.measures._engine._kernels_two_pass import Errors
    from bivaluate.solution import Biclustering

# A merger is computed again with care when its VE, or the residue as a share of the variance, falls below these.
DOUBTFUL_VE = 1e-7
DOUBTFUL_RESIDUE = 1e-3
# One more thread for each of this many cells of mergers.
CELLS_PER_THREAD = 300_000
# A call of a kernel costs about 0.1 ms: few parts for little work, more for better balance of much work.
MANY_CELLS, PARTS_PER_THREAD = 20_000_000, 8
# Cells of an average merger to work on at once: they fit the nearest caches.
TILE_CELLS = 12000
# Bytes of patterns of mergers that are held together.
PATTERN_BYTES = 1 << 24
# Up to this many biclusters are merged together, more of them two groups at a time: some ten K x K matrices are needed.
TOGETHER, GROUP = 2048, 500


class TwoPasses:
    """The kernels with an input laid out for them."""

    def __init__(
        self, matrix: Matrix, solution: Biclustering, n_jobs: int | None = None, whole: TwoPasses | None = None
    ) -> None:
        """Lay out the input; `whole` is what it is a group of, whose columns and number of rows at once are taken."""
        self.matrix, self.solution, self.n_jobs, self.K = matrix, solution, n_jobs, len(solution)
        self.rows = Rows(matrix)
        # leads whose patterns need more are taken in turns, each with passes over its own rows
        self.memory = PATTERN_BYTES if matrix.memory is None else min(PATTERN_BYTES, matrix.memory // 4)
        self.sums: Sums | None = None
        self.top = 0.0  # the largest norm of a row in use so far, which bounds every absolute value
        if self.K:
            self.used: Ints = whole.used if whole else used_columns(solution, matrix.shape[1])
            self.tile: int = whole.tile if whole else _tile_rows(solution)

    @property
    def large(self) -> bool:
        """Whether there are so many biclusters that two groups of them are merged at a time."""
        return self.K > TOGETHER

    @cached_property
    def members(self) -> Members:
        """Who is in which bicluster."""
        return Members.of(self.solution, self.matrix.shape, self.used)

    def matrices(self) -> tuple[Floats, Floats, Ints]:
        """Return VE, MSR and numbers of constant rows of all mergers, K x K; the biclusters are on the diagonal."""
        if not self.large:
            return self._merge(alone=False)
        found = np.empty((self.K,) * 2), np.empty((self.K,) * 2), np.empty((self.K,) * 2, dtype=np.int64)
        for i, j, part in self.parts():
            for values, of_part in zip(found, part, strict=True):
                values[np.ix_(i, j)], values[np.ix_(j, i)] = of_part, of_part.T
        return found

    def parts(self) -> Iterator[tuple[Ints, Ints, tuple[Floats, Floats, Ints]]]:
        """Yield positions of two groups of biclusters and `matrices` of their mergers; also of each with itself."""
        if not self.large:
            yield np.arange(self.K), np.arange(self.K), self.matrices()
            return
        groups = self._groups(GROUP)
        for i, j in combinations(range(len(groups)), 2):
            found = self._group(np.concatenate([groups[i], groups[j]])).matrices()
            one, other = slice(len(groups[i])), slice(len(groups[i]), None)
            yield groups[i], groups[j], _cut(found, one, other)
            if j == i + 1:
                yield groups[i], groups[i], _cut(found, one, one)
            if j == i + 1 == len(groups) - 1:
                yield groups[j], groups[j], _cut(found, other, other)

    def blocks(self) -> tuple[Floats, Floats, Ints]:
        """Return those of the biclusters: the diagonals of `matrices` to the bit, without the mergers."""
        if self.large:
            found = []
            for positions in self._groups(GROUP):
                group = self._group(positions)
                found.append(group.blocks())
                self.top = max(self.top, group.top)
            ve, msr, constant = map(np.concatenate, zip(*found, strict=True))
            return ve, msr, constant
        ve, msr, constant = self._merge(alone=True)
        return np.diagonal(ve), np.diagonal(msr), np.diagonal(constant)

    def _groups(self, most: int) -> list[Ints]:
        return np.array_split(np.arange(self.K), -(-self.K // most))

    def _group(self, positions: Ints) -> TwoPasses:
        return TwoPasses(self.matrix, self.solution.select(positions), self.n_jobs, self)

    def _merge(self, alone: bool) -> tuple[Floats, Floats, Ints]:
        from bivaluate.measures._engine import _kernels_two_pass as kernels

        K = self.K
        if not K:
            return np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0), dtype=np.int64)
        members, n_cols = self.members, np.diff(self.members.col_start)
        cells = int(members.sizes @ n_cols) if alone else 2 * int(members.sizes.sum()) * len(members.cols)
        threads = max(1, min(count_cores(self.n_jobs), 1 + cells // CELLS_PER_THREAD))
        ve, msr, constant = (np.zeros((K, K)) for _ in range(3))
        errors = kernels.Errors(ve, msr, constant, np.zeros((K, K), dtype=np.bool_))
        variance = np.zeros((K, K))
        for leads in self._turns(alone):
            plan = self._first_pass(leads, alone, threads)
            assert self.sums is not None
            self.top = float(self.sums.top.max())
            if not (self.top < HUGE and self.sums.top_inverse[0] < 1 / TINY):
                errors.doubtful[:] = True  # squares overflow or underflow
                break
            kernels.finish_patterns(
                members.layout(), plan.patterns, self.sums.sums, self.sums.top, leads, alone, errors.doubtful
            )
            if self.matrix.sparse:
                from bivaluate.measures._engine import _kernels_sparse

                plan = replace(plan, further=_kernels_sparse.order_patterns(members, plan.patterns, leads, alone))
            parts = threads * (PARTS_PER_THREAD if cells > MANY_CELLS else 1)
            wanted = None if len(leads) == K else members.rows_of(leads)
            errors = self.rows.run(partial(add_errors, parts=parts), plan, errors, wanted, threads)
            variance[leads] = plan.patterns.variance[leads]
            del plan  # before the patterns of the next leads
        return self._joined(errors, variance, alone)

    def _turns(self, alone: bool) -> Iterator[Ints]:
        """Yield leads whose patterns may be held together."""
        n_cols = np.diff(self.members.col_start)
        each = 28 if self.matrix.sparse else 12
        need = np.cumsum((n_cols if alone else self.K * n_cols + len(self.members.cols)) * each)
        turn = (need - 1) // self.memory
        for number in np.unique(turn):
            yield np.flatnonzero(turn == number)

    def _first_pass(self, leads: Ints, alone: bool, threads: int) -> PassPlan:
        """Return the plan of these leads with all that the first pass adds up."""
        from bivaluate.measures._engine import _kernels_two_pass as kernels

        members, K, n_used = self.members, self.K, len(self.members.used)
        n_cols = np.diff(members.col_start)
        at = np.zeros(K, dtype=np.int64)
        length = n_cols if alone else K * n_cols + len(members.cols)
        at[leads] = list_starts(length[leads])[:-1]
        total = int(length[leads].sum())
        patterns = kernels.Patterns(
            at, np.zeros((K, K + 1), dtype=np.int64), np.empty(total, np.uint32), np.zeros(total), np.zeros((K, K))
        )
        kernels.unite_columns(members.layout(), patterns, n_used, leads, alone)
        plan = PassPlan(members, leads, alone, patterns, self.tile)
        if self.sums is None:
            sums = Sums(np.zeros((K, n_used)), np.zeros(K), np.zeros(1), patterns.values)
            self.sums = sums = self.rows.run(add_sums, plan, sums, None, threads)
        elif not alone and (members.overlap[leads].sum(axis=1) > members.sizes[leads]).any():
            sums = self.sums._replace(shared=patterns.values)
            sums = self.rows.run(add_shared, plan, sums, members.rows_of(leads), threads)
        else:
            return plan
        self.sums = self.sums._replace(shared=np.empty(0))
        return replace(plan, patterns=patterns._replace(values=sums.shared))

    def _joined(self, errors: Errors, variance: Floats, alone: bool) -> tuple[Floats, Floats, Ints]:
        """Join the two halves of every merger, and compute again with care those that lost digits."""
        for halves in errors[:3]:
            np.fill_diagonal(halves, np.diag(halves) / 2)
            halves += halves.T
        for k in range(1, self.K):
            variance[k, :k] = variance[:k, k]
        ve, row_part, msr = errors.ve, errors.msr, np.subtract(errors.msr, variance, out=variance)
        constant = np.rint(errors.constant).astype(np.int64)
        doubtful = errors.doubtful | errors.doubtful.T | (ve < DOUBTFUL_VE) | (msr < DOUBTFUL_RESIDUE * row_part)
        self._carefully(doubtful & np.eye(self.K, dtype=np.bool_) if alone else np.triu(doubtful), ve, msr, constant)
        one_column = np.flatnonzero(np.diff(self.members.col_start) == 1)
        constant[one_column] = constant[:, one_column] = 0
        constant[one_column, one_column] = self.members.sizes[one_column]
        return ve, msr, constant

    def _carefully(self, doubtful: Flags, ve: Floats, msr: Floats, constant: Ints) -> None:
        """Compute these mergers again; those of one row or one column have errors of 0 by the formula."""
        members = self.members
        i, j = np.nonzero(doubtful)
        sizes, widths = members.sizes, np.diff(members.col_start)
        one_row = (sizes[i] + sizes[j] - members.overlap[i, j]) == 1
        one_column = (widths[i] == 1) & (widths[j] == 1) & (members.col_set[i] == members.col_set[j])
        zero = one_row | one_column
        found = np.zeros((3, len(i)))
        found[2] = constant[i, j]
        for at in np.flatnonzero(one_row):
            one, other = self.solution[i[at]], self.solution[j[at]]
            found[2, at] = is_constant_row(self.matrix.block(one.rows, np.union1d(one.cols, other.cols)))[0]
        if not zero.all():
            found[:, ~zero] = careful_errors(self.matrix, self.solution, np.stack([i, j], axis=1)[~zero])
        for values, again in zip((ve, msr, constant), found, strict=True):
            values[i, j] = values[j, i] = again


def _cut(found: tuple[Floats, Floats, Ints], i: slice, j: slice) -> tuple[Floats, Floats, Ints]:
    return found[0][i, j], found[1][i, j], found[2][i, j]


def _tile_rows(solution: Biclustering) -> int:
    """Return how many rows of a bicluster to hold at once."""
    from bivaluate.measures._engine._kernels_two_pass import LANES

    width = 2 * sum(len(b.cols) for b in solution) // len(solution)
    longest = max(len(b.rows) for b in solution)
    tile = min(max(TILE_CELLS // width // 32 * 32, 32), 256)
    return min(tile, -(-longest // LANES) * LANES)
