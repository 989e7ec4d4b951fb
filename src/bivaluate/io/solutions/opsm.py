"""OPSM (BicAT's program): two lines per bicluster, rows and columns, then a blank one; numbers count from 0."""

import re

from bivaluate.io.formats import Document, Format, Members, Options, Source

_NUMBERS = re.compile(r"\s*\d+(?: +\d+)*\s*")


def _detects(source: Source) -> bool:
    """Two lines of whole numbers and a blank line; BicAT's files have no blank lines there."""
    lines = source.head_text.split("\n", 3)
    return len(lines) > 2 and all(map(_NUMBERS.fullmatch, lines[:2])) and not lines[2].strip()


def _read(source: Source, options: Options) -> Document:
    """Read pairs of lines."""
    lines = source.text_lines()
    for n, line in lines:
        if not _NUMBERS.fullmatch(line):
            raise source.fault(f"whole numbers separated by blanks are needed, found {line.strip()[:60]!r}.", n)
    if len(lines) % 2:
        raise source.fault("the columns of this bicluster are missing. Is the file truncated?", lines[-1][0])
    members: list[Members] = [(lines[k][1].split(), lines[k + 1][1].split()) for k in range(0, len(lines), 2)]
    return Document(members, "token", lines=[n for n, _ in lines[::2]])


FORMAT = Format("opsm", "OPSM (BicAT's program)", (), _detects, _read, rank=1, note="numbers only")
