"""R biclust ``writeBiclusterResults`` text and its relatives (rqubic, BcDiag, BicOverlapper .bic, JBiclustGE .bic).

A title, then three lines per bicluster. Members are names; bare numbers count from 1, as in R.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bivaluate._document import Document
from bivaluate._errors import FormatError, SolutionError
from bivaluate.io import triples
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source

KEY = "r-text"
NAME = "R biclust text (writeBiclusterResults, .bic)"
EXTENSIONS = (".txt", ".bic")
INDEX_BASE = 1
_MAX_TITLES = 3


def detects(source: Source) -> bool:
    """Sizes stand within the first lines, after a title."""
    return _start(triples.numbered(source.head_text)) is not None


def _start(lines: Sequence[tuple[int, str]]) -> int | None:
    for at, (_, text) in enumerate(lines[: _MAX_TITLES + 1]):
        if triples.SIZES.fullmatch(text):
            return at
    return None


def read(source: Source, options: SolutionOptions) -> Document:
    """Read the biclusters after the title lines."""
    lines = triples.numbered(source.text())
    start = _start(lines)
    if start is None:
        raise FormatError(
            f"{source.name}, line {lines[min(1, len(lines) - 1)][0]}: after the title the sizes of the first bicluster "
            "are needed (rows columns)."
        )
    document = triples.parse(lines[start:], source.name, INDEX_BASE, options)
    titles = [text.strip() for _, text in lines[:start]]
    counts = [int(title) for title in titles if title.isascii() and title.isdigit() and len(title) < 10]
    if counts and counts[0] != len(document.members):
        raise FormatError(
            f"{source.name}, line {lines[0][0]}: {counts[0]} biclusters announced, {len(document.members)} found."
        )
    title = next((title for title in titles if not title.isdigit()), None)
    if title:
        document.info["title"] = title[:200]
    return document


def write(document: Document, path: Path) -> None:
    """Write names where they are known, else positions counted from 1; tabs where a name holds a blank."""
    from bivaluate.io.target import text_target

    if document.by == "label" or document.labels is not None:
        pairs = [([str(r) for r in rows], [str(c) for c in cols]) for rows, cols in document.labels or document.members]
    else:
        pairs = [([str(i + 1) for i in rows], [str(j + 1) for j in cols]) for rows, cols in document.members]
    words = [word for pair in pairs for side in pair for word in side]
    delimiter = next((d for d in " \t;," if not any(d in word for word in words)), None)
    if delimiter is None or any("\n" in word or not word.strip() for word in words):
        raise SolutionError("R text cannot hold these labels: some are empty or hold every delimiter.")
    title = str(document.info.get("title") or document.info.get("algorithm") or "bivaluate").split("\n")[0]
    if triples.SIZES.fullmatch(title) or not title.strip() or title.strip().isdigit():
        title = f"biclusters {title}".strip()
    with text_target(path) as stream:
        stream.write(title + "\n")
        for rows, cols in pairs:
            stream.write(f"{len(rows)}{delimiter}{len(cols)}\n")
            stream.write(delimiter.join(rows) + "\n" + delimiter.join(cols) + "\n")
