"""Every figure of the paper, drawn from the evidence, and the four kinds of picture that only the paper has."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bivaluate.datasets.published import WINNERS, YEAST_SHOWN
from bivaluate.datasets.scenarios import SCENARIOS, make_scenario
from bivaluate.judge.choice import high_is_better, pick
from bivaluate.plots.heatmap import plot_heatmap
from bivaluate.plots.nve_map import plot_nve_map, plot_nve_reference
from bivaluate.plots.style import (
    BLUE,
    INK,
    PAGE_WIDTH,
    QUIET,
    RULE,
    SKY,
    algorithm_name,
    algorithm_style,
    legend_above,
    measure_label,
    new_axes,
    new_figure,
    new_grid,
    save,
    series_colour,
    series_marker,
    styled,
)
from bivaluate.plots.sweeps import plot_ksweep
from bivaluate.replicate.claim_rules import PAPER_VIEW
from bivaluate.replicate.claims import matched_cells
from bivaluate.replicate.claims_planted import Planted
from bivaluate.replicate.profile import ALGORITHMS, FOUR, PAPER_SEED
from bivaluate.replicate.winners import win_counts

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bivaluate.replicate.claim_evidence import Evidence


SEED_SHOWN = 0


def draw_all(evidence: Evidence, folder: Path) -> dict[str, list[Path]]:
    """Draw what the evidence allows into a folder; return the files by figure."""
    figures = {
        "fig_heatmaps": heatmaps(),
        "fig_decomposition": decomposition(evidence),
        "fig_matched_k": matched_k(evidence),
        "fig_winners": winners(evidence),
        "fig_nve_maps": nve_maps(evidence),
    }
    if len(evidence.yeast):
        figures["fig_yeast_ksweeps"] = yeast_ksweeps(evidence)
    return {name: save(figure, folder / name) for name, figure in figures.items()}


@styled
def heatmaps() -> Figure:
    """S1 and S7 with their planted blocks outlined."""
    figure, axes = new_grid(1, 2, PAGE_WIDTH, 3.8)
    for ax, name in zip(axes, ("S1", "S7"), strict=True):
        X, truth, description = make_scenario(name, SEED_SHOWN)
        title = f"{name}  {description.scenario.name}"
        plot_heatmap(X, truth, ax=ax, title=title, limit=6, colour_bar=name == "S7")
    return figure


@styled
def decomposition(evidence: Evidence) -> Figure:
    """The NVE decomposition and the coverage penalty."""
    figure, axes = new_grid(1, 2, PAGE_WIDTH, 2.6)
    p = Planted(evidence)
    parts = {s: (p(s, "numerator").tolist(), p(s, "denominator").tolist()) for s in ("S1", "S5", "S7")}
    scores = {
        s: (p(s, "nve").tolist(), p(s, "nve_cov").tolist(), float(p(s, "coverage").mean()))
        for s in ("S4", "S9a", "S9b")
    }
    plot_decomposition(parts, ax=axes[0], title="(a) NVE decomposition")
    plot_coverage_penalty(scores, ax=axes[1], title="(b) Coverage penalty")
    return figure


@styled
def matched_k(evidence: Evidence) -> Figure:
    """Scores of the three algorithms on the ten scenarios under four measures."""
    figure, axes = new_grid(4, 1, PAGE_WIDTH, 6.4)
    table = matched_cells(evidence, PAPER_VIEW).rename(columns={"scenario": "dataset"})
    for ax, measure, letter in zip(axes, FOUR, "abcd", strict=True):
        title = f"({letter}) {measure_label(measure)}"
        plot_matched_k(table, measure, datasets=list(SCENARIOS), ax=ax, title=title, legend=False)
    legend_above(figure, axes[0])
    return figure


@styled
def winners(evidence: Evidence) -> Figure:
    """Winner counts beside the paper's."""
    import pandas as pd

    table = matched_cells(evidence, PAPER_VIEW)
    counts = pd.DataFrame({measure: win_counts(table, measure).mean() for measure in FOUR}).T
    figure, axes = new_grid(1, 1, 4.6, 2.1)
    published = {measure: (winner.algorithm, winner.wins) for measure, winner in WINNERS.items()}
    plot_winners(counts, published=published, ax=axes[0], unit="scenarios won of ten, mean over seeds")
    return figure


@styled
def yeast_ksweeps(evidence: Evidence) -> Figure:
    """K-sweeps of the eight yeast matrices the paper shows, as far as they were run."""
    yeast = evidence.yeast[(evidence.yeast["profile"] == "printed") & (evidence.yeast["seed"] != PAPER_SEED)]
    shown = [name for name in YEAST_SHOWN if name in set(yeast["dataset"])]
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    figure, axes = new_grid(rows, columns, PAGE_WIDTH * columns / 4, 0.4 + 1.65 * rows)
    for ax, name in zip(axes, shown, strict=False):
        plot_ksweep(yeast[yeast["dataset"] == name], ax=ax, title=YEAST_SHOWN[name], legend=False)
        if ax is not axes[0] and ax is not axes[4 % len(axes)]:
            ax.set_ylabel("")
    for ax in axes[len(shown) :]:
        ax.set_axis_off()
    legend_above(figure, axes[0])
    return figure


@styled
def nve_maps(evidence: Evidence) -> Figure:
    """Per-bicluster NVE of all ten scenarios, and the reference panel."""
    figure = new_figure(PAGE_WIDTH, 4.3)
    grid = figure.add_gridspec(3, 4)
    places = [(row, slice(column, column + 1)) for row in range(2) for column in range(4)]
    places += [(2, slice(0, 2)), (2, slice(2, 3))]
    table = evidence.biclusters[evidence.biclusters["seed"] == SEED_SHOWN]
    for (row, columns), scenario in zip(places, SCENARIOS.values(), strict=True):
        ax = figure.add_subplot(grid[row, columns])
        part = table[table["scenario"] == scenario.id]
        title = f"{scenario.id}  {scenario.name}"
        plot_nve_map(part, scenario.n_biclusters, algorithms=ALGORITHMS, ax=ax, title=title)
    plot_nve_reference(ax=figure.add_subplot(grid[2, 3]), title="Reference")
    return figure


@styled
def plot_decomposition(
    parts: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw the numerator and the denominator of NVE side by side for each solution."""
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
            f"{measure_label('nve')} = {nve:.2f}",
            (float(x), top),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            weight="bold",
        )
    ax.set_xticks(place, list(parts))
    ax.tick_params(axis="x", length=0)
    ax.set(ylabel="sum of virtual errors", title=title, ylim=(0, max(tallest) * 1.45))
    ax.yaxis.grid(True, color=RULE)
    ax.legend(loc="upper right", handlelength=1.4)
    return ax


@styled
def plot_coverage_penalty(
    scores: Mapping[str, tuple[Sequence[float], Sequence[float], float]], *, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw one line per solution from its NVE to its NVE_cov; lines that cross are reversals."""
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

    The best mean on each data set is filled, the others are open.
    """
    ax = new_axes(ax, height=2.2)
    names = list(datasets) if datasets is not None else list(dict.fromkeys(results["dataset"]))
    keys = list(dict.fromkeys(results["algorithm"]))
    grouped = results.groupby(["dataset", "algorithm"])[measure]
    mean, low, high = (
        grouped.agg(how).unstack("algorithm").reindex(index=names, columns=keys).to_numpy(dtype=float)
        for how in ("mean", "min", "max")
    )
    best = np.array([pick(row, high_is_better(measure)) for row in mean], dtype=object)
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


@styled
def plot_winners(
    wins: pd.DataFrame,
    *,
    published: Mapping[str, tuple[str, int]] | None = None,
    ax: Axes | None = None,
    title: str = "",
    unit: str = "data sets won (mean over seeds)",
) -> Axes:
    """Draw the number of data sets each algorithm wins as stacked bars, one bar per measure."""
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
