"""Passes over the rows of a matrix, chunk by chunk, and what each of them adds up for the mergers of biclusters.

A pass is a function of one chunk, of a plan that all chunks share, and of the sums it adds to; sums of chunks add up,
so it does not matter where a chunk is looked at, nor in which order. An array in memory is one chunk.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from bivaluate._parallel import read_ahead, share_out
from bivaluate._rows import split_rows
from bivaluate.matrix import flat_view

if TYPE_CHECKING:
    from bivaluate.matrix import Matrix
    from bivaluate.measures._engine._kernels_two_pass import Errors, Indices, Layout, Values
    from bivaluate.solution import Biclustering

# Rows that biclusters share are counted in windows of this many rows.
_WINDOW = 1 << 20
Part = TypeVar("Part", bound=tuple[Any, ...])


class Chunk(NamedTuple):
    """Some rows of a matrix, laid out for the kernels: dense cells, or the entries of each bicluster's columns."""

    numbers: Indices | None  # of the rows; None for all
    layout: Layout
    norm: Values
    cells: Any = None  # Cells, where they are dense
    level: Any = None
    split: Any = None  # Split, where they are sparse


@dataclass(frozen=True)
class Members:
    """Who is in which bicluster: all that a pass has to know of a solution."""

    n_rows: int
    n_cols: int
    used: Indices
    row_start: Indices
    rows: Indices
    col_start: Indices
    cols: Indices
    col_set: Indices
    by_set: Indices
    sizes: Indices
    overlap: Indices

    @classmethod
    def of(cls, solution: Biclustering, shape: tuple[int, int]) -> Members:
        """Return the members of a solution of at least one bicluster."""
        from bivaluate.measures._engine import _kernels_two_pass as _kernels

        K = len(solution)
        used, cols = _used_columns(np.concatenate([b.cols for b in solution]), shape[1])
        col_set = _set_numbers([b.cols for b in solution])
        sizes = np.array([len(b.rows) for b in solution], dtype=np.int64)
        made = cls(
            shape[0],
            shape[1],
            used,
            starts(sizes),
            np.concatenate([b.rows for b in solution]),
            starts([len(b.cols) for b in solution]),
            cols,
            col_set,
            np.argsort(col_set, kind="stable"),
            sizes,
            np.zeros((K, K), dtype=np.int64),
        )
        for start in range(0, shape[0], _WINDOW):
            layout = made.layout(np.arange(start, min(start + _WINDOW, shape[0])))
            _kernels.count_overlap(layout.owner_start, layout.owners, made.overlap)
        return made

    @property
    def K(self) -> int:
        """Number of biclusters."""
        return len(self.sizes)

    def layout(self, numbers: Indices | None) -> Layout:
        """Return the members among the rows of these numbers, which ascend, counted among them; None for all rows.

        Without any number it is what can be said of the columns alone.
        """
        from bivaluate.measures._engine import _kernels_two_pass as _kernels

        if numbers is None or len(numbers) == self.n_rows:
            n_rows, row_start, rows = self.n_rows, self.row_start, self.rows
        elif not len(numbers):
            n_rows, row_start, rows = 0, np.zeros(self.K + 1, dtype=np.int64), numbers
        else:
            n_rows, parts = len(numbers), []
            whole = int(numbers[-1] - numbers[0]) + 1 == n_rows
            for k in range(self.K):
                own = self.rows[self.row_start[k] : self.row_start[k + 1]]
                own = own[slice(*np.searchsorted(own, (numbers[0], numbers[-1] + 1)))]
                at = own - numbers[0] if whole else np.searchsorted(numbers, own)
                parts.append(at if whole else at[numbers[at] == own])
            row_start, rows = starts([len(part) for part in parts]), np.concatenate(parts)
        owner_start = starts(np.bincount(rows, minlength=n_rows))
        owners = _kernels.list_owners(row_start, rows, owner_start)
        return _kernels.Layout(
            row_start, rows, self.col_start, self.cols, owner_start, owners, self.col_set, self.by_set,
            self.sizes, self.overlap,
        )  # fmt: skip

    def rows_of(self, leads: Indices, first: int = 0, last: int | None = None) -> Indices:
        """Return the rows of some biclusters from `first` on and before `last`, each once, ascending."""
        last = self.n_rows if last is None else last
        used = np.zeros(last - first, dtype=np.bool_)
        for k in leads:
            own = self.rows[self.row_start[k] : self.row_start[k + 1]]
            used[own[slice(*np.searchsorted(own, (first, last)))] - first] = True
        return np.flatnonzero(used) + first


@dataclass(frozen=True)
class Plan:
    """What every chunk of a pass has to know."""

    members: Members
    leads: Indices
    alone: bool
    step: int
    patterns: Any  # Patterns
    ordered: Any = None  # Ordered, of a sparse matrix


class Sums(NamedTuple):
    """What the first pass adds up."""

    sums: Values  # over the rows of each bicluster, in the columns used
    top: Values  # the largest norm of a row of each bicluster
    top_inverse: Values  # the largest of 1/norm of all rows that are not 0
    shared: Values  # minus those of shared rows, as Patterns.values


class Pass(Protocol):
    """Adds what a chunk gives to some sums."""

    def __call__(self, chunk: Chunk, plan: Plan, into: Any, threads: int) -> None:
        """Add to `into`."""
        ...


class Rows(Protocol):
    """Takes passes to the rows of a matrix."""

    def run(self, work: Pass, plan: Plan, into: Part, rows: Indices | None = None, threads: int = 1) -> Part:
        """Return `into` with what all chunks of these rows (None: all that are used) add to it."""
        ...


def add_sums(chunk: Chunk, plan: Plan, into: Sums, threads: int = 1) -> None:
    """Do the first pass: add up columns, over the rows of each bicluster and over those a lead shares with another."""
    from bivaluate.measures._engine import _kernels_sparse
    from bivaluate.measures._engine import _kernels_two_pass as _kernels

    layout, K = chunk.layout, plan.members.K
    np.maximum.at(into.top, np.repeat(np.arange(K), np.diff(layout.row_start)), chunk.norm[layout.rows])
    norms = chunk.norm[layout.rows]
    into.top_inverse[0] = max(into.top_inverse[0], float((1.0 / norms[norms > 0]).max(initial=0.0)))
    shares = [share for share in np.array_split(np.arange(K), threads) if len(share)]
    if chunk.split is not None:
        tasks: list[Callable[[], object]] = [
            partial(_kernels_sparse.column_sums, chunk.split, layout, share, into.sums) for share in shares
        ]
    else:
        tasks = [partial(_kernels.column_sums, chunk.cells, layout, chunk.level, share, into.sums) for share in shares]
    share_out(tasks, threads)
    if plan.patterns is not None and not plan.alone:
        add_shared(chunk, plan, into, threads)


def add_shared(chunk: Chunk, plan: Plan, into: Sums, threads: int = 1) -> None:
    """Add columns over the rows each lead shares with another bicluster."""
    from bivaluate.measures._engine import _kernels_sparse
    from bivaluate.measures._engine import _kernels_two_pass as _kernels

    patterns = plan.patterns._replace(values=into.shared)
    shares = _dealt_out(plan.leads, threads)
    if chunk.split is not None:
        share_out(
            [
                partial(_kernels_sparse.subtract_shared_rows, chunk.split, chunk.layout, patterns, share)
                for share in shares
            ],
            threads,
        )
    else:
        share_out(
            [
                partial(_kernels.subtract_shared_rows, chunk.cells, chunk.layout, chunk.level, patterns, share)
                for share in shares
            ],
            threads,
        )


def add_errors(chunk: Chunk, plan: Plan, into: Errors, threads: int = 1, parts: int = 1) -> None:
    """Do the second pass: add up what the rows of the leads give to VE and MSR of their mergers."""
    from bivaluate.measures._engine import _kernels_sparse
    from bivaluate.measures._engine import _kernels_two_pass as _kernels

    largest_first = plan.leads[np.argsort(-plan.members.sizes[plan.leads], kind="stable")]
    present = np.diff(chunk.layout.row_start)[largest_first] > 0
    leads = largest_first[present]
    groups = _dealt_out(leads, max(threads, parts))
    if chunk.split is not None:
        merge: Callable[..., object] = partial(
            _kernels_sparse.merge_leads, chunk.split, chunk.layout, chunk.norm, plan.patterns, plan.ordered
        )
    else:
        merge = partial(
            _kernels.merge_leads, chunk.cells, chunk.layout, chunk.level, chunk.norm, plan.patterns, plan.step
        )
    share_out([partial(merge, group, plan.alone, into) for group in groups], threads)


def _dealt_out(leads: Indices, parts: int) -> list[Indices]:
    """Return the leads in parts, one each in turn; as arrays of one layout, for which kernels are compiled once."""
    return [np.ascontiguousarray(leads[part::parts]) for part in range(min(len(leads), parts))]


# Passes that look at the entries of sparse rows one by one, not at those of each bicluster.
BY_COLUMNS = (add_sums, add_shared)


def make_chunk(
    matrix: Matrix, cells: Any, numbers: Indices | None, plan: Plan, work: Pass | None = None, threads: int = 1
) -> Chunk:
    """Lay out rows, as the source gave them, for a pass."""
    from bivaluate.measures._engine import _kernels_two_pass as _kernels

    members = plan.members
    layout, used = members.layout(numbers), members.used
    if not isinstance(cells, np.ndarray):
        from bivaluate.measures._engine import _kernels_sparse

        split = _kernels_sparse.split(cells, members, by_parts=work not in BY_COLUMNS)
        return Chunk(numbers, layout, _kernels_sparse.row_norms(split.start, split.values), split=split)
    if numbers is not None and len(used) < members.n_cols:
        cells, used = cells[:, used], np.arange(len(used))
    flat, origin, row_stride, col_stride = flat_view(cells)
    dense = col_stride == 1 and len(used) == cells.shape[1]
    found = _kernels.Cells(flat, origin, row_stride, col_stride, used, dense)
    level, norm = np.zeros(len(cells)), np.zeros(len(cells))
    wanted = np.flatnonzero(np.diff(layout.owner_start))
    parts = np.array_split(wanted, threads)
    share_out([partial(_kernels.row_levels, found, part, level, norm) for part in parts], threads)
    return Chunk(numbers, layout, norm, found, level)


@dataclass
class WholeArray:
    """A float64 array in memory: one chunk."""

    matrix: Matrix
    _chunk: Chunk | None = field(default=None, init=False)

    def run(self, work: Pass, plan: Plan, into: Part, rows: Indices | None = None, threads: int = 1) -> Part:
        """Return `into` with what the array adds to it."""
        if self._chunk is None:
            self._chunk = make_chunk(self.matrix, self.matrix.source.array, None, plan, None, threads)
        work(self._chunk, plan, into, threads)
        return into


@dataclass
class ByChunks:
    """Any other source: only rows in use are read, some at a time, the next ones while these are worked on."""

    matrix: Matrix

    def run(self, work: Pass, plan: Plan, into: Part, rows: Indices | None = None, threads: int = 1) -> Part:
        """Return `into` with what all chunks add to it."""
        numbers = plan.members.rows_of(np.arange(plan.members.K)) if rows is None else rows
        for chunk in self._chunks(numbers, plan, work):
            work(chunk, plan, into, threads)
        return into

    def _chunks(self, numbers: Indices, plan: Plan, work: Pass) -> Iterator[Chunk]:
        parts = split_rows(numbers, self.matrix.source, self.matrix.memory)
        read = read_ahead(partial(read_rows, self.matrix), parts)
        for done, (part, cells) in enumerate(zip(parts, read, strict=True), 1):
            yield make_chunk(self.matrix, cells, part, plan, work)
            if self.matrix.progress is not None:
                self.matrix.progress(done, len(parts))


@dataclass
class OnCluster:
    """Rows that the workers of a cluster look at: each adds up what its chunks give, and the sums come here."""

    matrix: Matrix

    def run(self, work: Pass, plan: Plan, into: Part, rows: Indices | None = None, threads: int = 1) -> Part:
        """Return `into` with what all chunks add to it."""
        from bivaluate._cluster import added_up

        source, every = self.matrix.source, np.arange(plan.members.K)
        numbers = plan.members.rows_of(every) if rows is None else rows
        shapes = [(array.shape, array.dtype) for array in into]
        leads = every if rows is None else plan.leads
        matrix = self.matrix.without_cells()
        shared = _Shared(uuid.uuid4().hex, work, plan, leads, type(into), shapes, matrix)
        pieces = list(source.pieces(numbers, self.matrix.memory))
        found: Part = added_up(source.client, _chunk_sums, _all_added, shared, pieces, self.matrix.progress)
        return added(into, found)


class _Shared(NamedTuple):
    """What every task of a pass has to know; it travels once."""

    token: str
    work: Pass
    plan: Plan
    leads: Indices  # whose rows are looked at
    part: type
    shapes: list[tuple[tuple[int, ...], Any]]
    matrix: Matrix


# Of the worker this runs in: the plan of the last pass, its arrays ready to be used by compiled kernels.
_plans: dict[str, Plan] = {}


def _chunk_sums(shared: _Shared, ends: tuple[int, int], block: Any, start: int | None = None) -> Any:
    """Return what some rows add up to; runs on a worker, with rows of a Dask array or of a source that it reads."""
    plan = _plans.get(shared.token)
    if plan is None:
        _plans.clear()
        plan = _plans[shared.token] = _writable(shared.plan)
    numbers = plan.members.rows_of(shared.leads, *ends)
    into = shared.part(*(np.zeros(shape, dtype) for shape, dtype in shared.shapes))
    work = shared.work
    if start is None:
        matrix = replace(shared.matrix, source=block)
        for part in split_rows(numbers, block, matrix.memory):
            work(make_chunk(matrix, read_rows(matrix, part), part, plan, work), plan, into, 1)
        return into
    from bivaluate._cluster import as_rows

    matrix, rows = shared.matrix, as_rows(block)
    if len(numbers) < rows.shape[0]:
        rows = rows[numbers - start]
    cells = matrix.checked(rows, numbers=numbers)
    work(make_chunk(matrix, cells, numbers, plan, work), plan, into, 1)
    return into


def _all_added(parts: Sequence[Any]) -> Any:
    return functools.reduce(added, parts)


def _writable(value: Any) -> Any:
    """Return the same with writable arrays: those that travelled are not, and kernels are compiled for one kind."""
    if isinstance(value, np.ndarray):
        return np.array(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_writable, value))
    if isinstance(value, (Plan, Members)):
        return replace(value, **{f.name: _writable(getattr(value, f.name)) for f in fields(value)})
    return value


def rows_for(matrix: Matrix) -> Rows:
    """Return what takes passes to the rows of this matrix."""
    if matrix.in_memory:
        return WholeArray(matrix)
    return OnCluster(matrix) if getattr(matrix.source, "client", None) is not None else ByChunks(matrix)


def read_rows(matrix: Matrix, numbers: Indices) -> Any:
    """Return the rows of these numbers, checked, as float64: an array or CSR."""
    first, last = int(numbers[0]), int(numbers[-1]) + 1
    neighbours = last - first == len(numbers)
    cells = matrix.source.rows(first, last) if neighbours else matrix.source.take(numbers)
    return matrix.checked(cells, numbers=numbers)


def added(one: Part, other: Part) -> Part:
    """Return the sum of what two chunks gave: largest values for `top…`, either for truth values, sums for the rest."""
    pairs = zip(one._fields, one, other, strict=True)  # type: ignore[attr-defined]
    return type(one)(*(_joined(name, a, b) for name, a, b in pairs))


def _joined(name: str, a: Any, b: Any) -> Any:
    if name.startswith("top"):
        return np.maximum(a, b)
    return a | b if a.dtype == np.bool_ else a + b


def _used_columns(cols: Indices, n_cols: int) -> tuple[Indices, Indices]:
    """Return the columns to work on, and `cols` as positions among them; all columns where most are used."""
    used = np.flatnonzero(np.bincount(cols, minlength=n_cols))
    if 2 * len(used) > n_cols:
        return np.arange(n_cols), cols
    return used, np.searchsorted(used, cols)


def starts(lengths: Sequence[int] | Indices) -> Indices:
    """Return where each of some lists of these lengths begins, one after the other, and where the last one ends."""
    begin = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=begin[1:])
    return begin


def _set_numbers(members: Iterable[Indices]) -> Indices:
    """Return one number per member list, equal where the lists are."""
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(m.tobytes(), len(known)) for m in members], dtype=np.int64)
