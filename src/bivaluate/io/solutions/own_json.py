"""bivaluate's own JSON: members by index from 0, by label, or both."""

import json
from pathlib import Path

from bivaluate._document import Document, checked_document, parse_json
from bivaluate._files import text_target
from bivaluate.io.formats import Format, Options, Source


def _detects(source: Source) -> bool:
    """A JSON object; other tools' JSON is asked about first."""
    return source.head_text.lstrip().startswith(("{", "["))


def _is_certain(source: Source) -> bool:
    """Whether the beginning names the schema, which no other tool does."""
    return _detects(source) and '"schema"' in source.head_text[:200]


def _read(source: Source, options: Options) -> Document:
    return checked_document(parse_json(source.text(), source.name), source.name)


def _write(document: Document, path: Path) -> None:
    with text_target(path) as stream:
        stream.write(json.dumps(document.to_dict()) + "\n")


FORMAT = Format("bivaluate", "bivaluate JSON", (".json",), _detects, _read, _write, rank=1, is_certain=_is_certain)
