"""Rows of a matrix that stays in an HDF5 file or a zarr folder, dense or sparse, read some at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import BivaluateError, FormatError, MatrixError
from bivaluate._files import TemporaryRows
from bivaluate._rows import CHUNK_CELLS, LARGEST_DENSE_BYTES, SparseSource, chunk_rows, moved, take_near
from bivaluate._text import first_line, plural
from bivaluate._types import Floats, Ints
from bivaluate._zarr import check_codecs, open_folder

MAX_SIDE = 1 << 28  # rows or columns of a sparse matrix
_WINDOW = 1 << 20  # stored cells of a sparse matrix that are read at once


class Store:
    """An HDF5 file or a zarr folder, opened when it is first read, and again wherever it is sent."""

    def __init__(self, path: Path, kind: str, root: Any = None) -> None:
        self.path, self.kind = path.absolute(), kind
        self._root = root

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "kind": self.kind, "_root": None}

    def node(self, key: str) -> Any:
        """Return an array or group of the file; without a key what the file itself is."""
        found = self.root[key] if key else self.root
        if self.kind == "zarr":
            check_codecs(found, self.path.name)
        return found

    @property
    def root(self) -> Any:
        """The file, opened."""
        if self._root is None or (self.kind == "hdf5" and not self._root):  # none yet, or closed by its owner
            if not self.path.exists():
                raise moved(self.path)
            if self.kind == "zarr":
                self._root = open_folder(self.path)
            else:
                import h5py

                self._root = h5py.File(self.path, "r")
        return self._root

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Turn what a damaged or shortened file makes its library say into an error of ours."""
        try:
            yield
        except BivaluateError:
            raise
        except Exception as error:  # whatever the library stumbles over
            found = f"{self.path}: {what} cannot be read ({first_line(error)})"
            how = "The file became shorter while it was read, or is damaged. Write it again."
            raise MatrixError(f"{found}. {how}") from None


class StoredArray:
    """A dense array in a file, its rows read when they are asked for."""

    sparse = False

    def __init__(self, store: Store, key: str, turned: bool = False) -> None:
        self.store, self.key, self.turned = store, key, turned
        node = store.node(key)
        n, m = (int(side) for side in node.shape)
        self.shape = (m, n) if turned else (n, m)
        self.dtype: np.dtype[Any] = np.dtype(node.dtype)

    def transposed(self) -> "StoredArray":
        """Return the same array with rows and columns swapped."""
        return StoredArray(self.store, self.key, not self.turned)

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return rows start:stop, read from the file."""
        with self.store.reading(f"rows {start} to {stop - 1} (counted from 0)"):
            node = self.store.node(self.key)
            cells = np.asarray(node[:, start:stop]).T if self.turned else np.asarray(node[start:stop])
            if cells.shape != (stop - start, self.shape[1]):
                raise EOFError(f"{cells.shape[0]} x {cells.shape[1]} cells came")
            return cells

    def fill(self, values: Floats) -> None:
        """Put all cells into an array, some rows or columns at a time as they are stored."""
        stored, into = (self.transposed(), values.T) if self.turned else (self, values)
        step = chunk_rows(stored.shape[1])
        for start in range(0, stored.shape[0], step):
            stop = min(start + step, stored.shape[0])
            into[start:stop] = stored.rows(start, stop)

    def take(self, rows: Ints) -> Any:
        """Return the rows of these numbers; what lies close together is read at once."""
        return take_near(self, rows, max(1, chunk_rows(self.shape[1]) // 4))


class StoredSparse:
    """A sparse matrix in a file in compressed rows, its rows read when they are asked for."""

    sparse = True

    def __init__(self, store: "Store | SortedEntries", key: str, shape: tuple[int, int]) -> None:
        self.store, self.key, self.shape = store, key, shape
        self.dtype: np.dtype[Any] = np.dtype(self._part("data").dtype)
        with store.reading(f"{key}/indptr"):
            self._starts: Ints = np.asarray(self._part("indptr")[:], dtype=np.int64)
        self.n_entries = int(self._starts[-1])

    def _part(self, name: str) -> Any:
        return self.store.node(f"{self.key}/{name}")

    def transposed(self) -> "TurnedSparse":
        """Return the matrix with rows and columns swapped."""
        return TurnedSparse(self)

    def rows(self, start: int, stop: int) -> Any:
        """Return rows start:stop as CSR, every index checked."""
        first, last = int(self._starts[start]), int(self._starts[stop])
        with self.store.reading(f"rows {start} to {stop - 1} (counted from 0)"):
            data, indices = (np.asarray(self._part(name)[first:last]) for name in ("data", "indices"))
        return checked_csr(data, indices, self._starts[start : stop + 1] - first, self.shape[1], str(self.store.path))

    def take(self, rows: Ints) -> Any:
        """Return the rows of these numbers as CSR; what lies close together is read at once."""
        per_row = max(1, self.n_entries // max(1, self.shape[0]))
        return take_near(self, rows, max(1, _WINDOW // per_row))


class TurnedSparse:
    """A sparse matrix in a file in compressed columns: sorted by rows, once, when rows are asked for."""

    sparse = True
    converted_from = "CSC"

    def __init__(self, stored: StoredSparse, memory: int = LARGEST_DENSE_BYTES) -> None:
        self._stored, self.memory = stored, memory
        self._sorted: SparseSource | StoredSparse | None = None
        self.shape, self.dtype = (stored.shape[1], stored.shape[0]), stored.dtype

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_sorted": None}

    def within(self, memory: int) -> "TurnedSparse":
        """Return the same matrix, of which no more is held than this many bytes."""
        return TurnedSparse(self._stored, min(memory, self.memory))

    def transposed(self) -> StoredSparse:
        """Return the matrix with rows and columns swapped: as it lies in the file."""
        return self._stored

    def _source(self) -> SparseSource | StoredSparse:
        if self._sorted is None:
            if 2 * self._stored.n_entries * (self.dtype.itemsize + 8) <= self.memory:
                self._sorted = SparseSource(self._stored.rows(0, self._stored.shape[0]).T, is_canonical=True)
            else:
                self._sorted = turned_on_disk(self._stored, self.memory)
        return self._sorted

    def rows(self, start: int, stop: int) -> Any:
        """Return rows start:stop as CSR."""
        return self._source().rows(start, stop)

    def take(self, rows: Ints) -> Any:
        """Return the rows of these numbers as CSR."""
        return self._source().take(rows)


class SortedEntries:
    """Entries of a sparse matrix in a temporary file, as a store of the arrays that `StoredSparse` reads."""

    def __init__(self, starts: Ints, entry: np.dtype[Any]) -> None:
        self._starts, self._entry = starts, entry
        file, size = TemporaryRows(), int(starts[-1]) * entry.itemsize
        self.path = file.path
        for start in range(0, size, _WINDOW):  # the room is taken here, where a full disk can be named
            file.add(bytes(min(_WINDOW, size - start)))
        file.close(keep_for=self)

    def node(self, key: str) -> Any:
        """Return an array: the bounds of rows, or a field of the entries, mapped for as long as it is looked at."""
        return self._starts if key == "/indptr" else self.entries("r")[key[1:]]

    def entries(self, mode: Any = "r+") -> np.memmap[Any, Any]:
        """Return the entries, row by row."""
        return np.memmap(self.path, self._entry, mode)

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Say of a file that is gone what it was."""
        try:
            yield
        except OSError as error:
            raise MatrixError(f"temporary file {self.path} cannot be read: {error.strerror}. Run it again.") from None


def turned_on_disk(stored: StoredSparse, memory: int) -> StoredSparse:
    """Return a matrix with rows and columns swapped, its entries put in order in a temporary file."""
    n, m = stored.shape[1], stored.shape[0]
    entry = np.dtype([("indices", np.int32), ("data", stored.dtype)])
    most = max(1, memory // (8 * entry.itemsize))  # entries that are held at once, with their order and copies
    step = max(1, m * most // max(1, stored.n_entries))
    parts = [(first, min(first + step, m)) for first in range(0, m, step)]
    counts = np.zeros(n, dtype=np.int64)
    for first, last in parts:
        counts += np.bincount(stored.rows(first, last).indices, minlength=n)
    starts = np.concatenate([[0], np.cumsum(counts)])
    store, filled = SortedEntries(starts, entry), starts[:-1].copy()
    for first, last in parts:
        turned = stored.rows(first, last).T.tocsr()
        sizes = np.diff(turned.indptr)
        at = np.repeat(filled - turned.indptr[:-1], sizes) + np.arange(turned.nnz)
        with store.reading("entries"):
            entries = store.entries()  # mapped anew for each part: what is mapped counts as memory
            entries["indices"][at], entries["data"][at] = turned.indices + first, turned.data
            del entries
        filled += sizes
    return StoredSparse(store, "", (n, m))


def checked_csr(data: Any, indices: Any, starts: Any, n_cols: int, name: str) -> Any:
    """Return compressed rows as CSR, if every index lies in the matrix and rows follow each other."""
    from scipy.sparse import csr_array

    starts = np.asarray(starts, dtype=np.int64)
    in_order = len(starts) > 0 and starts[0] == 0 and starts[-1] == len(data) and bool((np.diff(starts) >= 0).all())
    if not in_order or len(indices) != len(data) or (len(data) and not 0 <= indices.min() <= indices.max() < n_cols):
        raise FormatError(f"{name}: the indices of a sparse matrix are damaged.")
    if data.dtype.kind not in "fiub":
        raise FormatError(f"{name}: a sparse matrix holds {data.dtype}; real numbers are needed.")
    kind = np.int64 if max(n_cols, len(data)) >= 1 << 31 else np.int32
    made = csr_array((data, indices.astype(kind, copy=False), starts.astype(kind)), shape=(len(starts) - 1, n_cols))
    return SparseSource(made).array


def check_matrix(node: Any, where: str) -> None:
    """Raise unless an array is a 2-D matrix of numbers."""
    if hasattr(node, "keys"):
        raise FormatError(f"{where} is a group; a matrix is needed.")
    if len(node.shape) != 2:
        raise FormatError(f"{where} has {plural(len(node.shape), 'dimension')}; a 2-D matrix is needed.")
    if np.dtype(node.dtype).kind not in "fiub":
        raise FormatError(f"{where} holds {node.dtype}; real numbers are needed.")


def dense_source(store: Store, key: str, turned: bool, name: str) -> Any:
    """Return a small array as it is in memory, a large one as a source that reads it."""
    node = store.node(key)
    check_matrix(node, name)
    if int(node.shape[0]) * int(node.shape[1]) > CHUNK_CELLS:
        return StoredArray(store, key, turned)
    with store.reading(key):
        values = np.asarray(node[:])
    return values.T if turned else values


def sparse_source(store: Store, key: str, shape: tuple[int, int], by_rows: bool, turned: bool) -> Any:
    """Return a sparse matrix: a small one in memory, by rows, a large one as a source that reads it."""
    lines = shape if by_rows else shape[::-1]
    name = f"{store.path.name}: {key}"
    if not 0 <= lines[0] <= MAX_SIDE or not 0 <= lines[1] <= MAX_SIDE:
        raise FormatError(f"{name} claims to be {shape[0]} x {shape[1]}, which is not possible.")
    data, indices, starts = (store.node(f"{key}/{part}") for part in ("data", "indices", "indptr"))
    stored = data.shape[0] if len(data.shape) == 1 else -1
    if stored < 0 or indices.shape != data.shape or starts.shape != (lines[0] + 1,) or stored > lines[0] * lines[1]:
        raise FormatError(f"{name}: the parts of the sparse matrix do not fit its shape {shape}.")
    if stored > CHUNK_CELLS:
        source = StoredSparse(store, key, lines)
        return source if by_rows != turned else source.transposed()
    with store.reading(key):
        cells, positions, bounds = (np.asarray(part[:]) for part in (data, indices, starts))
    made = checked_csr(cells, positions, bounds, lines[1], name)
    return SparseSource(made if by_rows != turned else made.T, is_canonical=True)


def stored_cells(store: Store, node: Any, turned: bool, name: str) -> Any:
    """Return the matrix at a node as AnnData stores it: an array, or a group that holds a sparse one."""
    key, where = str(node.name).strip("/"), f"{name}: {node.name}"
    if not hasattr(node, "keys"):
        return dense_source(store, key, turned, where)
    shape = tuple(int(n) for n in node.attrs.get("shape", node.attrs.get("h5sparse_shape", ())))
    kind = node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", ""))
    kind = str(kind.decode() if isinstance(kind, bytes) else kind).removesuffix("_matrix")
    if kind not in ("csr", "csc") or len(shape) != 2:
        raise FormatError(f"{where} is stored as {kind!r}; csr, csc or a plain array is needed.")
    return sparse_source(store, key, (shape[0], shape[1]), kind == "csr", turned)
