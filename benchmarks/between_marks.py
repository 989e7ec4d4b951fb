"""Tables in pages, between the marks of the script that makes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def print_and_fill(lines: Sequence[str], page: Path | None, name: str) -> None:
    """Print a table, and put it into the page between ``<!-- NAME: begin -->`` and its end where a page is named."""
    print(*lines, sep="\n")
    if page is None:
        return
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.read_text(encoding="utf-8").split(begin)
    page.write_text("\n".join([before + begin, *lines, end]) + rest.split(end)[1], encoding="utf-8")
