"""How large the biclusters are: rows against columns, both on logarithmic axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bivaluate.plots import style
from bivaluate.solution import Biclustering

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@style.styled
def plot_sizes(solution: Biclustering, ax: Axes | None = None) -> Axes:
    """Draw each bicluster at its number of columns and rows; one row or one column is marked as undefined.

    Parameters
    ----------
    solution : Biclustering
        The biclusters.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        The axes drawn on.

    Examples
    --------
    >>> S = Biclustering([([0, 1, 2], [0, 1]), ([0], [1])], shape=(9, 9))
    >>> [text.get_text() for text in plot_sizes(S).texts]
    ['B1', 'B2']
    """
    ax = style.new_axes(ax, 3.6, 3.2)
    for k, bicluster in enumerate(solution):
        n_rows, n_cols = bicluster.shape
        undefined = n_rows == 1 or n_cols == 1
        inside, edge = ("none", style.ORANGE) if undefined else (style.BLUE, style.BLUE)
        ax.scatter(n_cols, n_rows, s=34, facecolors=inside, edgecolors=edge)
        if len(solution) <= 20:
            ax.annotate(f"B{k + 1}", (n_cols, n_rows), xytext=(4, 3), textcoords="offset points", fontsize=8)
    ax.set(xscale="log", yscale="log", xlabel="columns", ylabel="rows")
    ax.set_xlim(0.8, solution.shape[1] * 1.4)
    ax.set_ylim(0.8, solution.shape[0] * 1.4)
    return ax
