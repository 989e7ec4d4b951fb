"""bivaluate's own JSON document for a solution: the grammar, checked, before it becomes a Biclustering."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bivaluate._errors import FileError, FormatError

SCHEMA = 1
MAX_BYTES = 1 << 30


@dataclass(frozen=True)
class Document:
    """Members by index or by label, as a file states them; nothing is resolved against a matrix yet."""

    members: list[tuple[list[Any], list[Any]]]
    by: str
    shape: tuple[int, int] | None = None
    info: dict[str, Any] = field(default_factory=dict)


def read_document(path: str | os.PathLike[str]) -> Document:
    """Read and check a bivaluate JSON file."""
    name = os.fspath(path)
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise FormatError(f"{name} is larger than 1 GiB; that is no list of biclusters.")
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{name} is not UTF-8 text (byte {error.start}); bivaluate JSON was expected."
        ) from None
    except OSError as error:
        raise FileError(f"cannot read {name}: {error.strerror or error}.") from error
    return parse_document(text, name)


def parse_document(text: str, name: str) -> Document:
    """Check the text of a bivaluate JSON file; `name` stands in messages."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"{name}, line {error.lineno}: not valid JSON ({error.msg}).") from None
    except RecursionError:
        raise FormatError(f"{name}: JSON nested too deeply.") from None
    if not isinstance(content, dict) or "biclusters" not in content:
        raise FormatError(f'{name}: a JSON object with the key "biclusters" is needed.')
    if content.get("schema") != SCHEMA:
        raise FormatError(
            f'{name}: "schema" is {content.get("schema")!r}; this version of bivaluate reads schema {SCHEMA}.'
        )
    shape = content.get("shape")
    if shape is not None and not (
        isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and n > 0 for n in shape)
    ):
        raise FormatError(f'{name}: "shape" is {shape!r}; [rows, columns] or null is needed.')
    biclusters = content["biclusters"]
    if not isinstance(biclusters, list):
        raise FormatError(f'{name}: "biclusters" must be a list.')
    members, kinds = [], set()
    for k, bicluster in enumerate(biclusters):
        if not isinstance(bicluster, dict) or not {"rows", "cols"} <= bicluster.keys():
            raise FormatError(f'{name}: bicluster {k} must be an object with "rows" and "cols".')
        for side in ("rows", "cols"):
            kinds |= _kinds(bicluster[side], f"{name}: bicluster {k}, {side}")
        members.append((bicluster["rows"], bicluster["cols"]))
    if len(kinds) > 1:
        raise FormatError(
            f"{name}: members are given partly by index and partly by label; use one of them throughout."
        )
    info = content.get("info", {})
    if not isinstance(info, dict):
        raise FormatError(f'{name}: "info" must be an object.')
    return Document(
        members, kinds.pop() if kinds else "index", None if shape is None else (shape[0], shape[1]), info
    )


def _kinds(side: Any, where: str) -> set[str]:
    if not isinstance(side, list):
        raise FormatError(f"{where}: a list of indices or labels is needed.")
    kinds = set()
    for member in side:
        if type(member) is int:
            if not -(2**62) < member < 2**62:
                raise FormatError(f"{where}: {member} is too large for an index.")
            kinds.add("index")
        elif isinstance(member, str):
            kinds.add("label")
        else:
            raise FormatError(f"{where}: {member!r} is neither an index nor a label.")
    return kinds
