"""Where commands print: results to standard output, everything else to standard error.

Square brackets in names and paths are printed as they are, never read as markup.
"""

from __future__ import annotations

from rich.console import Console

WIDE = 200

out = Console(highlight=False, markup=False)
if not out.is_terminal:
    out.width = WIDE
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def number(value: float | None, digits: int = 4) -> str:
    """Return a number for a table: four significant digits, a dash for undefined."""
    if value is None or value != value:
        return "–"
    if isinstance(value, int):
        return str(value)
    return f"{value:.{digits}g}"
