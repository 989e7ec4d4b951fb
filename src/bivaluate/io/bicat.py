"""BicAT text: three lines per bicluster without a title; numbers count from 0, or names."""

from __future__ import annotations

import re

from bivaluate._document import Document
from bivaluate.io import triples
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source

KEY = "bicat"
NAME = "BicAT text"
EXTENSIONS: tuple[str, ...] = ()
INDEX_BASE = 0

_HEADER = re.compile(r"\s*Number of BCs\s*=\s*\d+\s*", re.IGNORECASE)


def detects(source: Source) -> bool:
    """The very first line is the size of a bicluster, or BicAT's header."""
    first = source.head_text.split("\n", 1)[0]
    return bool(triples.SIZES.fullmatch(first) or _HEADER.fullmatch(first))


def read(source: Source, options: SolutionOptions) -> Document:
    """Read the biclusters after the optional header."""
    lines = triples.numbered(source.text())
    if lines and _HEADER.fullmatch(lines[0][1]):
        lines = lines[1:]
    return triples.parse(lines, source.name, INDEX_BASE, options)
