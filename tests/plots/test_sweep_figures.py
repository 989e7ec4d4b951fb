"""Figures of sweeps: K-sweeps, matched K, per-bicluster maps and winners."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from bivaluate.plots import plot_candidates
from bivaluate.plots.nve_map import LIMIT, plot_nve_map, plot_nve_reference
from bivaluate.plots.style import ALGORITHMS
from bivaluate.plots.sweeps import plot_ksweep
from bivaluate.replicate.figures import plot_matched_k, plot_winners


def sweep(values: dict[str, list[float]], ks: tuple[int, ...] = (3, 5, 8)) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"dataset": "d", "algorithm": a, "k": k, "seed": s, "nve_cov": v + 0.1 * s}
            for a, line in values.items()
            for k, v in zip(ks, line, strict=True)
            for s in (0, 1)
        ]
    )


def test_ksweep_draws_means_bands_and_rings_the_lowest() -> None:
    ax = plot_ksweep(sweep({"cca": [2.0, 1.5, 1.8], "las": [3.0, 1.2, 2.0]}))
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [2.05, 1.55, 1.85])
    assert ax.lines[0].get_color() == ALGORITHMS["cca"][0]
    assert len(ax.collections) == 2
    ring = ax.lines[-1]
    assert ring.get_xdata()[0] == 1
    assert ring.get_ydata()[0] == pytest.approx(1.25)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["3", "5", "8"]


def test_ksweep_rings_the_highest_where_high_is_better() -> None:
    table = sweep({"cca": [0.2, 0.1, 0.3], "las": [0.1, 0.5, 0.2]}).rename(columns={"nve_cov": "coverage"})
    ring = plot_ksweep(table, "coverage").lines[-1]
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (1, pytest.approx(0.55))


def test_ksweep_draws_the_null_beside_the_data() -> None:
    null = pd.DataFrame(
        [
            {"algorithm": "cca", "k": k, "seed": s, "measure": m, "null_low": 3.0 + s, "null_mean": 4.0 + s}
            | {"null_high": 5.0 + s}
            for k in (3, 8)
            for s in (0, 1)
            for m in ("nve_cov", "nve")
        ]
    )
    ax = plot_ksweep(sweep({"cca": [2.0, 1.5, 1.8]}), null=null)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [4.5, math.nan, 4.5])
    assert ax.lines[0].get_linestyle() == ":"
    assert len(ax.collections) == 2
    assert ax.get_ylim()[1] > 4.5


def test_ksweep_leaves_gaps_and_names_what_is_undefined() -> None:
    nan = math.nan
    ax = plot_ksweep(sweep({"spectral": [1.0, nan, 2.0], "las": [nan, nan, nan]}))
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [1.05, nan, 2.05])
    assert [text.get_text() for text in ax.texts] == ["undefined: LAS"]
    assert plot_ksweep(sweep({"las": [nan, nan, nan]})).get_legend() is None


def test_matched_k_fills_the_winner_only() -> None:
    table = pd.DataFrame(
        [
            {"dataset": d, "algorithm": a, "seed": s, "nve": v}
            for d, values in {
                "scenario:S1": (0.5, 0.7),
                "scenario:S2": (0.9, math.nan),
                "scenario:S3": (math.nan,) * 2,
            }.items()
            for a, v in zip(("cca", "las"), values, strict=True)
            for s in (0, 1)
        ]
    )
    ax = plot_matched_k(table, "nve")
    filled, opened, las_filled, las_open = (line.get_ydata() for line in ax.lines[:4])
    np.testing.assert_allclose(filled, [0.5, 0.9, math.nan])
    assert np.isnan(opened).all()
    assert np.isnan(las_filled).all()
    np.testing.assert_allclose(las_open, [0.7, math.nan, math.nan])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["S1", "S2", "S3"]


def test_nve_map_grows_and_darkens_with_the_score_and_leaves_blanks() -> None:
    table = pd.DataFrame(
        {
            "algorithm": ["cca", "cca", "las", "las"],
            "bicluster": ["B1", "B2", "B1", "B3"],
            "nve_k": [0.2, 1.4, math.nan, 9.0],
        }
    )
    ax = plot_nve_map(table, 4, algorithms=("cca", "las", "spectral"))
    small, large, capped = ax.patches
    assert small.get_width() < large.get_width() <= capped.get_width()
    assert sum(small.get_facecolor()[:3]) > sum(large.get_facecolor()[:3])
    assert (round(capped.get_x() + capped.get_width() / 2), round(capped.get_y() + capped.get_height() / 2)) == (2, 1)
    assert [line.get_marker() for line in ax.lines].count("x") == 1
    assert len(ax.get_xticklabels()) == 4
    assert [label.get_text() for label in ax.get_yticklabels()] == ["CCA", "LAS", "Spectral"]


def test_nve_reference_ends_at_the_limit() -> None:
    assert plot_nve_reference().get_yticklabels()[-1].get_text() == f"≥ {LIMIT:.2f}"


def test_winners_stack_to_the_number_of_data_sets_and_name_the_paper() -> None:
    wins = pd.DataFrame({"cca": [8.0, 0.5], "las": [2.0, 9.5]}, index=["asr", "nve"])
    ax = plot_winners(wins, published={"asr": ("cca", 5)})
    assert [bar.get_width() for bar in ax.patches] == [8.0, 0.5, 2.0, 9.5]
    assert [bar.get_x() for bar in ax.patches] == [0.0, 0.0, 8.0, 0.5]
    assert ax.get_yticklabels()[0].get_text().endswith("\npaper: CCA 5")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["CCA", "LAS"]


def test_a_refined_solution_has_a_mark_of_its_own_within_the_ring() -> None:
    table = pd.DataFrame({"algorithm": ["las", "las-final"], "k": 2, "seed": 0, "total_evidence": [90.0, 95.0]})
    refined = plot_candidates(table).lines
    assert [line.get_ydata()[0] for line in refined] == [90, 95, 95], "a line, the refined solution and its ring"
