"""Rows of several matrices matched by their labels; what a match leaves out is said."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import ParameterError
from bivaluate._text import Advice, Option, first_few, plural
from bivaluate.matrix import Matrix

Indices = NDArray[np.int64]


def folded(label: str) -> str:
    """Return a label without its case and its version suffix.

    >>> folded("ensg0001.12"), folded("CD19")
    ('ENSG0001', 'CD19')
    """
    return re.sub(r"\.\d+$", "", label.strip()).upper()


def match_rows(A: Matrix, B: Matrix, loose: bool = False) -> tuple[Indices, Indices, list[str]]:
    """Return positions of the rows that two matrices share, in A and in B, and notes on what was not matched.

    Labels must be equal; with `loose`, up to case and version suffix. Of duplicates the first row is taken. Two
    matrices without labels and with as many rows are matched by position.
    """
    if A.row_labels is None and B.row_labels is None and A.shape[0] == B.shape[0]:
        every = np.arange(A.shape[0])
        return every, every, ["Neither matrix has row labels: rows are matched by position."]
    for matrix in (A, B):
        if matrix.row_labels is None:
            raise ParameterError(
                f"{matrix.name} has no row labels: rows can only be matched by label. Read it with them."
            )
    first, second = (list(matrix.row_labels or ()) for matrix in (A, B))
    exact = _positions(first, second)
    close = _positions([folded(label) for label in first], [folded(label) for label in second])
    chosen = close if loose else exact
    how = (" up to case and version suffix: to match them pass ", Option("loose", True), ".")
    if not len(chosen[0]):
        found = no_shared_labels([A.name, B.name], [first, second])
        hint = (f" {plural(len(close[0]), 'row')} would match", *how) if len(close[0]) else ()
        raise ParameterError(Advice(found, *hint))
    notes: list[str] = []
    if not loose and len(close[0]) > len(exact[0]):
        notes.append(Advice(f"{plural(len(close[0]) - len(exact[0]), 'more row')} would match", *how))
    for matrix, labels in ((A, first), (B, second)):
        doubled = len(labels) - len(set(labels))
        if doubled:
            notes.append(f"{matrix.name} has {plural(doubled, 'duplicate row label')}: the first row of each was used.")
    return *chosen, notes


def _positions(first: Sequence[str], second: Sequence[str]) -> tuple[Indices, Indices]:
    mine, theirs = ({label: i for i, label in reversed(list(enumerate(labels)))} for labels in (first, second))
    pairs = [(i, theirs[label]) for label, i in mine.items() if label in theirs]
    found = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def no_shared_labels(names: Sequence[str], labels: Sequence[Sequence[str]]) -> str:
    """Return what is said of things that share no label, with three labels of each."""
    shown = "; ".join(f"{name}: {first_few(list(own), 3)}" for name, own in zip(names, labels, strict=True))
    return f"no row label is shared ({shown}). Are these names of the same kind?"
