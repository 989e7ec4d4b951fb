"""A folder of two score tables: ISA (rows, columns) or FABIA (L, Z).

- ``rows.tsv`` (rows x biclusters) and ``columns.tsv`` (columns x biclusters): a score other than 0 is a member;
- ``L.tsv`` (rows x biclusters) and ``Z.tsv`` (biclusters x columns): FABIA's own thresholds are applied.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._document import Document
from bivaluate._errors import EmptyBiclusterWarning, FormatError
from bivaluate.io import delimited
from bivaluate.io.options import MatrixOptions, SolutionOptions
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix

KEY = "score-tables"
NAME = "folder of ISA tables (rows, columns) or FABIA tables (L, Z)"
EXTENSIONS: tuple[str, ...] = ()
INDEX_BASE = 0

Mask = np.ndarray[Any, np.dtype[np.bool_]]

_ROW_STEMS, _COL_STEMS = ("rows", "row"), ("columns", "cols", "column", "col")
_FABIA_THRESHOLD_Z = 0.5


def detects(source: Source) -> bool:
    """A folder is this format or none."""
    return source.is_folder


def read(source: Source, options: SolutionOptions) -> Document:
    """Read both tables and apply the rule of the tool."""
    tables = _tables(source)
    rows, cols = (table.values for table in tables)
    for table in tables:
        if not np.isfinite(table.values).all():
            raise FormatError(f"{source.name}: table {table.name!r} has missing or infinite scores.")
    if rows.shape[1] != cols.shape[1]:
        raise FormatError(
            f"{source.name}: {tables[0].name!r} has {rows.shape[1]} biclusters and {tables[1].name!r} has {cols.shape[1]}."
        )
    masks = fabia_members(rows, cols) if tables[0].name.lower() == "l" else (rows != 0, cols != 0)
    pairs = [
        (np.flatnonzero(r).tolist(), np.flatnonzero(c).tolist()) for r, c in zip(masks[0].T, masks[1].T, strict=True)
    ]
    kept = [pair for pair in pairs if all(pair)]
    if len(kept) < len(pairs):
        empty = ", ".join(f"B{k + 1}" for k, pair in enumerate(pairs) if not all(pair))
        warnings.warn(
            f"{source.name}: {len(pairs) - len(kept)} empty bicluster(s) dropped: {empty}.",
            EmptyBiclusterWarning,
            stacklevel=2,
        )
    labels = None
    row_names, col_names = tables[0].row_labels, tables[1].row_labels
    if row_names is not None and col_names is not None:
        labels = [([row_names[i] for i in r], [col_names[j] for j in c]) for r, c in kept]
    return Document(kept, "index", (rows.shape[0], cols.shape[0]), labels=labels)


def fabia_members(L: np.ndarray[Any, Any], Z: np.ndarray[Any, Any]) -> tuple[Mask, Mask]:
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
    files = {Source(p).stem.lower(): p for p in sorted(_listed(source)) if p.is_file()}
    for first, second in ((("l",), ("z",)), (_ROW_STEMS, _COL_STEMS)):
        a = next((files[stem] for stem in first if stem in files), None)
        b = next((files[stem] for stem in second if stem in files), None)
        if a and b:
            left, right = (delimited.read(Source(path), MatrixOptions()) for path in (a, b))
            return left, (right.T if first == ("l",) else right)
    raise FormatError(
        f"{source.name} is a folder without a pair of tables 'rows' and 'columns' (ISA) or 'L' and 'Z' (FABIA)."
    )


def _listed(source: Source) -> list[Path]:
    try:
        return list(source.path.iterdir())
    except OSError as error:
        raise source.unreadable(error) from error
