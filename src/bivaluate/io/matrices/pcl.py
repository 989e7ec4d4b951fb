"""PCL and CDT of the Stanford tools (Cluster, TreeView): weights are skipped, empty cells are missing."""

import itertools

from bivaluate.io.formats import Format, FormatError, Matrix, Options, Source
from bivaluate.io.matrices._dialect import Dialect
from bivaluate.io.matrices.delimited import parse_table

_EXTENSIONS = (".pcl", ".cdt")
_SKIPPED = frozenset(["EWEIGHT", "AID"])


def _detects(source: Source) -> bool:
    """By GWEIGHT in the header, EWEIGHT below it, or the extension."""
    lines = [line.split("\t") for line in source.head_text.split("\n", 3)[:3]]
    return source.suffix in _EXTENSIONS or "GWEIGHT" in lines[0] or any(cells[0] in _SKIPPED for cells in lines[1:])


def _read(source: Source, options: Options) -> Matrix:
    """Read the values after the last feature column."""
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
        raise source.fault(f"no data column after {header[min(index_cols, len(header)) - 1][:40]!r}.", number)
    label_col = 1 if header[0] == "GID" and "GWEIGHT" in header and index_cols > 2 else 0
    body = top[1 + len(weights) :]
    if not body:
        raise FormatError(f"{source.name} has a header but no data row.")
    dialect = Dialect("\t", ".", header, index_cols, len(header), body[0][0], label_col=label_col)
    return parse_table(source, dialect, itertools.chain(body, lines))


_NOTE = "weights are skipped; empty cells are missing"
FORMAT = Format("pcl", "PCL and CDT", _EXTENSIONS, _detects, _read, note=_NOTE, rank=1)
