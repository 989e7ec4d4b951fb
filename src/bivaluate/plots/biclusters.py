"""The biclusters of one solution: sizes, rows against the virtual pattern, mergers, what they share, their evidence."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from bivaluate._arrange import spaced
from bivaluate._check import check_choice, check_int
from bivaluate._types import Axes, DataFrame, Figure
from bivaluate.matrix import Matrix
from bivaluate.measures.cover import Cover
from bivaluate.measures.virtual_error import standardised_profile
from bivaluate.plots import style
from bivaluate.solution import Biclustering

STRONGEST = 10.0  # −log10 q at which the colour ends
MOST_LETTERS = 14


@style.styled
def plot_sizes(solution: Biclustering, ax: Axes | None = None) -> Axes:
    """Draw each bicluster at its number of columns and rows; one row or one column is marked as undefined.

    Parameters
    ----------
    solution : Biclustering
    ax : Axes, optional

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    plot_solution_heatmap

    Examples
    --------
    >>> [text.get_text() for text in plot_sizes(S).texts]
    ['B1', 'B2', 'B3']
    """
    ax = style.new_axes(ax, 3.6, 3.2)
    for k, bicluster in enumerate(solution):
        n_rows, n_cols = bicluster.shape
        inside, edge = ("none", style.ORANGE) if 1 in bicluster.shape else (style.BLUE, style.BLUE)
        ax.scatter(n_cols, n_rows, s=34, facecolors=inside, edgecolors=edge)
        if len(solution) <= 20:
            ax.annotate(solution.names[k], (n_cols, n_rows), xytext=(4, 3), textcoords="offset points", fontsize=8)
    ax.set(xscale="log", yscale="log", xlabel="columns", ylabel="rows")
    ax.set_xlim(0.8, solution.shape[1] * 1.4)
    ax.set_ylim(0.8, solution.shape[0] * 1.4)
    return ax


@style.styled
def plot_profile(A: Any, ax: Axes | None = None, *, name: str = "B1", max_rows: int = 60) -> Axes:
    """Draw the standardised rows of a bicluster (thin) and its virtual pattern (bold).

    Parameters
    ----------
    A : array-like of shape (rows, columns)
        The values of the bicluster.
    ax : Axes, optional
    name : str
    max_rows : int
        Draw at most this many rows, evenly spaced.

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    plot_profiles

    Examples
    --------
    >>> len(plot_profile([[1, 2, 4], [2, 3, 5.5]], name="B2").lines)
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


@style.styled
def plot_profiles(X: Any, solution: Biclustering, *, most: int = 12, max_rows: int = 60) -> Figure:
    """Draw the profiles of the biclusters side by side, one panel each on a common scale.

    Parameters
    ----------
    X : array-like, DataFrame or Matrix
    solution : Biclustering
    most : int, default=12
        Draw at most this many, the first ones.
    max_rows : int, default=60
        Draw at most this many rows of each, evenly spaced.

    Returns
    -------
    Figure
        One Axes per bicluster.

    Raises
    ------
    ParameterError
        If `most` is less than 1.

    See Also
    --------
    plot_profile

    Examples
    --------
    >>> len(plot_profiles(X, S).axes)
    3
    """
    check_int("most", most, 1)
    matrix = Matrix.of(X, missing="omit")
    shown = list(solution.with_shape(matrix.shape))[:most]
    n_cols = min(3, max(len(shown), 1))
    n_rows = -(-max(len(shown), 1) // n_cols)
    figure, axes = style.new_grid(n_rows, n_cols, 2.5 * n_cols, 1.9 * n_rows, sharey=True)
    for k, (ax, bicluster) in enumerate(zip(axes, shown, strict=False)):
        plot_profile(bicluster.of(matrix.values), ax, name=solution.names[k], max_rows=max_rows)
        ax.label_outer()
    for ax in axes[len(shown) :]:
        ax.remove()
    return figure


@style.styled
def plot_mergers(
    mergers: Any, pairs: Sequence[tuple[int, int]] = (), *, names: Sequence[str] = (), ax: Axes | None = None
) -> Axes:
    """Draw the merger matrix; lighter is more coherent, and rings mark the pairs given.

    Parameters
    ----------
    mergers : array-like of shape (K, K)
        Virtual errors of all mergers, of the biclusters themselves on the diagonal.
    pairs : sequence of (int, int)
        Redundant pairs (counted from 0), as :func:`bivaluate.judge.redundancy.redundant_groups` finds them.
    names : sequence of str
        The biclusters, such as ``solution.names``; B1, B2, … by default.
    ax : Axes, optional

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    bivaluate.evaluate

    Examples
    --------
    >>> len(plot_mergers([[0.30, 0.31], [0.31, 0.31]], [(0, 1)]).patches)
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
        style.write_cells(ax, errors, np.nanmax(errors, initial=0.0) / 2)
        names = names or [f"B{k + 1}" for k in range(len(errors))]
        ax.set(xticks=range(len(errors)), yticks=range(len(errors)), xticklabels=names, yticklabels=names)
    ax.figure.colorbar(image, ax=ax, label=f"{style.measure_label('ve')} after merging")
    return ax


@style.styled
def plot_overlap_network(solution: Biclustering, ax: Axes | None = None) -> Axes:
    """Draw biclusters as circles sized by their cells, joined by lines as wide as the cells two of them share.

    Parameters
    ----------
    solution : Biclustering
    ax : Axes, optional

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    plot_upset

    Examples
    --------
    >>> S = Biclustering([([0, 1], [0, 1]), ([1, 2], [1, 2]), ([5], [5])], shape=(9, 9))
    >>> len(plot_overlap_network(S).lines)
    1
    """
    ax = style.new_axes(ax, 3.6, 3.6)
    cover = Cover(solution)
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(solution)) / max(len(solution), 1)
    x, y = np.cos(angles), np.sin(angles)
    largest = max((b.size for b in solution), default=1)
    for i, j in combinations(range(len(solution)), 2):
        if cover.shared_cells(i, j):
            width = 0.6 + 7 * float(cover.jaccard(i, j))
            ax.plot(x[[i, j]], y[[i, j]], color=style.QUIET, linewidth=width, alpha=0.6, zorder=1)
    sizes = [80 + 700 * b.size / largest for b in solution]
    ax.scatter(x, y, s=sizes, color=[style.series_colour(k) for k in range(len(solution))], zorder=2, edgecolor="white")
    for k, name in enumerate(solution.names):
        ax.annotate(name, (1.28 * x[k], 1.28 * y[k]), ha="center", va="center", fontsize=8)
    ax.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal")
    ax.axis("off")
    return ax


@style.styled
def plot_upset(solution: Biclustering, ax: Axes | None = None, *, side: str = "rows", most: int = 15) -> Axes:
    """Draw how many rows (or columns) lie in exactly which biclusters, the most frequent combinations first.

    Parameters
    ----------
    solution : Biclustering
    ax : Axes, optional
    side : {"rows", "columns"}, default="rows"
    most : int, default=15
        How many combinations to show.

    Returns
    -------
    Axes
        The axes with the bars; the dots stand below them.

    Raises
    ------
    ParameterError
        If `side` is neither, or `most` is less than 1.

    See Also
    --------
    plot_overlap_network

    Examples
    --------
    >>> S = Biclustering([([0, 1, 2], [0, 1]), ([2, 3], [1, 2])], shape=(9, 9))
    >>> [int(bar.get_height()) for bar in plot_upset(S).patches]
    [2, 1, 1]
    """
    check_choice("side", side, ("rows", "columns"))
    check_int("most", most, 1)
    masks = solution.row_masks if side == "rows" else solution.col_masks
    counts = Counter(tuple(np.flatnonzero(column).tolist()) for column in masks.T if column.any())
    shown = sorted(counts.items(), key=lambda item: (-item[1], len(item[0]), item[0]))[:most]
    ax = style.new_axes(ax, 0.3 * len(shown) + 1.6, 1.8 + 0.2 * len(solution))
    ax.axis("off")
    share = min(0.6, 0.11 * len(solution))
    bars, dots = ax.inset_axes((0.12, share + 0.04, 0.88, 0.96 - share)), ax.inset_axes((0.12, 0.0, 0.88, share))
    places = np.arange(len(shown))
    bars.bar(places, [count for _, count in shown], color=style.BLUE, width=0.7)
    for place, (members, count) in zip(places, shown, strict=True):
        bars.annotate(str(count), (place, count), xytext=(0, 2), textcoords="offset points", ha="center", fontsize=7)
        dots.scatter([place] * len(solution), range(len(solution)), s=22, color=style.RULE)
        dots.plot([place] * len(members), members, "o-", color=style.INK, markersize=4.5)
    bars.set(ylabel=side, xticks=[])
    dots.set(ylim=(len(solution) - 0.4, -0.6), xticks=[])
    dots.set_yticks(range(len(solution)), solution.names)
    dots.tick_params(left=False)
    for part in (bars, dots):
        part.set_xlim(-0.6, max(len(shown), 1) - 0.4)
    dots.spines[:].set_visible(False)
    return bars


@style.styled
def plot_evidence(biclusters: Any, ax: Axes | None = None) -> Axes:
    """Draw the evidence of each bicluster, labelled by its pattern; what has evidence above 0 is green.

    Parameters
    ----------
    biclusters : DataFrame
        With the columns bicluster, evidence and pattern: ``evaluate(X, solution).biclusters``.
    ax : Axes, optional

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    bivaluate.evidence_table

    Examples
    --------
    >>> table = pd.DataFrame({"bicluster": ["B1", "B2"], "evidence": [90.0, -4.0], "pattern": ["shifted mean", "none"]})
    >>> [text.get_text() for text in plot_evidence(table).texts]
    ['shifted mean', 'none']
    """
    values = np.nan_to_num(biclusters["evidence"].to_numpy(dtype=np.float64))
    ax = style.new_axes(ax, 3.6, 0.22 * len(values) + 0.9)
    bars = ax.barh(range(len(values)), values, color=np.where(values > 0, style.GREEN, style.RULE), height=0.7)
    ax.bar_label(bars, biclusters["pattern"].astype(str).tolist(), padding=3, fontsize=7)
    ax.axvline(0.0, color=style.QUIET, linewidth=0.7)
    ax.set_yticks(range(len(values)), biclusters["bicluster"].astype(str))
    ax.invert_yaxis()
    ax.set_xlabel("evidence (nats)")
    ax.margins(x=0.18)
    return ax


@style.styled
def plot_traits(table: DataFrame, *, ax: Axes | None = None, title: str = "") -> Axes:
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
    ax = style.new_axes(ax, 1.2 + 1.0 * len(columns), 0.5 + 0.22 * len(names))
    shade = np.full((len(names), len(columns)), np.nan)
    for row in table.to_dict("records"):
        place = names.index(row["bicluster"]), columns.index(row["trait"])
        q = float(row["q"])
        shade[place] = math.nan if math.isnan(q) else min(-math.log10(max(q, 1e-300)), STRONGEST)
        if row["word"]:
            text = str(row["class"])
            text = text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
            colour = "white" if shade[place] > STRONGEST / 2 else style.INK
            ax.text(place[1], place[0], text, ha="center", va="center", fontsize=6.0, color=colour)
    image = ax.imshow(shade, cmap=style.SEQUENTIAL, vmin=0.0, vmax=STRONGEST, aspect="auto")
    ax.figure.colorbar(image, ax=ax, label="−log₁₀ q", shrink=0.8)
    ax.set_xticks(range(len(columns)), columns, rotation=30, ha="right")
    ax.set_yticks(range(len(names)), names)
    ax.set_title(title)
    ax.tick_params(length=0)
    return ax
