"""GCT 1.2 and 1.3 of the Broad Institute: sizes on line 2, labels in the first column."""

import itertools
import re

from bivaluate.io.formats import MAX_CELLS, Format, Matrix, Options, Source, indices
from bivaluate.io.matrices._dialect import Dialect
from bivaluate.io.matrices.delimited import parse_table

_VERSION = re.compile(r"#1\.([23])\s*")


def _read(source: Source, options: Options) -> Matrix:
    """Read the values; metadata rows and columns are skipped."""
    lines = source.filled_lines()
    top = list(itertools.islice(lines, 3))
    version = _VERSION.fullmatch(top[0][1]) if top else None
    if version is None:
        raise source.fault("'#1.2' or '#1.3' is needed.", 1)
    if len(top) < 3:
        raise source.fault("the file ends before its header.", top[-1][0])
    sizes = top[1][1].split()
    needed = 2 if version[1] == "2" else 4
    if len(sizes) < needed or indices(sizes[:needed]) is None:
        raise source.fault(f"{needed} sizes are needed, found {top[1][1][:60]!r}.", top[1][0])
    n_rows, n_cols = int(sizes[0]), int(sizes[1])
    row_meta, col_meta = (1, 0) if version[1] == "2" else (int(sizes[2]), int(sizes[3]))
    if n_rows * n_cols > MAX_CELLS or not n_rows * n_cols:
        raise source.fault(f"{n_rows} x {n_cols} cells cannot be read.", top[1][0])
    header = [cell.strip() for cell in top[2][1].split("\t")]
    width = 1 + row_meta + n_cols
    if len(header) != width:
        raise source.fault(f"the header has {len(header)} fields; the sizes require {width}.", top[2][0])
    skipped = list(itertools.islice(lines, col_meta))
    first = (skipped or top)[-1][0] + 1
    matrix = parse_table(source, Dialect("\t", ".", tuple(header), 1 + row_meta, width, first, label_col=0), lines)
    source.check_count(n_rows, matrix.shape[0], "rows", top[1][0])
    return matrix


_NOTE = "labels from the first column; metadata is skipped"
_NAMED = ("gct", "GCT 1.2 and 1.3", (".gct",), lambda source: bool(_VERSION.match(source.head_text)))
FORMAT = Format(*_NAMED, _read, note=_NOTE)
