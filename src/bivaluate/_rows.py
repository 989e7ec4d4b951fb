"""Where the rows of a matrix come from: memory, a file or a cluster, dense or sparse, some rows at a time."""

import itertools
import os
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import MatrixError
from bivaluate._types import Floats, Ints

# Cells of a chunk of rows: 32 MB as float64. The chunks of a matrix follow from its shape alone.
CHUNK_CELLS = 1 << 22
# Rows of a sparse matrix are cheap to hold: chunks of them are this many times longer.
SPARSE_CHUNKS_LONGER = 4
# Bytes of a file that are read at once, and that are read and thrown away rather than sought over.
_READ_BYTES, _GAP_BYTES = 1 << 21, 1 << 16
# The most a source is turned into one dense array for.
LARGEST_DENSE_BYTES = 1 << 31


@runtime_checkable
class RowSource(Protocol):
    """What a matrix needs to know about its cells: any object with these members is a source.

    A source can be pickled, and then opens its file again where it arrives: the workers of a cluster do their own
    reading.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the cells as they are stored."""

    @property
    def sparse(self) -> bool:
        """Whether rows come as CSR."""

    def rows(self, start: int, stop: int) -> Any:
        """Return rows start:stop, every column, as they are stored: an ndarray, or a csr_array where `sparse`."""

    def take(self, rows: Ints) -> Any:
        """Return the rows of these numbers, which ascend, in the same form."""


class ArraySource:
    """A dense array in memory, of any real dtype and any memory order; never copied."""

    sparse = False

    def __init__(self, array: NDArray[Any]) -> None:
        self.array, self.shape, self.dtype = array, (array.shape[0], array.shape[1]), array.dtype

    def transposed(self) -> "ArraySource":
        """Return the array with rows and columns swapped, a view."""
        return ArraySource(self.array.T)

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return rows start:stop, a view."""
        return self.array[start:stop]

    def take(self, rows: Ints) -> NDArray[Any]:
        """Return the rows of these numbers."""
        return np.asarray(self.array[rows])


class FileSource:
    """Rows that lie one after the other in a file of raw numbers: what ``numpy.memmap`` and ``.npy`` files hold.

    Rows are read, not mapped: a mapped page counts as memory of the process for as long as it is mapped.
    """

    sparse = False

    def __init__(self, path: str | Path, dtype: Any, shape: tuple[int, int], offset: int = 0) -> None:
        self.path, self.shape, self.offset = Path(path), shape, offset
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @classmethod
    def of_map(cls, array: np.memmap[Any, Any]) -> "FileSource":
        """Return the source of a memory map whose rows lie one after the other."""
        return cls(str(array.filename), array.dtype, (array.shape[0], array.shape[1]), array.offset)

    @classmethod
    def of_columns(cls, shape: tuple[int, int], chunks: Iterable[tuple[int, Floats]]) -> "FileSource":
        """Return the columns of a matrix as rows, from chunks of its rows: a temporary file, gone with the source."""
        handle, path = tempfile.mkstemp(prefix="bivaluate-", suffix=".columns")
        made = cls(path, np.float64, (shape[1], shape[0]))
        weakref.finalize(made, Path(path).unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            for start, rows in chunks:
                for j, column in enumerate(rows.T):
                    file.seek(8 * (j * shape[0] + start))
                    file.write(column.tobytes())
        return made

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return rows start:stop, read from the file."""
        cells = np.empty((stop - start, self.shape[1]), self.dtype)
        with self._opened() as file:
            self._read(file, start, cells)
        return cells

    def take(self, rows: Ints) -> NDArray[Any]:
        """Return the rows of these numbers: the file is read in its order, near ones together."""
        taken = np.empty((len(rows), self.shape[1]), self.dtype)
        size = max(1, self.shape[1] * self.dtype.itemsize)
        far = np.diff(rows) * size > _GAP_BYTES
        edges = np.flatnonzero(far | (np.diff(rows * size // _READ_BYTES) != 0)) + 1
        with self._opened() as file:
            for first, last in itertools.pairwise([0, *edges.tolist(), len(rows)] if len(rows) else []):
                start, n_rows = int(rows[first]), int(rows[last - 1] - rows[first]) + 1
                if n_rows == last - first:
                    self._read(file, start, taken[first:last])
                else:
                    between = np.empty((n_rows, self.shape[1]), self.dtype)
                    self._read(file, start, between)
                    np.take(between, rows[first:last] - start, axis=0, out=taken[first:last])
        return taken

    def _opened(self) -> Any:
        try:
            return self.path.open("rb", buffering=0)
        except FileNotFoundError:
            raise moved(self.path) from None

    def _read(self, file: Any, start: int, cells: NDArray[Any]) -> None:
        """Fill whole rows from row `start` on."""
        file.seek(self.offset + start * self.shape[1] * self.dtype.itemsize)
        room, done = cells.reshape(-1).view(np.uint8).data, 0
        while done < len(room):
            got = file.readinto(room[done:])
            if not got:
                row = start + done // (self.shape[1] * self.dtype.itemsize)
                said = f"{self.path} ends within row {row} (counted from 0) of {self.shape[0]}: it became shorter while"
                raise MatrixError(f"{said} it was being read, or was never written completely. Write it again.")
            done += got


def moved(path: Path) -> MatrixError:
    """Return the error for a file that is not where its rows were read from."""
    who = "Every process that reads the matrix, on other machines too, needs it under this path"
    return MatrixError(f"{path} is missing, or was moved. {who}.")


class Elsewhere:
    """What is known about rows that are somewhere else; they cannot be read."""

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any], sparse: bool) -> None:
        self.shape, self.dtype, self.sparse = shape, dtype, sparse

    def rows(self, *numbers: Any) -> Any:
        """Refuse."""
        raise MatrixError("these rows are somewhere else and cannot be read here.")

    take = rows


class SparseSource:
    """A ``scipy.sparse`` matrix in memory; any form but CSR is converted once, and `converted_from` names it."""

    sparse = True

    def __init__(self, array: Any, is_canonical: bool = False) -> None:
        from scipy.sparse import csr_array

        self.converted_from = "" if array.format == "csr" else array.format.upper()
        self.array = csr_array(array)
        if not (is_canonical or self.array.has_canonical_format):
            self.array = self.array.copy()
            self.array.sum_duplicates()
        self.shape: tuple[int, int] = self.array.shape
        self.dtype: np.dtype[Any] = self.array.dtype

    def transposed(self) -> "SparseSource":
        """Return the matrix with rows and columns swapped: what was given by columns was its rows all along."""
        turned = SparseSource(self.array.T, is_canonical=True)
        turned.converted_from = {"CSC": "", "": "CSC"}.get(self.converted_from, self.converted_from)
        return turned

    def rows(self, start: int, stop: int) -> Any:
        """Return rows start:stop as CSR; the cells are not copied."""
        from scipy.sparse import csr_array

        a, b = self.array.indptr[start], self.array.indptr[stop]
        parts = (self.array.data[a:b], self.array.indices[a:b], self.array.indptr[start : stop + 1] - a)
        return csr_array(parts, shape=(stop - start, self.shape[1]))

    def take(self, rows: Ints) -> Any:
        """Return the rows of these numbers as CSR."""
        return self.array[rows]


def take_near(source: Any, rows: Ints, step: int) -> Any:
    """Return rows of a source, ascending; those within `step` of each other are read at once."""
    parts, first = [], 0
    while first < len(rows):
        low, last = int(rows[first]), int(np.searchsorted(rows, rows[first] + step))
        parts.append(source.rows(low, int(rows[last - 1]) + 1)[rows[first:last] - low])
        first = last
    if not source.sparse:
        return np.concatenate(parts) if parts else np.empty((0, source.shape[1]), source.dtype)
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(parts, format="csr")) if parts else csr_array((0, source.shape[1]), dtype=source.dtype)


def chunk_rows(n_cols: int, memory: int | None = None) -> int:
    """Return how many rows of a matrix are held at once; of its shape alone, unless `memory` (bytes) allows fewer.

    >>> chunk_rows(200), chunk_rows(200, 10_000_000)
    (20971, 1562)
    """
    cells = CHUNK_CELLS if memory is None else min(CHUNK_CELLS, memory // 32)
    return max(1, cells // n_cols)


def split_rows(numbers: Ints, source: Any, memory: int | None, n_cols: int = 0) -> list[Ints]:
    """Return the numbers of rows in parts to be held at once; fewer where `n_cols` columns of them become dense.

    >>> source = ArraySource(np.zeros((9, 1 << 20)))
    >>> [len(part) for part in split_rows(np.arange(9), source, None)]
    [4, 4, 1]
    """
    edges = getattr(source, "edges", None)
    parts = [numbers] if edges is None else np.split(numbers, np.searchsorted(numbers, edges[1:-1]))
    step = chunk_rows(source.shape[1], memory) * (SPARSE_CHUNKS_LONGER if source.sparse else 1)
    if n_cols:
        step = min(step, chunk_rows(n_cols, memory))
    elif edges is not None:  # blocks of somebody else's making are taken as they are
        return [part for part in parts if len(part)]
    return [part[start : start + step] for part in parts for start in range(0, len(part), step)]
