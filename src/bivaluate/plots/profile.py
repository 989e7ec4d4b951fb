"""A bicluster as the virtual error sees it: its standardised rows against the virtual pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bivaluate._arrange import spaced
from bivaluate.measures.virtual_error import standardised_profile
from bivaluate.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@style.styled
def plot_profile(A: Any, ax: Axes | None = None, *, name: str = "B1", max_rows: int = 60) -> Axes:
    """Draw the standardised rows of a bicluster (thin) and its virtual pattern (bold).

    Parameters
    ----------
    A : array-like of shape (rows, columns)
        The values of the bicluster.
    ax : Axes, optional
        Where to draw; a new figure if not given.
    name : str
        What the bicluster is called.
    max_rows : int
        Draw at most this many rows, evenly spaced.

    Returns
    -------
    Axes
        The axes drawn on.

    Examples
    --------
    >>> ax = plot_profile([[1, 2, 4], [2, 3, 5.5]], name="B2")
    >>> len(ax.lines)
    3
    """
    ax = style.new_axes(ax, 3.2, 2.2)
    rows, pattern = standardised_profile(A)
    for i in spaced(len(rows), max_rows):
        ax.plot(rows[i], color=style.QUIET, lw=0.7, alpha=0.55)
    ax.plot(pattern, color=style.BLUE, lw=2.2)
    ax.set_title(f"{name}: {rows.shape[0]} rows × {rows.shape[1]} columns", loc="left", fontsize=9)
    ax.set(xlabel="columns", ylabel="standardised value", xticks=[])
    return ax
