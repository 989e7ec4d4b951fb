"""biclustlib JSON: indices from 0; one biclustering, or a list of several."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from bivaluate._document import Document, Members, member_kinds, parse_json
from bivaluate._errors import FormatError, ParameterError, SolutionError
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source

KEY = "biclustlib"
NAME = "biclustlib JSON"
EXTENSIONS: tuple[str, ...] = ()
INDEX_BASE = 0

_MARK = re.compile(r'"__class__"\s*:\s*"Biclustering"|"biclusters"\s*:\s*\[\s*\[')


def detects(source: Source) -> bool:
    """By the class it names, or by biclusters that are lists."""
    text = source.head_text
    return text.lstrip().startswith(("{", "[")) and _MARK.search(text) is not None


def read(source: Source, options: SolutionOptions) -> Document:
    """Read one biclustering; `options.item` chooses among several."""
    content = parse_json(source.text(), source.name)
    if isinstance(content, list):
        content = _choose(content, options.item, source.name)
    if not isinstance(content, dict) or not isinstance(content.get("biclusters"), list):
        raise FormatError(f'{source.name}: a JSON object with a list "biclusters" is needed.')
    members: list[Members] = []
    for k, bicluster in enumerate(content["biclusters"]):
        where = f"{source.name}: bicluster {k}"
        if not isinstance(bicluster, list) or len(bicluster) not in (2, 3):
            raise FormatError(f"{where} must be a list [rows, columns] or [rows, columns, data].")
        for side, what in zip(bicluster[:2], ("rows", "columns"), strict=True):
            if member_kinds(side, f"{where}, {what}") - {"index"}:
                raise FormatError(f"{where}, {what}: indices are needed, labels found.")
        members.append((bicluster[0], bicluster[1]))
    return Document(members, "index")


def _choose(content: list[Any], item: int | None, name: str) -> Any:
    if item is None and len(content) == 1:
        return content[0]
    if item is None:
        raise FormatError(
            f"{name} holds {len(content)} biclusterings; say which: item=0 … {len(content) - 1} (--item)."
        )
    if not 0 <= item < len(content):
        raise ParameterError(f"item is {item}; {name} holds {len(content)} biclusterings, counted from 0.")
    return content[item]


def write(document: Document, path: Path) -> None:
    """Write what biclustlib's own loader understands: indices only."""
    from bivaluate.io.target import text_target

    if document.by == "label":
        raise SolutionError(
            "biclustlib JSON holds indices, and this solution has labels only: give the matrix as well."
        )
    content = {
        "__class__": "Biclustering",
        "__module__": "biclustlib.models",
        "biclusters": [[list(rows), list(cols)] for rows, cols in document.members],
    }
    with text_target(path) as stream:
        stream.write(json.dumps(content) + "\n")
