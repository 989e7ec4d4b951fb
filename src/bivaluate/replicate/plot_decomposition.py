"""What NVE is made of: the sum of virtual errors against the sum of their smallest merged values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bivaluate.plots.style import BLUE, INK, RULE, SKY, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@styled
def plot_decomposition(
    parts: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw the numerator and the denominator of NVE side by side for each solution.

    Parameters
    ----------
    parts
        Name of a solution -> its numerators and its denominators, one value each per seed. Bars are means,
        whiskers the range over seeds; NVE stands above each pair.

    Examples
    --------
    >>> ax = plot_decomposition({"S1": ([0.6], [2.3]), "S7": ([0.9], [0.9])})
    >>> [text.get_text() for text in ax.texts]
    ['NVE = 0.26', 'NVE = 1.00']
    """
    ax = new_axes(ax)
    place = np.arange(len(parts))
    bars = (
        (0, -0.19, BLUE, "", r"numerator  $\sum_k \mathrm{VE}(B_k)$"),
        (1, 0.19, SKY, "////", r"denominator  $\sum_k \min_{j\neq k} \mathrm{VE}(B_{kj})$"),
    )
    for part, shift, colour, hatch, label in bars:
        values = [np.asarray(pair[part], dtype=np.float64) for pair in parts.values()]
        means = np.array([v.mean() for v in values])
        reach = np.array([[v.mean() - v.min() for v in values], [v.max() - v.mean() for v in values]])
        ax.bar(
            place + shift,
            means,
            0.36,
            yerr=reach if any(len(v) > 1 for v in values) else None,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
            error_kw={"ecolor": INK, "elinewidth": 0.8, "capsize": 2},
            label=label,
        )
    tallest = [max(max(numerator), max(denominator)) for numerator, denominator in parts.values()]
    for x, top, (numerator, denominator) in zip(place, tallest, parts.values(), strict=True):
        nve = float(np.mean(np.asarray(numerator) / np.asarray(denominator)))
        ax.annotate(
            f"NVE = {nve:.2f}", (float(x), top), xytext=(0, 4), textcoords="offset points", ha="center", weight="bold"
        )
    ax.set_xticks(place, list(parts))
    ax.tick_params(axis="x", length=0)
    ax.set(ylabel="sum of virtual errors", title=title, ylim=(0, max(tallest) * 1.45))
    ax.yaxis.grid(True, color=RULE)
    ax.legend(loc="upper right", handlelength=1.4)
    return ax
