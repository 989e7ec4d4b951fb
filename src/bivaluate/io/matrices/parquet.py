"""Apache Parquet, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._errors import FormatError
from bivaluate.io.formats import Format, Options
from bivaluate.io.source import MAX_CELLS, Source
from bivaluate.io.target import atomic_path
from bivaluate.matrix import Matrix


def _read(source: Source, options: Options) -> Matrix:
    """Read a table; its text column, or the index pandas wrote, gives the row labels."""
    import pyarrow as pa
    import pyarrow.parquet

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
        raise source.damaged("the Parquet file", error) from None
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
            raise source.fault(
                f"column {names[position]!r} holds {kind}, not numbers. Only the first text column may hold row labels; "
                "drop or convert the others."
            )
        values[:, j] = column.to_numpy()
    labels = None if index is None else tuple(str(label) for label in table.column(index).to_pylist())
    col_labels = tuple(names[j] for j in columns)
    are_positions = col_labels == tuple(str(j) for j in range(len(col_labels)))
    return Matrix(values, labels, None if are_positions else col_labels, source.stem)


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


def _write(matrix: Matrix, path: Path) -> None:
    """Write the matrix with its row labels as the index pandas understands."""
    import pyarrow as pa
    import pyarrow.parquet

    names = matrix.col_labels or tuple(str(j) for j in range(matrix.shape[1]))
    arrays = [pa.array(np.ascontiguousarray(column)) for column in matrix.values.T]
    fields = list(names)
    if matrix.row_labels is not None:
        arrays.append(pa.array(list(matrix.row_labels)))
        fields.append("__index_level_0__")
    table = pa.table(arrays, names=fields)
    with atomic_path(path) as temporary:
        pa.parquet.write_table(table, temporary)


FORMAT = Format(
    "matrix",
    "parquet",
    "Parquet",
    (".parquet", ".pq"),
    lambda source: source.head.startswith(b"PAR1"),
    _read,
    _write,
    needs="pyarrow",
    note="the pandas index or the first text column gives the row labels",
)
