"""Real matrices with the classes of their rows or columns, read from the files of the packages they travel in."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._errors import import_optional
from bivaluate._types import Flags
from bivaluate.datasets.cache import cached_path
from bivaluate.datasets.catalogue import RealDataset
from bivaluate.io import read_matrix
from bivaluate.matrix import Matrix

Classes = Mapping[str, Flags]

_OPTIONS: dict[str, dict[str, Any]] = {
    "yeast": {"delimiter": "\t", "header": True, "index_cols": 2},
    "tavazoie": {"delimiter": " ", "header": False, "index_cols": 0},
    "prelic": {"delimiter": "\t", "header": True, "index_cols": 1},
    "cancer": {"delimiter": "\t", "header": True, "index_cols": 1},
}
_MISSING_IN_TAVAZOIE = -1.0
_MIN_LETTERS = 2  # of a word, in the matrices of text
_MIN_DOCUMENTS = 2  # that a word is found in
_AGES = ((0, 17), (18, 24), (25, 34), (35, 44), (45, 49), (50, 55), (56, 120))  # as MovieLens groups its users


@dataclass(frozen=True)
class Labelled:
    """A matrix with what is known about its rows and columns.

    Parameters
    ----------
    matrix : Matrix
        The data.
    row_classes, col_classes : mapping of str to ndarray of bool
        The rows, or columns, of each class; classes may overlap, and a row may be in none.

    See Also
    --------
    load_labelled

    Examples
    --------
    >>> X = Matrix([[1, 2], [3, 4], [5, 6]])
    >>> Labelled(X, {"even": np.array([True, False, True])}).row_classes["even"].sum()
    np.int64(2)
    """

    matrix: Matrix
    row_classes: Classes = field(default_factory=dict, repr=False)
    col_classes: Classes = field(default_factory=dict, repr=False)


def read_labelled(record: RealDataset) -> Labelled:
    """Read a data set that lies in the cache."""
    read, *nouns = _READERS[record.group]
    found = read(record)
    return replace(found, matrix=found.matrix.renamed(record.name).called(*nouns))


def _masks(classes: Sequence[Iterable[str]]) -> dict[str, Flags]:
    """Return the members of each class from the classes of each member."""
    of_each = [set(names) for names in classes]
    names = sorted(set().union(*of_each))
    return {name: np.array([name in mine for mine in of_each]) for name in names}


def _expression(record: RealDataset) -> Labelled:
    """Read a table of biclustlib; the columns of the cancer data bear the name of their class."""
    matrix = read_matrix(cached_path(record), format="csv", decimal=".", **_OPTIONS[record.group])
    if record.group == "tavazoie":
        values = np.where(matrix.values == _MISSING_IN_TAVAZOIE, np.nan, matrix.values)
        names = cached_path(record, list(record.files)[1]).read_text(encoding="ascii").split()
        return Labelled(Matrix(values, tuple(names)))
    return Labelled(matrix, {}, _masks([[c] for c in matrix.col_labels or ()]) if record.group == "cancer" else {})


def _single_cell(record: RealDataset) -> Labelled:
    """Read genes x cells: the scaled values, or the normalised ones before scaling; cells have a type."""
    h5py = import_optional("h5py", "reading .h5ad")
    path = cached_path(record)
    with h5py.File(path, "r") as file:
        names = [name.decode() for name in file["uns/bulk_labels_categories"][()]]
        types = [[names[code]] for code in file["obs"]["bulk_labels"]]
    layer = "raw" if record.name.endswith("_raw") else None
    return Labelled(read_matrix(path, format="h5ad", layer=layer), {}, _masks(types))


def _functions(record: RealDataset) -> Labelled:
    """Read Orange's table: three lines of header, then values, the class and the name of each gene."""
    names, _, _, *lines = _table(cached_path(record))
    values = [[float(cell) if cell not in ("", "?") else np.nan for cell in line[:-2]] for line in lines]
    matrix = Matrix(np.array(values), tuple(line[-1] for line in lines), tuple(names[:-2]))
    return Labelled(matrix, _masks([[line[-2]] for line in lines]))


def _multilabel(record: RealDataset) -> Labelled:
    """Read features and classes from one table."""
    table = read_matrix(cached_path(record), format="csv", delimiter=",", header=True, index_cols=0)
    names = table.col_labels or ()
    first = next(j for j, name in enumerate(names) if name.startswith("Class"))
    classes = {name: table.values[:, j] == 1 for j, name in enumerate(names) if j >= first}
    return Labelled(Matrix(np.ascontiguousarray(table.values[:, :first]), None, names[:first]), classes)


def _ratings(record: RealDataset) -> Labelled:
    """Read users x films; what was never rated is absent. Films have genres, users an age."""
    from scipy import sparse

    ratings, items, users = (_table(cached_path(record, member))[1:] for member in record.files)
    user_ids, item_ids = ([line[0] for line in table] for table in (users, items))
    row_of, col_of = ({label: i for i, label in enumerate(labels)} for labels in (user_ids, item_ids))
    rows, cols = [row_of[line[0]] for line in ratings], [col_of[line[1]] for line in ratings]
    values = sparse.coo_array(([float(line[2]) for line in ratings], (rows, cols)), shape=record.shape)
    ages = [[f"{low}-{high}" for low, high in _AGES if low <= int(line[1]) <= high] for line in users]
    films = tuple(f"{line[1]} ({line[2]})" for line in items)
    matrix = Matrix(values.tocsr(), tuple(user_ids), films, absent="missing")
    return Labelled(matrix, _masks(ages), _masks([line[3].split() for line in items]))


def _text(record: RealDataset) -> Labelled:
    """Count the words of documents, one document a line behind its class."""
    from sklearn.feature_extraction.text import CountVectorizer

    lines = _table(cached_path(record))[3:]
    counter = CountVectorizer(analyzer=_words, min_df=_MIN_DOCUMENTS, dtype=np.float64)
    counts = counter.fit_transform([line[1] for line in lines])
    words = tuple(counter.get_feature_names_out().tolist())
    return Labelled(Matrix(counts, None, words, absent="zero"), _masks([[line[0]] for line in lines]))


def _words(text: str) -> list[str]:
    return [word for word in text.split() if len(word) >= _MIN_LETTERS]


def _table(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return [line for line in csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE) if line]


# The reader of every group, and what its rows and columns are.
_READERS: dict[str, tuple[Callable[[RealDataset], Labelled], str, str]] = {
    **dict.fromkeys(("yeast", "tavazoie"), (_expression, "genes", "time points")),
    **dict.fromkeys(("prelic", "cancer"), (_expression, "genes", "samples")),
    "functions": (_functions, "genes", "samples"),
    "single-cell": (_single_cell, "genes", "cells"),
    "multilabel": (_multilabel, "rows", "columns"),
    "ratings": (_ratings, "users", "films"),
    "text": (_text, "documents", "words"),
}
