"""The trade-off plane: how much of the matrix a solution covers against how distinct its biclusters are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@style.styled
def plot_tradeoff(results: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw coverage against NVE, one marker per solution, sized by K; right and low is better.

    Parameters
    ----------
    results : DataFrame
        A table with the columns ``algorithm``, ``k``, ``coverage`` and ``nve``.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        The axes drawn on.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"algorithm": ["cca", "las"], "k": [3, 3], "coverage": [0.4, 0.1], "nve": [0.8, 0.6]})
    >>> plot_tradeoff(table).get_xlabel()
    'coverage (share of cells)'
    """
    ax = style.new_axes(ax, 4.6, 3.4)
    for i, (name, part) in enumerate(results.groupby("algorithm", sort=True)):
        size = 20.0 + 8.0 * np.asarray(part["k"], dtype=np.float64)
        look: dict[str, Any] = {"marker": style.series_marker(i), "color": style.series_colour(i), "alpha": 0.75}
        look |= {"linewidths": 0.5, "edgecolors": "white", "label": str(name)}
        ax.scatter(part["coverage"], part["nve"], s=size, **look)
    ax.axhline(1.0, color=style.QUIET, lw=0.8, ls=":")
    ax.set(xlabel="coverage (share of cells)", ylabel="NVE", xlim=(0.0, None))
    if len(results):
        ax.legend(frameon=False, fontsize=8)
    return ax
