"""Solutions in and out of the files of many tools; one format is one file beside this one."""

import os
from dataclasses import replace
from typing import Any

from bivaluate._check import check_choice
from bivaluate._document import Document
from bivaluate._errors import ParameterError
from bivaluate._factors import check_rule
from bivaluate._files import FilePath
from bivaluate.io.formats import Format, Options, Source, reader, recognise, try_apart, writer
from bivaluate.io.members import document_of, settle, to_biclustering, with_whole_axis
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering


def read_solution(
    path: FilePath,
    X: Any = None,
    *,
    format: str | None = None,
    index_base: int | None = None,
    members: str | None = None,
    item: int | None = None,
    rule: str | None = None,
    untrusted: bool = False,
) -> Biclustering:
    """Read the biclusters any of the known tools wrote.

    Parameters
    ----------
    path : str or path-like
        A file, or the folder of a tool that writes several. The format is recognised by content.
    X : Matrix, DataFrame or array-like, optional
        The matrix they belong to; needed where members are given by label.
    format : str, optional
        Key of a format (see :func:`bivaluate.io.describe_formats`), where recognition is wrong.
    index_base : {0, 1}, optional
        How positions are counted, where the format's own custom does not hold.
    members : {"index", "label"}, optional
        What numbers in a text format are, where they could be either.
    item : int, optional
        Which of several solutions (biclustlib and cNMF write such), counted from 0.
    rule : str, optional
        Which members belong to a factor, where a tool wrote loadings, as in :meth:`Biclustering.from_factors`.
    untrusted : bool, default=False
        Read the file first in a process with limits of time and memory, as :func:`read_matrix` does.

    Returns
    -------
    Biclustering
        Indices are counted from 0 whatever the file did.

    See Also
    --------
    write_solution

    Examples
    --------
    >>> write_solution(S, "found.csv")
    >>> read_solution("found.csv", X)
    Biclustering(3 biclusters of a matrix of 5 x 6)
    """
    matrix = None if X is None else Matrix.of(X, missing="omit")
    said = {"format": format, "index_base": index_base, "members": members, "item": item, "rule": rule}
    document, _ = read_members(path, matrix, **said, untrusted=untrusted)
    return to_biclustering(document, matrix, os.fspath(path))


def read_solutions(
    path: FilePath, X: Any = None, *, format: str | None = None, item: int | None = None, **options: Any
) -> list[Biclustering]:
    """Read every solution of a file or folder that may hold several, such as cNMF's of every K.

    Parameters
    ----------
    path, X, format, item, **options : object
        As in :func:`read_solution`; with `item` only that one is read.

    Returns
    -------
    list of Biclustering
        In the order of the source; cNMF's by K.

    See Also
    --------
    read_solution

    Examples
    --------
    >>> solutions = read_solutions("cnmf_run", X)  # doctest: +SKIP
    """
    source = Source(path)
    record = reader("solution", source, format) if item is None else None
    wanted = range(len(record.items(source))) if record is not None and record.items is not None else [item]
    matrix = None if X is None else Matrix.of(X, missing="omit")
    return [read_solution(path, matrix, format=format, item=each, **options) for each in wanted]


def read_members(
    path: FilePath, X: Matrix | None = None, *, untrusted: bool = False, **said: Any
) -> tuple[Document, Format[Document]]:
    """Read as :func:`read_solution` does: members by index from 0, without a matrix by label; and the file's format."""
    asked = dict.fromkeys(("format", "index_base", "members", "item", "rule")) | said
    format, index_base, members, item, rule = asked.values()
    if index_base is not None and index_base not in (0, 1):
        raise ParameterError(f"index_base is {index_base!r}; indices are counted from 0 or from 1.")
    if members is not None:
        check_choice("members", members, ["index", "label"])
    source = Source(path)
    try_apart(untrusted, "solution", path, asked, X)
    record: Format[Document] = reader("solution", source, format)
    if item and "item" not in record.options:
        raise ParameterError(f"item is {item}; {source.name} ({record.name}) holds one solution, item 0.")
    if rule is not None:
        check_rule(rule)
        if "rule" not in record.options:
            raise ParameterError(f"rule is {rule!r}; {source.name} ({record.name}) holds members, not loadings.")
    document = record.load(source, Options(X=X, item=item, rule=rule))
    if X is not None and document.shape is not None and document.shape != X.shape:
        to_biclustering(replace(document, by="index", members=[], names=None), X, source.name)
    settled = settle(document, X, source.name, index_base=index_base, members=members)
    return with_whole_axis(settled, X, source.name), record


def write_solution(solution: Biclustering, path: FilePath, *, X: Any = None, format: str | None = None) -> None:
    """Write a solution for bivaluate, biclustlib, R, or a spreadsheet.

    Parameters
    ----------
    solution : Biclustering
    path : str or path-like
        The file to write; it appears whole or not at all.
    X : Matrix, DataFrame or array-like, optional
        The matrix they belong to. Its labels are written too, or instead where the format knows only labels.
    format : str, optional
        Key of a format (see :func:`bivaluate.io.describe_formats`); by default the extension chooses it.

    See Also
    --------
    read_solution

    Examples
    --------
    >>> write_solution(S, "found.json", X=X)
    """
    matrix = None if X is None else Matrix.of(X, missing="omit")
    write_members(document_of(solution, matrix), path, format=format)


def write_members(document: Document, path: FilePath, *, format: str | None = None) -> Format[Document]:
    """Write what :func:`read_members` returned; return the format it was written in."""
    target = Source(path)
    record: Format[Document] = writer("solution", target, format)
    record.save(document, target.path)
    return record


def is_solution(path: FilePath) -> bool:
    """Whether the content of a file is a solution in a known format, and not rather a matrix."""
    source = Source(path)
    found = recognise("solution", source)
    if source.is_folder:
        is_pair = any(p.stem.lower() in ("rows", "l") for p in source.path.iterdir())
        return is_pair or (found is not None and found.key != "score-tables")
    if found is None or found.key not in ("bicat", "r-text"):
        return found is not None
    from bivaluate.io.solutions.r_text import fits  # two numbers on a line may as well be a matrix

    return fits(source.head_text)
