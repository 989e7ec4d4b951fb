"""BicAT text: three lines per bicluster without a title; numbers count from 0, or names."""

import re

from bivaluate.io.formats import Document, Format, Options, Source
from bivaluate.io.solutions.r_text import SIZES, parse_biclusters

_HEADER = re.compile(r"\s*Number of BCs\s*=\s*\d+\s*", re.IGNORECASE)


def _detects(source: Source) -> bool:
    """The very first line is the size of a bicluster, or BicAT's header."""
    first = source.head_text.split("\n", 1)[0]
    return bool(SIZES.fullmatch(first) or _HEADER.fullmatch(first))


def _read(source: Source, options: Options) -> Document:
    """Read the biclusters after the optional header."""
    lines = source.text_lines()
    return parse_biclusters([line for line in lines if not _HEADER.fullmatch(line[1])], source, options, base=0)


FORMAT = Format("bicat", "BicAT text", (), _detects, _read, rank=2, note="indices or names")
