"""A folder of two score tables: ISA (rows, columns) or FABIA (L, Z).

- ``rows.tsv`` (rows x biclusters) and ``columns.tsv`` (columns x biclusters): a score other than 0 is a member;
- ``L.tsv`` (rows x biclusters) and ``Z.tsv`` (biclusters x columns): FABIA's own thresholds are applied.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._types import Flags
from bivaluate.io.formats import Document, Format, Matrix, Options, Source, plural
from bivaluate.io.matrices import read_matrix
from bivaluate.io.members import labelled
from bivaluate.solution import members_of_masks

_PAIRS = ((("l",), ("z",)), (("rows", "row"), ("columns", "cols", "column", "col")))
_FABIA_THRESHOLD_Z = 0.5


def _read(source: Source, options: Options) -> Document:
    """Read both tables and apply the rule of the tool."""
    tables = _tables(source)
    rows, cols = (table.values for table in tables)
    for table in tables:
        if not np.isfinite(table.values).all():
            raise source.fault(f"table {table.name!r} has missing or infinite scores.")
    if rows.shape[1] != cols.shape[1]:
        left, right = (f"{plural(table.shape[1], 'bicluster')} in {table.name!r}" for table in tables)
        raise source.fault(f"the two tables disagree: {left} and {right}.")
    row_masks, col_masks = _fabia_members(rows, cols) if tables[0].name.lower() == "l" else (rows != 0, cols != 0)
    members, names = members_of_masks(row_masks.T, col_masks.T, tables[0].col_labels, f"{source.name}: ")
    row_names, col_names = tables[0].row_labels, tables[1].row_labels
    labels = None if row_names is None or col_names is None else labelled(members, row_names, col_names)
    return Document(members, "index", (rows.shape[0], cols.shape[0]), labels=labels, names=names)


def _fabia_members(L: NDArray[Any], Z: NDArray[Any]) -> tuple[Flags, Flags]:
    """Return the members by FABIA's rule, from L (n, p) and Z transposed (l, p).

    Columns beyond ±0.5 on the side with the larger absolute sum; rows beyond
    sqrt(mean over p of (sum L² · sum Z²) / (n · l)) / 0.5.
    """
    power = (L**2).sum(axis=0) * (Z**2).sum(axis=0)
    threshold = np.sqrt(power.mean() / (len(L) * len(Z))) / _FABIA_THRESHOLD_Z
    high, low = Z > _FABIA_THRESHOLD_Z, Z < -_FABIA_THRESHOLD_Z
    upper = np.where(high, Z, 0).sum(axis=0) >= -np.where(low, Z, 0).sum(axis=0)
    return np.abs(L) > threshold, np.where(upper, high, low)


def _tables(source: Source) -> tuple[Matrix, Matrix]:
    files = {Source(path).stem.lower(): path for path in source.listed()}
    for first, second in _PAIRS:
        left, right = (next((files[stem] for stem in stems if stem in files), None) for stems in (first, second))
        if left and right:
            return read_matrix(left, format="csv"), read_matrix(right, format="csv", transpose=first == ("l",))
    raise source.fault("a folder without a pair of tables 'rows' and 'columns' (ISA) or 'L' and 'Z' (FABIA).")


_NAME = "folder of ISA tables (rows, columns) or FABIA tables (L, Z)"
FORMAT = Format("score-tables", _NAME, (), None, _read, note="see below", folder=lambda _: True, rank=9)
