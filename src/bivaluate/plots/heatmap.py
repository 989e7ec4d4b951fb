"""Heatmap of a matrix with its biclusters outlined, rows ordered so that the biclusters stack at the top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bivaluate.plots.style import DIVERGING, OUTLINE, new_axes, styled
from bivaluate.solution import Biclustering

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@styled
def plot_heatmap(
    X: ArrayLike,
    solution: Biclustering,
    *,
    ax: Axes | None = None,
    title: str = "",
    limit: float | None = None,
    n_rows: int | None = None,
    colour_bar: bool = True,
) -> Axes:
    """Draw the matrix with a black outline round every bicluster's rows and columns.

    Rows are permuted so that the biclusters stack at the top; columns and values stay as they are, so a
    bicluster on scattered columns has one rectangle per run of neighbours.

    Parameters
    ----------
    X, solution
        The matrix and its biclusters.
    limit
        Colours run from -limit to limit; default the largest absolute value but for 1 % of the cells.
    n_rows
        Draw only this many rows from the top; default all.
    colour_bar
        Add a colour bar.

    Examples
    --------
    >>> import numpy as np
    >>> solution = Biclustering([([1, 3], [0, 1])], shape=(4, 3))
    >>> ax = plot_heatmap(np.arange(12.0).reshape(4, 3), solution)
    >>> len(ax.patches)
    1
    """
    from matplotlib.patches import Rectangle

    values = np.asarray(X, dtype=np.float64)
    order = stacking_order(solution)[:n_rows]
    shown = values[order]
    if limit is None:
        limit = float(np.nanquantile(np.abs(values), 0.99)) or 1.0
    ax = new_axes(ax, 3.5, 4.2)
    image = ax.imshow(
        shown, aspect="auto", cmap=DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest", rasterized=True
    )
    place = np.full(values.shape[0], -1)
    place[order] = np.arange(len(order))
    for k, bicluster in enumerate(solution):
        rows = np.sort(place[bicluster.rows])
        row_runs = _runs(rows[rows >= 0])
        for top, height in row_runs:
            for left, width in _runs(bicluster.cols):
                ax.add_patch(
                    Rectangle((left - 0.5, top - 0.5), width, height, fill=False, edgecolor=OUTLINE, linewidth=0.9)
                )
        if row_runs:
            top, height = row_runs[0]
            ax.annotate(
                f"$B_{{{k + 1}}}$",
                (1.0, top - 0.5 + height / 2),
                xycoords=("axes fraction", "data"),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                annotation_clip=False,
            )
    ax.set(xlabel="columns", ylabel="rows, biclusters first", title=title)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    if colour_bar:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.5, pad=0.09, aspect=18, extend="both")
        bar.outline.set_visible(False)
        bar.set_label("value")
    return ax


def stacking_order(solution: Biclustering) -> NDArray[np.int64]:
    """Return an order of all rows: those of B1, then the rest of B2, and so on, then all others.

    Rows a bicluster shares with the next one come last in it, so that overlapping biclusters stay in one piece.

    >>> stacking_order(Biclustering([([2, 4], [0]), ([0, 2], [0])], shape=(5, 1))).tolist()
    [4, 2, 0, 1, 3]
    """
    masks = solution.row_masks
    n_rows = solution.shape[0]
    first = np.where(masks.any(axis=0), masks.argmax(axis=0), len(masks))
    last = np.where(masks.any(axis=0), len(masks) - 1 - masks[::-1].argmax(axis=0), len(masks))
    return np.lexsort((np.arange(n_rows), last, first)).astype(np.int64)


def _runs(positions: Sequence[int] | NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return (start, length) of every run of neighbouring numbers in a sorted sequence."""
    values = np.asarray(positions)
    if len(values) == 0:
        return []
    pieces = np.split(values, np.flatnonzero(np.diff(values) != 1) + 1)
    return [(int(piece[0]), len(piece)) for piece in pieces]
