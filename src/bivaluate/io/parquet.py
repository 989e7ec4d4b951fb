"""Apache Parquet, through pyarrow (extra ``parquet``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._errors import FormatError, MissingExtraError
from bivaluate.io.options import MatrixOptions
from bivaluate.io.source import MAX_CELLS, Source
from bivaluate.matrix import Matrix

KEY = "parquet"
NAME = "Parquet"
EXTENSIONS = (".parquet", ".pq")
OPTIONS: frozenset[str] = frozenset()


def detects(source: Source) -> bool:
    """By the magic bytes."""
    return not source.is_folder and source.head.startswith(b"PAR1")


def _pyarrow(purpose: str) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(purpose, "pyarrow", "parquet") from None
    return pyarrow


def read(source: Source, options: MatrixOptions) -> Matrix:
    """Read a table; its text column, or the index pandas wrote, gives the row labels."""
    pa = _pyarrow("reading .parquet")
    try:
        with pa.parquet.ParquetFile(source.path) as file:
            if file.metadata.num_rows * file.metadata.num_columns > MAX_CELLS:
                raise FormatError(
                    f"{source.name} has {file.metadata.num_rows} x {file.metadata.num_columns} cells; "
                    f"at most {MAX_CELLS} can be read."
                )
            table = file.read()
    except FormatError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        first = (str(error).splitlines() or [""])[0][:200]
        raise FormatError(f"{source.name}: the Parquet file is truncated or damaged ({first}).") from None
    return _to_matrix(pa, table, source)


def _to_matrix(pa: Any, table: Any, source: Source) -> Matrix:
    names: list[str] = table.column_names
    index = _index_column(pa, table)
    columns = [name for name in range(len(names)) if name != index]
    if not columns or table.num_rows == 0:
        raise FormatError(f"{source.name} holds no data: {table.num_rows} rows, {len(columns)} data columns.")
    values = np.empty((table.num_rows, len(columns)))
    for j, position in enumerate(columns):
        column = table.column(position)
        kind = column.type
        if pa.types.is_decimal(kind) or pa.types.is_boolean(kind):
            column = column.cast(pa.float64())
        elif not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise FormatError(
                f"{source.name}: column {names[position]!r} holds {kind}, not numbers. Only the first text column "
                "may hold row labels; drop or convert the others."
            )
        values[:, j] = column.to_numpy()
    labels = None if index is None else tuple(str(label) for label in table.column(index).to_pylist())
    col_labels = tuple(names[j] for j in columns)
    if col_labels == tuple(str(j) for j in range(len(col_labels))):
        return Matrix(values, labels, None, source.stem)
    return Matrix(values, labels, col_labels, source.stem)


def _index_column(pa: Any, table: Any) -> int | None:
    names = table.column_names
    if "__index_level_0__" in names:
        return int(names.index("__index_level_0__"))
    try:
        stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    except (ValueError, AttributeError):
        stored = []
    for name in stored:
        if isinstance(name, str) and name in names:
            return int(names.index(name))
    for j, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            return j
    return None


def write(matrix: Matrix, path: Path) -> None:
    """Write the matrix with its row labels as the index pandas understands."""
    from bivaluate.io.target import atomic_path

    pa = _pyarrow("writing .parquet")
    names = matrix.col_labels or tuple(str(j) for j in range(matrix.shape[1]))
    arrays = [pa.array(np.ascontiguousarray(column)) for column in matrix.values.T]
    fields = list(names)
    if matrix.row_labels is not None:
        arrays.append(pa.array(list(matrix.row_labels)))
        fields.append("__index_level_0__")
    table = pa.table(arrays, names=fields)
    with atomic_path(path) as temporary:
        pa.parquet.write_table(table, temporary)
