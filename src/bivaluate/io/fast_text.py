"""Large text tables through pyarrow, or through pandas where pyarrow is absent.

Both engines parse numbers to the last bit as Python does. Whatever they refuse is left to the line-by-line
reader, which then names the fault.
"""

from __future__ import annotations

import warnings

import numpy as np

from bivaluate.io.delimited import row_labels
from bivaluate.io.dialect import MISSING, Dialect
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix


def read_fast(source: Source, dialect: Dialect) -> Matrix | None:
    """Read a table with the fastest engine installed; None where it does not understand the file."""
    if source.encoding == "utf-16":
        return None
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return read_with_pandas(source, dialect)
    return read_with_pyarrow(source, dialect)


def read_with_pyarrow(source: Source, dialect: Dialect) -> Matrix | None:
    """Read a table with pyarrow's CSV engine."""
    import pyarrow as pa
    from pyarrow import csv

    width = dialect.n_fields + dialect.trailing
    names = [str(j) for j in range(width)]
    data = names[dialect.index_cols : dialect.n_fields]
    types = dict.fromkeys(names, pa.string()) | dict.fromkeys(data, pa.float64())
    try:
        with source.open() as stream:
            table = csv.read_csv(
                stream,
                csv.ReadOptions(
                    skip_rows=dialect.first - 1,
                    column_names=names,
                    encoding="latin-1" if source.encoding == "latin-1" else "utf8",
                    block_size=1 << 22,
                ),
                csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=False),
                csv.ConvertOptions(
                    column_types=types,
                    null_values=sorted(MISSING),
                    decimal_point=dialect.decimal,
                    strings_can_be_null=False,
                ),
            )
    except (pa.ArrowException, UnicodeDecodeError, OSError, EOFError):
        return None
    if dialect.trailing and any(cell.strip() for cell in table.column(names[-1]).to_pylist()):
        return None
    values = np.empty((table.num_rows, len(data)))
    start = 0
    for batch in table.to_batches(max_chunksize=512):
        block = values[start : start + batch.num_rows]
        for j, name in enumerate(data):
            block[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
        start += batch.num_rows
    index = [table.column(name).to_pylist() for name in names[: dialect.index_cols]]
    return _matrix(values, index, source, dialect)


def read_with_pandas(source: Source, dialect: Dialect) -> Matrix | None:
    """Read a table with pandas' C engine."""
    import pandas as pd

    width = dialect.n_fields + dialect.trailing
    data = range(dialect.index_cols, dialect.n_fields)
    dtypes = {j: np.float64 if j in data else str for j in range(width)}
    try:
        with source.open() as stream, warnings.catch_warnings():
            warnings.simplefilter("error")
            frame = pd.read_csv(  # type: ignore[call-overload]
                stream,
                sep=dialect.delimiter,
                decimal=dialect.decimal,
                header=None,
                names=list(range(width)),
                index_col=False,
                skiprows=dialect.first - 1,
                dtype=dtypes,
                na_values={j: sorted(MISSING) for j in data},
                keep_default_na=False,
                float_precision="round_trip",
                encoding=source.encoding,
                engine="c",
            )
    except (ValueError, Warning, OSError, EOFError):
        return None
    if dialect.trailing and frame[width - 1].str.strip().astype(bool).any():
        return None
    values = np.ascontiguousarray(frame[list(data)].to_numpy(dtype=np.float64))
    if np.isnan(values[:, -1]).any():
        return None  # pandas fills up short lines; the careful reader tells them from missing cells
    index = [frame[j].tolist() for j in range(dialect.index_cols)]
    return _matrix(values, index, source, dialect)


def _matrix(values: np.ndarray, index: list[list[str]], source: Source, dialect: Dialect) -> Matrix:
    labels = row_labels([list(row) for row in zip(*index, strict=True)], dialect) if index else None
    return Matrix(values, labels, dialect.col_labels, source.stem)
