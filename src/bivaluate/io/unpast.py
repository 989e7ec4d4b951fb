"""UnPaSt TSV: lists separated by blanks, by name and, in newer files, by index from 0."""

from __future__ import annotations

import re

from bivaluate._document import Document, Members
from bivaluate._errors import FormatError
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source
from bivaluate.io.triples import numbered

KEY = "unpast"
NAME = "UnPaSt TSV"
EXTENSIONS: tuple[str, ...] = ()
INDEX_BASE = 0

_INDEX = re.compile(r"\d{1,12}")


def _header(text: str) -> list[str]:
    first = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "")
    return [word.strip() for word in first.split("\t")]


def detects(source: Source) -> bool:
    """By the column names."""
    return {"genes", "samples", "n_genes", "n_samples"} <= set(_header(source.head_text))


def read(source: Source, options: SolutionOptions) -> Document:
    """Read names, and indices where the file has them."""
    text, name = source.text(), source.name
    header = _header(text)
    if not {"genes", "samples"} <= set(header):
        raise FormatError(f"{name}: the columns 'genes' and 'samples' are needed.")
    at = {word: j for j, word in enumerate(header)}
    indexed = {"gene_indexes", "sample_indexes"} <= set(header)
    members: list[Members] = []
    labels: list[Members] = []
    starts = []
    rows = [(n, line) for n, line in numbered(text) if not line.startswith("#")][1:]
    for n, line in rows:
        cells = line.split("\t")
        if len(cells) != len(header):
            raise FormatError(f"{name}, line {n} has {len(cells)} fields, but the header has {len(header)}.")
        pair = cells[at["genes"]].split(), cells[at["samples"]].split()
        for side, what in zip(pair, ("genes", "samples"), strict=True):
            stated = cells[at[f"n_{what}"]].strip() if f"n_{what}" in at else str(len(side))
            if not side or stated not in (str(len(side)), f"{len(side)}.0"):
                raise FormatError(f"{name}, line {n}: {stated[:20]} {what} announced, {len(side)} found.")
        labels.append(pair)
        starts.append(n)
        if indexed:
            numbers = cells[at["gene_indexes"]].split(), cells[at["sample_indexes"]].split()
            if not all(_INDEX.fullmatch(word) for side in numbers for word in side):
                raise FormatError(f"{name}, line {n}: gene_indexes and sample_indexes must be whole numbers.")
            if [len(side) for side in numbers] != [len(side) for side in pair]:
                raise FormatError(f"{name}, line {n}: different numbers of names and indexes.")
            members.append(([int(w) for w in numbers[0]], [int(w) for w in numbers[1]]))
    if indexed:
        return Document(members, "index", labels=labels, lines=starts)
    return Document(labels, "token", base=INDEX_BASE, lines=starts)
