"""K-sweep: one measure against the number of biclusters asked for, one line per algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate.measures.registry import METRICS
from bivaluate.plots.style import QUIET, RULE, algorithm_name, algorithm_style, measure_label, new_axes, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@styled
def plot_ksweep(
    results: pd.DataFrame,
    measure: str = "nve_cov",
    *,
    null: pd.DataFrame | None = None,
    ax: Axes | None = None,
    title: str = "",
    legend: bool = True,
) -> Axes:
    """Draw the median of a measure over seeds against K, with a band holding the middle half of the seeds.

    The best median of all is ringed; bands that reach far above every median are cut off. Where a score is
    undefined in every seed the line has a gap; algorithms without any defined score are named below the axes.
    With a null, a dotted line is its mean and a grey band the central 90 % of the surrogates, means over seeds.

    Parameters
    ----------
    results
        Rows of a sweep's results table for one data set: columns ``algorithm``, ``k``, ``seed`` and `measure`.
    measure
        Column to draw.
    null
        Rows of the run's null table (``run.null``) for the same data set.

    Examples
    --------
    >>> import pandas as pd
    >>> results = pd.DataFrame({"algorithm": "cca", "k": [3, 5], "seed": 0, "nve_cov": [2.0, 1.5]})
    >>> len(plot_ksweep(results).lines)
    2
    """
    ax = new_axes(ax)
    keys = list(dict.fromkeys(results["algorithm"]))
    ks = sorted(results["k"].unique())
    better = np.nanargmax if measure in METRICS and METRICS[measure].direction == "high" else np.nanargmin
    bests: list[tuple[float, int]] = []
    highest = 0.0
    absent = []
    for key in keys:
        grouped = results[results["algorithm"] == key].groupby("k")[measure]
        low, middle, high = (grouped.quantile(q).reindex(ks).to_numpy(dtype=float) for q in (0.25, 0.5, 0.75))
        if np.isnan(middle).all():
            absent.append(algorithm_name(key))
            continue
        colour, marker, dash = algorithm_style(key, keys)
        if null is not None:
            mine = null[(null["measure"] == measure) & (null["algorithm"] == key)].groupby("k")
            bottom, mean, top = (
                mine[name].mean().reindex(ks).to_numpy(dtype=float) for name in ("null_low", "null_mean", "null_high")
            )
            ax.fill_between(range(len(ks)), bottom, top, color=QUIET, alpha=0.16, linewidth=0)
            ax.plot(range(len(ks)), mean, color=colour, linestyle=":", linewidth=1.0)
            highest = max(highest, float(np.nanmax(mean, initial=0.0)))
        ax.fill_between(range(len(ks)), low, high, color=colour, alpha=0.16, linewidth=0)
        look: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": dash}
        ax.plot(range(len(ks)), middle, label=algorithm_name(key), clip_on=False, **look)
        highest = max(highest, float(np.nanmax(middle)))
        best = int(better(middle))
        bests.append((float(middle[best]), best))
    if bests:
        value, place = bests[int(better([value for value, _ in bests]))]
        ax.plot(place, value, "o", markersize=10, fillstyle="none", color=QUIET, markeredgewidth=1.0, clip_on=False)
    ax.set_xticks(range(len(ks)), [str(k) for k in ks])
    ax.set(xlabel="K", ylabel=measure_label(measure), title=title, xlim=(-0.35, len(ks) - 0.65))
    ax.set_ylim(0, 1.4 * highest or None)
    ax.yaxis.grid(True, color=RULE)
    if absent:
        ax.text(
            0.98, 0.03, f"undefined: {', '.join(absent)}", transform=ax.transAxes, ha="right", color=QUIET, fontsize=6.5
        )
    if legend and len(keys) > len(absent):
        ax.legend(handlelength=2.4)
    return ax
