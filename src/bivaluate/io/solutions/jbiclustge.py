"""JBiclustGE ``.bicge`` text and JSON: names and indices from 0 side by side."""

import re
from typing import Any

from bivaluate._document import Document, Members, member_kinds, parse_json
from bivaluate.io.formats import Format, Options, Source, indices, numbered

Blocks = list[tuple[int | None, dict[str, Any]]]  # the line a bicluster starts on, what is said about it

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
    if not isinstance(found, dict):
        raise source.fault('an object "Biclusters" is needed.')
    if indices(found) is None:
        raise source.fault('the keys of "Biclusters" must be numbers.')
    blocks: Blocks = []
    for k, key in enumerate(sorted(found, key=int)):
        if not isinstance(found[key], dict):
            raise source.fault(f"B{k + 1} must be an object.")
        for word in _KEYS:
            kinds = member_kinds(found[key].get(word), f'{source.name}: B{k + 1}, "{word}"')
            if kinds != {"label" if "names" in word else "index"}:
                raise source.fault(f'B{k + 1}: "{word}" is empty or not of one kind.')
        blocks.append((None, found[key]))
    method = content.get("Biclustering method")
    return _document(blocks, {"algorithm": method} if isinstance(method, str) else {}, source)


def _read_text(text: str, source: Source) -> Document:
    blocks: Blocks = []
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
    return _document(blocks, {"algorithm": top["Method_used"][:200]} if "Method_used" in top else {}, source)


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


def _document(blocks: Blocks, info: dict[str, Any], source: Source) -> Document:
    lines = [n for n, _ in blocks if n is not None] or None
    genes, gene_indices, conditions, condition_indices = ([block.get(key) for _, block in blocks] for key in _KEYS)
    labels: list[Members] = list(zip(genes, conditions, strict=True)) if all(genes + conditions) else []  # type: ignore[arg-type]
    if not all(gene_indices + condition_indices):
        if not labels:
            raise source.fault("genes and conditions must both have names, or both indexes, throughout.")
        return Document(labels, "label", info=info, lines=lines)
    members: list[Members] = list(zip(gene_indices, condition_indices, strict=True))  # type: ignore[arg-type]
    for k, (pair, names) in enumerate(zip(members, labels, strict=False)):
        if [len(side) for side in pair] != [len(side) for side in names]:
            raise source.fault(f"B{k + 1} has different numbers of names and indexes.", lines and lines[k])
    return Document(members, "index", info=info, labels=labels or None, lines=lines)


FORMAT = Format("jbiclustge", "JBiclustGE .bicge and JSON", (".bicge",), _detects, _read)
