"""bivaluate's own JSON document for a solution: the grammar, checked, before it becomes a Biclustering."""

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bivaluate._errors import EmptyBiclusterWarning, FormatError, unreadable
from bivaluate._text import distinct, plural

SCHEMA = 1
MAX_BYTES = 1 << 28
MAX_DEPTH = 32
MAX_INDEX = 1 << 40
#: What a bicluster's name and its two sides may be called in files by hand; the first is what bivaluate writes.
NAME_WORDS = ("name", "bicluster", "cluster", "module", "program", "topic", "group")
ROW_WORDS = ("rows", "genes", "features", "objects")
COL_WORDS = ("cols", "columns", "samples", "conditions", "cells")

EXAMPLE = """An example:
  {"biclusters": [
    {"rows": ["gene1", "gene2"], "cols": ["sample1", "sample3"]},
    {"rows": ["gene4", "gene5"], "cols": ["sample2", "sample3"]}]}"""
EXAMPLE_TABLE = """An example:
  bicluster,rows,cols
  B1,gene1 gene2,sample1 sample3
  B2,gene4 gene5,sample2 sample3"""

Members = tuple[Sequence[Any], Sequence[Any]]


@dataclass(frozen=True)
class Document:
    """Members as a file states them; nothing is resolved against a matrix yet.

    `by` says what the members are: ``"index"``, ``"label"``, or ``"token"`` where a text format leaves open
    whether ``7`` is a position or a name. Positions are counted from `base`. `labels` are the names a file
    gives beside its positions, `names` those of the biclusters; `lines` has the line each of them starts on, `line_of`
    that of a label. `whole` is the axis of which every bicluster has everything, where a file names the members of the
    other one only.
    """

    members: Sequence[Members]
    by: str
    shape: tuple[int, int] | None = None
    info: dict[str, Any] = field(default_factory=dict)
    base: int = 0
    labels: Sequence[Members] | None = None
    lines: Sequence[int] | None = None
    line_of: Mapping[str, int] = field(default_factory=dict)
    whole: int | None = None
    names: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        if self.names is not None:
            object.__setattr__(self, "names", checked_names(self.names))

    def where(self, k: int, label: str = "") -> str:
        """Return ``", line 12"`` for a label of the bicluster at position `k`, where lines are known."""
        line = self.line_of.get(label) or (self.lines and self.lines[k])
        return f", line {line}" if line else ""

    def called(self, k: int) -> str:
        """Return what the bicluster at position `k` is called."""
        return str(self.names[k]) if self.names else f"B{k + 1}"

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a bivaluate JSON file; labels stand beside indices where both are known."""
        biclusters: list[dict[str, Any]] = [{"rows": list(r), "cols": list(c)} for r, c in self.members]
        for bicluster, name in zip(biclusters, self.names or (), strict=False):
            bicluster["name"] = name
        for bicluster, (rows, cols) in zip(biclusters, self.labels or (), strict=False):
            bicluster.update(row_labels=list(rows), col_labels=list(cols))
        shape = None if self.shape is None else list(self.shape)
        return {"schema": SCHEMA, "shape": shape, "biclusters": biclusters} | ({"info": self.info} if self.info else {})


def checked_names(names: Iterable[Any]) -> list[str] | None:
    """Return names no two of which are the same; None where they are B1, B2, … anyway."""
    given = [" ".join(str(name).split()) for name in names]
    called = distinct([f"B{name}" if name.isdigit() else name or f"B{k}" for k, name in enumerate(given, start=1)])
    return None if called == [f"B{k + 1}" for k in range(len(called))] else called


def read_document(path: str | os.PathLike[str]) -> Document:
    """Read and check a bivaluate JSON file."""
    name = os.fspath(path)
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise FormatError(f"{name} is larger than {MAX_BYTES >> 20} MiB; it is not a list of biclusters.")
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{name} is not UTF-8 text (byte {error.start}); bivaluate JSON was expected.") from None
    except OSError as error:
        raise unreadable(path, error) from error
    return checked_document(parse_json(text, name), name)


def parse_json(text: str, name: str) -> Any:
    """Parse JSON of bounded depth."""
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise FormatError(f"{name}, line {error.lineno}: not valid JSON ({error.msg}).") from None
    except ValueError as error:
        raise FormatError(f"{name}: not valid JSON ({str(error)[:100]}).") from None
    except RecursionError:
        raise FormatError(f"{name}: JSON nested too deeply.") from None
    level: list[Any] = [[content]]
    for _ in range(MAX_DEPTH + 1):
        nested = [outer.values() if isinstance(outer, dict) else outer for outer in level]
        level = [inner for outer in nested for inner in outer if isinstance(inner, (dict, list))]
        if not level:
            return content
    raise FormatError(f"{name}: JSON nested too deeply (more than {MAX_DEPTH} levels).")


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is not a JSON value")


def checked_document(content: Any, name: str) -> Document:
    """Check what a bivaluate JSON file holds; `name` stands in messages."""
    if not isinstance(content, dict):
        content = {"biclusters": content} if isinstance(content, list) else {}
    row_labels, col_labels = _said(content, ("row_labels",)), _said(content, ("col_labels", "column_labels"))
    if "biclusters" not in content and row_labels is not None and col_labels is not None:
        return document_of_labels(row_labels, col_labels, name)
    blocks = content.get("biclusters", content)
    by_name = isinstance(blocks, dict) and all(isinstance(block, (list, dict)) for block in blocks.values())
    keys = list(blocks) if by_name else []
    if keys:
        values = list(blocks.values())
        if all(isinstance(block, list) and not any(isinstance(m, (list, dict)) for m in block) for block in values):
            return Document([([*map(str, block)], []) for block in values], "token", names=keys, whole=1)
        content = {**(content if "biclusters" in content else {}), "biclusters": values}
    if "biclusters" not in content:
        raise FormatError(f'{name}: a JSON object with the key "biclusters" is needed. {EXAMPLE}')
    if content.get("schema", SCHEMA) != SCHEMA:
        found = str(content["schema"])[:40]
        raise FormatError(f'{name}: "schema" is {found!r}; this version of bivaluate reads schema {SCHEMA}.')
    shape = content.get("shape")
    if shape is not None and not (
        isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and 0 < n < MAX_INDEX for n in shape)
    ):
        raise FormatError(f'{name}: "shape" is {str(shape)[:40]}; [rows, columns] or null is needed.')
    info = content.get("info", {})
    if not isinstance(info, dict):
        raise FormatError(f'{name}: "info" must be an object.')
    if not isinstance(content["biclusters"], list):
        raise FormatError(f'{name}: "biclusters" must be a list. {EXAMPLE}')
    members: list[Members] = []
    labels: list[Members] = []
    called: list[str] = []
    kinds: set[str] = set()
    for k, bicluster in enumerate(content["biclusters"]):
        where = f"{name}: B{k + 1}"
        pair, beside = _sides_of(bicluster, where)
        kinds |= member_kinds(pair[0], f"{where}, rows") | member_kinds(pair[1], f"{where}, cols")
        members.append(pair)
        name_of = keys[k] if keys else _said(bicluster, NAME_WORDS) if isinstance(bicluster, dict) else None
        called.append(str(name_of) if isinstance(name_of, (str, int)) else "")
        if beside is not None:
            for side, names, key in zip(pair, beside, ("row_labels", "col_labels"), strict=True):
                if member_kinds(names, f"{where}, {key}") - {"label"} or len(names) != len(side):
                    raise FormatError(f'{where}: "{key}" must be one label for each of "{key[:3]}s".')
            labels.append(beside)
    if len(kinds) > 1:
        raise FormatError(f"{name}: members are given partly by index and partly by label; use one of them throughout.")
    if labels and len(labels) != len(members):
        raise FormatError(f"{name}: some biclusters have labels beside their indices and some do not.")
    place = None if shape is None else (shape[0], shape[1])
    return Document(members, kinds.pop() if kinds else "index", place, info, labels=labels or None, names=called)


def _said(mapping: Mapping[str, Any], words: Sequence[str]) -> Any:
    """Return what a mapping holds under the first of the words it knows; None if it knows none of them."""
    return next((mapping[word] for word in words if word in mapping), None)


def _sides_of(bicluster: Any, where: str) -> tuple[Any, Any]:
    """Return rows and columns of a bicluster as a file states them, and the labels beside them, if any."""
    if isinstance(bicluster, list) and len(bicluster) == 2:
        return (bicluster[0], bicluster[1]), None
    if isinstance(bicluster, dict):
        rows, cols = _said(bicluster, ROW_WORDS), _said(bicluster, COL_WORDS)
        row_labels, col_labels = bicluster.get("row_labels"), bicluster.get("col_labels")
        if rows is None and cols is None and row_labels is not None and col_labels is not None:
            return (row_labels, col_labels), None
        if rows is not None and cols is not None:
            return (rows, cols), None if row_labels is None and col_labels is None else (row_labels, col_labels)
    raise FormatError(f'{where} must be an object with "rows" and "cols", or a pair [rows, columns]. {EXAMPLE}')


def document_of_labels(row_labels: Any, col_labels: Any, name: str) -> Document:
    """Return biclusters from one cluster label per row and column: each label pairs its rows with its columns."""
    found: dict[Any, tuple[list[int], list[int]]] = {}
    for axis, (side, key) in enumerate(((row_labels, "row_labels"), (col_labels, "col_labels"))):
        member_kinds(side, f"{name}: {key}")
        for position, label in enumerate(side):
            found.setdefault(label, ([], []))[axis].append(position)
    members: list[Members] = [pair for pair in found.values() if all(pair)]
    if len(members) < len(found):
        dropped = plural(len(found) - len(members), "label")
        warnings.warn(f"{name}: {dropped} without both rows and columns dropped.", EmptyBiclusterWarning, stacklevel=2)
    return Document(members, "index", (len(row_labels), len(col_labels)))


def member_kinds(side: Any, where: str) -> set[str]:
    """Return which of "index" and "label" the members are; raise on anything else."""
    if not isinstance(side, list):
        raise FormatError(f"{where}: a list of indices or labels is needed.")
    kinds = set()
    for member in side:
        if type(member) is int:
            if abs(member) > MAX_INDEX:
                raise FormatError(f"{where}: {str(member)[:40]} is too large for an index.")
            kinds.add("index")
        elif isinstance(member, str):
            kinds.add("label")
        else:
            raise FormatError(f"{where}: {str(member)[:40]!r} is neither an index nor a label.")
    return kinds
