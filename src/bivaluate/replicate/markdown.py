"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table.

    >>> table(["a", "b"], [["1", "x|y"]])
    ['| a | b |', '|---|---|', '| 1 | x\\\\|y |']
    """
    lines = [_line(headings), "|" + "---|" * len(headings)]
    return lines + [_line(row) for row in rows]


def tidy(value: Any) -> str:
    """Return a cell as text: numbers with four significant digits, nothing for undefined.

    >>> tidy(0.123456), tidy(12.0), tidy(float("nan")), tidy("S1"), tidy("0.0021")
    ('0.1235', '12', '', 'S1', '0.0021')
    """
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return str(value)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
