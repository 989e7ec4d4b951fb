"""biclustlib JSON: indices from 0; one biclustering, or a list of several."""

import json
import re
from pathlib import Path
from typing import Any

from bivaluate._document import Document, checked_document, parse_json
from bivaluate._errors import FormatError, ParameterError, SolutionError
from bivaluate._files import text_target
from bivaluate.io.formats import Advice, Format, Option, Options, Source

_MARK = re.compile(r'"__class__"\s*:\s*"Biclustering"|"biclusters"\s*:\s*\[\s*\[\s*\[\s*[-\d]')


def _detects(source: Source) -> bool:
    """By the class it names, or by biclusters that are lists of numbers."""
    return source.head_text.lstrip().startswith(("{", "[")) and _MARK.search(source.head_text) is not None


def _read(source: Source, options: Options) -> Document:
    """Read one biclustering; `options.item` chooses among several."""
    content = parse_json(source.text(), source.name)
    if isinstance(content, list):
        content = _choose(content, options.item, source.name)
    if not isinstance(content, dict) or not isinstance(content.get("biclusters"), list):
        raise source.fault('a JSON object with a list "biclusters" is needed.')
    pairs = [block[:2] if isinstance(block, list) and len(block) == 3 else block for block in content["biclusters"]]
    document = checked_document({"biclusters": pairs}, source.name)
    if document.by == "label":
        raise source.fault("indices are needed, labels found.")
    return document


def _choose(content: list[Any], item: int | None, name: str) -> Any:
    n = len(content)
    if item is None and n != 1:
        raise FormatError(Advice(f"{name} holds {n} biclusterings; say which: ", Option("item", 0), f" … {n - 1}."))
    if not 0 <= (item or 0) < n:
        raise ParameterError(Advice(Option("item"), f" is {item}; {name} holds {n} biclusterings, counted from 0."))
    return content[item or 0]


def _write(document: Document, path: Path) -> None:
    """Write what biclustlib's own loader understands: indices only."""
    if document.by == "label":
        raise SolutionError("biclustlib JSON holds indices; this solution has labels only: give the matrix as well.")
    biclusters = [[list(rows), list(cols)] for rows, cols in document.members]
    content = {"__class__": "Biclustering", "__module__": "biclustlib.models", "biclusters": biclusters}
    with text_target(path) as stream:
        stream.write(json.dumps(content) + "\n")


_NAMED, _NOTE = ("biclustlib", "biclustlib JSON", ()), "`item=` (`--item`) chooses among several"
FORMAT = Format(*_NAMED, _detects, _read, _write, options=("item",), note=_NOTE, members="index")
