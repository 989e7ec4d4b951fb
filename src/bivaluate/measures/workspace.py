"""What metrics share while one solution is scored: each quantity is computed once, when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps
from typing import Any, TypeVar

import numpy as np

from bivaluate._check import check_choice, check_int, check_memory, check_real
from bivaluate._rows import CHUNK_CELLS, LARGEST_DENSE_BYTES
from bivaluate._types import Flags, Floats, Ints
from bivaluate.matrix import Matrix
from bivaluate.measures._blocks import (
    block_values,
    block_values_missing,
    constant_row_counts,
    error_floors,
    floor_sums,
    floors_from,
    is_constant_row,
    observed_part,
    residue_floor,
)
from bivaluate.measures._engine.missing import observed_errors
from bivaluate.measures._engine.two_pass import TwoPasses
from bivaluate.measures._mergers import all_pairs, each_alone, is_large
from bivaluate.measures.cover import Cover
from bivaluate.solution import Biclustering, check_solution

Part = tuple[Ints, Ints, Floats]
Shared = TypeVar("Shared")
NO_PARTNER, WHOLE_MATRIX = -1, -2
# Virtual errors below this are looked at again: they may be nothing but rounding.
SMALL_ERROR = 0.1
EXPONENT, EPSILON = 0.5, 1e-12  # of the coverage in NVE_cov, unless others are asked for


@dataclass(frozen=True)
class Options:
    """How degenerate cases are treated; see :func:`bivaluate.evaluate`."""

    degenerate: str = "nan"
    missing: str = "raise"
    single: str = "nan"
    exponent: float = EXPONENT
    epsilon: float = EPSILON
    n_jobs: int | None = None
    ve_axis: str = "rows"

    def __post_init__(self) -> None:
        check_choice("ve_axis", self.ve_axis, ("rows", "columns"))
        check_choice("degenerate", self.degenerate, ("nan", "formula"))
        check_choice("missing", self.missing, ("raise", "omit"))
        check_choice("single", self.single, ("nan", "matrix"))
        check_real("exponent", self.exponent, 0.0)
        check_real("epsilon", self.epsilon, 0.0)
        if self.n_jobs not in (None, -1):
            check_int("n_jobs", self.n_jobs, 1)


@dataclass(frozen=True)
class Nearest:
    """The nearest partner of each bicluster and the error of the merger with it.

    `partner` is `NO_PARTNER` where there is none, `WHOLE_MATRIX` where the matrix stands in for it.
    """

    partner: Ints
    merged: Floats


@dataclass
class Workspace:
    """A matrix, a solution and everything computed from the two so far."""

    matrix: Matrix
    solution: Biclustering
    options: Options = field(default_factory=Options)
    _shared: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    _ve_parts: list[Any] = field(default_factory=list, init=False, repr=False)
    _none_constant: bool = field(default=False, init=False, repr=False)  # known once errors were computed one by one

    @classmethod
    def of(cls, X: Any, solution: Biclustering, **options: Any) -> Workspace:
        """Check the input, once, and pair it."""
        absent, scheduler, memory, progress = (
            options.pop(name, None) for name in ("absent", "scheduler", "memory", "progress")
        )
        chosen = Options(**options)
        matrix = Matrix.of(X, chosen.missing, absent=absent)
        if memory is not None or progress is not None:
            matrix = replace(matrix, memory=check_memory(memory), progress=progress)
        if matrix.memory is not None and hasattr(matrix.source, "within"):
            matrix = replace(matrix, source=matrix.source.within(matrix.memory))
        if scheduler is not None:
            from bivaluate._cluster import on_cluster

            matrix = replace(matrix, source=on_cluster(matrix.source, scheduler))
        if matrix.sparse and matrix.absent == "missing":
            chosen = replace(chosen, missing="omit")
        return cls(matrix, check_solution(solution, matrix=matrix), chosen)

    def once(self, function: Callable[..., Shared], *arguments: Any) -> Shared:
        """Return ``function(self, *arguments)``, computed at the first call: for what metrics of one topic share."""
        key = function.__module__, function.__qualname__, arguments  # names can be pickled
        if key not in self._shared:
            self._shared[key] = function(self, *arguments)
        shared: Shared = self._shared[key]
        return shared

    @property
    def along_axis(self) -> Workspace:
        """The workspace whose rows VE standardises: this one, or with ``ve_axis="columns"`` the transposed one."""
        return self if self.options.ve_axis == "rows" else self.transposed

    @cached_property
    def transposed(self) -> Workspace:
        """The transposed problem: rows and columns of the matrix and of every bicluster swapped."""
        n, m = self.shape
        solution = Biclustering([(b.cols, b.rows) for b in self.solution], (m, n))
        return Workspace(self.matrix.once(_transposed), solution, replace(self.options, ve_axis="rows"))

    @property
    def X(self) -> Floats:
        """All values as one array, for measures that need every cell at once; refused if they do not fit in memory."""
        return self.matrix.values

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return self.matrix.shape

    @cached_property
    def r(self) -> Ints:
        """Number of rows of each bicluster."""
        return np.array([len(b.rows) for b in self.solution], dtype=np.int64)

    @cached_property
    def c(self) -> Ints:
        """Number of columns of each bicluster."""
        return np.array([len(b.cols) for b in self.solution], dtype=np.int64)

    def blocks(self) -> Iterator[Floats]:
        """Yield the values of each bicluster."""
        return (self.block(b.rows, b.cols) for b in self.solution)

    def block(self, rows: Ints, cols: Ints) -> Floats:
        """Return the values of some rows and columns that biclusters use."""
        if self._held is None:
            return self.matrix.block(rows, cols, self.options.missing)
        values, used_rows, used_cols = self._held
        return np.asarray(values[np.ix_(np.searchsorted(used_rows, rows), np.searchsorted(used_cols, cols))])

    @cached_property
    def _held(self) -> tuple[Floats, Ints, Ints] | None:
        """Rows and columns in use, of a matrix that is not an array in memory: read once where they are few."""
        if self.matrix.in_memory or not len(self.solution):
            return None
        sides = zip(*self.solution, strict=True)
        used_rows, used_cols = (np.flatnonzero(np.bincount(np.concatenate(members))) for members in sides)
        if len(used_rows) * len(used_cols) > CHUNK_CELLS:
            return None
        return self.matrix.block(used_rows, used_cols, self.options.missing), used_rows, used_cols

    @cached_property
    def has_missing(self) -> bool:
        """Whether cells are missing (they may only with ``missing="omit"``)."""
        if self.options.missing != "omit" or (self.matrix.sparse and self.matrix.absent == "missing"):
            return self.options.missing == "omit"
        return self.matrix.has_missing

    @cached_property
    def observed(self) -> tuple[Ints, Ints]:
        """Rows and columns of each bicluster that take part once missing cells are left out."""
        if not self.has_missing:
            return self.r, self.c
        if self._by_observed:
            return self._of_blocks(3), self._of_blocks(4)
        shapes = [observed_part(A).shape for A in self.blocks()]
        return np.array([s[0] for s in shapes], dtype=np.int64), np.array([s[1] for s in shapes], dtype=np.int64)

    @cached_property
    def degenerate(self) -> Flags:
        """Biclusters of one row or one column: coherence is not defined for them."""
        rows, cols = self.observed
        return (rows < 2) | (cols < 2)

    @cached_property
    def defined(self) -> Flags:
        """Biclusters that take part in the scores."""
        rows, cols = self.observed
        return (rows > 0) & (cols > 0) if self.options.degenerate == "formula" else ~self.degenerate

    def masked(self, values: Floats) -> Floats:
        """Return `values` with NaN for the biclusters that are undefined."""
        return np.where(self.defined, values, np.nan)

    def mean(self, values: Floats) -> float:
        """Return the mean over the defined biclusters; NaN if there are none."""
        kept = values[self.defined]
        return float(np.add.reduce(kept)) / len(kept) if len(kept) else float("nan")

    def per_block(self, function: Callable[[Floats], float]) -> Floats:
        """Return `function` of the values of each defined bicluster without missing cells; NaN elsewhere."""
        values = np.full(len(self.solution), np.nan)
        for k, b in enumerate(self.solution):
            if self.defined[k] and not self.too_large(k):
                A = self.block(b.rows, b.cols)
                if not np.isnan(A).any():
                    values[k] = function(A)
        return values

    def too_large(self, k: int) -> bool:
        """Whether the block of a bicluster does not fit in memory; never of an array that is there already."""
        most = LARGEST_DENSE_BYTES if self.matrix.memory is None else min(LARGEST_DENSE_BYTES, self.matrix.memory)
        return not self.matrix.in_memory and 8 * int(self.r[k]) * int(self.c[k]) > most

    def has_gaps(self, k: int) -> bool:
        """Whether the block of a bicluster has missing cells; it is looked at some rows at a time."""
        b = self.solution[k]
        work = partial(_any_missing, self.matrix.without_cells(), b.cols)
        return self.has_missing and any(self.matrix.map_rows(work, b.rows, len(b.cols)))

    @cached_property
    def _by_observed(self) -> bool:
        """Whether cells are missing and blocks are looked at some rows at a time."""
        return self.has_missing and not self.matrix.in_memory and is_large(self.solution)

    @cached_property
    def _two_passes(self) -> TwoPasses | None:
        """The kernels with this input laid out for them, where it is large enough."""
        if self.has_missing or not is_large(self.solution):
            return None
        return TwoPasses(self.matrix, self.solution, self.options.n_jobs)

    @cached_property
    def _alone(self) -> tuple[Any, ...]:
        """VE, MSR and, where they come with them, numbers of constant rows of the biclusters."""
        if self._two_passes is not None:
            return self._two_passes.blocks()
        if self._by_observed:
            return tuple(map(np.diagonal, observed_errors(self.matrix, self.solution, alone=True)))
        *errors, self._none_constant = each_alone(self.block, self.solution, self.has_missing)
        return tuple(errors)

    @cached_property
    def _merged(self) -> tuple[Any, ...]:
        """The same of all mergers, K x K."""
        if self._two_passes is not None:
            return self._two_passes.matrices()
        if self._by_observed:
            return observed_errors(self.matrix, self.solution)
        *errors, self._none_constant = all_pairs(self.block, self.solution, self.has_missing)
        return tuple(errors)

    def _of_blocks(self, which: int) -> Any:
        """Return one of these of the biclusters; no merger is computed for it.

        They are the diagonals of those of the mergers to the bit, so it does not matter what was asked for before.
        """
        return self._merged[which].diagonal() if "_merged" in vars(self) else self._alone[which]

    @cached_property
    def constant_rows(self) -> Ints:
        """Number of constant rows of each bicluster."""
        if self._two_passes is not None or self._by_observed:
            return np.asarray(self._of_blocks(2))
        if "merged_constant_rows" in vars(self):
            return np.diagonal(self.merged_constant_rows)
        if self._none_constant:
            return np.zeros(len(self.solution), dtype=np.int64)
        return np.array([is_constant_row(A).sum() for A in self.blocks()], dtype=np.int64)

    @cached_property
    def merged_constant_rows(self) -> Ints:
        """Number of constant rows of every merger, K x K; 0 for mergers with a bicluster of one column."""
        if self._two_passes is not None or self._by_observed:
            return np.asarray(self._merged[2])
        if self._none_constant:
            return np.zeros((len(self.solution),) * 2, dtype=np.int64)
        return constant_row_counts(self.block, self.solution)

    @cached_property
    def mergers(self) -> tuple[Floats, Floats]:
        """VE and MSR of all mergers (K x K), formula values, the biclusters on the diagonal."""
        return self._merged[0], self._merged[1]

    @cached_property
    def ve(self) -> Floats:
        """VE of each bicluster, formula values."""
        return np.asarray(self._of_blocks(0))

    @cached_property
    def msr(self) -> Floats:
        """MSR of each bicluster, formula values."""
        return np.asarray(self._of_blocks(1))

    @cached_property
    def finite_msr(self) -> Floats:
        """MSR of each bicluster; NaN where the squares of its cells are beyond what a number can hold."""
        return np.where(np.isinf(self.msr), np.nan, self.msr)

    @cached_property
    def floored_errors(self) -> tuple[Floats, Floats]:
        """VE and MSR of each bicluster, 0 where they are 0 up to rounding: what ratios are made of."""
        own = np.arange(len(self.solution))
        return self.floored(self.ve, own, 0), self.floored(self.msr, own, 1)

    def floored(self, errors: Floats, partner: Ints, which: int) -> Floats:
        """Return errors of the mergers of each bicluster with its partner, 0 where they are 0 up to rounding.

        `which` is 0 for VE and 1 for MSR; a bicluster that is its own partner stands for itself, and one without
        a partner keeps its value.
        """
        floored = np.array(errors)
        bound = self._largest_floor if which else SMALL_ERROR
        for k in (errors <= bound).nonzero()[0].tolist():
            if partner[k] == NO_PARTNER or not errors[k] < np.inf:
                continue
            one = self.solution[k]
            rows, cols = one.rows, one.cols
            if partner[k] == WHOLE_MATRIX:
                rows, cols = (np.arange(size) for size in self.shape)
            elif partner[k] != k:
                other = self.solution[int(partner[k])]
                rows, cols = np.union1d(rows, other.rows), np.union1d(cols, other.cols)
            if errors[k] <= self._error_floors(rows, cols, partner[k] == WHOLE_MATRIX)[which]:
                floored[k] = 0.0
        return floored

    def _error_floors(self, rows: Ints, cols: Ints, whole: bool = False) -> tuple[float, float]:
        """Return what may be rounding in a block, which is looked at some rows at a time unless it is in memory."""
        if self.matrix.in_memory:
            return error_floors(self.matrix.block(rows, cols))
        if self._held is not None and not whole:
            return error_floors(self.block(rows, cols))
        work = partial(_floor_sums, self.matrix.without_cells(), cols)
        return floors_from(self.matrix.map_rows(work, rows, len(cols)))

    @cached_property
    def _largest_floor(self) -> float:
        """The MSR that may be rounding in the block with the largest value in use, or a bound of it."""
        if self._two_passes is not None and not self.matrix.in_memory and len(self.solution):
            return residue_floor(self._two_passes.top)
        if self._by_observed:
            return max(self._error_floors(b.rows, b.cols)[1] for b in self.solution)
        if self.matrix.in_memory:
            return residue_floor(self.matrix.once(_largest_value))
        return residue_floor(max(map(_largest, self.blocks()), default=0.0))

    @cached_property
    def nearest_ve(self) -> Nearest:
        """Partner with the lowest VE of the merger."""
        return self._nearest(0)

    @cached_property
    def nearest_msr(self) -> Nearest:
        """Partner with the lowest MSR of the merger."""
        return self._nearest(1)

    @cached_property
    def whole(self) -> tuple[float, float]:
        """VE and MSR of the whole matrix."""
        if self.matrix.in_memory or self.has_missing:
            return block_values_missing(self.X) if self.has_missing else block_values(self.X)
        everything = Biclustering([tuple(np.arange(size) for size in self.shape)], self.shape)
        ve, msr, _ = TwoPasses(self.matrix, everything, self.options.n_jobs).blocks()
        return float(ve[0]), float(msr[0])

    @cached_property
    def _lowest(self) -> tuple[tuple[Ints, Floats], ...]:
        """Partners and errors of the mergers with the lowest VE, and with the lowest MSR."""
        if not self.in_parts:
            K = len(self.solution)
            return tuple(lowest_of([(np.arange(K), np.arange(K), errors)], self.defined) for errors in self.mergers)
        msr = lowest_of(self._parts_with_ve_kept(), self.defined)
        return lowest_of(((i, j, ve) for i, j, ve, _ in self._ve_parts), self.defined), msr

    @property
    def in_parts(self) -> bool:
        """Whether there are so many mergers that they are computed some at a time, and only some of them are held."""
        return self._two_passes is not None and self._two_passes.large and "_merged" not in vars(self)

    def _parts_with_ve_kept(self) -> Iterator[Part]:
        """Yield the MSR of mergers; their VE is kept, each once."""
        self._ve_parts.clear()
        assert self._two_passes is not None
        for i, j, (ve, msr, constant) in self._two_passes.parts():
            self._ve_parts.append((i, j, ve.copy(), constant.astype(np.int32) if constant.any() else None))
            yield i, j, msr

    def ve_parts(self) -> Iterator[tuple[Ints, Ints, Floats, Any]]:
        """Yield positions of two groups of biclusters, VE of their mergers and numbers of constant rows, or None."""
        if self.in_parts:
            _ = self._lowest
            yield from self._ve_parts
        else:
            every = np.arange(len(self.solution))
            yield every, every, self.mergers[0], self.merged_constant_rows

    def merged_ve_with(self, partner: Ints) -> Floats:
        """Return VE of the merger of each bicluster with one other."""
        if not self.in_parts:
            return np.asarray(self.mergers[0][np.arange(len(partner)), partner])
        merged = np.empty(len(partner))
        for one, other, ve, _ in self.ve_parts():
            for i, j, errors in ((one, other, ve), (other, one, ve.T)):
                at = np.flatnonzero((partner[i] >= j[0]) & (partner[i] <= j[-1]))
                merged[i[at]] = errors[at, partner[i[at]] - j[0]]
        return merged

    def _nearest(self, which: int) -> Nearest:
        defined, n_defined = self.defined, np.count_nonzero(self.defined)
        partner: Any = NO_PARTNER
        value: Any = np.nan
        if n_defined == 1 and self.options.single == "matrix":
            partner, value = WHOLE_MATRIX, self.whole[which]
        if n_defined > 1:
            partner, value = self._lowest[which]
        partner, value = np.where(defined, partner, NO_PARTNER), np.where(defined, value, np.nan)
        return Nearest(partner, self.floored(value, partner, which))

    @cached_property
    def cover(self) -> Cover:
        """Counts of covered cells, rows and columns, and pairwise intersections."""
        return Cover(self.solution)


def once(function: Callable[[Workspace], Shared]) -> Callable[[Workspace], Shared]:
    """Decorate a function of a workspace: it is called the first time only."""
    return wraps(function)(lambda workspace: workspace.once(function))


def lowest_of(parts: Iterable[Part], among: Flags) -> tuple[Ints, Floats]:
    """Return for each bicluster the first partner among some of those with the lowest error, and the error.

    A part has the errors of the mergers of biclusters i with biclusters j; no two parts have the same mergers.
    """
    partner, value = np.full(len(among), len(among)), np.full(len(among), np.inf)
    for i, j, errors in parts:
        _keep_lowest(partner, value, i, j, np.where(among[j], errors, np.inf))
        if i[0] != j[0]:
            _keep_lowest(partner, value, j, i, np.where(among[i], errors.T, np.inf))
    return partner, value


def _keep_lowest(partner: Ints, value: Floats, i: Ints, j: Ints, errors: Floats) -> None:
    """Keep the lower error of each bicluster i, and the first partner j that has it."""
    if i[0] == j[0]:
        errors.flat[:: len(j) + 1] = np.inf
    own, at, found = slice(i[0], i[-1] + 1), j[errors.argmin(axis=1)], errors.min(axis=1)
    if partner[i[0]] < len(partner):  # there are others already
        worse = (found > value[own]) | ((found == value[own]) & (at > partner[own]))
        at, found = np.where(worse, partner[own], at), np.where(worse, value[own], found)
    partner[own], value[own] = at, found


def _transposed(matrix: Matrix) -> Matrix:
    return matrix.T.renamed(f"{matrix.name} (transposed)").settled()


def _largest_value(matrix: Matrix) -> float:
    return _largest(matrix.values)


def _largest(A: Floats) -> float:
    return max(float(np.fmax.reduce(A, axis=None)), -float(np.fmin.reduce(A, axis=None)))


def _floor_sums(matrix: Matrix, cols: Ints, at: int, numbers: Ints, cells: Any) -> tuple[float, float, float]:
    return floor_sums(matrix.dense(cells[:, cols]))


def _any_missing(matrix: Matrix, cols: Ints, at: int, numbers: Ints, cells: Any) -> bool:
    return bool(np.isnan(matrix.dense(cells[:, cols])).any())
