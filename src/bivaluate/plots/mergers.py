"""The merger matrix: what merging two biclusters does to the virtual error, and who is redundant with whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@style.styled
def plot_mergers(mergers: Any, pairs: Sequence[tuple[int, int]] = (), *, ax: Axes | None = None) -> Axes:
    """Draw the merger matrix; lighter is more coherent, and rings mark the pairs given.

    Parameters
    ----------
    mergers : array-like of shape (K, K)
        Virtual errors of all mergers, of the biclusters themselves on the diagonal.
    pairs : sequence of (int, int)
        Redundant pairs (counted from 0), as :func:`bivaluate.judge.redundancy.redundant_groups` finds them.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        The axes drawn on.

    Examples
    --------
    >>> ax = plot_mergers([[0.30, 0.31], [0.31, 0.31]], [(0, 1)])
    >>> len(ax.patches)
    2
    """
    from matplotlib.patches import Circle

    errors = np.asarray(mergers, dtype=np.float64)
    ax = style.new_axes(ax, 4.2, 3.6)
    image = ax.imshow(errors, cmap=style.SEQUENTIAL, vmin=0.0)
    for pair in pairs:
        for place in (pair, pair[::-1]):
            ax.add_patch(Circle(place, 0.42, fill=False, edgecolor=style.ORANGE, lw=1.8))
    if len(errors) <= 15:
        middle = np.nanmax(errors, initial=0.0) / 2
        for (y, x), value in np.ndenumerate(errors):
            if np.isfinite(value):
                colour = "white" if value > middle else "black"
                ax.text(x, y, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
        names = [f"B{k + 1}" for k in range(len(errors))]
        ax.set(xticks=range(len(errors)), yticks=range(len(errors)), xticklabels=names, yticklabels=names)
    ax.figure.colorbar(image, ax=ax, label="VE after merging")
    return ax
