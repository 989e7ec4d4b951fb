"""Algorithms beside each other on every data set at the planted number of biclusters, under one measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bivaluate.plots.style import QUIET, RULE, algorithm_name, algorithm_style, measure_label, new_axes, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@styled
def plot_matched_k(
    results: pd.DataFrame,
    measure: str,
    *,
    datasets: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str = "",
    legend: bool = True,
) -> Axes:
    """Draw the mean of a measure over seeds for each algorithm on each data set, whiskers from lowest to highest.

    The lowest mean on each data set is filled, the others are open. Lower is better for all measures drawn
    this way.

    Parameters
    ----------
    results
        A sweep's results table: columns ``dataset``, ``algorithm``, ``seed`` and `measure`.
    measure
        Column to draw.
    datasets
        Data sets to draw, in this order; default in the order of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> results = pd.DataFrame({"dataset": "S1", "algorithm": ["cca", "las"], "seed": 0, "asr": [0.1, 0.3]})
    >>> [label.get_text() for label in plot_matched_k(results, "asr").get_xticklabels()]
    ['S1']
    """
    ax = new_axes(ax, height=2.2)
    names = list(datasets) if datasets is not None else list(dict.fromkeys(results["dataset"]))
    keys = list(dict.fromkeys(results["algorithm"]))
    grouped = results.groupby(["dataset", "algorithm"])[measure]
    mean, low, high = (
        grouped.agg(how).unstack("algorithm").reindex(index=names, columns=keys).to_numpy(dtype=float)
        for how in ("mean", "min", "max")
    )
    best = np.where(np.isnan(mean).all(axis=1), -1, np.nanargmin(np.where(np.isnan(mean), np.inf, mean), axis=1))
    offsets = (np.arange(len(keys)) - (len(keys) - 1) / 2) * 0.24
    for a, key in enumerate(keys):
        colour, marker, _ = algorithm_style(key, keys)
        x = np.arange(len(names)) + offsets[a]
        ax.vlines(x, low[:, a], high[:, a], color=colour, linewidth=1.0, alpha=0.7)
        won = best == a
        ax.plot(x, np.where(won, mean[:, a], np.nan), marker, color=colour, label=algorithm_name(key))
        ax.plot(x, np.where(won, np.nan, mean[:, a]), marker, color=colour, markerfacecolor="white")
    for x in np.arange(len(names) - 1) + 0.5:
        ax.axvline(x, color=RULE, linewidth=0.6)
    ax.set_xticks(range(len(names)), [name.split(":")[-1] for name in names])
    ax.tick_params(axis="x", length=0)
    ax.set(ylabel=measure_label(measure), title=title, xlim=(-0.5, len(names) - 0.5))
    ax.set_ylim(bottom=min(0.0, float(np.nanmin(low))))
    ax.yaxis.grid(True, color=RULE)
    if legend:
        ax.legend(ncols=len(keys), loc="lower right", bbox_to_anchor=(1.0, 1.0), handletextpad=0.2, labelcolor=QUIET)
    return ax
