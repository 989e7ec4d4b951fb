"""Membership tables in CSV or TSV, in any of three layouts told apart by the header.

- long: ``bicluster, axis, index and/or label``, one line per member (``axis`` is row or column);
- lists: ``bicluster, rows, cols``, one line per bicluster, members separated by blanks or semicolons;
- matrix: ``axis, label, B1, B2, …``, one line per row and column of the data, cells 0 or 1.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from bivaluate._document import Document, Members
from bivaluate._errors import FormatError
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source

KEY = "csv"
NAME = "membership table (CSV, TSV)"
EXTENSIONS = (".csv", ".tsv")
INDEX_BASE = 0

_ROW = frozenset(["row", "rows", "r", "gene", "genes"])
_COL = frozenset(["col", "cols", "column", "columns", "c", "condition", "conditions", "sample", "samples"])
_INDEX = re.compile(r"\d{1,12}")


def detects(source: Source) -> bool:
    """By the names in the header."""
    return _layout(_header(source.head_text)) is not None


def is_certain(source: Source) -> bool:
    """Whether the header begins as only a membership table does."""
    return source.head_text.startswith(("bicluster,", "axis,")) and detects(source)


def _header(text: str) -> list[str]:
    first = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "")
    return [cell.strip().strip('"').lower() for cell in first.split(_delimiter(first))]


def _delimiter(line: str) -> str:
    return max("\t;,", key=line.count)


def _layout(header: list[str]) -> str | None:
    if "axis" in header:
        if "bicluster" in header and {"index", "label", "member"} & set(header):
            return "long"
        return "matrix" if len(header) > 2 and header[:2] == ["axis", "label"] else None
    if "rows" in header and {"cols", "columns"} & set(header):
        return "lists"
    return None


def read(source: Source, options: SolutionOptions) -> Document:
    """Read a table in whichever layout its header announces."""
    text = source.text()
    header = _header(text)
    layout = _layout(header)
    if layout is None:
        raise FormatError(
            f"{source.name}: the header is {', '.join(header[:8])[:120]!r}; a membership table starts with "
            "'bicluster,axis,label', 'bicluster,rows,cols' or 'axis,label,B1,B2,…'."
        )
    rows = _rows(text, source.name, len(header))
    if layout == "long":
        return _long(rows, header, source.name)
    if layout == "lists":
        return _lists(rows, header, source.name)
    return _matrix(rows, header, source.name)


def _rows(text: str, name: str, width: int) -> Iterator[tuple[int, list[str]]]:
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.strip() and not line.startswith("#"))
    reader = csv.reader(lines[start:], delimiter=_delimiter(lines[start]), strict=True)
    line = start
    try:
        for n, cells in enumerate(reader):
            line = start + reader.line_num
            if n == 0 or not any(cell.strip() for cell in cells):
                continue
            if len(cells) != width:
                raise FormatError(f"{name}, line {line} has {len(cells)} fields, but the header has {width}.")
            yield line, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise FormatError(f"{name}, line {line + 1}: {error}.") from None


def _axis(word: str, name: str, line: int) -> int:
    if word.lower() in _ROW:
        return 0
    if word.lower() in _COL:
        return 1
    raise FormatError(f"{name}, line {line}: axis is {word[:40]!r}; 'row' or 'column' is needed.")


def _long(rows: Iterator[tuple[int, list[str]]], header: list[str], name: str) -> Document:
    key, axis_at = header.index("bicluster"), header.index("axis")
    index_at = header.index("index") if "index" in header else None
    label_at = next((header.index(word) for word in ("label", "member") if word in header), None)
    found: dict[str, tuple[int, Members, Members]] = {}
    indexed = labelled = True
    for line, cells in rows:
        _, members, labels = found.setdefault(cells[key], (line, ([], []), ([], [])))
        axis = _axis(cells[axis_at], name, line)
        index = cells[index_at] if index_at is not None else ""
        label = cells[label_at] if label_at is not None else ""
        if index and not _INDEX.fullmatch(index):
            raise FormatError(f"{name}, line {line}: index {index[:40]!r} is not a whole number from 0.")
        if not index and not label:
            raise FormatError(f"{name}, line {line}: neither an index nor a label.")
        indexed, labelled = indexed and bool(index), labelled and bool(label)
        members[axis].append(index)  # type: ignore[attr-defined]
        labels[axis].append(label)  # type: ignore[attr-defined]
    if not indexed and not labelled:
        raise FormatError(f"{name}: some members have only an index and some only a label; use one throughout.")
    lines = [start for start, _, _ in found.values()]
    if indexed:
        numbers = [([int(i) for i in r], [int(j) for j in c]) for _, (r, c), _ in found.values()]
        names = [pair for _, _, pair in found.values()] if labelled else None
        return Document(numbers, "index", labels=names, lines=lines)
    by = "label" if "label" in header else "token"
    return Document([pair for _, _, pair in found.values()], by, lines=lines)


def _lists(rows: Iterator[tuple[int, list[str]]], header: list[str], name: str) -> Document:
    at = header.index("rows"), header.index("cols" if "cols" in header else "columns")
    members, lines = [], []
    for line, cells in rows:
        pair = [_members(cells[j]) for j in at]
        if not all(pair):
            raise FormatError(f"{name}, line {line}: the bicluster has no {'columns' if pair[0] else 'rows'}.")
        members.append((pair[0], pair[1]))
        lines.append(line)
    return Document(members, "token", lines=lines)


def _members(cell: str) -> list[str]:
    if ";" in cell:
        return [word.strip() for word in cell.split(";") if word.strip()]
    return cell.split()


def _matrix(rows: Iterator[tuple[int, list[str]]], header: list[str], name: str) -> Document:
    pairs: list[Members] = [([], []) for _ in header[2:]]
    names: list[Members] = [([], []) for _ in header[2:]]
    sizes = [0, 0]
    for line, cells in rows:
        axis = _axis(cells[0], name, line)
        for k, cell in enumerate(cells[2:]):
            if cell not in ("0", "1", "True", "False", "TRUE", "FALSE"):
                raise FormatError(f"{name}, line {line}: cell {cell[:40]!r} under {header[k + 2]!r}; 0 or 1 is needed.")
            if cell in ("1", "True", "TRUE"):
                pairs[k][axis].append(sizes[axis])  # type: ignore[attr-defined]
                names[k][axis].append(cells[1])  # type: ignore[attr-defined]
        sizes[axis] += 1
    if not all(sizes):
        raise FormatError(f"{name}: lines for both axes are needed, found {sizes[0]} rows and {sizes[1]} columns.")
    return Document(pairs, "index", (sizes[0], sizes[1]), labels=names)


def write(document: Document, path: Path) -> None:
    """Write the long layout: one line per member, index and label where known."""
    from bivaluate.io.target import text_target

    delimiter = "," if path.name.lower().removesuffix(".gz").endswith(".csv") else "\t"
    by_label = document.by == "label"
    fields = ["label"] if by_label else ["index", "label"] if document.labels else ["index"]
    with text_target(path) as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        writer.writerow(["bicluster", "axis", *fields])
        for k, pair in enumerate(document.members):
            for axis, what in enumerate(("row", "column")):
                names = document.labels[k][axis] if document.labels and not by_label else [None] * len(pair[axis])
                for member, label in zip(pair[axis], names, strict=True):
                    writer.writerow([f"B{k + 1}", what, member] + ([label] if label is not None else []))
