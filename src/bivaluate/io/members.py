"""From members as a file states them to positions in a matrix, and back."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from bivaluate._document import Document, Members
from bivaluate._errors import EmptyBiclusterWarning, LabelWarning, SolutionError, outside
from bivaluate._text import Advice, Option, first_few, plural
from bivaluate.io.source import Source, indices
from bivaluate.matrix import Matrix
from bivaluate.solution import SIDES, Biclustering, as_document, label_table, positions_of_labels, with_known


def labelled(members: Iterable[Members], rows: Sequence[str], cols: Sequence[str]) -> list[Members]:
    """Return the labels of members given by position."""
    return [([rows[i] for i in r], [cols[j] for j in c]) for r, c in members]


def document_of_blocks(
    blocks: Sequence[tuple[int, dict[str, list[str]]]], keys: tuple[str, str], lacking: str, source: Source
) -> Document:
    """Return biclusters of which a file lists each side under a key, with the lines they begin at.

    Empty ones are dropped with one warning.
    """
    for n, block in blocks:
        for key in keys:
            if key not in block:
                raise source.fault(lacking.format(key), n)
    held = [(n, block) for n, block in blocks if all(block.values())]
    if len(held) < len(blocks):
        empty = first_few([f"B{k}" for k, (_, block) in enumerate(blocks, 1) if not all(block.values())])
        said = f"{source.name}: {plural(len(blocks) - len(held), 'empty bicluster')} dropped: {empty}."
        warnings.warn(said, EmptyBiclusterWarning, stacklevel=outside())
    return Document([(b[keys[0]], b[keys[1]]) for _, b in held], "token", lines=[n for n, _ in held])


def to_biclustering(document: Document, X: Matrix | None, name: str) -> Biclustering:
    """Turn a settled document into a solution; labels need the matrix they belong to."""
    if document.by == "label":
        raise SolutionError(f"{name} names its members by label; give the matrix they belong to, with its labels.")
    try:
        solution = Biclustering(document.members, document.shape, names=document.names, info=document.info)
        return solution if X is None else solution.with_shape(X.shape)
    except SolutionError as error:
        raise SolutionError(Advice(f"{name}: {error}", *_advice(document, X))) from None


def _advice(document: Document, X: Matrix | None) -> list[Advice]:
    """Return what to say about how a file is read, where its members do not fit."""
    shape = document.shape if X is None else X.shape
    if document.shape is not None and X is not None and document.shape == X.shape[::-1] != X.shape:
        return [Advice(" Read the matrix with ", Option("transpose", True), " or, if it was, without.")]
    if shape is None or not document.members:
        return []
    spans = [[edge(pair[axis], default=0) for edge in (min, max) for pair in document.members] for axis in (0, 1)]
    ends = [(min(span), max(span), n) for span, n in zip(spans, shape, strict=True)]
    fits_from_1 = all(low >= 1 and high <= n for low, high, n in ends) and any(high == n for _, high, n in ends)
    return [Advice(" Read the solution with ", Option("index_base", 1), ".")] if fits_from_1 else []


def with_whole_axis(document: Document, X: Matrix | None, name: str) -> Document:
    """Give every bicluster the whole of the axis for which a file names no members."""
    if document.whole is None:
        return document
    if X is None:
        named, other = SIDES[1 - document.whole], SIDES[document.whole]
        found = f"{name} names the {named}s of each cluster, so that each has every {other} of the matrix"
        raise SolutionError(f"{found}: give the matrix they belong to.")
    every = list(range(X.shape[document.whole]))
    pairs = [(every, c) if document.whole == 0 else (r, every) for r, c in document.members]
    return replace(document, members=pairs, whole=None)


def document_of(solution: Biclustering, X: Matrix | None) -> Document:
    """Return a solution as a document, with the labels of `X` where it has them."""
    document = as_document(solution if X is None else solution.with_shape(X.shape))
    if X is None or X.row_labels is None or X.col_labels is None:
        return document
    return replace(document, labels=labelled(document.members, X.row_labels, X.col_labels))


def _agree(document: Document, X: Matrix) -> bool:
    """Whether the positions in a file have the labels beside them in a matrix."""
    n, m = X.shape
    inside = all(max(rows, default=0) < n and max(cols, default=0) < m for rows, cols in document.members)
    if document.by != "index" or document.base or not inside or document.labels is None:
        return False
    beside = labelled(document.members, X.row_labels or (), X.col_labels or ())
    return beside == [(list(rows), list(cols)) for rows, cols in document.labels]


def settle(
    document: Document, X: Matrix | None, name: str, *, index_base: int | None = None, members: str | None = None
) -> Document:
    """Return the document with members by position from 0, or by label where no matrix can place them."""
    if members is None and index_base is not None:
        members = "index"
    base = document.base if index_base is None else index_base
    if document.labels is not None:
        if members != "index" and X is not None and X.row_labels and X.col_labels:
            if _agree(document, X):  # also where a label occurs twice
                return replace(document, labels=None)
            return _settle_tokens(replace(document, members=document.labels, labels=None), X, name, 0, "label")
        if members == "label":
            return replace(document, members=document.labels, by="label", labels=None, base=0)
        if members is None and X is not None:
            how = "members are taken by position, counted from 0. Say "
            said = f"{name} names its rows and columns, but the matrix has no labels: {how}"
            warnings.warn(LabelWarning(Advice(said, Option("members", "index"), " if that is meant.")), stacklevel=3)
    if document.by == "token" or (members is not None and members != document.by):
        return _settle_tokens(document, X, name, base, members)
    if document.by == "label":
        return document if X is None else _settle_tokens(document, X, name, 0, "label")
    sides = [[[i - base for i in pair[axis]] for pair in document.members] for axis in (0, 1)]
    return _by_position(document, sides, base, name)


def _settle_tokens(document: Document, X: Matrix | None, name: str, base: int, members: str | None) -> Document:
    sides = _sides(document)
    numbers = [None if members == "label" else _numbers(side, base) for side in sides]
    if members == "index" and None in numbers:
        raise SolutionError(f"{name}: members are names, not indices; give a matrix with labels.")
    if X is None:
        if None in numbers:
            return replace(document, members=list(zip(*sides, strict=True)), by="label", base=0)
        return _by_position(document, numbers, base, name)
    placed, notes = [], []
    for axis in (0, 1):
        known, numbered = (X.row_labels, X.col_labels)[axis], numbers[axis]
        share = 0.0 if known is None or members == "index" else _share_known(sides[axis], known)
        inside = numbered is not None and all(0 <= i < X.shape[axis] for side in numbered for i in side)
        by_label = numbered is None or share == 1 or (share >= 0.5 and not inside)
        found, note = _positions(sides[axis], X, axis, document, name) if by_label else (numbered, "")
        if by_label and inside and found != numbered:
            said = f"the {SIDES[axis]} members are numbers, both labels and positions of X, and the two disagree"
            label, index = Option("members", "label"), Option("members", "index")
            raise SolutionError(Advice(f"{name}: {said}. Say which: ", label, " or ", index, "."))
        placed.append(found)
        notes.append(note)
    return _by_position(document, placed, base, name, notes)


def _numbers(sides: Sequence[Sequence[str]], base: int) -> list[list[int]] | None:
    found = [indices(side) for side in sides]
    return None if None in found else [[i - base for i in side or ()] for side in found]


def _by_position(document: Document, sides: Sequence[Any], base: int, name: str, notes: Sequence[str] = ()) -> Document:
    for axis in (0, 1):
        for k, members in enumerate(sides[axis] if base else ()):
            if min(members, default=0) < 0:
                used = f"{name}{document.where(k)}: {document.called(k)} uses {SIDES[axis]} {min(members) + base}"
                hint = f"but indices are counted from {base} here. Are they counted from 0? Say "
                raise SolutionError(Advice(f"{used}, {hint}", Option("index_base", 0), "."))
    return with_known(document, sides, notes)


def _sides(document: Document) -> list[list[list[str]]]:
    """Return the row members and the column members of all biclusters, as text."""
    return [[[str(member) for member in pair[axis]] for pair in document.members] for axis in (0, 1)]


def _positions(
    sides: Sequence[Sequence[str]], X: Matrix, axis: int, document: Document, name: str
) -> tuple[list[list[int]], str]:
    what, known = SIDES[axis], (X.row_labels, X.col_labels)[axis]
    if known is None:
        found = f"{name} names its {what}s by label, but {X.name} has no {what} labels"
        raise SolutionError(f"{found}. Give a matrix with labels, or a solution with indices.")
    placed, note = positions_of_labels(dict(enumerate(sides)), axis, X, document, name)
    return list(placed.values()), note


def _share_known(sides: Sequence[Sequence[str]], known: Sequence[str]) -> float:
    table, every = label_table(known), {label for side in sides for label in side}
    return sum(table.get(label, -1) >= 0 for label in every) / max(len(every), 1)
