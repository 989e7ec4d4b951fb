"""Heatmaps of a matrix with its biclusters outlined."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bivaluate._arrange import block_order, runs, stacking_order
from bivaluate._errors import MissingExtraError
from bivaluate._types import Axes, Figure, Floats, Ints
from bivaluate.matrix import Matrix
from bivaluate.plots import style
from bivaluate.solution import Biclustering

Run = tuple[int, int]


@style.styled
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
    """Draw the matrix with the rows of its biclusters stacked at the top, each outlined in black.

    Parameters
    ----------
    X : array-like of shape (rows, columns)
    solution : Biclustering
    ax : Axes, optional
    title : str
    limit : float, optional
        Colours run from -limit to limit, from 0 where no cell is below; by default the largest absolute value without
        the 1 % most extreme cells.
    n_rows : int, optional
        Draw only this many rows from the top; by default all.
    colour_bar : bool

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    plot_solution_heatmap

    Examples
    --------
    >>> len(plot_heatmap(X, Biclustering([([1, 3], [0, 1])], shape=(5, 6))).patches)
    1
    """
    values = np.asarray(X, dtype=np.float64)
    order = stacking_order(solution)[:n_rows]
    if limit is None:
        limit = float(np.nanquantile(np.abs(values), 0.99)) or 1.0
    ax = style.new_axes(ax, 3.5, 4.2)
    image = _draw(ax, values[order], 0.0 if np.nanmin(values) >= 0 else -limit, limit)
    names: dict[float, list[str]] = {}  # by where they stand; biclusters on the same rows are named side by side
    for k, bicluster in enumerate(solution):
        row_runs = _places(order, bicluster.rows)
        _outline(ax, row_runs, runs(bicluster.cols), edgecolor=style.OUTLINE, linewidth=0.9)
        if row_runs:
            top, bottom = row_runs[0]
            middle = (top + bottom - 1) / 2
            near = next((place for place in names if abs(place - middle) < 0.03 * len(order)), middle)
            names.setdefault(near, []).append(f"$B_{{{k + 1}}}$")
    beside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center", "annotation_clip": False}
    for place, words in names.items():
        ax.annotate(", ".join(words), (1.0, place), xytext=(3, 0), textcoords="offset points", **beside)
    ax.set(xlabel="columns", ylabel="rows, biclusters first", title=title, xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    if colour_bar:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.5, pad=0.09, aspect=18, extend="both")
        bar.outline.set_visible(False)
        bar.set_label("value")
    return ax


@style.styled
def plot_solution_heatmap(X: Any, solution: Biclustering, ax: Axes | None = None) -> Axes:
    """Draw the matrix with rows and columns reordered so that biclusters stand as blocks, outlined and named.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix
        The matrix; missing cells stay blank.
    solution : Biclustering
    ax : Axes, optional

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    plot_heatmap

    Examples
    --------
    >>> plot_solution_heatmap(X, S).get_ylabel()
    '5 rows'
    """
    matrix, solution, rows, cols = _ordered(X, solution)
    ax = style.new_axes(ax, 5.0, 5.0)
    _draw(ax, matrix.values[np.ix_(rows, cols)], *_reach(matrix.values))
    for k, bicluster in enumerate(solution):
        colour = style.series_colour(k)
        row_runs, col_runs = _places(rows, bicluster.rows), _places(cols, bicluster.cols)
        _outline(ax, row_runs, col_runs, edgecolor=colour, linewidth=1.6)
        (top, _), (left, _) = (max(side, key=lambda run: run[1] - run[0]) for side in (row_runs, col_runs))
        box = {"facecolor": colour, "edgecolor": "none", "pad": 1.5}
        look: dict[str, Any] = {"va": "top", "fontsize": 8, "color": "white", "bbox": box}
        ax.annotate(solution.names[k], (left - 0.5, top - 0.5), xytext=(3, -3), textcoords="offset points", **look)
    height, width = (f"{n} {noun}" for n, noun in zip(matrix.shape, matrix.nouns, strict=True))
    ax.set(xticks=[], yticks=[], xlabel=width, ylabel=height)
    return ax


@style.styled
def plot_annotated_heatmap(X: Any, solution: Biclustering, *, width: float = 4.0, height: float = 5.0) -> Figure:
    """Draw the matrix with a track for every bicluster beside its rows and above its columns; overlaps stay visible.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix
        The matrix; missing cells stay blank.
    solution : Biclustering
        Its biclusters; they may overlap.
    width, height : float, default=4.0, 5.0
        Size of the matrix itself, in inches; tracks are added to it.

    Returns
    -------
    Figure
        A figure of its own; its first axes hold the matrix.

    Raises
    ------
    MissingExtraError
        If marsilea is not installed.

    See Also
    --------
    plot_solution_heatmap

    Examples
    --------
    >>> figure = plot_annotated_heatmap(X, S)  # doctest: +SKIP
    """
    try:
        from marsilea import Heatmap
        from marsilea.plotter import Colors
    except ImportError:
        raise MissingExtraError("a heatmap with annotation tracks", "marsilea") from None
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    matrix, solution, rows, cols = _ordered(X, solution)
    low, high = _reach(matrix.values)
    look: dict[str, Any] = {"cmap": _colours(low), "vmin": low, "vmax": high, "legend": False, "rasterized": True}
    board = Heatmap(matrix.values[np.ix_(rows, cols)], width=width, height=height, **look)
    sides = (("left", solution.row_masks, rows, "bottom"), ("top", solution.col_masks, cols, "left"))
    for side, masks, order, place in sides:
        for k, mask in enumerate(masks):
            member = np.where(mask[order], "in", "out")
            palette = {"in": style.series_colour(k), "out": style.FAINT}
            words = {"label": solution.names[k], "label_loc": place, "label_props": {"fontsize": 7}}
            getattr(board, f"add_{side}")(Colors(member, palette=palette, **words), size=0.14, pad=0.03, legend=False)
    board.add_pad("right", 0.9)
    figure = style.new_figure(width, height)
    figure.set_layout_engine(None)
    FigureCanvasAgg(figure)  # marsilea measures texts before it draws
    board.render(figure)
    ax = board.get_main_ax()
    bar = figure.colorbar(ax.collections[0], cax=ax.inset_axes((1.04, 0.68, 0.035, 0.32)), extend="both")
    bar.outline.set_visible(False)
    bar.set_label("value")
    return figure


def _ordered(X: Any, solution: Biclustering) -> tuple[Matrix, Biclustering, Ints, Ints]:
    """Return matrix and solution, and the orders of rows and columns in which biclusters stand as blocks."""
    matrix = Matrix.of(X, missing="omit")
    solution = solution.with_shape(matrix.shape)
    masks = solution.row_masks, solution.col_masks
    return matrix, solution, block_order(*masks)[0], block_order(*masks[::-1])[0]


def _reach(values: Floats) -> tuple[float, float]:
    """Return the ends of the colours: as far from the median on either side, but from 0 where no cell is below."""
    low, middle, high = np.nanpercentile(values, [2, 50, 98])
    reach = max(high - middle, middle - low) or 1.0
    if np.nanmin(values) >= 0 > middle - reach:
        return 0.0, float(high or np.nanmax(values) or 1.0)
    return float(middle - reach), float(middle + reach)


def _colours(low: float) -> str:
    """Return the colours of a matrix: one direction where they begin at 0."""
    return style.SEQUENTIAL if low == 0 else style.DIVERGING


def _draw(ax: Axes, values: Floats, low: float, high: float) -> Any:
    look: dict[str, Any] = {"cmap": _colours(low), "vmin": low, "vmax": high, "interpolation": "nearest"}
    return ax.imshow(values, aspect="auto", rasterized=True, **look)


def _places(order: Ints, members: Ints) -> list[Run]:
    """Return where members stand in an order, as runs; members that are not drawn are left out."""
    return runs(np.flatnonzero(np.isin(order, members)))


def _outline(ax: Axes, rows: Iterable[Run], cols: Iterable[Run], **look: Any) -> None:
    from matplotlib.patches import Rectangle

    cols = list(cols)
    for top, bottom in rows:
        for left, right in cols:
            ax.add_patch(Rectangle((left - 0.5, top - 0.5), right - left, bottom - top, fill=False, **look))
