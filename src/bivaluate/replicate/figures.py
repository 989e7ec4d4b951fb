"""Every figure of the paper, drawn from the evidence, as SVG and PNG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bivaluate.datasets.published import WINNERS, YEAST_SHOWN
from bivaluate.datasets.scenarios import SCENARIOS, make_scenario
from bivaluate.plots.heatmap import plot_heatmap
from bivaluate.plots.ksweep import plot_ksweep
from bivaluate.plots.nve_map import plot_nve_map, plot_nve_reference
from bivaluate.plots.style import PAGE_WIDTH, legend_above, measure_label, new_figure, new_grid, save, styled
from bivaluate.replicate.claims_matched import matched_cells
from bivaluate.replicate.claims_planted import Planted
from bivaluate.replicate.drawings import plot_coverage_penalty, plot_decomposition, plot_matched_k, plot_winners
from bivaluate.replicate.profile import PAPER_SEED
from bivaluate.replicate.verdict import PAPER_VIEW
from bivaluate.replicate.winners import ALGORITHMS, FOUR, win_counts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bivaluate.replicate.evidence import Evidence

SEED_SHOWN = 0

CAPTIONS = {
    "fig_heatmaps": "S1 and S7 (seed 0), rows permuted so that the planted biclusters stack at the top. In S1 columns and "
    "patterns differ; in S7 four clones share both.",
    "fig_decomposition": "(a) Numerator and denominator of NVE on the planted solutions; (b) NVE and NVE_cov of S4, S9a "
    "and S9b. Whiskers span all seeds.",
    "fig_matched_k": "Three algorithms at the planted K under four measures, paper's conventions, random_state 42. Points "
    "are means over matrices, whiskers span all seeds, the filled point is the lowest mean.",
    "fig_winners": "Scenarios won by each algorithm under each measure, mean over seeds, beside the paper's winner.",
    "fig_yeast_ksweeps": "Yeast K-sweeps scored by NVE_cov, paper's conventions: medians over seeds, bands hold the middle "
    "half; the lowest median is ringed. A line ends where Spectral has fewer columns than K.",
    "fig_nve_maps": "NVE of every bicluster found at the planted K (seed 0): darker and larger is noisier or less separated; "
    "a cross is undefined, a blank means the algorithm returned fewer.",
}


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
    yeast = evidence.yeast[(evidence.yeast["profile"] == "paper") & (evidence.yeast["seed"] != PAPER_SEED)]
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
