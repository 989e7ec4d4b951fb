"""PCL and CDT of the Stanford tools (Cluster, TreeView): weights are skipped, empty cells are missing."""

from __future__ import annotations

import itertools

from bivaluate._errors import FormatError
from bivaluate.io import delimited
from bivaluate.io.dialect import Dialect
from bivaluate.io.options import MatrixOptions
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix

KEY = "pcl"
NAME = "PCL and CDT"
EXTENSIONS = (".pcl", ".cdt")
OPTIONS: frozenset[str] = frozenset()

_SKIPPED = frozenset(["EWEIGHT", "AID"])


def detects(source: Source) -> bool:
    """By GWEIGHT in the header, EWEIGHT below it, or the extension."""
    if source.is_folder:
        return False
    if source.suffix in EXTENSIONS:
        return True
    lines = source.head_text.split("\n", 3)
    return "GWEIGHT" in lines[0].split("\t") or any(line.split("\t")[0] in _SKIPPED for line in lines[1:3])


def read(source: Source, options: MatrixOptions) -> Matrix:
    """Read the values after the last feature column."""
    try:
        return _read(source)
    except UnicodeDecodeError:
        return _read(source.as_latin1())


def _read(source: Source) -> Matrix:
    lines = source.filled_lines()
    top = list(itertools.islice(lines, 4))
    if not top:
        raise FormatError(f"{source.name} holds no table: every line is blank.")
    number, first = top[0]
    header = tuple(cell.strip() for cell in first.split("\t"))
    weights = [line.split("\t") for _, line in top[1:3] if line.split("\t")[0].strip() in _SKIPPED]
    if "GWEIGHT" in header:
        index_cols = header.index("GWEIGHT") + 1
    else:
        eweight = next((cells for cells in weights if cells[0].strip() == "EWEIGHT"), [])
        blank = sum(1 for _ in itertools.takewhile(lambda cell: not cell.strip(), eweight[1:]))
        index_cols = 1 + blank if eweight else 2
    if len(header) <= index_cols:
        raise FormatError(
            f"{source.name}, line {number}: no data column after {header[min(index_cols, len(header)) - 1][:40]!r}."
        )
    label_col = 1 if header[0] == "GID" and "GWEIGHT" in header and index_cols > 2 else 0
    body = top[1 + len(weights) :]
    if not body:
        raise FormatError(f"{source.name} has a header but no data row.")
    dialect = Dialect("\t", ".", header, index_cols, len(header), body[0][0], label_col=label_col)
    return delimited.parse(source, dialect, itertools.chain(body, lines))
