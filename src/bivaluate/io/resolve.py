"""From members as a file states them to positions in a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bivaluate._document import Document, Members
from bivaluate._errors import SolutionError, suggest
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering, plain_info

_AXES = ("row", "column")


def to_biclustering(document: Document, X: Matrix | None, name: str) -> Biclustering:
    """Turn a settled document into a solution; labels need the matrix they belong to."""
    if document.by == "label":
        raise SolutionError(
            f"{name} names its members by label; give the matrix they belong to (it has to carry labels)."
        )
    try:
        solution = Biclustering(document.members, document.shape, info=document.info)
        return solution if X is None else solution.with_shape(X.shape)
    except SolutionError as error:
        raise SolutionError(f"{name}: {error}") from None


def settle(
    document: Document, X: Matrix | None, name: str, *, index_base: int | None = None, members: str | None = None
) -> Document:
    """Return the document with members by position from 0, or by label where no matrix can place them.

    `members` ("index" or "label") and `index_base` decide where a file leaves it open.
    """
    if members is None and index_base is not None:
        members = "index"
    base = document.base if index_base is None else index_base
    if document.labels is not None:
        if members != "index" and X is not None and X.row_labels and X.col_labels:
            return _placed(replace(document, labels=None), document.labels, X, name)
        if members == "label":
            return replace(document, members=document.labels, by="label", labels=None, base=0)
    by = document.by
    if by == "token" or (members is not None and members != by):
        return _settle_tokens(document, X, name, base, members)
    if by == "label":
        return document if X is None else _placed(document, document.members, X, name)
    return _shifted(document, base, name)


def _settle_tokens(document: Document, X: Matrix | None, name: str, base: int, members: str | None) -> Document:
    sides = [[_strings(pair[axis]) for pair in document.members] for axis in (0, 1)]
    digits = [all(t.isascii() and t.isdigit() and len(t) < 13 for side in sides[axis] for t in side) for axis in (0, 1)]
    if members == "index" and not all(digits):
        raise SolutionError(f"{name}: members are names, not indices; give a matrix with labels.")
    if X is None:
        if members != "label" and all(digits):
            return _shifted(replace(document, members=_ints(sides), by="index"), base, name)
        return replace(document, members=_pairs(sides), by="label", base=0)
    placed = []
    for axis in (0, 1):
        known = (X.row_labels, X.col_labels)[axis]
        positions = None if known is None or members == "index" else _lookup(sides[axis], known)
        numbered = (
            [[int(t) - base for t in side] for side in sides[axis]] if digits[axis] and members != "label" else None
        )
        if positions is not None and numbered is not None and positions != numbered:
            if all(0 <= i < X.shape[axis] for side in numbered for i in side):
                what = _AXES[axis]
                raise SolutionError(
                    f"{name}: the {what} members are numbers that are both labels and positions of X, and the two "
                    "disagree. Say which: members='label' or members='index' (--members label, --index-base 0)."
                )
            numbered = None
        if positions is None and numbered is None:
            positions = _positions(sides[axis], X, axis, document, name)
        placed.append(positions if positions is not None else numbered)
    pairs = list(zip(placed[0] or [], placed[1] or [], strict=True))
    _check_not_negative(pairs, base, document, name)
    return replace(document, members=pairs, by="index", base=0, labels=None)


def _shifted(document: Document, base: int, name: str) -> Document:
    if not base:
        return replace(document, base=0)
    pairs = [([i - base for i in rows], [j - base for j in cols]) for rows, cols in document.members]
    _check_not_negative(pairs, base, document, name)
    return replace(document, members=pairs, base=0)


def _check_not_negative(pairs: Sequence[Members], base: int, document: Document, name: str) -> None:
    for k, pair in enumerate(pairs):
        for axis in (0, 1):
            if base and pair[axis] and min(pair[axis]) < 0:
                raise SolutionError(
                    f"{name}{document.where(k)}: bicluster B{k + 1} uses {_AXES[axis]} {min(pair[axis]) + base}, but indices "
                    f"are counted from {base} here. Are they counted from 0? Say index_base=0 (--index-base 0)."
                )


def _placed(document: Document, labels: Sequence[Members], X: Matrix, name: str) -> Document:
    sides = [[_strings(pair[axis]) for pair in labels] for axis in (0, 1)]
    placed = [_positions(sides[axis], X, axis, document, name) for axis in (0, 1)]
    return replace(document, members=list(zip(*placed, strict=True)), by="index", base=0)


def _positions(sides: Sequence[Sequence[str]], X: Matrix, axis: int, document: Document, name: str) -> list[list[int]]:
    what, known = _AXES[axis], (X.row_labels, X.col_labels)[axis]
    if known is None:
        raise SolutionError(
            f"{name} names its {what}s by label, but {X.name} has no {what} labels. "
            "Give a matrix with labels, or a solution with indices."
        )
    table = _table(known)
    placed = []
    for k, side in enumerate(sides):
        positions = []
        for label in side:
            found = table.get(label)
            if found is None or found < 0:
                raise SolutionError(f"{name}{document.where(k)}: " + _no_place(label, k, axis, X, found))
            positions.append(found)
        placed.append(positions)
    return placed


def _no_place(label: str, k: int, axis: int, X: Matrix, found: int | None) -> str:
    what, other = _AXES[axis], _AXES[1 - axis]
    known, others = (X.row_labels, X.col_labels) if axis == 0 else (X.col_labels, X.row_labels)
    if found is not None:
        times = sum(x == label for x in known or ())
        return f"bicluster B{k + 1} names {what} {label!r}, a label {X.name} has {times} times. Use indices, or make labels unique."
    if others is not None and label in others:
        return (
            f"bicluster B{k + 1} names {what} {label!r}, which is a {other} of {X.name}. "
            "Were rows and columns swapped? Transpose the matrix."
        )
    return f"bicluster B{k + 1} names {what} {label!r}, which {X.name} does not have.{suggest(label, known or ())}"


def _table(known: Sequence[str]) -> dict[str, int]:
    """Positions by label; -1 for a label that occurs more than once."""
    table: dict[str, int] = {}
    for i, label in enumerate(known):
        table[label] = -1 if label in table else i
    return table


def _lookup(sides: Sequence[Sequence[str]], known: Sequence[str]) -> list[list[int]] | None:
    table = _table(known)
    placed = [[table.get(label, -1) for label in side] for side in sides]
    return None if any(i < 0 for side in placed for i in side) else placed


def _strings(side: Sequence[Any]) -> list[str]:
    return [str(member) for member in side]


def _ints(sides: list[list[list[str]]]) -> list[Members]:
    return [([int(t) for t in r], [int(t) for t in c]) for r, c in zip(*sides, strict=True)]


def _pairs(sides: list[list[list[str]]]) -> list[Members]:
    return list(zip(*sides, strict=True))


def document_of(solution: Biclustering, X: Matrix | None) -> Document:
    """Return a solution as a document, with the labels of `X` where it has them."""
    members = [(b.rows.tolist(), b.cols.tolist()) for b in solution]
    labels = None
    if X is not None:
        solution = solution.with_shape(X.shape)
        if X.row_labels is not None and X.col_labels is not None:
            rows, cols = X.row_labels, X.col_labels
            labels = [([rows[i] for i in r], [cols[j] for j in c]) for r, c in members]
    shape = solution.shape if solution.has_shape else None
    return Document(members, "index", shape, plain_info(solution.info), labels=labels)
