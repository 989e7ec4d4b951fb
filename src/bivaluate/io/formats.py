"""One record per file format, declared in the format's own file and gathered here.

A new format is one new file in ``matrices/`` or ``solutions/`` that ends with ``FORMAT = Format(...)``;
recognition, ``describe_formats`` and the command line find it there, and ``docs/formats.md`` is made from it.
"""

import functools
import importlib
import os
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from bivaluate._check import check_choice, check_held
from bivaluate._document import EXAMPLE_TABLE, Document, Members
from bivaluate._errors import FormatError, ParameterError, SolutionError, import_optional
from bivaluate._text import Advice, Option, first_few, first_line, plural
from bivaluate.io.source import MAX_CELLS, Source, indices, numbered
from bivaluate.matrix import Matrix

# What the files of formats need, from one place.
__all__ = ["LAYER", "MAX_CELLS", "Advice", "Document", "Format", "FormatError", "Matrix", "Members", "Option"]
__all__ += ["Options", "ParameterError", "Source", "check_held", "first_few", "first_line", "indices", "numbered"]
__all__ += ["plural"]

LAYER = Option(python="layer=", command="--layer")
UNTRUSTED = "BIVALUATE_UNTRUSTED"  # 1 in the environment: strangers wrote the files
Content = TypeVar("Content", Matrix, Document)

_ROOMS = {"matrix": "bivaluate.io.matrices", "solution": "bivaluate.io.solutions"}
# What most files are; asked first, so that no other format has to load.
_COMMON = {"matrix": ("delimited",), "solution": ("own_json", "membership")}


@dataclass(frozen=True)
class Options:
    """What a caller may say about a file; None means that it is found out."""

    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None
    index_cols: int | None = None
    layer: str | None = None
    modality: str | None = None
    sheet: str | int | None = None
    X: Matrix | None = None
    item: int | None = None
    rule: str | None = None
    format_is_stated: bool = False


@dataclass(frozen=True)
class Format(Generic[Content]):
    """A way to store a matrix, or a way a tool stores biclusters."""

    key: str
    name: str
    extensions: tuple[str, ...]
    detects: Callable[[Source], bool] | None
    read: Callable[[Source, Options], Content]
    write: Callable[[Content, Path], None] | None = None
    index_base: int = 0
    options: tuple[str, ...] = ()
    needs: str | None = None
    note: str = ""
    rank: int = 0
    folder: Callable[[Source], bool] | None = None
    is_certain: Callable[[Source], bool] | None = None
    nearly: Callable[[Source], str] | None = None
    items: Callable[[Source], list[str]] | None = None
    members: str = "both"

    def load(self, source: Source, options: Options) -> Content:
        """Read a file; one whose first bytes were UTF-8 and whose later bytes are not is read as Latin-1."""
        self._check_needs("reading")
        with source.parsing():
            try:
                return self.read(source, options)
            except UnicodeDecodeError:
                return self.read(source.as_latin1(), options)
            except SolutionError as error:
                raise source.fault(str(error)) from None

    def save(self, content: Content, path: Path) -> None:
        """Write a file."""
        assert self.write is not None
        self._check_needs("writing")
        self.write(content, path)

    def _check_needs(self, verb: str) -> None:
        if self.needs is not None:
            import_optional(self.needs, f"{verb} {self.extensions[0]}")


def _record(kind: str, module: str) -> Format[Any]:
    record: Format[Any] = importlib.import_module(f"{_ROOMS[kind]}.{module}").FORMAT
    return record


@functools.cache
def formats_of(kind: str) -> dict[str, Format[Any]]:
    """Return the formats of a kind by key, in the order in which they are tried on a file."""
    room = importlib.import_module(_ROOMS[kind])
    modules = [module.name for module in pkgutil.iter_modules(room.__path__) if not module.name.startswith("_")]
    records = [_record(kind, module) for module in modules]
    return {record.key: record for record in sorted(records, key=lambda record: (record.rank, record.key))}


def describe_formats() -> list[dict[str, Any]]:
    """Return every format in words, for help texts and documentation.

    Returns
    -------
    list of dict
        Kind, key, name, extensions, whether it is written, what positions are counted from, the package it needs, and
        a note.

    See Also
    --------
    bivaluate.read_matrix, bivaluate.read_solution

    Examples
    --------
    >>> [f["key"] for f in describe_formats() if f["kind"] == "solution" and f["written"]]
    ['biclustlib', 'bivaluate', 'csv', 'gene-lists', 'r-text']
    """
    records = []
    for kind in _ROOMS:
        for key, record in sorted(formats_of(kind).items()):
            shown = {name: getattr(record, name) for name in ("name", "extensions", "needs", "note")}
            base = record.index_base if kind == "solution" else None
            records.append({"kind": kind, "key": key, "written": record.write is not None, "index_base": base, **shown})
    return records


def recognise(kind: str, source: Source) -> Format[Any] | None:
    """Return the format of a file or folder, by its content; None if it is in none of them."""
    with source.parsing():
        if not source.is_folder:
            for record in (_record(kind, module) for module in _COMMON[kind]):
                if record.is_certain is not None and record.is_certain(source):
                    return record
        for record in formats_of(kind).values():
            detects = record.folder if source.is_folder else record.detects
            if detects is not None and detects(source):
                return record
    return None


def try_apart(untrusted: bool, kind: str, path: Any, options: dict[str, Any], X: Matrix | None = None) -> None:
    """Where the caller or the environment says so, read a file first in a process with limits; raise what it raised."""
    if untrusted or os.environ.get(UNTRUSTED, "0") not in ("", "0"):
        from bivaluate.io import trial

        trial.check(kind, path, options, X)


def reader(kind: str, source: Source, key: str | None) -> Format[Any]:
    """Return the format to read a file with: the one named, or the one recognised."""
    if key is not None:
        return formats_of(kind)[check_choice("format", key, formats_of(kind))]
    record = recognise(kind, source)
    if record is None:
        known = formats_of(kind)
        if not source.array_names():
            source.check_text()
        hints = [f" {said}" for record in known.values() if record.nearly and (said := record.nearly(source))]
        said = f"{source.name} is not in any format of biclusters that bivaluate knows. Name its format with "
        listed = f": {', '.join(known)}.{''.join(hints)} Or call the columns gene,module. {EXAMPLE_TABLE}"
        raise FormatError(Advice(said, Option(python="format=", command="--solution-format"), listed))
    return record


def writer(kind: str, target: Source, key: str | None) -> Format[Any]:
    """Return the format to write a file in: the one named, or the one its extension stands for."""
    writers = {record.key: record for record in formats_of(kind).values() if record.write is not None}
    if key is not None:
        return writers[check_choice("format", key, writers)]
    found = [record for record in writers.values() if target.suffix in record.extensions]
    if not found:
        known = ", ".join(sorted({extension for record in writers.values() for extension in record.extensions}))
        said = f"cannot tell the format of {target.name} by its extension {target.suffix!r}; use one of {known},"
        raise ParameterError(f"{said} or name the format: {', '.join(writers)}.")
    return found[0]
