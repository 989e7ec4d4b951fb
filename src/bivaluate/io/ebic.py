"""EBIC results and UniBic ground truth: ``Bicluster([rows],[columns])`` per line, indices from 0."""

from __future__ import annotations

import re

from bivaluate._document import Document, Members
from bivaluate._errors import FormatError
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source
from bivaluate.io.triples import numbered

KEY = "ebic"
NAME = "EBIC results, UniBic ground truth"
EXTENSIONS: tuple[str, ...] = ()
INDEX_BASE = 0

_COUNT = re.compile(r"#?\s*(\d{1,9})")
_LINE = re.compile(r"Bicluster\(\s*\[([^\]]*)\]\s*,\s*\[([^\]]*)\]\s*\)")
_INDEX = re.compile(r"\d{1,12}")


def detects(source: Source) -> bool:
    """By a line ``Bicluster([``."""
    return re.search(r"^Bicluster\(\s*\[", source.head_text, re.MULTILINE) is not None


def read(source: Source, options: SolutionOptions) -> Document:
    """Read the lines and hold their number against the count on top."""
    members: list[Members] = []
    starts: list[int] = []
    announced: int | None = None
    for n, line in numbered(source.text()):
        text = line.strip()
        count = _COUNT.fullmatch(text)
        if count and announced is None and not members:
            announced = int(count[1])
            continue
        found = _LINE.fullmatch(text)
        if found is None:
            raise FormatError(f"{source.name}, line {n}: 'Bicluster([rows],[columns])' is needed, found {text[:60]!r}.")
        sides = [[word.strip() for word in side.split(",") if word.strip()] for side in found.groups()]
        if not all(sides) or not all(_INDEX.fullmatch(word) for side in sides for word in side):
            raise FormatError(f"{source.name}, line {n}: rows and columns must be non-empty lists of indices.")
        members.append(([int(w) for w in sides[0]], [int(w) for w in sides[1]]))
        starts.append(n)
    if announced is not None and announced != len(members):
        raise FormatError(
            f"{source.name}, line 1: {announced} biclusters announced, {len(members)} found. Is the file truncated?"
        )
    return Document(members, "index", base=INDEX_BASE, lines=starts)
