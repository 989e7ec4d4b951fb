"""Numbers and lists as sentences show them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def number(value: float) -> str:
    """Return three significant digits; an en dash stands for undefined.

    >>> number(0.81249), number(1234.5), number(float("nan"))
    ('0.812', '1234', '–')
    """
    if not math.isfinite(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percent(share: float) -> str:
    """Return a share in per cent.

    >>> percent(0.433), percent(0.052), percent(0.0027), percent(0.00021)
    ('43 %', '5.2 %', '0.3 %', '0.02 %')
    """
    if not math.isfinite(share):
        return "–"
    value = 100 * share
    if value >= 9.95 or value == 0:
        return f"{value:.0f} %"
    return f"{value:.1f} %" if value >= 0.1 else f"{value:.1g} %"


def listing(items: Sequence[str]) -> str:
    """Join items as a sentence does.

    >>> listing(["B1"]), listing(["B1", "B2"]), listing(["B1", "B2", "B3"])
    ('B1', 'B1 and B2', 'B1, B2 and B3')
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def plural(count: int, thing: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "bicluster"), plural(3, "bicluster"), plural(2000, "row")
    ('1 bicluster', '3 biclusters', '2,000 rows')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
