"""BicPAMS: the text of its Java API (members by name) and the HTML of its console (indices from 0)."""

import re
from itertools import pairwise

from bivaluate.io.formats import Document, Format, FormatError, Members, Options, Source

_FOUND = re.compile(r"FOUND BICS:#(\d{1,9})")
_LISTS = re.compile(r"Y=\[([^\[\]]*)\]\s*X=\[([^\[\]]*)\]")
_SIZES = re.compile(r"\((\d{1,9}),(\d{1,9})\)\s*Y=\[")
_TABLE_ROW = re.compile(r"<tr\b", re.IGNORECASE)
_INTEGERS = re.compile(r"\[([\d,\s]+)\]", re.ASCII)


def _detects(source: Source) -> bool:
    """By its headline or its ``Y=[…] X=[…]``; HTML only with a table."""
    text = source.head_text
    return bool(_FOUND.search(text) or _LISTS.search(text)) or _is_html(text)


def _is_html(text: str) -> bool:
    return text.lstrip()[:200].lower().startswith(("<html", "<!doctype html", "<table")) and "<t" in text.lower()


def _read(source: Source, options: Options) -> Document:
    """Read text or HTML. In the text, Y are the columns and X the rows."""
    text = source.text()
    return _read_html(text, source) if _is_html(text) else _read_text(text, source)


def _read_text(text: str, source: Source) -> Document:
    members: list[Members] = []
    starts: list[int] = []
    announced: int | None = None
    for n, line in enumerate(text.split("\n"), start=1):
        lists = _LISTS.search(line)
        if headline := _FOUND.search(line):
            announced = int(headline[1])
        elif lists is not None:
            members.append(_members(line, lists, n, source))
            starts.append(n)
        elif line.strip() and announced is not None:
            raise source.fault(f"'Y=[columns] X=[rows]' is needed, found {line.strip()[:60]!r}.", n)
        elif not line.strip() and members:
            break  # details follow, which repeat the biclusters
    if announced is not None:
        source.check_count(announced, len(members), "biclusters")
    if not members:
        raise FormatError(f"{source.name} holds no bicluster ('Y=[columns] X=[rows]').")
    return Document(members, "token", lines=starts)


def _members(line: str, lists: re.Match[str], n: int, source: Source) -> Members:
    cols, rows = ([word.strip() for word in side.split(",") if word.strip()] for side in lists.groups())
    if "<too long>" in lists[2]:
        raise source.fault("BicPAMS left the rows out (<too long>); use its short listing.", n)
    if sizes := _SIZES.search(line):
        source.check_count(int(sizes[1]), len(cols), "columns", n)
        source.check_count(int(sizes[2]), len(rows), "rows", n)
    if not rows or not cols:
        raise source.fault("the bicluster is empty.", n)
    return rows, cols


def _read_html(text: str, source: Source) -> Document:
    members: list[Members] = []
    starts = []
    table = re.split("(?i)</table>", text, maxsplit=1)[0]
    at = [match.start() for match in _TABLE_ROW.finditer(table)]
    for start, stop in pairwise([*at, len(table)]):
        lists = _INTEGERS.findall(table[start:stop])
        if not lists:
            continue
        n = table.count("\n", 0, start) + 1
        if len(lists) != 2:
            raise source.fault(f"a table row needs two lists, rows and columns; {len(lists)} found.", n)
        members.append(source.index_lists(lists, n))
        starts.append(n)
    if not members:
        raise FormatError(f"{source.name} holds no table of biclusters.")
    return Document(members, "index", lines=starts)


FORMAT = Format("bicpams", "BicPAMS text or HTML", (), _detects, _read)
