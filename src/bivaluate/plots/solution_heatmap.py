"""The matrix with its rows and columns reordered so that biclusters stand as outlined blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate.matrix import Matrix
from bivaluate.plots import style
from bivaluate.solution import Biclustering

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


def block_order(
    masks: NDArray[np.bool_], other: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order the members of one side so that each bicluster's members stand together.

    Biclusters that share members become neighbours, or else those that share members of the other side; a
    member stands at the mean position of its biclusters, so an overlap lies between its two owners. Members of
    no bicluster come last, in their own order.

    Parameters
    ----------
    masks
        Membership, one line per bicluster (K, n).
    other
        Membership of the other side (K, m), if it may help.

    Returns
    -------
    order, lengths
        The members in the order shown, and the lengths of the runs with equal membership; if some
        members lie in no bicluster, they are the last run.

    Examples
    --------
    >>> masks = np.array([[1, 0, 1, 0, 0], [0, 0, 1, 1, 0]], dtype=bool)
    >>> order, lengths = block_order(masks)
    >>> order.tolist(), lengths.tolist()
    ([0, 2, 3, 1, 4], [1, 1, 1, 2])
    """
    n_biclusters, n = masks.shape
    everyone = np.arange(n, dtype=np.int64)
    if n_biclusters == 0:
        return everyone, np.array([n], dtype=np.int64)
    position = np.empty(n_biclusters)
    position[_chain(masks, masks if other is None else other)] = np.arange(n_biclusters)
    counts = masks.sum(axis=0)
    place = np.where(counts > 0, (position @ masks) / np.maximum(counts, 1), np.inf)
    _, signature = np.unique(masks.T, axis=0, return_inverse=True)
    signature = signature.reshape(-1)
    order = np.lexsort((everyone, signature, place))
    changes = np.flatnonzero(np.diff(signature[order])) + 1
    return order.astype(np.int64), np.diff(np.concatenate([[0], changes, [n]])).astype(np.int64)


def _chain(masks: NDArray[np.bool_], other: NDArray[np.bool_]) -> list[int]:
    """Return the biclusters so that each is followed by the one that shares most members with it."""
    shared, beside = (m.astype(np.int64) @ m.T.astype(np.int64) for m in (masks, other))
    left = list(range(1, len(masks)))
    chain = [0]
    while left:
        last = chain[-1]
        nearest = max(left, key=lambda k: (shared[last, k], beside[last, k], -k))
        chain.append(nearest)
        left.remove(nearest)
    return chain


def runs(positions: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return sorted positions as half-open runs ``(start, stop)``.

    >>> runs(np.array([0, 1, 2, 5]))
    [(0, 3), (5, 6)]
    """
    cuts = np.flatnonzero(np.diff(positions) > 1) + 1
    return [(int(part[0]), int(part[-1]) + 1) for part in np.split(positions, cuts) if len(part)]


@style.styled
def plot_solution_heatmap(X: Any, solution: Biclustering, ax: Axes | None = None) -> Axes:
    """Draw `X` reordered by :func:`block_order`, each bicluster outlined and named.

    Parameters
    ----------
    X
        The matrix (array-like, DataFrame or Matrix).
    solution
        Its biclusters.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> S = Biclustering([([0, 2], [0, 3])], shape=(3, 4))
    >>> plot_solution_heatmap(np.arange(12.0).reshape(3, 4), S).get_ylabel()
    '3 rows'
    """
    from matplotlib.patches import Rectangle

    matrix = Matrix.of(X, missing="omit")
    solution = solution.with_shape(matrix.shape)
    ax = style.new_axes(ax, 5.0, 5.0)
    row_masks, col_masks = solution.row_masks, solution.col_masks
    row_order, _ = block_order(row_masks, col_masks)
    col_order, _ = block_order(col_masks, row_masks)
    shown = matrix.values[np.ix_(row_order, col_order)]
    low, middle, high = np.nanpercentile(matrix.values, [2, 50, 98])
    reach = max(high - middle, middle - low) or 1.0
    ax.imshow(
        shown, cmap=style.DIVERGING, vmin=middle - reach, vmax=middle + reach, aspect="auto", interpolation="nearest"
    )
    row_place, col_place = np.argsort(row_order), np.argsort(col_order)
    for k, bicluster in enumerate(solution):
        colour = style.series_colour(k)
        blocks = [
            (r, c) for r in runs(np.sort(row_place[bicluster.rows])) for c in runs(np.sort(col_place[bicluster.cols]))
        ]
        for (top, bottom), (left, right) in blocks:
            ax.add_patch(
                Rectangle((left - 0.5, top - 0.5), right - left, bottom - top, fill=False, edgecolor=colour, lw=1.6)
            )
        (top, _), (left, _) = max(blocks, key=lambda b: (b[0][1] - b[0][0]) * (b[1][1] - b[1][0]))
        ax.annotate(
            f"B{k + 1}",
            (left - 0.5, top - 0.5),
            xytext=(3, -3),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color="white",
            bbox={"facecolor": colour, "edgecolor": "none", "pad": 1.5},
        )
    ax.set(xticks=[], yticks=[], xlabel=f"{matrix.shape[1]} columns", ylabel=f"{matrix.shape[0]} rows")
    return ax
