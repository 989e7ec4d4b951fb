"""GCT 1.2 and 1.3 of the Broad Institute: sizes on line 2, labels in the first column."""

from __future__ import annotations

import itertools
import re

from bivaluate._errors import FormatError
from bivaluate.io import delimited
from bivaluate.io.dialect import Dialect
from bivaluate.io.options import MatrixOptions
from bivaluate.io.source import MAX_CELLS, Source
from bivaluate.matrix import Matrix

KEY = "gct"
NAME = "GCT 1.2 and 1.3"
EXTENSIONS = (".gct",)
OPTIONS: frozenset[str] = frozenset()

_VERSION = re.compile(r"#1\.([23])\s*")
_SIZE = re.compile(r"\d{1,9}")


def detects(source: Source) -> bool:
    """By the version on line 1."""
    return not source.is_folder and bool(_VERSION.match(source.head_text))


def read(source: Source, options: MatrixOptions) -> Matrix:
    """Read the values; metadata rows and columns are skipped."""
    try:
        return _read(source)
    except UnicodeDecodeError:
        return _read(source.as_latin1())


def _read(source: Source) -> Matrix:
    lines = source.filled_lines()
    top = list(itertools.islice(lines, 3))
    version = _VERSION.fullmatch(top[0][1]) if top else None
    if version is None:
        raise FormatError(f"{source.name}, line 1: '#1.2' or '#1.3' is needed.")
    if len(top) < 3:
        raise FormatError(f"{source.name}, line {top[-1][0]}: the file ends before its header.")
    sizes = top[1][1].split()
    needed = 2 if version[1] == "2" else 4
    if len(sizes) < needed or not all(_SIZE.fullmatch(word) for word in sizes[:needed]):
        raise FormatError(f"{source.name}, line {top[1][0]}: {needed} sizes are needed, found {top[1][1][:60]!r}.")
    n_rows, n_cols = int(sizes[0]), int(sizes[1])
    row_meta, col_meta = (1, 0) if version[1] == "2" else (int(sizes[2]), int(sizes[3]))
    if n_rows * n_cols > MAX_CELLS or not n_rows * n_cols:
        raise FormatError(f"{source.name}, line {top[1][0]}: {n_rows} x {n_cols} cells cannot be read.")
    header = [cell.strip() for cell in top[2][1].split("\t")]
    width = 1 + row_meta + n_cols
    if len(header) != width:
        raise FormatError(
            f"{source.name}, line {top[2][0]}: the header has {len(header)} fields; {width} follow from the sizes "
            f"({n_cols} columns, {1 + row_meta} before them)."
        )
    skipped = list(itertools.islice(lines, col_meta))
    first = (skipped or top)[-1][0] + 1
    dialect = Dialect("\t", ".", tuple(header), 1 + row_meta, width, first, label_col=0)
    matrix = delimited.parse(source, dialect, lines)
    if matrix.shape[0] != n_rows:
        raise FormatError(
            f"{source.name}, line {top[1][0]}: {n_rows} rows announced, {matrix.shape[0]} found. Is the file truncated?"
        )
    return matrix
