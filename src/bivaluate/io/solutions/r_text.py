"""R biclust ``writeBiclusterResults`` text and its relatives (rqubic, BcDiag, BicOverlapper .bic, JBiclustGE .bic)."""

import re
from collections.abc import Sequence
from pathlib import Path

from bivaluate._errors import FormatError, SolutionError
from bivaluate._files import text_target
from bivaluate.io.formats import Document, Format, Members, Options, Source, indices, numbered

SIZES = re.compile(r"\s*(?:B\d+:)?(\d{1,9})([ \t;,]+)(\d{1,9})\s*")
_LONGEST_NAME = 12  # words
_MAX_TITLES = 3
# No biclusters: their number and a title, or what R leaves behind when it counts from 1 to 0 and its masks are one NA.
_NONE = re.compile(r"0\n[^\W\d_].*|.+\n1[ \t;,]1\nNA\nNA\n0[ \t;,]0")


def fits(text: str) -> bool:
    """Whether sizes near the top are followed by exactly as many rows and columns, or there are said to be none."""
    lines = [line for _, line in numbered(text)]
    for at, line in enumerate(lines[: _MAX_TITLES + 1]):
        sizes = SIZES.fullmatch(line)
        if sizes and at + 2 < len(lines):
            counts = [len(words.strip().split(sizes[2][0])) for words in lines[at + 1 : at + 3]]
            return counts == [int(sizes[1]), int(sizes[3])]
    return _holds_none(numbered(text))


def parse_biclusters(lines: Sequence[tuple[int, str]], source: Source, options: Options, base: int) -> Document:
    """Parse numbered, non-blank lines that begin with the sizes of the first bicluster."""
    X = options.X
    known = (None, None) if X is None else (X.row_labels, X.col_labels)
    members: list[Members] = []
    for at in range(0, len(lines), 3):
        n, text = lines[at]
        sizes = SIZES.fullmatch(text)
        if sizes is None:
            found = text.strip()[:60]
            raise source.fault(f"the sizes of a bicluster are needed here (rows columns), found {found!r}.", n)
        if not int(sizes[1]) or not int(sizes[3]):
            raise source.fault(f"the bicluster is empty ({int(sizes[1])} x {int(sizes[3])}).", n)
        if at + 2 >= len(lines):
            raise source.fault("the file ends within this bicluster; rows and columns must follow its sizes.", n)
        rows = _names(lines[at + 1], int(sizes[1]), sizes[2][0], known[0], "rows", source)
        cols = _names(lines[at + 2], int(sizes[3]), sizes[2][0], known[1], "columns", source)
        members.append((rows, cols))
    if not members:
        raise FormatError(f"{source.name} holds no bicluster.")
    return Document(members, "token", base=base, lines=[n for n, _ in lines[::3]])


def _names(
    line: tuple[int, str], count: int, delimiter: str, known: Sequence[str] | None, what: str, source: Source
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
    hint = "" if known is not None else " Names that hold the delimiter can be separated when the matrix is given."
    raise source.fault(f"{count} {what} announced, {len(words)} found.{hint}", n)


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


def _start(lines: Sequence[tuple[int, str]]) -> int | None:
    """Return where the sizes of the first bicluster stand, after at most three lines of title."""
    return next((at for at, (_, text) in enumerate(lines[: _MAX_TITLES + 1]) if SIZES.fullmatch(text)), None)


def _holds_none(lines: Sequence[tuple[int, str]]) -> bool:
    return bool(_NONE.fullmatch("\n".join(text.strip() for _, text in lines[:6])))


def _read(source: Source, options: Options) -> Document:
    """Read the biclusters after the title lines."""
    lines = source.text_lines()
    start = _start(lines)
    if _holds_none(lines) or (start is None and len(lines) == 1):
        document = Document([], "token")
    elif start is None:
        raise source.fault("after the title the sizes of the first bicluster are needed (rows columns).", lines[1][0])
    else:
        document = parse_biclusters(lines[start:], source, options, FORMAT.index_base)
    titles = [text.strip() for _, text in lines[:start]]
    counts = [int(title) for title in titles if indices([title])]
    if counts:
        source.check_count(counts[0], len(document.members), "biclusters", lines[0][0])
    title = next((title for title in titles if not title.isdigit()), None)
    if title:
        document.info["title"] = title[:200]
    return document


def _write(document: Document, path: Path) -> None:
    """Write names where they are known, else positions counted from 1; tabs where a name holds a blank."""
    if document.by == "index" and document.labels is None:
        pairs = [([str(i + 1) for i in rows], [str(j + 1) for j in cols]) for rows, cols in document.members]
    else:
        pairs = [([*map(str, rows)], [*map(str, cols)]) for rows, cols in document.labels or document.members]
    words = [word for pair in pairs for side in pair for word in side]
    delimiter = next((d for d in " \t;," if not any(d in word for word in words)), None)
    if delimiter is None or any("\n" in word or not word.strip() for word in words):
        raise SolutionError("R text cannot hold these labels: some are empty or hold every delimiter.")
    title = str(document.info.get("title") or document.info.get("algorithm") or "bivaluate").split("\n")[0]
    if SIZES.fullmatch(title) or not title.strip() or title.strip().isdigit():
        title = f"biclusters {title}".strip()
    with text_target(path) as stream:
        stream.write(f"{title}\n" if pairs else f"0\n{title}\n")
        for rows, cols in pairs:
            stream.write(f"{len(rows)}{delimiter}{len(cols)}\n{delimiter.join(rows)}\n{delimiter.join(cols)}\n")


def _detects(source: Source) -> bool:
    lines = numbered(source.head_text)
    return _start(lines) is not None or _holds_none(lines)


def _nearly(source: Source) -> str:
    is_line = not source.array_names() and len(numbered(source.head_text)) == 1
    return "A single line is what R's writeBiclusterResults leaves of no biclusters: that is r-text." if is_line else ""


_NAMED = ("r-text", "R biclust text (writeBiclusterResults, .bic)", (".txt", ".bic"))
_NOTE = "also of rqubic, BcDiag, BicOverlapper and JBiclustGE"
FORMAT = Format(*_NAMED, _detects, _read, _write, index_base=1, note=_NOTE, rank=3, nearly=_nearly, members="label")
