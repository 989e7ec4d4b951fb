"""What ``np.savez`` keeps of a fitted scikit-learn model: masks (rows, columns), or a label per row and column."""

from typing import Any

import numpy as np

from bivaluate._document import Document, document_of_labels
from bivaluate.io.formats import Format, Options, Source, first_few
from bivaluate.io.matrices.numpy_files import read_arrays
from bivaluate.solution import Biclustering, as_document

_ROWS, _COLS = ("rows", "rows_"), ("columns", "cols", "columns_")
_ROW_LABELS, _COL_LABELS = ("row_labels", "row_labels_"), ("column_labels", "col_labels", "column_labels_")
_KNOWN = {*_ROWS, *_COLS, *_ROW_LABELS, *_COL_LABELS}


def _detects(source: Source) -> bool:
    """By the names of the arrays in the archive: one for rows and one for columns, and no others."""
    names = source.array_names()
    return names <= _KNOWN and _pair_of(names) is not None


def _pair_of(names: Any) -> tuple[str, str] | None:
    """Return the names of the two arrays to read, masks before labels."""
    for row_words, col_words in ((_ROWS, _COLS), (_ROW_LABELS, _COL_LABELS)):
        rows, cols = ([word for word in words if word in names] for words in (row_words, col_words))
        if rows and cols:
            return rows[0], cols[0]
    return None


def _read(source: Source, options: Options) -> Document:
    """Read masks (K x rows, K x columns), or the cluster of each row and column."""
    arrays = read_arrays(source, sorted(_KNOWN))
    pair = _pair_of(arrays)
    if pair is None:
        raise source.fault("the arrays 'rows' and 'columns' are needed: np.savez(path, rows=rows_, columns=columns_).")
    rows, cols = (np.asarray(arrays[name]) for name in pair)
    if pair[0] in _ROW_LABELS:
        return document_of_labels(rows.tolist(), cols.tolist(), source.name)
    return as_document(Biclustering.from_masks(rows, cols))


def _nearly(source: Source) -> str:
    names = source.array_names()
    if not names:
        return ""
    needed = "masks 'rows' and 'columns', labels 'row_labels' and 'column_labels', or factors 'W' and 'H'"
    return f"An .npz holds {needed}, and nothing else; arrays found: {first_few(sorted(names))}."


_NAME = "NumPy .npz with masks or labels"
_NOTE = "`np.savez(path, rows=model.rows_, columns=model.columns_)`, or `row_labels=` and `column_labels=`"
FORMAT = Format("masks", _NAME, (".npz",), _detects, _read, note=_NOTE, nearly=_nearly)
