"""10x folders and single Matrix Market files: genes x barcodes, indices from 1, sparse."""

import itertools
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._files import atomic_path, write_whole
from bivaluate._stored import MAX_SIDE
from bivaluate._types import Floats
from bivaluate.io.formats import MAX_CELLS, Format, FormatError, Matrix, Options, Source, indices

_BANNER = re.compile(r"(?i)%%MatrixMarket\s+matrix\s+(coordinate|array)\s+(real|integer|pattern)\s+general\s*")


def _read(source: Source, options: Options) -> Matrix:
    """Read the matrix and the names of features and barcodes, or of rows and columns beside a single file."""
    files = source.listed() if source.is_folder else [path for path in _beside(source) if path.is_file()]
    matrix = next((p for p in files if re.search(r"matrix\.mtx(\.gz)?$", p.name)), None)
    if matrix is None and source.is_folder:
        raise FormatError(f"{source.name} is a folder without matrix.mtx or matrix.mtx.gz; a 10x folder has one.")
    values = _market(source if matrix is None else Source(matrix))
    features = _names(files, r"(features|genes|rows)\.tsv(\.gz)?$")
    barcodes = _names(files, r"(barcodes|columns)\.tsv(\.gz)?$")
    for n, names, what in zip(values.shape, (features, barcodes), ("features", "barcodes"), strict=True):
        if names is not None and len(names) != n:
            shape = f"{values.shape[0]} x {values.shape[1]}"
            raise source.fault(f"{(matrix or source.path).name} is {shape}, but there are {len(names)} {what}.")
    return Matrix(values, features, barcodes, source.path.name or "X" if source.is_folder else source.stem)


def _beside(source: Source) -> list[Path]:
    """Return where the labels of the rows and columns of a single file are kept."""
    return [source.path.with_name(f"{source.stem}.{side}.tsv") for side in ("rows", "columns")]


def _write(matrix: Matrix, path: Path) -> None:
    """Write the cells that are not zero, and the labels beside them."""
    from scipy.io import mmwrite
    from scipy.sparse import coo_array

    with atomic_path(path) as part, part.open("wb") as stream:
        mmwrite(stream, coo_array(matrix.source.rows(0, matrix.shape[0])))
    for target, labels in zip(_beside(Source(path)), (matrix.row_labels, matrix.col_labels), strict=True):
        if labels is not None:
            write_whole(target, "".join(f"{label}\n" for label in labels))


def _names(files: list[Path], pattern: str) -> tuple[str, ...] | None:
    found = [path for path in files if re.search(pattern, path.name)]
    return tuple(line.split("\t")[0].strip() for _, line in Source(found[0]).filled_lines()) if found else None


def _market(source: Source) -> Any:
    """Return a matrix, sparse where it is given by coordinates."""
    lines = source.filled_lines()
    number, banner = next(lines, (1, ""))
    kind = _BANNER.fullmatch(banner.strip())
    if kind is None:
        needed = "'%%MatrixMarket matrix coordinate real general' (or integer, pattern, array)"
        raise source.fault(f"{needed} is needed, found {banner[:80]!r}.", number)
    entries = (pair for pair in lines if not pair[1].startswith("%"))
    number, line = next(entries, (number, ""))
    sizes = line.split()
    coordinate = kind[1].lower() == "coordinate"
    if len(sizes) != 2 + coordinate or indices(sizes) is None:
        raise source.fault(f"the sizes of the matrix are needed, found {line[:60]!r}.", number)
    n, m = int(sizes[0]), int(sizes[1])
    count = int(sizes[2]) if coordinate else n * m
    if not n * m > 0 or max(n, m) > MAX_SIDE or count > min(n * m, MAX_CELLS):
        raise source.fault(f"{n} x {m} cells with {count} entries cannot be read (at most {MAX_CELLS}).", number)
    table = _numbers(source, entries, 1 if not coordinate else 2 if kind[2].lower() == "pattern" else 3, count)
    if not coordinate:
        return np.ascontiguousarray(table.reshape(m, n).T)
    rows, cols, *values = table.T
    if count and not (rows.min() >= 1 and rows.max() <= n and cols.min() >= 1 and cols.max() <= m):
        raise source.fault(f"an entry lies outside the {n} x {m} matrix (indices are counted from 1).")
    from scipy.sparse import coo_array

    at = rows.astype(np.int64) - 1, cols.astype(np.int64) - 1
    return coo_array((values[0] if values else np.ones(count), at), shape=(n, m)).tocsr()


def _numbers(source: Source, entries: Any, width: int, count: int) -> Floats:
    """Parse `count` lines of `width` numbers; a fault is named by its line."""
    at, line = 0, ""

    def texts() -> Iterator[str]:
        nonlocal at, line
        for at, line in itertools.islice(entries, count + 1):  # noqa: B007
            yield line

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "loadtxt: input contained no data")
        try:
            table = np.loadtxt(texts(), comments=None, ndmin=2).reshape(-1, width)
        except ValueError:
            raise source.fault(f"{width} numbers are needed, found {line[:60]!r}.", at) from None
    if len(table) > count:
        raise source.fault(f"more than the {count} announced entries.", at)
    source.check_count(count, len(table), "entries")
    return table


_NOTE = "the folder holds `matrix.mtx(.gz)`, `features.tsv` or `genes.tsv`, `barcodes.tsv`; labels are feature ids and barcodes; those of `NAME.mtx` stand in `NAME.rows.tsv` and `NAME.columns.tsv`"
_BEGINNING = b"%%MatrixMarket"
_NAMED = ("10x", "10x folder, Matrix Market .mtx", (".mtx",), lambda source: source.head.startswith(_BEGINNING))
FORMAT = Format(*_NAMED, _read, _write, note=_NOTE, folder=lambda _: True, rank=8)
