"""Sections a caller adds to the page: a title, words, a table and figures."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bivaluate._errors import FileError, ParameterError

_TYPES = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
}


@dataclass(frozen=True)
class Figure:
    """A picture file (SVG, PNG, JPEG or WebP) with what it shows in words."""

    path: str | Path
    caption: str
    alt: str = ""

    def data_uri(self) -> str:
        """Return the file as a data URI, so that the page needs nothing beside it."""
        path = Path(self.path)
        kind = _TYPES.get(path.suffix.lower())
        if kind is None:
            raise ParameterError(f"{path} is no picture the page can hold; allowed: {', '.join(_TYPES)}.")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror or error}.") from error
        return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


@dataclass(frozen=True)
class Section:
    """A section of its own on the page, after the verdict.

    Parameters
    ----------
    title
        Its heading.
    text
        A paragraph in plain text.
    columns, rows
        A table; a cell may be text, a number or None.
    figures
        Pictures shown below the table.
    marks
        Words that stand out as a coloured label when a cell equals them, with their tone:
        ``good``, ``fair``, ``bad`` or ``muted``.
    """

    title: str
    text: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    figures: Sequence[Figure] = ()
    marks: tuple[tuple[str, str], ...] = ()

    @property
    def anchor(self) -> str:
        """The id of the section on the page."""
        return "section-" + "-".join("".join(c if c.isalnum() else " " for c in self.title.lower()).split())

    def tone(self, cell: Any) -> str:
        """Return the tone of a cell, or nothing."""
        return dict(self.marks).get(str(cell), "")
