"""How the coverage penalty reorders solutions: NVE on the left, NVE_cov on the right."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bivaluate.plots.style import INK, RULE, measure_label, new_axes, series_colour, series_marker, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@styled
def plot_coverage_penalty(
    scores: Mapping[str, tuple[Sequence[float], Sequence[float], float]], *, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw one line per solution from its NVE to its NVE_cov; lines that cross are reversals.

    Parameters
    ----------
    scores
        Name of a solution -> its NVE and its NVE_cov, one value each per seed, and its coverage. Points are
        means, whiskers the range over seeds.

    Examples
    --------
    >>> ax = plot_coverage_penalty({"S4": ([0.44], [1.3], 0.114), "S9b": ([0.27], [2.7], 0.01)})
    >>> len(ax.lines) >= 2
    True
    """
    ax = new_axes(ax)
    starts = {name: float(np.mean(nve)) for name, (nve, _, _) in scores.items()}
    ends = {name: float(np.mean(nve_cov)) for name, (_, nve_cov, _) in scores.items()}
    for position, (name, (nve, nve_cov, _)) in enumerate(scores.items()):
        means = np.array([starts[name], ends[name]])
        low, high = np.array([min(nve), min(nve_cov)]), np.array([max(nve), max(nve_cov)])
        ax.errorbar(
            [0, 1],
            means,
            yerr=[means - low, high - means],
            color=series_colour(position),
            marker=series_marker(position),
            capsize=2,
            elinewidth=0.8,
        )
    for name, height in _spread(starts).items():
        ax.text(-0.07, height, f"{starts[name]:.2f}", ha="right", va="center")
    for name, height in _spread(ends).items():
        words = f"{name}: {ends[name]:.2f} (CR {100 * scores[name][2]:.1f} %)"
        ax.text(1.07, height, words, va="center", color=INK)
    ax.set_yscale("log")
    ax.set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    ax.minorticks_off()
    ax.set_xticks([0, 1], [measure_label("nve"), measure_label("nve_cov")])
    ax.set(xlim=(-0.4, 2.2), ylim=(0.18, 5), ylabel="score (log scale), lower is better", title=title)
    ax.yaxis.grid(True, color=RULE)
    return ax


def _spread(heights: Mapping[str, float], ratio: float = 1.17) -> dict[str, float]:
    """Return label heights on a log scale, moved apart to at least `ratio` and as little as possible."""
    names = sorted(heights, key=lambda name: heights[name])
    moved = {name: heights[name] for name in names}
    for below, above in itertools.pairwise(names):
        gap = moved[above] / moved[below]
        if gap < ratio:
            push = float(np.sqrt(ratio / gap))
            moved[below] /= push
            moved[above] *= push
    return moved
