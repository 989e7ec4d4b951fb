"""Every figure of the paper, drawn from the evidence, and the four kinds of picture that only the paper has."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from bivaluate._types import Axes, Figure
from bivaluate.algorithms.registry import algorithm_label
from bivaluate.datasets.published import WINNERS, YEAST_SHOWN
from bivaluate.datasets.scenarios import SCENARIOS, make_scenario
from bivaluate.judge.choice import high_is_better, pick
from bivaluate.plots import style
from bivaluate.plots.heatmap import plot_heatmap
from bivaluate.plots.nve_map import plot_nve_map, plot_nve_reference
from bivaluate.plots.style import PAGE_WIDTH, algorithm_style, measure_label, new_grid, save, styled
from bivaluate.plots.sweeps import plot_ksweep
from bivaluate.replicate.claim_evidence import Evidence
from bivaluate.replicate.claim_rules import PAPER_VIEW
from bivaluate.replicate.claims import Planted, matched_cells
from bivaluate.replicate.profile import ALGORITHMS, FOUR, PAPER_SEED
from bivaluate.replicate.winners import win_counts

SEED_SHOWN = 0
Values: TypeAlias = "Sequence[float] | pd.Series[float]"


def draw_all(evidence: Evidence, folder: Path) -> dict[str, list[Path]]:
    """Draw what the evidence allows into a folder; return the files by figure."""
    draw = [heatmaps, decomposition, matched_k, winners, nve_maps, *([yeast_ksweeps] if len(evidence.yeast) else [])]
    return {f"fig_{f.__name__}": save(f(evidence), folder / f"fig_{f.__name__}") for f in draw}


@styled
def heatmaps(evidence: Evidence) -> Figure:
    """S1 and S7 with their planted blocks outlined."""
    figure, axes = new_grid(1, 2, PAGE_WIDTH, 3.8)
    for ax, name in zip(axes, ("S1", "S7"), strict=True):
        X, truth, _ = make_scenario(name, SEED_SHOWN)
        plot_heatmap(X, truth, ax=ax, title=f"{name}  {SCENARIOS[name].name}", limit=6, colour_bar=name == "S7")
    return figure


@styled
def decomposition(evidence: Evidence) -> Figure:
    """The NVE decomposition and the coverage penalty."""
    figure, axes = new_grid(1, 2, PAGE_WIDTH, 2.6)
    p = Planted(evidence)
    parts = {s: (p(s, "numerator"), p(s, "denominator")) for s in ("S1", "S5", "S7")}
    scores = {s: (p(s, "nve"), p(s, "nve_cov"), float(p(s, "coverage").mean())) for s in ("S4", "S9a", "S9b")}
    plot_decomposition(parts, axes[0]).set_title("(a) NVE decomposition")
    plot_coverage_penalty(scores, axes[1]).set_title("(b) Coverage penalty")
    return figure


@styled
def matched_k(evidence: Evidence) -> Figure:
    """Scores of the three algorithms on the ten scenarios under four measures."""
    figure, axes = new_grid(4, 1, PAGE_WIDTH, 6.4)
    table = matched_cells(evidence, PAPER_VIEW).rename(columns={"scenario": "dataset"})
    for ax, measure, letter in zip(axes, FOUR, "abcd", strict=True):
        plot_matched_k(table, measure, SCENARIOS, ax).set_title(f"({letter}) {measure_label(measure)}")
    style.legend_above(figure, axes[0])
    return figure


@styled
def winners(evidence: Evidence) -> Figure:
    """Winner counts beside the paper's."""
    table = matched_cells(evidence, PAPER_VIEW)
    counts = pd.DataFrame({measure: win_counts(table, measure).mean() for measure in FOUR}).T
    figure, axes = new_grid(1, 1, 4.6, 2.1)
    plot_winners(counts, {measure: (winner.algorithm, winner.wins) for measure, winner in WINNERS.items()}, axes[0])
    return figure


@styled
def yeast_ksweeps(evidence: Evidence) -> Figure:
    """K-sweeps of the eight yeast matrices the paper shows, as far as they were run."""
    yeast = evidence.yeast[(evidence.yeast["profile"] == "printed") & (evidence.yeast["seed"] != PAPER_SEED)]
    shown = [name for name in YEAST_SHOWN if name in set(yeast["dataset"])]
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    figure, axes = new_grid(rows, columns, PAGE_WIDTH * columns / 4, 0.4 + 1.65 * rows)
    for n, (ax, name) in enumerate(zip(axes, shown, strict=False)):
        plot_ksweep(yeast[yeast["dataset"] == name], ax=ax, title=YEAST_SHOWN[name], legend=False)
        ax.set_ylabel("" if n % columns else ax.get_ylabel())
    for ax in axes[len(shown) :]:
        ax.set_axis_off()
    style.legend_above(figure, axes[0])
    return figure


@styled
def nve_maps(evidence: Evidence) -> Figure:
    """Per-bicluster NVE of all ten scenarios, and the reference panel."""
    figure = style.new_figure(PAGE_WIDTH, 4.3)
    grid = figure.add_gridspec(3, 4)
    places = [*(grid[row, column] for row in range(2) for column in range(4)), grid[2, :2], grid[2, 2]]
    table = evidence.biclusters[evidence.biclusters["seed"] == SEED_SHOWN]
    for place, scenario in zip(places, SCENARIOS.values(), strict=True):
        part, ax = table[table["scenario"] == scenario.id], figure.add_subplot(place)
        title = f"{scenario.id}  {scenario.name}"
        plot_nve_map(part, scenario.n_biclusters, algorithms=ALGORITHMS, ax=ax, title=title)
    plot_nve_reference(ax=figure.add_subplot(grid[2, 3]), title="Reference")
    return figure


@styled
def plot_decomposition(parts: Mapping[str, tuple[Values, Values]], ax: Axes | None = None) -> Axes:
    """Draw the numerator and the denominator of NVE side by side for each solution, whiskers over seeds."""
    ax = style.new_axes(ax)
    place = np.arange(len(parts))
    labels = (r"numerator  $\sum_k \mathrm{VE}(B_k)$", r"denominator  $\sum_k \min_{j\neq k} \mathrm{VE}(B_{kj})$")
    for part, (colour, hatch, label) in enumerate(zip((style.BLUE, style.SKY), ("", "////"), labels, strict=True)):
        middle, reach = _means([pair[part] for pair in parts.values()])
        look: Any = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0, "capsize": 2}
        ax.bar(place + 0.38 * part - 0.19, middle, 0.36, yerr=reach, ecolor=style.INK, label=label, **look)
    tallest = [max(max(numerator), max(denominator)) for numerator, denominator in parts.values()]
    for x, top, (numerator, denominator) in zip(place, tallest, parts.values(), strict=True):
        nve = float(np.mean(np.divide(numerator, denominator)))
        ax.text(float(x), top + 0.03 * max(tallest), f"{measure_label('nve')} = {nve:.2f}", ha="center", weight="bold")
    ax.set_xticks(place, list(parts))
    ax.set(ylabel="sum of virtual errors", ylim=(0, max(tallest) * 1.45))
    ax.legend(loc="upper right", handlelength=1.4)
    return ax


@styled
def plot_coverage_penalty(scores: Mapping[str, tuple[Values, Values, float]], ax: Axes | None = None) -> Axes:
    """Draw one line per solution from its NVE to its NVE_cov; lines that cross are reversals."""
    ax = style.new_axes(ax)
    for position, (name, (nve, nve_cov, coverage)) in enumerate(scores.items()):
        middle, reach = _means([nve, nve_cov])
        look: Any = {"color": style.series_colour(position), "marker": style.series_marker(position), "capsize": 2}
        label = f"{name}: {middle[0]:.2f} to {middle[1]:.2f} (CR {100 * coverage:.1f} %)"
        ax.errorbar([0, 1], middle, yerr=reach, label=label, **look)
    ax.set_yscale("log")
    ax.set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    ax.minorticks_off()
    ax.set_xticks([0, 1], [measure_label("nve"), measure_label("nve_cov")])
    ax.set(xlim=(-0.2, 1.2), ylim=(0.18, 8), ylabel="score (log scale), lower is better")
    ax.legend(loc="upper left")
    return ax


def _means(values: Sequence[Values]) -> tuple[np.ndarray, np.ndarray]:
    """Return the means over seeds, and how far the lowest and the highest are from them."""
    ends = np.array([[np.mean(v), np.min(v), np.max(v)] for v in values]).T
    return ends[0], np.stack([ends[0] - ends[1], ends[2] - ends[0]])


@styled
def plot_matched_k(table: pd.DataFrame, measure: str, datasets: Iterable[str] = (), ax: Axes | None = None) -> Axes:
    """Draw the mean of a measure over seeds for each algorithm on each data set, whiskers from lowest to highest."""
    ax = style.new_axes(ax, height=2.2)
    names, keys = (list(dict.fromkeys(given)) for given in (datasets or table["dataset"], table["algorithm"]))
    scores = table.groupby(["dataset", "algorithm"])[measure]
    wide = [scores.agg(how).unstack("algorithm").reindex(index=names, columns=keys) for how in ("mean", "min", "max")]
    mean, low, high = (frame.to_numpy(dtype=float) for frame in wide)
    best = np.array([pick(row, high_is_better(measure)) for row in mean], dtype=object)
    for a, key in enumerate(keys):
        colour, marker, _ = algorithm_style(key, keys)
        x = np.arange(len(names)) + 0.24 * (a - (len(keys) - 1) / 2)
        ax.vlines(x, low[:, a], high[:, a], color=colour, linewidth=1.0, alpha=0.7)
        ax.plot(x, np.where(best == a, mean[:, a], np.nan), marker, color=colour, label=algorithm_label(key))
        ax.plot(x, np.where(best == a, np.nan, mean[:, a]), marker, color=colour, markerfacecolor="white")
    ax.set_xticks(range(len(names)), [name.split(":")[-1] for name in names])
    ax.set(ylabel=measure_label(measure), xlim=(-0.5, len(names) - 0.5))
    ax.set_ylim(bottom=min(0.0, float(np.nanmin(low))))
    return ax


@styled
def plot_winners(wins: pd.DataFrame, published: Mapping[str, tuple[str, int]], ax: Axes | None = None) -> Axes:
    """Draw the number of scenarios each algorithm wins as stacked bars, one bar per measure, the paper's beside it."""
    ax = style.new_axes(ax, height=0.9 + 0.32 * len(wins))
    left = np.zeros(len(wins))
    keys = [str(key) for key in wins.columns]
    for key in keys:
        colour, _, _ = algorithm_style(key, keys)
        bars = ax.barh(range(len(wins)), wins[key], 0.68, left=left, color=colour, edgecolor="white")
        bars.set_label(algorithm_label(key))
        ax.bar_label(bars, [f"{n:.3g}" if n >= 1 else "" for n in wins[key]], label_type="center", color="white")
        left += wins[key].to_numpy()
    paper = {key: f"\npaper: {algorithm_label(name)} {number}" for key, (name, number) in published.items()}
    ax.set_yticks(range(len(wins)), [measure_label(str(key)) + paper.get(str(key), "") for key in wins.index])
    ax.invert_yaxis()
    ax.set(xlabel="scenarios won of ten, mean over seeds", xlim=(0, float(left.max())))
    ax.legend(ncols=len(wins.columns), loc="lower right", bbox_to_anchor=(1.0, 1.0), handlelength=1.0)
    return ax
