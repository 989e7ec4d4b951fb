"""Per-bicluster diagnostic: NVE of every bicluster of every algorithm, by shade and by size of the cell."""

from collections.abc import Sequence

import numpy as np

from bivaluate._types import Axes, DataFrame
from bivaluate.algorithms.registry import algorithm_label
from bivaluate.plots.style import INK, QUIET, RULE, SEQUENTIAL, measure_label, new_axes, styled

#: NVE_k at which shade and size stop growing.
LIMIT = 1.5


@styled
def plot_nve_map(
    biclusters: DataFrame, n_biclusters: int, *, algorithms: Sequence[str] = (), ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw algorithms as rows and B1 … BK as columns; darker and larger means noisier or less separated.

    Parameters
    ----------
    biclusters : DataFrame
        Rows of a sweep's bicluster table for one data set and seed: ``algorithm``, ``bicluster`` and ``nve_k``.
    n_biclusters : int
    algorithms : sequence of str, optional
        Rows to draw, from the top; by default in the order of the table.
    ax : Axes, optional
    title : str

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    plot_nve_reference

    Examples
    --------
    >>> table = pd.DataFrame({"algorithm": "las", "bicluster": ["B1", "B2"], "nve_k": [0.3, 1.1]})
    >>> len(plot_nve_map(table, 4).patches)
    2
    """
    ax = new_axes(ax, 2.2, 1.2)
    keys = list(algorithms or dict.fromkeys(biclusters["algorithm"]))
    columns = zip(biclusters["algorithm"], biclusters["bicluster"], biclusters["nve_k"], strict=True)
    for algorithm, bicluster, value in columns:
        if algorithm in keys:
            _draw_cell(ax, int(bicluster[1:]) - 1, keys.index(algorithm), float(value))
    ax.set_xticks(range(n_biclusters), [f"$B_{{{k + 1}}}$" for k in range(n_biclusters)])
    ax.set_yticks(range(len(keys)), [algorithm_label(key) for key in keys])
    _frame(ax, n_biclusters, len(keys), title)
    return ax


@styled
def plot_nve_reference(*, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw the scale of shade and size that :func:`plot_nve_map` uses.

    Parameters
    ----------
    ax : Axes, optional
    title : str

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    plot_nve_map

    Examples
    --------
    >>> len(plot_nve_reference().patches)
    6
    """
    ax = new_axes(ax, 0.9, 1.8)
    values = np.linspace(0.25, LIMIT, 6)
    for place, value in enumerate(values):
        _draw_cell(ax, 0, place, float(value), number=False)
    labels = [f"{value:.2f}" for value in values]
    labels[-1] = f"≥ {labels[-1]}"
    ax.set_xticks([0], [measure_label("nve_k")])
    ax.set_yticks(range(len(values)), labels)
    _frame(ax, 1, len(values), title)
    return ax


def _draw_cell(ax: Axes, column: int, row: int, value: float, number: bool = True) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    if np.isnan(value):
        ax.plot(column, row, "x", color=QUIET, markersize=4)
        return
    share = min(value / LIMIT, 1.0)
    side = 0.3 + 0.65 * share
    shade = colormaps[SEQUENTIAL](0.12 + 0.88 * share)
    corner = column - side / 2, row - side / 2
    ax.add_patch(Rectangle(corner, side, side, facecolor=shade, edgecolor=INK, linewidth=0.4))
    if number and side > 0.45:
        colour = "white" if share > 0.45 else INK
        ax.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=5.0, color=colour)


def _frame(ax: Axes, n_cols: int, n_rows: int, title: str) -> None:
    x, y = np.arange(n_cols + 1) - 0.5, np.arange(n_rows + 1) - 0.5
    ax.vlines(x, y[0], y[-1], color=RULE, linewidth=0.5, zorder=0)
    ax.hlines(y, x[0], x[-1], color=RULE, linewidth=0.5, zorder=0)
    ax.set(xlim=(-0.5, n_cols - 0.5), ylim=(n_rows - 0.5, -0.5), aspect="equal", title=title)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
