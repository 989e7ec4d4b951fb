"""A data matrix with its labels: what every reader returns and every command works on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bivaluate import _rows
from bivaluate._anndata import cells_of, is_anndata, stacked
from bivaluate._check import check_choice, check_values, place_of_cell, to_float64
from bivaluate._errors import MatrixError, TooLargeError, import_optional
from bivaluate._rows import CHUNK_CELLS, LARGEST_DENSE_BYTES, ArraySource, FileSource, SparseSource, chunk_rows
from bivaluate._text import html_table, listing, number, plural
from bivaluate._types import DataFrame, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array


Result = TypeVar("Result")

# Up to this many cells, whole rows are taken before their columns: two plain copies instead of one look at an index.
_FEW_CELLS = 1 << 15
ROWS_AND_COLUMNS = ("rows", "columns")


def cut_block(array: NDArray[Any], rows: Ints, cols: Ints) -> NDArray[Any]:
    """Return array[np.ix_(rows, cols)], the faster way where the rows hold few cells."""
    few = len(rows) * array.shape[1] <= _FEW_CELLS
    return array.take(rows, 0).take(cols, 1) if few else array[np.ix_(rows, cols)]


@dataclass(frozen=True, eq=False, repr=False)
class _Cells:
    """The cells of a matrix, read and checked some rows at a time; what other rooms ask a matrix for."""

    source: Any  # whatever a user gives; a RowSource from here on
    row_labels: tuple[str, ...] | None = None
    col_labels: tuple[str, ...] | None = None
    name: str = "X"
    absent: str = "zero"
    memory: int | None = None
    progress: Callable[[int, int], None] | None = None
    nouns: tuple[str, str] = ROWS_AND_COLUMNS
    _known: dict[Any, Any] | None = field(default=None, init=False)  # of a settled matrix: what `once` was asked

    def __post_init__(self) -> None:
        check_choice("absent", self.absent, ("zero", "missing"))
        given = self.source
        is_frame = hasattr(given, "index") and hasattr(given, "columns") and hasattr(given, "to_numpy")
        if is_frame:
            check_frame_dtypes(given, self.name)
        object.__setattr__(self, "source", _source_of(_cells(given) if is_frame else given, self.name))
        own = (_labels(given.index), _labels(given.columns)) if is_frame else (None, None)
        keys = ("row_labels", "col_labels")
        for n, what, key, known in zip(self.shape, ("row", "column"), keys, own, strict=True):
            labels = known if getattr(self, key) is None else getattr(self, key)
            if labels is not None and len(labels) != n:
                raise MatrixError(f"{self.name} has {plural(n, what)} but {plural(len(labels), f'{what} label')}.")
            object.__setattr__(self, key, None if labels is None else tuple(labels))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, m = self.source.shape
        return int(n), int(m)

    @property
    def sparse(self) -> bool:
        """Whether rows come as CSR."""
        return bool(self.source.sparse)

    @property
    def in_memory(self) -> bool:
        """Whether the cells are a dense float64 array in memory: what small matrices and plain arrays are."""
        return isinstance(self.source, ArraySource) and self.source.dtype == np.float64

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Return where chunks of rows start and stop; they follow from the shape alone, unless `memory` is given."""
        n, m = self.shape
        edges = getattr(self.source, "edges", None)
        if edges is not None:
            return ((int(start), int(stop)) for start, stop in itertools.pairwise(edges) if stop > start)
        step = chunk_rows(m, self.memory)
        return ((start, min(start + step, n)) for start in range(0, n, step))

    def map_chunks(self, function: Callable[[int, Any], Result]) -> Iterator[Result]:
        """Return what a function makes of every chunk of rows, in their order."""
        parts = list(self.chunks())
        found: Iterator[Result]
        if getattr(self.source, "client", None) is None:
            found = (function(a, self.checked(self.source.rows(a, b), "omit", a)) for a, b in parts)
        else:
            there = partial(_checked_first, self.without_cells(), function)
            found = self.source.map_rows(there, [(a, np.arange(a, b)) for a, b in parts])
        return self._told(found, len(parts))

    def map_rows(self, function: Callable[[int, Ints, Any], Result], rows: Ints, n_cols: int = 0) -> Iterator[Result]:
        """Return what a function makes of some rows, a bounded number at a time, in their order."""
        parts = _rows.split_rows(rows, self.source, self.memory, n_cols)
        placed = list(zip(itertools.accumulate([0, *map(len, parts)]), parts, strict=False))
        found: Iterator[Result]
        if getattr(self.source, "client", None) is None:
            found = (_checked_rows(self, function, at, part, self.source.take(part)) for at, part in placed)
        else:
            found = self.source.map_rows(partial(_checked_rows, self.without_cells(), function), placed)
        return found if len(parts) < 2 else self._told(found, len(parts))

    def _told(self, found: Iterator[Result], total: int) -> Iterator[Result]:
        for done, result in enumerate(found, 1):
            yield result
            if self.progress is not None:
                self.progress(done, total)

    def without_cells(self) -> Matrix:
        """Return what is known of the matrix without its cells and labels: what travels to the workers of a cluster."""
        there = _rows.Elsewhere(self.shape, self.source.dtype, self.sparse)
        return Matrix(there, None, None, self.name, self.absent, self.memory, nouns=self.nouns)

    def dense(self, cells: Any) -> Floats:
        """Return rows of this matrix, dense or CSR, as a dense float64 array."""
        if isinstance(cells, np.ndarray):
            return cells.astype(np.float64, copy=False)
        if self.absent == "zero":
            return np.asarray(cells.toarray(), dtype=np.float64)
        values = np.full(cells.shape, np.nan)
        values[np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr)), cells.indices] = cells.data
        return values

    def may_hold(self, n_rows: int, n_cols: int) -> bool:
        """Whether a block of this size may be made dense: always of an array in memory, else up to one chunk."""
        return self.in_memory or n_rows <= chunk_rows(n_cols, self.memory)

    def block(self, rows: Ints, cols: Ints, missing: str = "omit") -> Floats:
        """Return the cells of some rows and columns as a dense array."""
        if isinstance(self.source, ArraySource):
            return cut_block(self.source.array, rows, cols).astype(np.float64, copy=False)
        if 8 * len(rows) * len(cols) > LARGEST_DENSE_BYTES:
            said = f"{len(rows):,} rows × {len(cols):,} columns of {self.name} are more than this can hold at once"
            raise TooLargeError(f"{said} ({8 * len(rows) * len(cols) / 1e9:,.1f} GB).")
        block = np.empty((len(rows), len(cols)))
        step = chunk_rows(self.shape[1], self.memory)
        cut_there = getattr(self.source, "block", None)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            if cut_there is not None:
                block[start : start + step] = self.dense(cut_there(part, cols))
            else:
                taken = self.checked(self.source.take(part), missing, numbers=part)
                block[start : start + step] = self.dense(taken[:, cols])
        return block

    def once(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Return what a function makes of this matrix; of a settled one it is called the first time only."""
        if self._known is None:
            return function(self, *arguments)
        if (function, arguments) not in self._known:
            self._known[function, arguments] = function(self, *arguments)
        known: Result = self._known[function, arguments]
        return known

    def checked(self, cells: Any, missing: str = "raise", start: int = 0, numbers: Any = None) -> Any:
        """Return rows as float64, dense or CSR as they are, if every cell is allowed."""
        if cells.ndim != 2 or cells.shape[1] != self.shape[1]:
            found = f"{self.name} has {plural(self.shape[1], 'column')}, but its rows from row {start} on"
            raise MatrixError(f"{found} (counted from 0) came with shape {cells.shape}.")

        def place(row: int, col: int) -> str:
            return self.place(start + row if numbers is None else int(numbers[row]), col)

        if isinstance(cells, np.ndarray):
            return check_values(cells, missing, self.name, place)
        self._check_stored(cells, missing, place)
        return cells if cells.data.dtype == np.float64 else _as_float64(cells)

    def _check_stored(self, cells: Any, missing: str, place: Callable[[int, int], str]) -> None:
        """Refuse cells of CSR rows that are not allowed, looking at some at a time."""
        stored, first = cells.data, 0

        def place_of_stored(_: int, at: int) -> str:
            row = int(np.searchsorted(cells.indptr, first + at, side="right")) - 1
            return place(row, int(cells.indices[first + at]))

        for first in range(0, len(stored), CHUNK_CELLS):
            check_values(stored[None, first : first + CHUNK_CELLS], missing, self.name, place_of_stored)

    def _check_cells(self, missing: str) -> None:
        """Refuse cells that are not allowed, of what is in memory; what is not is checked when it is read."""
        if 0 in self.shape:
            raise MatrixError(f"{self.name} is empty: its shape is {self.shape}.")
        if isinstance(self.source, ArraySource):
            step = chunk_rows(self.shape[1]) if self.source.dtype != np.float64 else self.shape[0]
            for start in range(0, self.shape[0], step):
                self.checked(self.source.rows(start, min(start + step, self.shape[0])), missing, start)
        elif isinstance(self.source, SparseSource):
            self._check_stored(self.source.array, missing, self.place)

    def place(self, row: int, col: int) -> str:
        """Return how a message names a cell: by labels where there are some."""
        if self.row_labels is None or self.col_labels is None:
            return place_of_cell(row, col)
        return f"row {self.row_labels[row]!r}, column {self.col_labels[col]!r}"

    def row_label(self, index: int) -> str:
        """Return the label of a row, or its number where rows have no labels."""
        return self.row_labels[index] if self.row_labels is not None else str(index)

    def col_label(self, index: int) -> str:
        """Return the label of a column, or its number where columns have no labels."""
        return self.col_labels[index] if self.col_labels is not None else str(index)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: a settled matrix stays one, and what is known of it is found out again."""
        return {**vars(self), "_known": None if self._known is None else {}}


class Matrix(_Cells):
    """Values with optional row and column labels; rows are the objects (genes), columns the conditions.

    Parameters
    ----------
    source : array-like of shape (n, m), DataFrame, scipy.sparse matrix or RowSource
        The cells; missing ones are NaN. Large arrays are never copied, whatever their dtype; files are read some rows
        at a time.
    row_labels, col_labels : sequence of str, optional
        One label per row and per column.
    name : str, default="X"
    absent : {"zero", "missing"}, default="zero"
        How to read cells that a sparse matrix does not store.
    memory : int, optional
        Bytes that may be held at once of what is read some rows at a time; by default chunks of 32 MB.
    progress : callable, optional
        Called with (done, total) as chunks are read.
    nouns : tuple of str, default=("rows", "columns")
        What rows and columns are, in the plural, as sentences and tables call them: ("genes", "cells").

    Raises
    ------
    MatrixError
        If the values are not a 2-D matrix of numbers, or the labels do not fit it.

    See Also
    --------
    Matrix.of, bivaluate.read_matrix

    Examples
    --------
    >>> X = Matrix([[1, 2], [3, 4], [5, 6]], row_labels=("g1", "g2", "g3"))
    >>> X.shape, X.row_label(1), X.col_label(1)
    ((3, 2), 'g2', '1')
    """

    @classmethod
    def of(cls, X: Any, missing: str = "raise", name: str = "X", absent: str | None = None) -> Matrix:
        """Return what a user has as a matrix, checked, with its labels.

        Parameters
        ----------
        X : Matrix, DataFrame, AnnData, MuData, array-like, scipy.sparse matrix, SOMA SparseNDArray or RowSource
            Labels other than 0, 1, 2, … are kept; those of rows are the first column of text in polars and pyarrow.
            The modalities of a MuData object are stacked over the cells they have in common. Masked cells become
            missing ones. What lies in a file is checked when it is read.
        missing : {"raise", "omit"}, default="raise"
            Whether missing cells (NaN) are refused or may stay. Infinite cells are always refused.
        name : str, default="X"
        absent : {"zero", "missing"}, optional
            How to read cells that a sparse matrix does not store; by default as a `Matrix` says, otherwise as zero.

        Returns
        -------
        Matrix
            `X` itself if it is one.

        Raises
        ------
        MatrixError
            If `X` is not a 2-D matrix of numbers, is empty, or holds cells that are not allowed.

        Examples
        --------
        >>> Matrix.of(pd.DataFrame([[1, 2]], index=["g1"], columns=["c1", "c2"])).col_labels
        ('c1', 'c2')
        """
        if is_anndata(X):
            return cls.of(cls.from_anndata(X), missing, absent=absent)
        if type(X).__module__.startswith("mudata") and hasattr(X, "mod"):
            parts = {key: cells_of(X.mod[key], None, obs_rows=False) for key in sorted(X.mod)}
            return cls.of(cls(*stacked(parts, name), name, nouns=("features", "cells")), missing, absent=absent)
        if isinstance(X, Matrix):
            matrix = X if absent in (None, X.absent) else replace(X, absent=absent)
            matrix.once(Matrix._check_cells, missing)
            return matrix
        if type(X).__module__.partition(".")[0] in ("polars", "pyarrow"):
            X = _pandas(X, name)
        return cls.of(cls(X, name=name, absent=absent or "zero"), missing)

    @classmethod
    def from_anndata(
        cls, adata: Any, *, layer: str | None = None, obs_rows: bool = False, name: str = "X", absent: str = "zero"
    ) -> Matrix:
        """Return the matrix of an AnnData object, genes x cells unless told otherwise.

        Parameters
        ----------
        adata : AnnData
            In memory or backed by its file.
        layer : str, optional
            A layer in place of X; ``"raw"`` for raw.
        obs_rows : bool, default=False
            Whether observations (cells) are the rows rather than variables (genes).
        name : str, default="X"
        absent : {"zero", "missing"}, default="zero"
            How to read cells that a sparse matrix does not store.

        Returns
        -------
        Matrix
            Dense cells are not copied; sparse ones are sorted once where genes are the rows.

        Raises
        ------
        MatrixError, ParameterError
            If `adata` is not an AnnData object, or has no X or no such layer.

        Examples
        --------
        >>> Matrix.from_anndata(adata).shape  # doctest: +SKIP
        (765, 700)
        """
        if not is_anndata(adata):
            raise MatrixError(f"{name} is of type {type(adata).__name__}, not an AnnData object.")
        cells, rows, cols = cells_of(adata, layer, obs_rows)
        return cls(cells, rows, cols, name, absent, nouns=("cells", "genes") if obs_rows else ("genes", "cells"))

    @cached_property
    def values(self) -> Floats:
        """All cells as one float64 array; made once, from what is not one already.

        Raises
        ------
        TooLargeError
            If they would take more than 2 GB of memory that they do not take yet.

        Examples
        --------
        >>> Matrix.of([[1, 2]]).values
        array([[1., 2.]])
        """
        if isinstance(self.source, ArraySource) and self.in_memory:
            return self.source.array
        n, m = self.shape
        if 8 * n * m > LARGEST_DENSE_BYTES:
            found = f"{self.name} has {n:,} × {m:,} cells, {8 * n * m / 1e9:,.1f} GB as one dense array"
            how = "Work on fewer rows or columns, or leave out what needs every value at once."
            raise TooLargeError(f"{found}, which this needs. {how}")
        values = np.empty((n, m))
        fill = getattr(self.source, "fill", None)
        if fill is not None:  # in the order they are stored in, which may be columns
            fill(values)
            return self.checked(values, "omit")  # type: ignore[no-any-return]
        for start, stop in self.chunks():
            values[start:stop] = self.dense(self.checked(self.source.rows(start, stop), "omit", start))
        return values

    @cached_property
    def has_missing(self) -> bool:
        """Whether a cell is missing (NaN); what lies in a file is read through once to know.

        Examples
        --------
        >>> Matrix([[1, np.nan]]).has_missing
        True
        """
        if self.source.dtype.kind != "f":
            return False
        if isinstance(self.source, (ArraySource, SparseSource)):
            return _any_missing(0, self.source.array)
        return any(self.map_chunks(_any_missing))

    @property
    def T(self) -> Matrix:
        """The transposed matrix, with its labels swapped.

        Examples
        --------
        >>> Matrix.of(X).T.shape
        (6, 5)
        """
        turned: Any
        if hasattr(self.source, "transposed"):
            turned = self.source.transposed()
        elif 8 * self.shape[0] * self.shape[1] <= min(LARGEST_DENSE_BYTES, self.memory or LARGEST_DENSE_BYTES):
            turned = self.values.T
        else:
            turned = FileSource.of_columns(self.shape, self.map_chunks(partial(_numbered, self.without_cells())))
        labels = self.col_labels, self.row_labels
        called = dict(zip(ROWS_AND_COLUMNS, ROWS_AND_COLUMNS[::-1], strict=True))  # these say where, not what
        nouns = (called.get(self.nouns[1], self.nouns[1]), called.get(self.nouns[0], self.nouns[0]))
        return Matrix(turned, *labels, self.name, self.absent, self.memory, self.progress, nouns)

    def renamed(self, name: str) -> Matrix:
        """Return the same matrix under another name.

        Parameters
        ----------
        name : str

        Returns
        -------
        Matrix
            With the same cells and labels.

        Examples
        --------
        >>> Matrix.of(X).renamed("yeast").name
        'yeast'
        """
        return replace(self, name=name)

    def called(self, rows: str | None = None, columns: str | None = None) -> Matrix:
        """Return the same matrix, with other words for what its rows and columns are.

        Parameters
        ----------
        rows, columns : str, optional
            In the plural, as "genes" and "samples"; what is not given stays.

        Returns
        -------
        Matrix
            With the same cells and labels.

        Examples
        --------
        >>> Matrix.of(X).called("genes", "samples").nouns
        ('genes', 'samples')
        """
        return replace(self, nouns=(rows or self.nouns[0], columns or self.nouns[1]))

    def settled(self) -> Matrix:
        """Return the same matrix as one whose cells will not change: what follows from them alone is computed once.

        Returns
        -------
        Matrix
            With the same cells, which are not copied, and labels. Do not write to them.

        Examples
        --------
        >>> X = Matrix.of(X).settled()
        """
        settled = replace(self)
        object.__setattr__(settled, "_known", {})
        return settled

    def to_frame(self) -> DataFrame:
        """Return the matrix as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            With the labels, where there are some.

        Examples
        --------
        >>> float(Matrix([[1, 2]], ("g1",), ("a", "b")).to_frame().loc["g1", "b"])
        2.0
        """
        import pandas as pd

        index, columns = (None if labels is None else list(labels) for labels in (self.row_labels, self.col_labels))
        return pd.DataFrame(self.values, index=index, columns=columns)

    def to_scipy(self) -> csr_array:
        """Return the stored cells of a sparse matrix as one, for scikit-learn and others that take such.

        Returns
        -------
        scipy.sparse.csr_array
            By rows, as float64; cells that are not stored are 0, or missing where `absent` says so.

        Raises
        ------
        MatrixError
            If the matrix is dense; :attr:`values` has its cells.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> Matrix.of(csr_array([[0.0, 2.0]])).to_scipy().nnz
        1
        """
        from scipy.sparse import csr_array, vstack

        if not self.sparse:
            raise MatrixError(f"{self.name} is dense: its cells are in .values.")
        parts = [self.checked(self.source.rows(start, stop), "omit", start) for start, stop in self.chunks()]
        return csr_array(vstack(parts, format="csr") if len(parts) > 1 else parts[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self.sparse:
            raise MatrixError(f"{self.name} is sparse: to_scipy() returns it as a sparse matrix, .values as an array.")
        return np.array(self.values, dtype) if copy else self.values.astype(dtype or np.float64, copy=False)

    def __repr__(self) -> str:
        labelled = [what for what, labels in (("rows", self.row_labels), ("columns", self.col_labels)) if labels]
        named = f", {listing(labelled)} labelled" if labelled else ""
        return f"Matrix({self.name}: {self.shape[0]} x {self.shape[1]}{', sparse' if self.sparse else ''}{named})"

    def _repr_html_(self) -> str:
        n_rows, n_cols = (min(n, 6) for n in self.shape)
        corner = self.block(np.arange(n_rows), np.arange(n_cols))
        headings = ["", *(self.col_label(j) for j in range(n_cols))]
        rows = [[self.row_label(i), *(number(value) for value in corner[i])] for i in range(n_rows)]
        return html_table(repr(self), headings, rows, "…" if max(self.shape) > 6 else "")


def _any_missing(start: int, cells: Any) -> bool:
    return bool(np.isnan(cells if isinstance(cells, np.ndarray) else cells.data).any())


def _numbered(matrix: Matrix, start: int, cells: Any) -> tuple[int, Floats]:
    return start, matrix.dense(cells)


def _checked_first(matrix: Matrix, function: Callable[..., Result], start: int, numbers: Any, cells: Any) -> Result:
    return function(start, matrix.checked(cells, "omit", start))


def _checked_rows(matrix: _Cells, function: Callable[..., Result], at: int, numbers: Any, cells: Any) -> Result:
    return function(at, numbers, matrix.checked(cells, "omit", numbers=numbers))


def _source_of(cells: Any, name: str) -> _rows.RowSource:
    """Return where the rows of what a user has come from; what is small becomes an array of float64."""
    if type(cells).__module__.startswith("scipy.sparse"):
        if cells.ndim != 2 or np.dtype(cells.dtype).kind not in "fiub":
            found = f"{cells.ndim} dimensions and dtype {cells.dtype}"
            raise MatrixError(f"{name} has {found}; a matrix of numbers is needed.")
        return SparseSource(cells)
    if type(cells).__module__.startswith("dask."):
        from bivaluate._cluster import DaskSource

        return DaskSource(cells, name)
    if type(cells).__module__.startswith("tiledbsoma"):
        from bivaluate._soma import SomaSource

        return SomaSource(cells, name)
    if isinstance(cells, np.ndarray) and not isinstance(cells, np.ma.MaskedArray):
        large = cells.ndim == 2 and cells.size > CHUNK_CELLS and cells.dtype.kind in "fiub"
        # a part of another map keeps that one's offset, and so does not say where it starts
        is_part = isinstance(cells.base, np.memmap)
        if large and isinstance(cells, np.memmap) and cells.filename and cells.flags.c_contiguous and not is_part:
            return FileSource.of_map(cells)
        if large and cells.dtype.itemsize <= 8:
            return ArraySource(cells)
    # a solution, which is refused below, may not know the shape it would be asked for here
    elif type(cells).__module__ != "bivaluate.solution" and isinstance(cells, _rows.RowSource):
        return cells
    return ArraySource(to_float64(cells, name))


def _as_float64(cells: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array((cells.data.astype(np.float64), cells.indices, cells.indptr), shape=cells.shape)


def check_frame_dtypes(frame: DataFrame, name: str) -> None:
    """Refuse a frame with a cell that is not a number, and name the cell."""
    import pandas as pd

    for column in range(frame.shape[1]):
        series = frame.iloc[:, column]
        if pd.api.types.is_numeric_dtype(series.dtype):
            continue
        bad = pd.to_numeric(series, errors="coerce").isna() & series.notna()
        if bad.any():
            row = int(np.argmax(bad.to_numpy()))
            where = f"row {frame.index[row]!r}, column {frame.columns[column]!r}"
            raise MatrixError(f"{name} has a value that is not a number at {where}: {series.iloc[row]!r}.")


def _cells(frame: DataFrame) -> NDArray[Any]:
    """Return the cells of a frame; pandas' own mark of a missing cell becomes NaN."""
    values = frame.to_numpy()
    return values if values.dtype != object else frame.astype(object).where(frame.notna(), np.nan).to_numpy()


def _pandas(X: Any, name: str) -> DataFrame:
    """Return a table of polars or pyarrow as one of pandas; a first column of text becomes the labels of rows."""
    import pandas as pd

    nw = import_optional("narwhals", f"a {type(X).__name__}")
    try:
        table = nw.from_native(X, eager_only=True)
    except TypeError as error:
        raise MatrixError(f"{name} is a {type(X).__name__}, and a table in memory is needed: {error}") from None
    frame = pd.DataFrame({column: table[column].to_numpy() for column in table.columns})
    has_labels = len(table.columns) > 1 and table[table.columns[0]].dtype == nw.String
    return frame.set_index(table.columns[0]) if has_labels else frame


def _labels(index: Any) -> tuple[str, ...] | None:
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return None
    return tuple(str(label) for label in index)
