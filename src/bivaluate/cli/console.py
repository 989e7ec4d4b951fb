"""Where commands print: results to standard output, everything else to standard error."""

from __future__ import annotations

from rich.console import Console

out = Console(highlight=False, soft_wrap=False)
err = Console(stderr=True, highlight=False)


def number(value: float | None, digits: int = 4) -> str:
    """Return a number for a table: four significant digits, a dash for undefined."""
    if value is None or value != value:
        return "–"
    if isinstance(value, int):
        return str(value)
    return f"{value:.{digits}g}"
