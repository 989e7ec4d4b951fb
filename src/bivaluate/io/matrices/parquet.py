"""Apache Parquet, through pyarrow."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import FormatError, MatrixError
from bivaluate._files import atomic_path
from bivaluate._rows import CHUNK_CELLS, chunk_rows, take_near
from bivaluate._types import Floats, Ints
from bivaluate.io.formats import Format, Matrix, Options, Source, first_line

TOGETHER = 1 << 22  # cells that are read at once where all are asked for
PROBED = 1 << 23  # bytes that a trial unpacks
_INDEX = "__index_level_0__"  # what pandas calls an index without a name


def _read(source: Source, options: Options) -> Matrix:
    """Read a table; its text column, or the index pandas wrote, gives the row labels. A large one stays in the file."""
    import pyarrow as pa
    import pyarrow.parquet

    with pa.parquet.ParquetFile(source.path) as file:
        n, schema = file.metadata.num_rows, file.schema_arrow
        label = _index_name(pa, schema)
        columns = [name for name in schema.names if name != label]
        if not n or not columns:
            raise FormatError(f"{source.name} holds no data: {n} rows, {len(columns)} data columns.")
        kinds = {_dtype(pa, schema.field(name).type, name, source) for name in columns}
        index = None if label is None else file.read(columns=[label]).column(0).to_pylist()
        cells: Any = ParquetSource(source.path.absolute(), tuple(columns), n, np.result_type(*kinds))
        if n * len(columns) <= CHUNK_CELLS:
            values = np.empty((n, len(columns)))
            cells.fill_from(file, values)
            cells = values
    labels = None if columns == [*map(str, range(len(columns)))] else tuple(columns)
    return Matrix(cells, None if index is None else tuple(map(str, index)), labels, source.stem)


def _dtype(pa: Any, kind: Any, name: str, source: Source) -> np.dtype[Any]:
    if pa.types.is_float32(kind):
        return np.dtype(np.float32)
    types = pa.types
    if any(is_kind(kind) for is_kind in (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)):
        return np.dtype(np.float64)  # whole numbers may be missing, which only floats can say
    hint = "Only the first text column may hold row labels; drop or convert the others."
    raise source.fault(f"column {name!r} holds {kind}, not numbers. {hint}")


class ParquetSource:
    """A large table, read some rows at a time, forwards; going back starts again at a row group."""

    sparse = False

    def __init__(self, path: Path, columns: tuple[str, ...], n: int, dtype: Any) -> None:
        self.path, self.columns, self.shape = path, columns, (n, len(columns))
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._batches: Any = None
        self._held: NDArray[Any] = np.empty((0, len(columns)), dtype)
        self._first = 0  # row of the first held cell
        self._guard = threading.Lock()  # one thread at a time moves on through the file

    def __reduce__(self) -> tuple[Any, ...]:
        return ParquetSource, (self.path, self.columns, self.shape[0], self.dtype)

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return rows start:stop, read from the file."""
        import pyarrow as pa

        parts, at = [], start
        with self._guard:
            try:
                if self._batches is None or start < self._first:
                    self._begin(start)
                while at < stop:
                    last = self._first + len(self._held)
                    if at < last:
                        parts.append(self._held[at - self._first : stop - self._first])
                        at += len(parts[-1])
                    else:
                        cells = self._by_columns(next(self._batches), slice(None))
                        self._first, self._held = last, np.ascontiguousarray(cells.T)
            except BaseException as error:
                self._batches = None  # a batch may be lost, as by an interrupt from the keyboard
                if isinstance(error, (pa.ArrowException, OSError, ValueError, StopIteration)):
                    raise self._damaged(at, error) from None
                raise
        return np.concatenate(parts) if len(parts) != 1 else parts[0]

    def take(self, rows: Ints) -> Any:
        """Return the rows of these numbers; what lies close together is read at once."""
        return take_near(self, rows, chunk_rows(self.shape[1]))

    def fill(self, values: Floats) -> None:
        """Put all cells into an array, some columns at a time, read by pyarrow's threads."""
        import pyarrow as pa

        try:
            self.fill_from(self._opened()[0], values)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(0, error) from None

    def fill_from(self, file: Any, values: Floats) -> None:
        """Do so from the open file."""
        step = max(1, TOGETHER // max(1, self.shape[0]))
        for cols in (slice(first, first + step) for first in range(0, self.shape[1], step)):
            at = 0
            for batch in file.read(columns=list(self.columns[cols])).to_batches():
                values[at : at + batch.num_rows, cols] = self._by_columns(batch, cols).T
                at += batch.num_rows

    def probe(self) -> None:
        """Read the first row, of as many columns as a trial may take the time for; pages are unpacked whole."""
        file, sizes = self._opened()
        if not sizes:
            return
        first = file.metadata.row_group(0)
        packed = np.cumsum([first.column(j).total_uncompressed_size for j in range(first.num_columns)])
        count = max(1, int(np.searchsorted(packed, PROBED, side="right")))
        next(iter(file.iter_batches(1, [0], columns=list(self.columns[:count]), use_threads=False)), None)

    def _damaged(self, at: int, error: BaseException) -> MatrixError:
        said = f"{self.path} cannot be read from row {at} on (counted from 0; {first_line(error)}). The file became"
        return MatrixError(f"{said} shorter while it was read, is gone, or is damaged. Write it again.")

    def _opened(self) -> tuple[Any, list[int]]:
        """Return the file, and how many rows each of its groups has."""
        import pyarrow.parquet as parquet

        file = parquet.ParquetFile(self.path)
        if file.metadata.num_rows < self.shape[0]:
            raise ValueError(f"{file.metadata.num_rows} rows are left of {self.shape[0]}")
        return file, [file.metadata.row_group(g).num_rows for g in range(file.metadata.num_row_groups)]

    def _begin(self, start: int) -> None:
        """Begin to read at the row group a row lies in."""
        file, sizes = self._opened()
        ends = np.cumsum(sizes)
        group = int(np.searchsorted(ends, start, side="right"))
        self._first, self._held = int(ends[group] - sizes[group]), self._held[:0]
        size, columns = chunk_rows(self.shape[1]), list(self.columns)
        self._batches = (
            batch
            for g in range(group, len(sizes))  # one at a time: of several, pyarrow holds more than it gives
            for batch in file.iter_batches(size, [g], columns=columns, use_threads=False)
        )

    def _by_columns(self, batch: Any, cols: slice) -> NDArray[Any]:
        """Return the cells of some columns, one column after the other."""
        import pyarrow as pa

        places = [batch.schema.get_field_index(name) for name in self.columns[cols]]
        return np.stack([_numbers(pa, batch.column(j)) for j in places], dtype=self.dtype)


def _numbers(pa: Any, column: Any) -> NDArray[Any]:
    """Return the numbers of an array, missing ones as NaN; `to_numpy` would do the same, and load pandas."""
    if column.null_count or pa.types.is_decimal(column.type) or pa.types.is_boolean(column.type):
        column = column.cast(pa.float64(), safe=False).fill_null(np.nan)
    return np.from_dlpack(column)


def _index_name(pa: Any, schema: Any) -> str | None:
    try:
        stored = (schema.pandas_metadata or {}).get("index_columns", [])
    except (ValueError, AttributeError):
        stored = []
    texts = [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
    return next((n for n in [_INDEX, *stored, *texts] if isinstance(n, str) and n in schema.names), None)


def _write(matrix: Matrix, path: Path) -> None:
    """Write the matrix with its row labels as the index pandas understands."""
    import pyarrow as pa
    import pyarrow.parquet

    fields = [*(matrix.col_labels or map(str, range(matrix.shape[1])))]
    arrays = [pa.array(np.ascontiguousarray(column)) for column in matrix.values.T]
    if matrix.row_labels is not None:
        arrays.append(pa.array(list(matrix.row_labels)))
        fields.append(_INDEX)
    table = pa.table(arrays, names=fields)
    with atomic_path(path) as temporary:
        pa.parquet.write_table(table, temporary)


_NOTE = "the pandas index or the first text column gives the row labels; large tables are read by row groups"
_NAMED = ("parquet", "Parquet", (".parquet", ".pq"), lambda source: source.head.startswith(b"PAR1"))
FORMAT = Format(*_NAMED, _read, _write, needs="pyarrow", note=_NOTE)
