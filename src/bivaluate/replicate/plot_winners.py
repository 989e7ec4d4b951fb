"""Which algorithm has the best score, and how often, under each measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bivaluate.plots.style import INK, QUIET, algorithm_name, algorithm_style, measure_label, new_axes, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@styled
def plot_winners(
    wins: pd.DataFrame,
    *,
    published: Mapping[str, tuple[str, int]] | None = None,
    ax: Axes | None = None,
    title: str = "",
    unit: str = "data sets won (mean over seeds)",
) -> Axes:
    """Draw the number of data sets each algorithm wins as stacked bars, one bar per measure.

    Parameters
    ----------
    wins
        Measures as index, algorithms as columns, numbers of wins as values.
    published
        Measure -> the algorithm and the number of wins somebody else reports, written beside the bar.

    Examples
    --------
    >>> import pandas as pd
    >>> wins = pd.DataFrame({"cca": [5, 0], "las": [5, 10]}, index=["asr", "nve"])
    >>> len(plot_winners(wins).patches)
    4
    """
    ax = new_axes(ax, height=0.9 + 0.32 * len(wins))
    keys = list(wins.columns)
    for place, (measure, row) in enumerate(wins.iterrows()):
        left = 0.0
        for key in keys:
            colour, _, _ = algorithm_style(key, keys)
            width = float(row[key])
            ax.barh(place, width, 0.68, left=left, color=colour, edgecolor="white", label=algorithm_name(key))
            if width >= 0.1 * float(wins.sum(axis=1).max()):
                ax.text(left + width / 2, place, f"{width:.3g}", ha="center", va="center", color="white", weight="bold")
            left += width
        if published and str(measure) in published:
            algorithm, number = published[str(measure)]
            ax.annotate(
                f"paper: {algorithm_name(algorithm)} {number}",
                (1.0, place),
                xycoords=("axes fraction", "data"),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                color=QUIET,
                annotation_clip=False,
            )
    ax.set_yticks(range(len(wins)), [measure_label(str(measure)) for measure in wins.index])
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel=unit, title=title, xlim=(0, float(wins.sum(axis=1).max())))
    handles, labels = ax.get_legend_handles_labels()
    first = dict(zip(reversed(labels), reversed(handles), strict=True))
    names = [algorithm_name(key) for key in keys]
    ax.legend(
        [first[name] for name in names],
        names,
        ncols=len(keys),
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        labelcolor=INK,
        handlelength=1.0,
    )
    return ax
