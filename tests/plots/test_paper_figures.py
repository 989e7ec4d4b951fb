"""The paper's planted figures: what is drawn agrees with the numbers that went in."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from bivaluate._arrange import stacking_order
from bivaluate.datasets.scenarios import make_scenario
from bivaluate.plots import plot_heatmap, plot_solution_heatmap, style
from bivaluate.replicate.figures import plot_coverage_penalty, plot_decomposition
from bivaluate.solution import Biclustering


def test_heatmap_outlines_every_planted_cell_and_no_other() -> None:
    X, truth, _ = make_scenario("S1", 0)
    ax = plot_heatmap(X, truth)
    drawn = np.zeros(X.shape, dtype=int)
    for box in ax.patches:
        left, top = round(box.get_x() + 0.5), round(box.get_y() + 0.5)
        drawn[top : top + round(box.get_height()), left : left + round(box.get_width())] += 1
    expected = np.zeros(X.shape, dtype=int)
    for b in truth:
        expected[np.ix_(b.rows, b.cols)] = 1
    np.testing.assert_array_equal(drawn, expected[stacking_order(truth)])
    np.testing.assert_array_equal(ax.images[0].get_array(), X[stacking_order(truth)])
    assert [t.get_text() for t in ax.texts] == ["$B_{1}$", "$B_{2}$", "$B_{3}$", "$B_{4}$"]


def test_heatmap_stacks_blocks_at_the_top_in_order() -> None:
    _, truth, _ = make_scenario("S7", 0)
    order = stacking_order(truth)
    assert sorted(order) == list(range(300))
    for k, b in enumerate(truth):
        assert set(order[25 * k : 25 * (k + 1)]) == set(b.rows)


def test_heatmap_may_be_cropped_and_shares_axes_given() -> None:
    X, truth, _ = make_scenario("S1", 0)
    _, [ax] = style.new_grid(1, 1, 3, 3)
    assert plot_heatmap(X, truth, ax=ax, n_rows=40, colour_bar=False) is ax
    assert ax.images[0].get_array().shape == (40, 40)
    assert len(ax.texts) == 2


def test_overlapping_neighbours_stay_in_one_piece() -> None:
    _, truth, _ = make_scenario("S5", 0)
    place = np.argsort(stacking_order(truth))
    for b in truth:
        assert np.ptp(place[b.rows]) == len(b.rows) - 1


def test_decomposition_bars_are_means_and_nve_is_printed() -> None:
    ax = plot_decomposition({"S1": ([0.5, 0.7], [2.0, 2.0]), "S7": ([0.9], [0.9])})
    heights = [bar.get_height() for container in ax.containers[1::2] for bar in container]
    assert heights == pytest.approx([0.6, 0.9, 2.0, 0.9])
    assert [t.get_text() for t in ax.texts] == ["NVE = 0.30", "NVE = 1.00"]


def test_coverage_penalty_lines_run_from_nve_to_nve_cov() -> None:
    ax = plot_coverage_penalty({"S4": ([0.44, 0.46], [1.3, 1.3], 0.114), "S9b": ([0.27], [2.7], 0.01)})
    lines = [container.lines[0].get_ydata() for container in ax.containers]
    np.testing.assert_allclose(lines, [[0.45, 1.3], [0.27, 2.7]])
    assert "S9b: 0.27 to 2.70 (CR 1.0 %)" in [t.get_text() for t in ax.get_legend().get_texts()]


def test_saving_twice_gives_the_same_bytes_and_leaves_settings_alone(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    pictures = []
    for name in ("first", "second"):
        ax = plot_decomposition({"S1": ([0.6], [2.3])})
        paths = style.save(ax.figure, tmp_path / name)
        pictures.append([path.read_bytes() for path in paths])
    assert pictures[0] == pictures[1]
    assert [path.suffix for path in paths] == [".svg", ".png"]
    assert dict(mpl.rcParams) == before


def test_every_algorithm_gets_its_own_look() -> None:
    keys = ["cca", "las", "spectral", "plaid", "bimax"]
    assert len({style.algorithm_style(key, keys) for key in keys}) == len(keys)
    assert len(set(style.CYCLE)) == len(style.CYCLE)


def test_heatmap_of_one_bicluster() -> None:
    solution = Biclustering([([0], [0])], shape=(2, 2))
    assert plot_heatmap(np.zeros((2, 2)), solution).images[0].get_clim() == (0.0, 1.0)
    assert plot_heatmap(np.array([[-1.0, 0.0], [0.0, 0.0]]), solution).images[0].get_clim()[0] < 0


@pytest.mark.parametrize("plot", [plot_heatmap, plot_solution_heatmap])
def test_colours_of_counts_begin_at_zero(plot) -> None:
    counts = np.random.default_rng(0).poisson(0.5, (40, 20)).astype(float)
    image = plot(counts, Biclustering([(range(5), range(5))], shape=(40, 20))).images[0]
    assert image.get_clim()[0] == 0
    assert image.get_cmap().name == style.SEQUENTIAL
    levels = plot_solution_heatmap(counts + 9, Biclustering([(range(5), range(5))], shape=(40, 20))).images[0]
    assert levels.get_cmap().name == style.DIVERGING, "far from 0, both directions from the median are shown"
