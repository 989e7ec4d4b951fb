"""From which size and strength on biclusters are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bivaluate.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@style.styled
def plot_detection_limit(
    found: pd.DataFrame, ax: Axes | None = None, *, xlabel: str = "noise inside the block (sd)"
) -> Axes:
    """Draw how often planted blocks are found, by their size and the noise in them; darker is more often.

    Parameters
    ----------
    found : DataFrame
        Shares from 0 to 1: one row per size of a block (the index names it), one column per level of noise.
    ax : Axes, optional
        Where to draw; a new figure if not given.
    xlabel : str
        What the columns are.

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    bivaluate.datasets.make_biclusters : Plants the blocks that are looked for.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"0.3": [0.2, 1.0], "0.9": [0.0, 0.6]}, index=["10 x 6", "40 x 12"])
    >>> [text.get_text() for text in plot_detection_limit(table).texts]
    ['0.2', '0', '1', '0.6']
    """
    shares = found.to_numpy(dtype=np.float64)
    ax = style.new_axes(ax, 0.55 * shares.shape[1] + 1.6, 0.32 * shares.shape[0] + 0.9)
    ax.imshow(shares, cmap=style.SEQUENTIAL, vmin=0.0, vmax=1.0, aspect="auto")
    for (y, x), share in np.ndenumerate(shares):
        if np.isfinite(share):
            colour = "white" if share > 0.5 else style.INK
            ax.text(x, y, f"{share:.2g}", ha="center", va="center", fontsize=7, color=colour)
    ax.set_xticks(range(shares.shape[1]), [str(level) for level in found.columns])
    ax.set_yticks(range(shares.shape[0]), [str(size) for size in found.index])
    ax.set(xlabel=xlabel, ylabel="block (rows x columns)", title="share found")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax
