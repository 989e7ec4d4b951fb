"""BiBit (BiBitR's jar): one line per bicluster, fields separated by semicolons, members by name."""

from __future__ import annotations

from bivaluate._document import Document, Members
from bivaluate._errors import FormatError
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source
from bivaluate.io.triples import numbered

KEY = "bibit"
NAME = "BiBit"
EXTENSIONS: tuple[str, ...] = ()
INDEX_BASE = 0

_HEADER = "NumOfRows;NumOfColumns;Rows;Columns"


def detects(source: Source) -> bool:
    """By the header."""
    return source.head_text.lstrip().startswith(_HEADER)


def read(source: Source, options: SolutionOptions) -> Document:
    """Read the lists and hold them against the sizes stated beside them."""
    members: list[Members] = []
    starts = []
    for n, line in numbered(source.text()):
        if line.strip() == _HEADER:
            continue
        fields = line.split(";")
        if len(fields) != 4:
            raise FormatError(f"{source.name}, line {n}: 4 fields are needed ({_HEADER}), {len(fields)} found.")
        pair = [[word.strip() for word in side.split(",") if word.strip()] for side in fields[2:]]
        for stated, side, what in zip(fields[:2], pair, ("rows", "columns"), strict=True):
            if stated.strip() != str(len(side)) or not side:
                raise FormatError(f"{source.name}, line {n}: {stated[:20]} {what} announced, {len(side)} found.")
        members.append((pair[0], pair[1]))
        starts.append(n)
    return Document(members, "token", base=INDEX_BASE, lines=starts)
