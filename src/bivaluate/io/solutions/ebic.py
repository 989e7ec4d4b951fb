"""EBIC results and UniBic ground truth: ``Bicluster([rows],[columns])`` per line, indices from 0."""

import re

from bivaluate.io.formats import Document, Format, Members, Options, Source

_COUNT = re.compile(r"#?\s*(\d{1,9})")
_LINE = re.compile(r"Bicluster\(\s*\[([^\]]*)\]\s*,\s*\[([^\]]*)\]\s*\)")


def _read(source: Source, options: Options) -> Document:
    """Read the lines and hold their number against the count on top."""
    members: list[Members] = []
    lines = source.text_lines()
    announced = _COUNT.fullmatch(lines[0][1].strip()) if lines else None
    for n, line in lines[announced is not None :]:
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise source.fault(f"'Bicluster([rows],[columns])' is needed, found {line.strip()[:60]!r}.", n)
        members.append(source.index_lists(found.groups(), n))
    if announced:
        source.check_count(int(announced[1]), len(members), "biclusters", lines[0][0])
    return Document(members, "index", lines=[n for n, _ in lines[announced is not None :]])


_BEGINNING = re.compile(r"^Bicluster\(\s*\[", re.MULTILINE)
_NAMED = ("ebic", "EBIC results, UniBic ground truth", (), lambda source: bool(_BEGINNING.search(source.head_text)))
FORMAT = Format(*_NAMED, _read)
