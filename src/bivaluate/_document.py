"""bivaluate's own JSON document for a solution: the grammar, checked, before it becomes a Biclustering."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bivaluate._errors import FileError, FormatError

SCHEMA = 1
MAX_BYTES = 1 << 28
MAX_DEPTH = 32
MAX_INDEX = 1 << 40
EXAMPLE = '{"schema": 1, "shape": [300, 40], "biclusters": [{"rows": [0, 7], "cols": [3, 4]}]}'

Members = tuple[Sequence[Any], Sequence[Any]]


@dataclass(frozen=True)
class Document:
    """Members as a file states them; nothing is resolved against a matrix yet.

    `by` says what the members are: ``"index"``, ``"label"``, or ``"token"`` where a text format leaves open
    whether ``7`` is a position or a name. Positions are counted from `base`. `labels` are the names a file
    gives beside its positions, `lines` the line each bicluster starts on.
    """

    members: Sequence[Members]
    by: str
    shape: tuple[int, int] | None = None
    info: dict[str, Any] = field(default_factory=dict)
    base: int = 0
    labels: Sequence[Members] | None = None
    lines: Sequence[int] | None = None

    def where(self, k: int) -> str:
        """Return ``", line 12"`` for the bicluster at position `k`, where lines are known."""
        return "" if self.lines is None else f", line {self.lines[k]}"

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a bivaluate JSON file; labels stand beside indices where both are known."""
        biclusters = [{"rows": list(r), "cols": list(c)} for r, c in self.members]
        for bicluster, (rows, cols) in zip(biclusters, self.labels or (), strict=False):
            bicluster.update(row_labels=list(rows), col_labels=list(cols))
        shape = None if self.shape is None else list(self.shape)
        return {"schema": SCHEMA, "shape": shape, "biclusters": biclusters} | ({"info": self.info} if self.info else {})


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
        raise FileError(f"cannot read {name}: {error.strerror or error}.") from error
    return parse_document(text, name)


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


def parse_document(text: str, name: str) -> Document:
    """Check the text of a bivaluate JSON file; `name` stands in messages."""
    content = parse_json(text, name)
    if not isinstance(content, dict) or "biclusters" not in content:
        raise FormatError(f'{name}: a JSON object with the key "biclusters" is needed. An example: {EXAMPLE}')
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
        raise FormatError(f'{name}: "biclusters" must be a list. An example: {EXAMPLE}')
    members: list[Members] = []
    labels: list[Members] = []
    kinds: set[str] = set()
    for k, bicluster in enumerate(content["biclusters"]):
        where = f"{name}: B{k + 1}"
        if not isinstance(bicluster, dict) or not {"rows", "cols"} <= bicluster.keys():
            raise FormatError(f'{where} must be an object with "rows" and "cols". An example: {EXAMPLE}')
        rows, cols = bicluster["rows"], bicluster["cols"]
        kinds |= member_kinds(rows, f"{where}, rows") | member_kinds(cols, f"{where}, cols")
        members.append((rows, cols))
        if "row_labels" in bicluster or "col_labels" in bicluster:
            for beside, key in ((rows, "row_labels"), (cols, "col_labels")):
                names = bicluster.get(key)
                if member_kinds(names, f"{where}, {key}") - {"label"} or len(names) != len(beside):  # type: ignore[arg-type]
                    raise FormatError(f'{where}: "{key}" must be one label for each of "{key[:3]}s".')
            labels.append((bicluster["row_labels"], bicluster["col_labels"]))
    if len(kinds) > 1:
        raise FormatError(f"{name}: members are given partly by index and partly by label; use one of them throughout.")
    if labels and len(labels) != len(members):
        raise FormatError(f"{name}: some biclusters have labels beside their indices and some do not.")
    place = None if shape is None else (shape[0], shape[1])
    return Document(members, kinds.pop() if kinds else "index", place, info, labels=labels or None)


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
