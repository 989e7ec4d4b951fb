"""Passes over the rows of a matrix, chunk by chunk, and what each of them adds up for the mergers of biclusters.

A pass is a function of one chunk, of a plan that all chunks share, and of the sums it adds to; sums of chunks add up,
so it does not matter where a chunk is looked at, nor in which order. An array in memory is one chunk.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from bivaluate._parallel import read_ahead, share_out
from bivaluate._rows import split_rows
from bivaluate._types import Floats, Ints
from bivaluate.measures.cover import Cover

if TYPE_CHECKING:
    from bivaluate.matrix import Matrix
    from bivaluate.measures._engine._kernels_two_pass import Errors, Layout
    from bivaluate.solution import Biclustering

Part = TypeVar("Part", bound=tuple[Any, ...])


class Chunk(NamedTuple):
    """Some rows of a matrix in the columns that biclusters use, and who holds them."""

    layout: Layout
    kernels: Any  # the module for dense rows, or the one for sparse rows
    data: Any  # Dense, or Split


@dataclass(frozen=True)
class Members:
    """Who is in which bicluster: all that a pass has to know of a solution."""

    held: Any  # CSC, biclusters x rows of the matrix
    n_cols: int
    used: Ints
    col_start: Ints
    cols: Ints
    col_set: Ints
    by_set: Ints
    sizes: Ints
    overlap: Ints

    @classmethod
    def of(cls, solution: Biclustering, shape: tuple[int, int], used: Ints) -> Members:
        """Return the members of a solution of at least one bicluster; `used` are the columns to work on."""
        from scipy.sparse import csr_array

        cols = np.searchsorted(used, np.concatenate([b.cols for b in solution]))
        col_set = _set_numbers([b.cols for b in solution])
        sizes = np.array([len(b.rows) for b in solution], dtype=np.int64)
        rows = np.concatenate([b.rows for b in solution], dtype=np.int32 if shape[0] < 2**31 else np.int64)
        by_bicluster = csr_array((np.ones(len(rows), dtype=np.int8), rows, list_starts(sizes)), (len(sizes), shape[0]))
        return cls(
            by_bicluster.tocsc(),
            shape[1],
            used,
            list_starts([len(b.cols) for b in solution]),
            cols,
            col_set,
            np.argsort(col_set, kind="stable"),
            sizes,
            Cover(solution).shared_rows.astype(np.int64),
        )

    def layout(self, held: Any = None) -> Layout:
        """Return the members among some rows, given as columns of `held`; without any it is about columns alone."""
        from bivaluate.measures._engine._kernels_two_pass import Layout

        row_start = rows = owner_start = owners = np.zeros(1, dtype=np.int64)
        if held is not None:
            by_bicluster = held.tocsr()
            lists = by_bicluster.indptr, by_bicluster.indices, held.indptr, held.indices
            row_start, rows, owner_start, owners = (numbers.astype(np.int64) for numbers in lists)
        return Layout(
            row_start, rows, self.col_start, self.cols, owner_start, owners, self.col_set, self.by_set, self.sizes,
            self.overlap,
        )  # fmt: skip

    def rows_of(self, leads: Ints, first: int = 0, last: int | None = None) -> Ints:
        """Return the rows of some biclusters from `first` on and before `last`, each once, ascending."""
        part = self.held[:, first:last]
        row = np.repeat(np.arange(part.shape[1]), np.diff(part.indptr))
        return np.unique(row[np.isin(part.indices, leads)]) + first


@dataclass(frozen=True)
class PassPlan:
    """What every chunk of a pass has to know."""

    members: Members
    leads: Ints
    alone: bool
    patterns: Any = None  # Patterns
    further: Any = None  # what the kernel needs besides: rows to hold at once, or Ordered patterns of a sparse matrix


class Sums(NamedTuple):
    """What the first pass adds up."""

    sums: Floats  # over the rows of each bicluster, in the columns used
    top: Floats  # the largest norm of a row of each bicluster
    top_inverse: Floats  # the largest of 1/norm of all rows that are not 0
    shared: Floats  # minus those over the rows a lead shares with another, as Patterns.values


def add_sums(chunk: Chunk, plan: PassPlan, into: Sums, threads: int = 1) -> None:
    """Do the first pass: add up columns, over the rows of each bicluster and over those a lead shares with another."""
    layout, K = chunk.layout, len(plan.members.sizes)
    norms = chunk.data.norm[layout.rows]
    np.maximum.at(into.top, np.repeat(np.arange(K), np.diff(layout.row_start)), norms)
    into.top_inverse[0] = max(into.top_inverse[0], float((1.0 / norms[norms > 0]).max(initial=0.0)))
    shares = [share for share in np.array_split(np.arange(K), threads) if len(share)]
    share_out([partial(chunk.kernels.sum_columns, chunk.data, layout, share, into.sums) for share in shares], threads)
    if not plan.alone:
        add_shared(chunk, plan, into, threads)


def add_shared(chunk: Chunk, plan: PassPlan, into: Sums, threads: int = 1) -> None:
    """Subtract columns over the rows each lead shares with another bicluster."""
    subtract = partial(
        chunk.kernels.subtract_shared_rows, chunk.data, chunk.layout, plan.patterns._replace(values=into.shared)
    )
    share_out([partial(subtract, share) for share in _dealt_out(plan.leads, threads)], threads)


def add_errors(chunk: Chunk, plan: PassPlan, into: Errors, threads: int = 1, parts: int = 1) -> None:
    """Do the second pass: add up what the rows of the leads give to VE and MSR of their mergers."""
    largest_first = plan.leads[np.argsort(-plan.members.sizes[plan.leads], kind="stable")]
    leads = largest_first[np.diff(chunk.layout.row_start)[largest_first] > 0]
    merge = partial(chunk.kernels.merge_leads, chunk.data, chunk.layout, plan.patterns, plan.further)
    groups = _dealt_out(leads, max(threads, parts))
    share_out([partial(merge, group, plan.alone, into) for group in groups], threads)


def _dealt_out(leads: Ints, parts: int) -> list[Ints]:
    """Return the leads in parts, one each in turn; as arrays of one layout, for which kernels are compiled once."""
    return [np.ascontiguousarray(leads[part::parts]) for part in range(min(len(leads), parts))]


def make_chunk(cells: Any, numbers: Ints | None, plan: PassPlan) -> Chunk:
    """Lay out rows, as the source gave them, for a pass; `numbers` is None for all."""
    from bivaluate.measures._engine import _kernels_sparse, _kernels_two_pass

    members = plan.members
    held = members.held if numbers is None else members.held[:, numbers]
    if len(members.used) < members.n_cols:
        cells = cells[:, members.used]
    if not isinstance(cells, np.ndarray):
        return Chunk(members.layout(held), _kernels_sparse, _kernels_sparse.split(cells, members))
    cells = np.ascontiguousarray(cells).view()
    cells.setflags(write=False)  # kernels are compiled for one kind
    data = _kernels_two_pass.Dense(cells, np.empty(len(cells)), np.empty(len(cells)))
    _kernels_two_pass.describe_rows(*data)
    return Chunk(members.layout(held), _kernels_two_pass, data)


class Rows:
    """Takes passes, functions of a chunk, a plan, sums to add to and a number of threads, to the rows of a matrix."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.whole = matrix.in_memory and matrix.source.array.flags.c_contiguous
        self.chunk: Chunk | None = None  # of an array in memory, which is one

    def run(self, work: Any, plan: PassPlan, into: Part, rows: Ints | None = None, threads: int = 1) -> Part:
        """Return `into` with what all chunks of these rows (None: all that are used) add to it."""
        matrix, every = self.matrix, np.arange(len(plan.members.sizes))
        if self.whole:
            self.chunk = self.chunk or make_chunk(matrix.source.array, None, plan)
            work(self.chunk, plan, into, threads)
            return into
        numbers = plan.members.rows_of(every) if rows is None else rows
        client = getattr(matrix.source, "client", None)
        if client is not None:  # workers of a cluster add up what their chunks give, and the sums come here
            from bivaluate._cluster import added_up

            shapes = [(array.shape, array.dtype) for array in into]
            leads = every if rows is None else plan.leads
            shared = _Shared(uuid.uuid4().hex, work, plan, leads, type(into), shapes, matrix.without_cells())
            pieces = list(matrix.source.pieces(numbers, matrix.memory))
            found: Part = added_up(client, _chunk_sums, partial(reduce, added), shared, pieces, matrix.progress)
            return added(into, found)
        parts = split_rows(numbers, matrix.source, matrix.memory)  # the next ones are read while these are worked on
        for done, (part, cells) in enumerate(zip(parts, read_ahead(partial(read_rows, matrix), parts), strict=True), 1):
            work(make_chunk(cells, part, plan), plan, into, threads)
            if matrix.progress is not None:
                matrix.progress(done, len(parts))
        return into


class _Shared(NamedTuple):
    """What every task of a pass has to know; it travels once."""

    token: str
    work: Any
    plan: PassPlan
    leads: Ints  # whose rows are looked at
    part: type
    shapes: list[tuple[tuple[int, ...], Any]]
    matrix: Matrix


# Of the worker this runs in: the plan of the last pass, its arrays ready to be used by compiled kernels.
_plans: dict[str, PassPlan] = {}


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
            work(make_chunk(read_rows(matrix, part), part, plan), plan, into, 1)
        return into
    from bivaluate._cluster import as_rows

    matrix, rows = shared.matrix, as_rows(block)
    if len(numbers) < rows.shape[0]:
        rows = rows[numbers - start]
    cells = matrix.checked(rows, numbers=numbers)
    work(make_chunk(cells, numbers, plan), plan, into, 1)
    return into


def _writable(value: Any) -> Any:
    """Return the same with writable arrays: those that travelled are not, and kernels are compiled for one kind."""
    if isinstance(value, np.ndarray):
        return np.array(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_writable, value))
    if isinstance(value, (PassPlan, Members)):
        return replace(value, **{f.name: _writable(getattr(value, f.name)) for f in fields(value)})
    return value


def read_rows(matrix: Matrix, numbers: Ints) -> Any:
    """Return the rows of these numbers, checked, as float64: an array or CSR."""
    first, last = int(numbers[0]), int(numbers[-1]) + 1
    neighbours = last - first == len(numbers)
    cells = matrix.source.rows(first, last) if neighbours else matrix.source.take(numbers)
    return matrix.checked(cells, numbers=numbers)


def added(one: Part, other: Part) -> Part:
    """Return the sum of what two chunks gave: largest values for `top…`, either for truth values, sums for the rest."""
    names: Any = one._fields  # type: ignore[attr-defined]
    ways = [
        np.maximum if name.startswith("top") else np.logical_or if a.dtype == bool else np.add
        for name, a in zip(names, one, strict=True)
    ]
    return type(one)(*(way(a, b) for way, a, b in zip(ways, one, other, strict=True)))


def used_columns(solution: Biclustering, n_cols: int) -> Ints:
    """Return the columns to work on: those that biclusters use, or all where most are used."""
    used = np.flatnonzero(np.bincount(np.concatenate([b.cols for b in solution]), minlength=n_cols))
    return np.arange(n_cols) if 2 * len(used) > n_cols else used


def list_starts(lengths: Sequence[int] | Ints) -> Ints:
    """Return where each of some lists of these lengths begins, one after the other, and where the last one ends."""
    begin = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=begin[1:])
    return begin


def _set_numbers(members: Iterable[Ints]) -> Ints:
    """Return one number per member list, equal where the lists are."""
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(m.tobytes(), len(known)) for m in members], dtype=np.int64)
