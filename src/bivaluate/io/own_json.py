"""bivaluate's own JSON: members by index from 0, by label, or both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bivaluate._document import SCHEMA, Document, parse_document
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source

KEY = "bivaluate"
NAME = "bivaluate JSON"
EXTENSIONS = (".json",)
INDEX_BASE = 0


def detects(source: Source) -> bool:
    """A JSON object; other tools' JSON is asked about first."""
    return source.head_text.lstrip().startswith(("{", "["))


def is_certain(source: Source) -> bool:
    """Whether the beginning names the schema, which no other tool does."""
    return detects(source) and '"schema"' in source.head_text[:200]


def read(source: Source, options: SolutionOptions) -> Document:
    """Read and check the document."""
    return parse_document(source.text(), source.name)


def write(document: Document, path: Path) -> None:
    """Write the document; labels stand beside indices where both are known."""
    from bivaluate.io.target import text_target

    biclusters: list[dict[str, Any]] = [{"rows": list(r), "cols": list(c)} for r, c in document.members]
    for bicluster, (rows, cols) in zip(biclusters, document.labels or [], strict=False):
        bicluster.update(row_labels=list(rows), col_labels=list(cols))
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "shape": None if document.shape is None else list(document.shape),
        "biclusters": biclusters,
    }
    if document.info:
        content["info"] = document.info
    with text_target(path) as stream:
        stream.write(json.dumps(content) + "\n")
