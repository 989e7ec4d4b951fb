"""Apache Parquet, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._errors import FormatError
from bivaluate._files import atomic_path
from bivaluate.io.formats import Format, Options
from bivaluate.io.source import MAX_CELLS, Source
from bivaluate.matrix import Matrix

_INDEX = "__index_level_0__"  # what pandas calls an index without a name


def _read(source: Source, options: Options) -> Matrix:
    """Read a table; its text column, or the index pandas wrote, gives the row labels."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        with pa.parquet.ParquetFile(source.path) as file:
            n, m = file.metadata.num_rows, file.metadata.num_columns
            table = file.read() if n * m <= MAX_CELLS else None
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise source.damaged("the Parquet file", error) from None
    if table is None:
        raise FormatError(f"{source.name} has {n} x {m} cells; at most {MAX_CELLS} can be read.")
    return _to_matrix(pa, table, source)


def _to_matrix(pa: Any, table: Any, source: Source) -> Matrix:
    names: list[str] = table.column_names
    index = _index_column(pa, table)
    columns = [name for name in range(len(names)) if name != index]
    if not columns or table.num_rows == 0:
        raise FormatError(f"{source.name} holds no data: {table.num_rows} rows, {len(columns)} data columns.")
    values = np.empty((table.num_rows, len(columns)))
    for j, position in enumerate(columns):
        column, kind = table.column(position), table.column(position).type
        if pa.types.is_decimal(kind) or pa.types.is_boolean(kind):
            column = column.cast(pa.float64())
        elif not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            hint = "Only the first text column may hold row labels; drop or convert the others."
            raise source.fault(f"column {names[position]!r} holds {kind}, not numbers. {hint}")
        values[:, j] = column.to_numpy()
    labels = None if index is None else tuple(str(label) for label in table.column(index).to_pylist())
    col_labels = tuple(names[j] for j in columns)
    are_positions = col_labels == tuple(str(j) for j in range(len(col_labels)))
    return Matrix(values, labels, None if are_positions else col_labels, source.stem)


def _index_column(pa: Any, table: Any) -> int | None:
    try:
        stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    except (ValueError, AttributeError):
        stored = []
    texts = [f.name for f in table.schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
    found = [name for name in [_INDEX, *stored, *texts] if isinstance(name, str) and name in table.column_names]
    return int(table.column_names.index(found[0])) if found else None


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


def _detects(source: Source) -> bool:
    return source.head.startswith(b"PAR1")


_NOTE = "the pandas index or the first text column gives the row labels"
FORMAT = Format("parquet", "Parquet", (".parquet", ".pq"), _detects, _read, _write, needs="pyarrow", note=_NOTE)
