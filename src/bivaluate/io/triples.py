"""The grammar R biclust, BicOverlapper and BicAT share: three lines per bicluster, sizes, rows, columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bivaluate._document import Document, Members
from bivaluate._errors import FormatError
from bivaluate.io.options import SolutionOptions

SIZES = re.compile(r"\s*(?:B\d+:)?(\d{1,9})([ \t;,]+)(\d{1,9})\s*")
_LONGEST_NAME = 12


def parse(lines: Sequence[tuple[int, str]], name: str, base: int, options: SolutionOptions) -> Document:
    """Parse numbered, non-blank lines that begin with the sizes of the first bicluster."""
    X = options.X
    known = (None, None) if X is None else (X.row_labels, X.col_labels)
    members: list[Members] = []
    starts = []
    at = 0
    while at < len(lines):
        n, text = lines[at]
        sizes = SIZES.fullmatch(text)
        if sizes is None:
            raise FormatError(
                f"{name}, line {n}: the sizes of a bicluster are needed here (rows columns), found {text.strip()[:60]!r}."
            )
        counts = int(sizes[1]), int(sizes[3])
        if not all(counts):
            raise FormatError(f"{name}, line {n}: the bicluster is empty ({counts[0]} x {counts[1]}).")
        if at + 2 >= len(lines):
            raise FormatError(
                f"{name}, line {n}: the file ends within this bicluster; rows and columns must follow its sizes."
            )
        delimiter = sizes[2][0]
        pair = [
            _names(lines[at + 1 + axis], counts[axis], delimiter, known[axis], ("rows", "columns")[axis], name)
            for axis in (0, 1)
        ]
        members.append((pair[0], pair[1]))
        starts.append(n)
        at += 3
    if not members:
        raise FormatError(f"{name} holds no bicluster.")
    return Document(members, "token", base=base, lines=starts)


def _names(
    line: tuple[int, str], count: int, delimiter: str, known: Sequence[str] | None, what: str, name: str
) -> list[str]:
    n, text = line
    for candidate in dict.fromkeys([delimiter, "\t", ";", ",", None]):
        words = [word.strip() for word in text.strip().strip(candidate).split(candidate)]
        if len(words) == count and all(words):
            return words
    words = text.strip().split(delimiter)
    joined = None if known is None else _joined(words, delimiter, frozenset(known))
    if joined is not None and len(joined) == count:
        return joined
    hint = "" if known is not None else " Names that hold the delimiter can be told apart with the matrix given."
    raise FormatError(f"{name}, line {n}: {count} {what} announced, {len(words)} found.{hint}")


def _joined(words: Sequence[str], delimiter: str, known: frozenset[str]) -> list[str] | None:
    """Join neighbouring words into known names, the longest first."""
    names, at = [], 0
    while at < len(words):
        for length in range(min(_LONGEST_NAME, len(words) - at), 0, -1):
            candidate = delimiter.join(words[at : at + length]).strip()
            if candidate in known:
                names.append(candidate)
                at += length
                break
        else:
            return None
    return names


def numbered(text: str) -> list[tuple[int, str]]:
    """Return the non-blank lines with their numbers."""
    return [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]


def fits(text: str) -> bool:
    """Whether sizes near the top are followed by exactly as many rows and columns."""
    lines = [line for _, line in numbered(text)]
    for at, line in enumerate(lines[:4]):
        sizes = SIZES.fullmatch(line)
        if sizes and at + 2 < len(lines):
            counts = [len(words.strip().split(sizes[2][0])) for words in lines[at + 1 : at + 3]]
            return counts == [int(sizes[1]), int(sizes[3])]
    return False
