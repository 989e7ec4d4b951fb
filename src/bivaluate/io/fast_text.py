"""Large text tables through pyarrow, where it is installed.

pyarrow parses numbers to the last bit as Python does. Whatever it refuses is left to the line-by-line reader,
which then names the fault. (pandas' C engine is no help here: with exact parsing it is slower than that reader.)
"""

from __future__ import annotations

import numpy as np

from bivaluate.io.delimited import row_labels
from bivaluate.io.dialect import MISSING, Dialect
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix


def read_fast(source: Source, dialect: Dialect) -> Matrix | None:
    """Read a table with pyarrow's CSV engine; None where it is absent or does not understand the file."""
    if source.encoding == "utf-16":
        return None
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        return None
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
    labels = row_labels([list(row) for row in zip(*index, strict=True)], dialect) if index else None
    return Matrix(values, labels, dialect.col_labels, source.stem)
