"""BicPAMS: the text of its Java API (members by name) and the HTML of its console (indices from 0)."""

from __future__ import annotations

import re
from itertools import pairwise

from bivaluate._document import Document, Members
from bivaluate._errors import FormatError
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source

KEY = "bicpams"
NAME = "BicPAMS text or HTML"
EXTENSIONS: tuple[str, ...] = ()
INDEX_BASE = 0

_FOUND = re.compile(r"FOUND BICS:#(\d{1,9})")
_LISTS = re.compile(r"Y=\[([^\]]*)\]\s*X=\[([^\]]*)\]")
_SIZES = re.compile(r"\((\d{1,9}),(\d{1,9})\)\s*Y=\[")
_TABLE_ROW = re.compile(r"<tr\b", re.IGNORECASE)
_INTEGERS = re.compile(r"\[([\d,\s]+)\]", re.ASCII)


def detects(source: Source) -> bool:
    """By its headline or its ``Y=[…] X=[…]``; HTML only with a table."""
    text = source.head_text
    return bool(_FOUND.search(text) or _LISTS.search(text)) or _is_html(text)


def _is_html(text: str) -> bool:
    return text.lstrip()[:200].lower().startswith(("<html", "<!doctype html", "<table")) and "<t" in text.lower()


def read(source: Source, options: SolutionOptions) -> Document:
    """Read text or HTML. In the text, Y are the columns and X the rows."""
    text = source.text()
    return _read_html(text, source.name) if _is_html(text) else _read_text(text, source.name)


def _read_text(text: str, name: str) -> Document:
    members: list[Members] = []
    starts: list[int] = []
    announced: int | None = None
    for n, line in enumerate(text.split("\n"), start=1):
        headline = _FOUND.search(line)
        if headline:
            announced = int(headline[1])
            continue
        if not line.strip():
            if members:
                break
            continue
        lists = _LISTS.search(line)
        if lists is None:
            if announced is not None:
                raise FormatError(f"{name}, line {n}: 'Y=[columns] X=[rows]' is needed, found {line.strip()[:60]!r}.")
            continue
        cols, rows = (_words(side) for side in lists.groups())
        if "<too long>" in lists[2]:
            raise FormatError(f"{name}, line {n}: BicPAMS left the rows out (<too long>); use its short listing.")
        sizes = _SIZES.search(line)
        if sizes and (int(sizes[1]), int(sizes[2])) != (len(cols), len(rows)):
            raise FormatError(
                f"{name}, line {n}: {sizes[1]} columns and {sizes[2]} rows announced, {len(cols)} and {len(rows)} found."
            )
        if not rows or not cols:
            raise FormatError(f"{name}, line {n}: the bicluster is empty.")
        members.append((rows, cols))
        starts.append(n)
    if announced is not None and announced != len(members):
        raise FormatError(f"{name}: {announced} biclusters announced, {len(members)} found. Is the file truncated?")
    if not members:
        raise FormatError(f"{name} holds no bicluster ('Y=[columns] X=[rows]').")
    return Document(members, "token", base=INDEX_BASE, lines=starts)


def _words(side: str) -> list[str]:
    return [word.strip() for word in side.split(",") if word.strip()]


def _read_html(text: str, name: str) -> Document:
    members: list[Members] = []
    starts = []
    end = text.lower().find("</table>")
    table = text if end < 0 else text[:end]
    at = [match.start() for match in _TABLE_ROW.finditer(table)]
    for start, stop in pairwise([*at, len(table)]):
        lists = _INTEGERS.findall(table[start:stop])
        if not lists:
            continue
        n = table.count("\n", 0, start) + 1
        if len(lists) != 2:
            raise FormatError(f"{name}, line {n}: a table row needs two lists, rows and columns; {len(lists)} found.")
        words = [side.replace(",", " ").split() for side in lists]
        if not all(words) or any(len(word) > 12 for side in words for word in side):
            raise FormatError(f"{name}, line {n}: rows and columns must be non-empty lists of indices.")
        members.append(([int(word) for word in words[0]], [int(word) for word in words[1]]))
        starts.append(n)
    if not members:
        raise FormatError(f"{name} holds no table of biclusters.")
    return Document(members, "index", base=INDEX_BASE, lines=starts)
