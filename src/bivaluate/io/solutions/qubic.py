"""QUBIC, QUBIC2 and UniBic ``.blocks``: members by name."""

import re

from bivaluate.io.formats import Document, Format, FormatError, Options, Source
from bivaluate.io.members import document_of_blocks

_HEADER = re.compile(r"^# (QUBIC|UniBic)\S* version\b", re.IGNORECASE)  # all there is where nothing was found
_BLOCK = re.compile(r"^BC\d+\s+S=\d+", re.MULTILINE)
_SIDE = re.compile(r"\s*(Genes|Conds)\s*\[(\d{1,9})\]:(.*)")


def _read(source: Source, options: Options) -> Document:
    """Read the names of each block; the value lines are not needed."""
    blocks: list[tuple[int, dict[str, list[str]]]] = []
    lines = source.text_lines()
    for n, line in lines:
        if _BLOCK.match(line):
            blocks.append((n, {}))
        elif side := _SIDE.fullmatch(line):
            if not blocks:
                raise source.fault(f"{side[1]} appear before the first block (BC000 S=…).", n)
            names = side[3].split()
            source.check_count(int(side[2]), len(names), side[1].lower(), n)
            blocks[-1][1].setdefault(side[1], names)
    if not blocks and not (_HEADER.match(source.head_text) and all(line.startswith("#") for _, line in lines)):
        raise FormatError(f"{source.name} holds no block (BC000 S=…).")
    return document_of_blocks(blocks, ("Genes", "Conds"), "this block has no line '{} [n]: …'.", source)


def _detects(source: Source) -> bool:
    return (_BLOCK.search(source.head_text) or _HEADER.match(source.head_text)) is not None


FORMAT = Format("qubic", "QUBIC, QUBIC2, UniBic .blocks", (".blocks",), _detects, _read)
