"""The merger matrix: what merging two biclusters does to the virtual error, and who is redundant with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOLERANCE = 0.1


def redundant_pairs(mergers: Any, tolerance: float = TOLERANCE) -> list[tuple[int, int]]:
    """Return the pairs (k, l), k < l, that can be merged almost for free.

    A pair is redundant if the error of the merger exceeds the mean of the two errors by at most `tolerance`
    (a share): a clean block that a noisy one would swallow is not redundant. Pairs with an undefined error
    are never redundant.

    Parameters
    ----------
    mergers
        K × K errors of the mergers, the biclusters' own errors on the diagonal.

    Examples
    --------
    >>> redundant_pairs([[0.30, 0.31, 0.9], [0.31, 0.31, 0.9], [0.9, 0.9, 0.2]])
    [(0, 1)]
    """
    errors = np.asarray(mergers, dtype=np.float64)
    if errors.size == 0:
        return []
    own = np.diag(errors)
    limit = np.add.outer(own, own) / 2 * (1.0 + tolerance)
    free = np.triu(np.isfinite(errors) & np.isfinite(limit) & (errors <= limit), 1)
    return [(int(k), int(m)) for k, m in np.argwhere(free)]


def redundant_groups(mergers: Any, tolerance: float = TOLERANCE) -> list[list[int]]:
    """Return the groups of biclusters joined by :func:`redundant_pairs`, each sorted.

    Examples
    --------
    >>> redundant_groups([[0.30, 0.31, 0.9], [0.31, 0.31, 0.9], [0.9, 0.9, 0.2]])
    [[0, 1]]
    """
    group: dict[int, set[int]] = {}
    for k, m in redundant_pairs(mergers, tolerance):
        joined = group.get(k, {k}) | group.get(m, {m})
        for member in joined:
            group[member] = joined
    return sorted(list(members) for members in {tuple(sorted(members)) for members in group.values()})


@style.styled
def plot_mergers(mergers: Any, ax: Axes | None = None) -> Axes:
    """Draw the merger matrix; lighter is more coherent, a ring marks pairs that merge almost for free.

    Parameters
    ----------
    mergers
        K × K virtual errors of the mergers, the biclusters' own errors on the diagonal.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> ax = plot_mergers([[0.30, 0.31], [0.31, 0.31]])
    >>> len(ax.patches)
    2
    """
    from matplotlib.patches import Circle

    errors = np.asarray(mergers, dtype=np.float64)
    ax = style.new_axes(ax, 4.2, 3.6)
    image = ax.imshow(errors, cmap=style.SEQUENTIAL, vmin=0.0)
    for k, m in redundant_pairs(errors):
        for x, y in ((k, m), (m, k)):
            ax.add_patch(Circle((x, y), 0.42, fill=False, edgecolor=style.ACCENT, lw=1.8))
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
