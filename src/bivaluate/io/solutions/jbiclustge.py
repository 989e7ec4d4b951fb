"""JBiclustGE ``.bicge`` text and JSON: names and indices from 0 side by side."""

import re
from dataclasses import replace
from typing import Any

from bivaluate._document import Document, checked_document, parse_json
from bivaluate.io.formats import Format, Options, Source, indices, numbered

_JSON = re.compile(r'"Biclusters"\s*:\s*\{')
_KEYS = ("Gene names", "Gene indexes", "Condition names", "Condition indexes")
_COUNTS = {"Gene": "Number_of_Genes", "Condition": "Number_of_Conditions"}


def _detects(source: Source) -> bool:
    """By the first key of the text, or by ``"Biclusters": {`` in JSON."""
    text = source.head_text.lstrip()
    return text.startswith("Total_Biclusters:") or (text.startswith("{") and bool(_JSON.search(text)))


def _read(source: Source, options: Options) -> Document:
    """Read either form."""
    text = source.text()
    return _read_json(text, source) if text.lstrip().startswith("{") else _read_text(text, source)


def _read_json(text: str, source: Source) -> Document:
    content = parse_json(text, source.name)
    found = content.get("Biclusters") if isinstance(content, dict) else None
    if not isinstance(found, dict) or indices(found) is None:
        raise source.fault('an object "Biclusters" is needed, whose keys are numbers.')
    method = content.get("Biclustering method")
    info = {"algorithm": method} if isinstance(method, str) else {}
    return _document([found[key] for key in sorted(found, key=int)], info, source)


def _read_text(text: str, source: Source) -> Document:
    blocks: list[tuple[int, dict[str, Any]]] = []
    top: dict[str, str] = {}
    for n, line in numbered(text):
        key, colon, value = line.strip().partition(":")
        if re.fullmatch(r"Bicluster \d+", key):
            blocks.append((n, {}))
        elif not colon:
            raise source.fault(f"'key: value' is needed, found {key[:60]!r}.", n)
        elif not blocks:
            top[key] = value.strip()
        else:
            words = [word.strip() for word in value.split("\t") if word.strip()]
            blocks[-1][1][key.replace("_", " ")] = _members(key, words, blocks[-1][1], n, source)
    if "Total_Biclusters" in top:
        source.check_count(top["Total_Biclusters"], len(blocks), "biclusters")
    for start, block in blocks:
        for what, prefix in (("genes", "Gene"), ("conditions", "Condition")):
            if not (block.get(f"{prefix} names") or block.get(f"{prefix} indexes")):
                raise source.fault(f"this bicluster has no {what}.", start)
    info = {"algorithm": top["Method_used"][:200]} if "Method_used" in top else {}
    return replace(_document([block for _, block in blocks], info, source), lines=[n for n, _ in blocks])


def _members(key: str, words: list[str], block: dict[str, Any], n: int, source: Source) -> list[str] | list[int]:
    announced = block.get(_COUNTS.get(key.split("_")[0], "").replace("_", " "))
    if announced is not None and key.replace("_", " ") in _KEYS:
        source.check_count(" ".join(announced), len(words), key, n)
    if not key.endswith("_indexes"):
        return words
    numbers = indices(words)
    if numbers is None:
        raise source.fault(f"{key} must be whole numbers.", n)
    return numbers


def _document(blocks: list[Any], info: dict[str, Any], source: Source) -> Document:
    keys = dict(zip(("row_labels", "rows", "col_labels", "cols"), _KEYS, strict=True))
    named = [{own: block.get(key) for own, key in keys.items()} if isinstance(block, dict) else 0 for block in blocks]
    return checked_document({"biclusters": named, "info": info}, source.name)


FORMAT = Format("jbiclustge", "JBiclustGE .bicge and JSON", (".bicge",), _detects, _read)
