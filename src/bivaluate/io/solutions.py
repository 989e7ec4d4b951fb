"""Read and write solutions of every tool; one record per format."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from bivaluate._check import check_choice
from bivaluate._document import Document
from bivaluate._errors import FormatError, ParameterError
from bivaluate.io import membership, own_json
from bivaluate.io.options import SolutionOptions
from bivaluate.io.resolve import document_of, settle, to_biclustering
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering


@dataclass(frozen=True)
class SolutionFormat:
    """A way a tool stores biclusters; numbers in it are counted from `index_base`."""

    key: str
    name: str
    extensions: tuple[str, ...]
    index_base: int
    detects: Callable[[Source], bool]
    read: Callable[[Source, SolutionOptions], Document]
    write: Callable[[Document, Path], None] | None

    @classmethod
    def of(cls, module: ModuleType) -> SolutionFormat:
        """Make the record of a format from its file."""
        return cls(
            module.KEY,
            module.NAME,
            module.EXTENSIONS,
            module.INDEX_BASE,
            module.detects,
            module.read,
            getattr(module, "write", None),
        )


# Modules of this package in the order their formats are asked about; they load when a file needs them.
_IN_ORDER_OF_DETECTION = (
    "score_tables",
    "r_rds",
    "jbiclustge",
    "biclustlib",
    "own_json",
    "qubic",
    "bicpams",
    "unpast",
    "bibit",
    "ebic",
    "coalesce",
    "membership",
    "bicat",
    "r_text",
)


@functools.cache
def solution_formats() -> dict[str, SolutionFormat]:
    """Return every solution format by its key, in the order of detection."""
    modules = (importlib.import_module(f"bivaluate.io.{name}") for name in _IN_ORDER_OF_DETECTION)
    return {record.key: record for record in map(SolutionFormat.of, modules)}


def read_solution(
    path: str | os.PathLike[str],
    X: Any = None,
    *,
    format: str | None = None,
    index_base: int | None = None,
    members: str | None = None,
    item: int | None = None,
) -> Biclustering:
    """Read the biclusters any of the known tools wrote.

    Parameters
    ----------
    path
        A file, or the folder of a tool that writes several. The format is recognised by content.
    X
        The matrix they belong to (Matrix, DataFrame or array). Needed where members are given by label; where
        given, it also supplies a shape the file does not state, and is checked against one it does.
    format
        Key of a format (see :func:`describe_formats`), where recognition is wrong.
    index_base
        0 or 1: how positions are counted, where the format's own custom does not hold.
    members
        "index" or "label": what numbers in a text format are, where they could be either.
    item
        Which solution of a file that holds several (biclustlib writes such), counted from 0.

    Returns
    -------
    Biclustering
        Indices are counted from 0 whatever the file did.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "found.csv"
    >>> _ = file.write_text("bicluster,rows,cols\\nB1,g1 g3,c2\\n")
    >>> X = Matrix(__import__("numpy").eye(3), ("g1", "g2", "g3"), ("c1", "c2", "c3"))
    >>> read_solution(file, X)[0].rows
    array([0, 2])
    """
    matrix = None if X is None else Matrix.of(X, missing="omit")
    document, _ = read_members(path, matrix, format=format, index_base=index_base, members=members, item=item)
    return to_biclustering(document, matrix, os.fspath(path))


def read_members(
    path: str | os.PathLike[str],
    X: Matrix | None = None,
    *,
    format: str | None = None,
    index_base: int | None = None,
    members: str | None = None,
    item: int | None = None,
) -> tuple[Document, SolutionFormat]:
    """Read biclusters as a document (by index from 0, or by label where no matrix is given) and say the format."""
    if index_base is not None and index_base not in (0, 1):
        raise ParameterError(f"index_base is {index_base!r}; indices are counted from 0 or from 1.")
    if members is not None:
        check_choice("members", members, ["index", "label"])
    source = Source(path)
    record = _find(source, format)
    if item and record.key != "biclustlib":
        raise ParameterError(f"item is {item}; {source.name} ({record.name}) holds one solution, item 0.")
    document = record.read(source, SolutionOptions(X, item))
    if X is not None and document.shape is not None and document.shape != X.shape:
        to_biclustering(replace(document, by="index", members=[]), X, source.name)
    return settle(document, X, source.name, index_base=index_base, members=members), record


def write_solution(
    solution: Biclustering, path: str | os.PathLike[str], *, X: Any = None, format: str | None = None
) -> None:
    """Write a solution; the extension chooses the format unless it is given.

    With a labelled matrix `X` the labels are written too, or instead where the format knows only labels.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "found.json"
    >>> write_solution(Biclustering([([0, 1], [2, 3])], shape=(5, 6)), file)
    >>> read_solution(file).shape
    (5, 6)
    """
    matrix = None if X is None else Matrix.of(X, missing="omit")
    write_members(document_of(solution, matrix), path, format=format)


def write_members(document: Document, path: str | os.PathLike[str], *, format: str | None = None) -> SolutionFormat:
    """Write a settled document and say in which format."""
    target = Source(path)
    writers = {f.key: f for f in solution_formats().values() if f.write is not None}
    if format is not None:
        record = writers[check_choice("format", format, writers)]
    else:
        found = [f for f in writers.values() if target.suffix in f.extensions]
        if not found:
            known = ", ".join(sorted({e for f in writers.values() for e in f.extensions}))
            raise ParameterError(
                f"cannot tell the format of {target.name} by its extension {target.suffix!r}; "
                f"use one of {known}, or name the format: {', '.join(writers)}."
            )
        record = found[0]
    assert record.write is not None
    record.write(document, target.path)
    return record


def is_solution(path: str | os.PathLike[str]) -> bool:
    """Whether the content of a file is a solution in a known format, and not rather a matrix."""
    source = Source(path)
    if source.is_folder:
        return any(p.stem.lower() in ("rows", "l") for p in source.path.iterdir())
    found = next((record for record in solution_formats().values() if record.detects(source)), None)
    if found is None or found.key not in ("bicat", "r-text"):
        return found is not None
    from bivaluate.io.triples import fits

    return fits(source.head_text)


def _find(source: Source, key: str | None) -> SolutionFormat:
    if key is not None:
        return solution_formats()[check_choice("format", key, solution_formats())]
    if not source.is_folder:
        for own in (own_json, membership):
            if own.is_certain(source):
                return SolutionFormat.of(own)
    for record in solution_formats().values():
        if record.detects(source):
            return record
    source.check_text()
    raise FormatError(
        f"{source.name} is in no format of biclusters bivaluate knows. Name it with format= (--solution-format): "
        f"{', '.join(solution_formats())}."
    )
