"""JBiclustGE ``.bicge`` text and JSON: names and indices from 0 side by side."""

from __future__ import annotations

import re
from typing import Any

from bivaluate._document import Document, Members, member_kinds, parse_json
from bivaluate._errors import FormatError
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source

KEY = "jbiclustge"
NAME = "JBiclustGE .bicge and JSON"
EXTENSIONS = (".bicge",)
INDEX_BASE = 0

_JSON = re.compile(r'"Biclusters"\s*:\s*\{')
_INDEX = re.compile(r"\d{1,12}")
_TEXT_KEYS = ("Gene_names", "Gene_indexes", "Condition_names", "Condition_indexes")
_JSON_KEYS = ("Gene names", "Gene indexes", "Condition names", "Condition indexes")


def detects(source: Source) -> bool:
    """By the first key of the text, or by ``"Biclusters": {`` in JSON."""
    text = source.head_text.lstrip()
    return text.startswith("Total_Biclusters:") or (text.startswith("{") and bool(_JSON.search(text)))


def read(source: Source, options: SolutionOptions) -> Document:
    """Read either form."""
    text = source.text()
    if text.lstrip().startswith("{"):
        return _read_json(parse_json(text, source.name), source.name)
    return _read_text(text, source.name)


def _read_json(content: Any, name: str) -> Document:
    found = content.get("Biclusters") if isinstance(content, dict) else None
    if not isinstance(found, dict):
        raise FormatError(f'{name}: an object "Biclusters" is needed.')
    if not all(_INDEX.fullmatch(key) for key in found):
        raise FormatError(f'{name}: the keys of "Biclusters" must be numbers.')
    members: list[Members] = []
    labels: list[Members] = []
    for key in sorted(found, key=int):
        bicluster, where = found[key], f"{name}: bicluster {key}"
        if not isinstance(bicluster, dict):
            raise FormatError(f"{where} must be an object.")
        sides = [bicluster.get(word) for word in _JSON_KEYS]
        for side, word in zip(sides, _JSON_KEYS, strict=True):
            kind = {"label"} if "names" in word else {"index"}
            if member_kinds(side, f'{where}, "{word}"') != kind:
                raise FormatError(f'{where}: "{word}" is empty or not of one kind.')
        members.append((sides[1], sides[3]))  # type: ignore[arg-type]
        labels.append((sides[0], sides[2]))  # type: ignore[arg-type]
    _check_lengths(members, labels, None, name)
    info = {"algorithm": content["Biclustering method"]} if isinstance(content.get("Biclustering method"), str) else {}
    return Document(members, "index", info=info, labels=labels)


def _read_text(text: str, name: str) -> Document:
    blocks: list[tuple[int, dict[str, list[str]]]] = []
    info: dict[str, Any] = {}
    total: int | None = None
    for n, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if not stripped:
            continue
        if re.fullmatch(r"Bicluster \d+", stripped):
            blocks.append((n, {}))
            continue
        key, colon, value = stripped.partition(":")
        if not colon:
            raise FormatError(f"{name}, line {n}: 'key: value' is needed, found {stripped[:60]!r}.")
        if not blocks:
            if key == "Total_Biclusters":
                if not _INDEX.fullmatch(value.strip()):
                    raise FormatError(f"{name}, line {n}: Total_Biclusters is {value[:20]!r}, not a number.")
                total = int(value)
            elif key == "Method_used":
                info["algorithm"] = value.strip()[:200]
            continue
        words = [word.strip() for word in value.split("\t") if word.strip()]
        block = blocks[-1][1]
        block[key] = words
        if key in ("Gene_indexes", "Condition_indexes") and not all(_INDEX.fullmatch(w) for w in words):
            raise FormatError(f"{name}, line {n}: {key} must be whole numbers.")
        counter = {"Gene_": "Number_of_Genes", "Condition_": "Number_of_Conditions"}.get(key.split("_")[0] + "_")
        if key in _TEXT_KEYS and counter in block and block[counter] != [str(len(words))]:
            announced = " ".join(block[counter])[:20]
            raise FormatError(f"{name}, line {n}: {announced} announced for {key}, {len(words)} found.")
    if total is not None and total != len(blocks):
        raise FormatError(f"{name}: {total} biclusters announced, {len(blocks)} found. Is the file truncated?")
    return _from_blocks(blocks, info, name)


def _from_blocks(blocks: list[tuple[int, dict[str, list[str]]]], info: dict[str, Any], name: str) -> Document:
    lines = [n for n, _ in blocks]
    for n, block in blocks:
        for what, prefix in (("genes", "Gene"), ("conditions", "Condition")):
            if not (block.get(f"{prefix}_names") or block.get(f"{prefix}_indexes")):
                raise FormatError(f"{name}, line {n}: this bicluster has no {what}.")
    sides = [[block.get(key) for _, block in blocks] for key in _TEXT_KEYS]
    has = [all(side) for side in sides]
    labels: list[Members] = list(zip(sides[0], sides[2], strict=True)) if has[0] and has[2] else []  # type: ignore[arg-type]
    if not (has[1] and has[3]):
        if not labels and blocks:
            raise FormatError(f"{name}: genes and conditions must both have names, or both indexes, throughout.")
        return Document(labels, "label", info=info, lines=lines)
    members: list[Members] = [
        ([int(i) for i in rows or ()], [int(j) for j in cols or ()])
        for rows, cols in zip(sides[1], sides[3], strict=True)
    ]
    if labels:
        _check_lengths(members, labels, lines, name)
    return Document(members, "index", info=info, labels=labels or None, lines=lines)


def _check_lengths(members: list[Members], labels: list[Members], lines: list[int] | None, name: str) -> None:
    for k, (pair, names) in enumerate(zip(members, labels, strict=True)):
        if [len(side) for side in pair] != [len(side) for side in names]:
            where = f", line {lines[k]}" if lines else ""
            raise FormatError(f"{name}{where}: bicluster {k} has different numbers of names and indexes.")
