"""QUBIC, QUBIC2 and UniBic ``.blocks``: members by name."""

from __future__ import annotations

import re

from bivaluate._document import Document, Members
from bivaluate._errors import FormatError
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source

KEY = "qubic"
NAME = "QUBIC, QUBIC2, UniBic .blocks"
EXTENSIONS = (".blocks",)
INDEX_BASE = 0

_BLOCK = re.compile(r"BC\d+\s+S=\d+")
_SIDE = re.compile(r"\s*(Genes|Conds)\s*\[(\d{1,9})\]:(.*)")


def detects(source: Source) -> bool:
    """By a line ``BC000 S=32``."""
    return re.search(r"^BC\d+\s+S=\d+", source.head_text, re.MULTILINE) is not None


def read(source: Source, options: SolutionOptions) -> Document:
    """Read the names of each block; the value lines are not needed."""
    members: list[Members] = []
    starts: list[int] = []
    open_block: dict[str, list[str]] | None = None
    for n, line in enumerate(source.text().split("\n"), start=1):
        if _BLOCK.match(line):
            _close(open_block, members, starts, source.name)
            open_block = {}
            starts.append(n)
            continue
        side = _SIDE.fullmatch(line)
        if side is None:
            continue
        if open_block is None:
            raise FormatError(f"{source.name}, line {n}: {side[1]} stand before the first block (BC000 S=…).")
        names = side[3].split()
        if len(names) != int(side[2]):
            raise FormatError(
                f"{source.name}, line {n}: {side[2]} {side[1].lower()} announced, {len(names)} found. Is the file truncated?"
            )
        open_block.setdefault(side[1], names)
    _close(open_block, members, starts, source.name)
    if not members:
        raise FormatError(f"{source.name} holds no block (BC000 S=…).")
    return Document(members, "token", lines=starts, base=INDEX_BASE)


def _close(block: dict[str, list[str]] | None, members: list[Members], starts: list[int], name: str) -> None:
    if block is None:
        return
    for side in ("Genes", "Conds"):
        if not block.get(side):
            raise FormatError(f"{name}, line {starts[-1]}: this block has no line '{side} [n]: …'.")
    members.append((block["Genes"], block["Conds"]))
