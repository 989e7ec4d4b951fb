"""The static twins of the report's pictures."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bivaluate import plots
from bivaluate._arrange import block_order, runs, spaced
from bivaluate.measures.virtual_error import standardised_profile, virtual_error
from bivaluate.plots import plot_mergers, plot_profile, plot_sizes, plot_solution_heatmap, plot_tradeoff
from bivaluate.solution import Biclustering


@given(st.integers(1, 40), st.integers(0, 6), st.integers(0, 2**31))
def test_block_order_keeps_everyone_and_puts_outsiders_last(n: int, k: int, seed: int) -> None:
    masks = np.random.default_rng(seed).random((k, n)) < 0.3
    order, lengths = block_order(masks)
    assert sorted(order.tolist()) == list(range(n))
    assert lengths.sum() == n
    inside = masks.any(axis=0)[order]
    assert (np.diff(inside.astype(int)) <= 0).all()
    starts = np.concatenate([[0], np.cumsum(lengths)])
    for start, stop in itertools.pairwise(starts):
        assert (masks[:, order[start:stop]] == masks[:, order[start : start + 1]]).all()


def test_bars_of_biclusters_that_pay_are_coloured() -> None:
    table = pd.DataFrame(
        {"bicluster": ["B1", "B2", "B3"], "evidence": [5.0, -1.0, np.nan], "pattern": ["additive"] * 3}
    )
    ax = plots.plot_evidence(table)
    supported, costs, undefined = (bar.get_facecolor() for bar in ax.patches)
    assert supported != costs == undefined


def test_a_chain_of_overlapping_biclusters_stands_in_one_run_each() -> None:
    masks = np.zeros((4, 20), dtype=bool)
    for position, k in enumerate([2, 0, 3, 1]):
        masks[k, 4 * position : 4 * position + 6] = True
    masks = masks[:, np.random.default_rng(0).permutation(20)]
    order, _ = block_order(masks[[2, 0, 3, 1]])
    place = np.argsort(order)
    for mask in masks:
        assert len(runs(np.sort(place[mask]))) == 1


def test_biclusters_with_the_same_columns_become_neighbours() -> None:
    rows, cols = np.zeros((3, 6), dtype=bool), np.zeros((3, 6), dtype=bool)
    rows[0, :2] = rows[1, 2:4] = rows[2, 4:] = True
    cols[0, :3] = cols[2, :3] = cols[1, 3:] = True
    assert block_order(rows, cols)[0].tolist() == [0, 1, 4, 5, 2, 3]
    assert block_order(rows)[0].tolist() == [0, 1, 2, 3, 4, 5]


def test_the_heatmap_outlines_exactly_the_biclusters() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 12))
    solution = Biclustering([(rng.choice(30, 8, False), rng.choice(12, 4, False)) for _ in range(3)], X.shape)
    ax = plot_solution_heatmap(X, solution)
    rows, _ = block_order(solution.row_masks, solution.col_masks)
    cols, _ = block_order(solution.col_masks, solution.row_masks)
    np.testing.assert_array_equal(ax.images[0].get_array(), X[np.ix_(rows, cols)])
    drawn = np.zeros(X.shape, dtype=bool)
    for box in ax.patches:
        left, top = round(box.get_x() + 0.5), round(box.get_y() + 0.5)
        drawn[top : top + round(box.get_height()), left : left + round(box.get_width())] = True
    expected = np.zeros(X.shape, dtype=bool)
    for b in solution:
        expected[np.ix_(b.rows, b.cols)] = True
    np.testing.assert_array_equal(drawn, expected[np.ix_(rows, cols)])
    assert [text.get_text() for text in ax.texts] == ["B1", "B2", "B3"]


def test_profiles_are_rows_and_pattern_standardised() -> None:
    A = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 3.0], [10.0, 0.0, 5.0]])
    rows, pattern = standardised_profile(A)
    for i in (0, 2):
        np.testing.assert_allclose(rows[i], (A[i] - A[i].mean()) / A[i].std())
    np.testing.assert_array_equal(rows[1], 0.0)
    mean = A.mean(axis=0)
    np.testing.assert_allclose(pattern, (mean - mean.mean()) / mean.std())


def test_profiles_of_constant_rows_are_zero_despite_rounding() -> None:
    rows, pattern = standardised_profile(np.full((3, 3), 0.1))
    assert (rows == 0).all()
    assert (pattern == 0).all()


def test_profiles_leave_missing_cells_missing() -> None:
    rows, pattern = standardised_profile([[1.0, np.nan, 3.0], [2.0, np.nan, 8.0]])
    assert np.isnan(rows[:, 1]).all()
    assert np.isnan(pattern[1])
    np.testing.assert_allclose(rows[0, [0, 2]], [-1, 1])


@pytest.mark.parametrize(("n", "most"), [(1, 5), (5, 5), (100, 7), (3, 1)])
def test_spaced_positions(n: int, most: int) -> None:
    chosen = spaced(n, most)
    assert len(chosen) == min(n, most)
    assert chosen[0] == 0
    assert most == 1 or chosen[-1] == n - 1


def test_profile_plot_draws_the_pattern_last_and_boldest() -> None:
    ax = plot_profile(np.random.default_rng(0).normal(size=(100, 6)), name="B7", max_rows=10)
    assert len(ax.lines) == 11
    assert ax.lines[-1].get_linewidth() > 2
    assert ax.get_title(loc="left") == "B7: 100 rows × 6 columns"


def test_the_distance_of_rows_and_pattern_is_the_virtual_error() -> None:
    A = np.random.default_rng(2).normal(size=(7, 5))
    rows, pattern = standardised_profile(A)
    assert np.abs(rows - pattern).mean() == pytest.approx(virtual_error(A))


def test_the_merger_plot_rings_the_pairs_given_and_prints_values() -> None:
    ax = plot_mergers([[0.30, 0.31, 0.9], [0.31, 0.31, 0.9], [0.9, 0.9, np.nan]], [(0, 1)])
    assert len(ax.patches) == 2
    assert [text.get_text() for text in ax.texts].count("0.31") == 3
    assert len(plot_mergers(np.full((20, 20), 0.5)).texts) == 0
    assert [text.get_text() for text in ax.get_xticklabels()] == ["B1", "B2", "B3"]
    named = plot_mergers([[0.3, 0.4], [0.4, 0.3]], names=["ribosome", "heat shock"])
    assert [text.get_text() for text in named.get_yticklabels()] == ["ribosome", "heat shock"]


def test_the_tradeoff_shows_every_solution_by_algorithm() -> None:
    table = pd.DataFrame(
        {"algorithm": ["las", "cca", "las"], "k": [3, 5, 8], "coverage": [0.1, 0.4, 0.2], "nve": [0.5, 0.9, 0.6]}
    )
    ax = plot_tradeoff(table)
    assert [len(c.get_offsets()) for c in ax.collections] == [1, 2]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["CCA", "LAS"]
    assert ax.collections[1].get_sizes().tolist() == [44.0, 84.0]


def test_sizes_mark_undefined_biclusters() -> None:
    solution = Biclustering([([0, 1, 2], [0, 1]), ([0], [1, 2])], shape=(9, 9))
    ax = plot_sizes(solution)
    assert [c.get_offsets().tolist() for c in ax.collections] == [[[2.0, 3.0]], [[2.0, 1.0]]]
    assert len(ax.collections[1].get_facecolors()) == 0


def test_every_exported_plot_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "plots.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(plots.__all__)
    scope: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(example, scope)


def test_a_panel_for_every_bicluster() -> None:
    solution = Biclustering([(range(k, k + 4), range(k, k + 5)) for k in range(5)], shape=(12, 9))
    X = np.random.default_rng(0).normal(size=(12, 9))
    figure = plots.plot_profiles(X, solution, most=4)
    assert [ax.get_title(loc="left")[:2] for ax in figure.axes] == ["B1", "B2", "B3", "B4"]
    with pytest.raises(ValueError, match=r"most is 0"):
        plots.plot_profiles(X, solution, most=0)


@pytest.mark.extra("plots")
def test_tracks_show_the_members_of_overlapping_biclusters() -> None:
    solution = Biclustering([([0, 1, 2], [0, 1]), ([1, 2, 3], [1, 2, 3])], shape=(6, 5))
    figure = plots.plot_annotated_heatmap(np.arange(30.0).reshape(6, 5), solution)
    order, _ = block_order(solution.row_masks, solution.col_masks)
    tracks = [ax for ax in figure.axes if ax.collections and ax.collections[0].get_array().size == 6]
    assert len(tracks) == 2
    shown = {
        tuple(np.ravel(ax.collections[0].get_array()) == ax.collections[0].get_array().ravel()[0]) for ax in tracks
    }
    expected = {tuple(mask[order] == mask[order][0]) for mask in solution.row_masks}
    assert shown == expected


def test_tracks_without_the_library_say_what_to_install(without: Any) -> None:
    with (
        without("marsilea"),
        pytest.raises(ImportError, match=r"annotation tracks needs marsilea: pip install marsilea"),
    ):
        plots.plot_annotated_heatmap(np.zeros((3, 2)), Biclustering([([0], [1])], shape=(3, 2)))


def test_detection_limits_are_read_from_the_table() -> None:
    found = pd.DataFrame({"0.3": [0.25, 1.0], "0.9": [np.nan, 0.5]}, index=["10 x 6", "40 x 12"])
    ax = plots.plot_detection_limit(found)
    assert [text.get_text() for text in ax.texts] == ["0.25", "1", "0.5"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["10 x 6", "40 x 12"]


def test_the_k_curve_shows_null_and_held_out_gain() -> None:
    results = pd.DataFrame({"algorithm": "las", "k": [2, 3], "seed": 0, "total_evidence": [90.0, 40.0]})
    assert len(plots.plot_k_curve(results).axes) == 1
    gain = results.assign(predictive=[0.2, -0.1], predictive_error=[0.02, 0.05])
    null = pd.DataFrame(
        {
            "measure": "total_evidence",
            "algorithm": "las",
            "k": [2, 3],
            "null_low": -30.0,
            "null_mean": -20.0,
            "null_high": -9.0,
        }
    )
    upper, lower = plots.plot_k_curve(gain, null=null).axes
    assert [text.get_text() for text in upper.get_legend().get_texts()] == ["null of LAS", "LAS"]
    assert upper.get_ylim()[0] <= -20.0
    bars = lower.containers[0].lines[2][0].get_segments()
    assert bars[1][:, 1] == pytest.approx([-0.2, 0.0])
