"""Biclusters and the annotations of their samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bivaluate.plots.style import INK, SEQUENTIAL, new_axes, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

STRONGEST = 10.0  # −log10 q at which the colour ends
MOST_LETTERS = 14


@styled
def plot_traits(table: pd.DataFrame, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw biclusters x traits: the stronger the colour, the smaller q; associations carry the class in words.

    Parameters
    ----------
    table : DataFrame
        What :func:`bivaluate.traits` returned.
    ax : Axes, optional
    title : str

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    bivaluate.traits

    Examples
    --------
    >>> rows = [("B1", "type", "B", 1e-9, "97 % B"), ("B2", "type", "T", 0.4, "")]
    >>> table = pd.DataFrame(rows, columns=["bicluster", "trait", "class", "q", "word"])
    >>> len(plot_traits(table).texts)
    1
    """
    names, columns = (list(dict.fromkeys(table[key])) for key in ("bicluster", "trait"))
    ax = new_axes(ax, 1.2 + 1.0 * len(columns), 0.5 + 0.22 * len(names))
    shade = np.full((len(names), len(columns)), np.nan)
    for row in table.to_dict("records"):
        place = names.index(row["bicluster"]), columns.index(row["trait"])
        q = float(row["q"])
        shade[place] = math.nan if math.isnan(q) else min(-math.log10(max(q, 1e-300)), STRONGEST)
        if row["word"]:
            text = str(row["class"])
            text = text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
            dark = shade[place] > STRONGEST / 2
            ax.text(place[1], place[0], text, ha="center", va="center", fontsize=6.0, color="white" if dark else INK)
    image = ax.imshow(shade, cmap=SEQUENTIAL, vmin=0.0, vmax=STRONGEST, aspect="auto")
    ax.figure.colorbar(image, ax=ax, label="−log₁₀ q", shrink=0.8)
    ax.set_xticks(range(len(columns)), columns, rotation=30, ha="right")
    ax.set_yticks(range(len(names)), names)
    ax.set_title(title)
    ax.tick_params(length=0)
    return ax
