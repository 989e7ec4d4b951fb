"""The ten scenarios: same seed same data, the paper's planted table, and every published stress direction."""

from __future__ import annotations

import functools
import hashlib

import numpy as np
import pytest

from bivaluate import ParameterError, evaluate
from bivaluate.datasets.published import PLANTED, planted_scores, planted_table
from bivaluate.datasets.scenarios import SCENARIOS, get_scenario, make_scenario

COUNTS = {"S1": 4, "S2": 4, "S3": 4, "S4": 4, "S5": 4, "S6": 4, "S7": 4, "S8": 5, "S9a": 8, "S9b": 3}


@functools.cache
def scores(name: str, n_seeds: int = 100) -> dict[str, np.ndarray]:
    """Return every measure of the planted solutions as an array over seeds 0, 1, …"""
    rows = planted_scores(name, range(n_seeds))
    table = {
        key: np.array([row[key] for row in rows]) for key in ("asr", "avg_ve", "nsr", "nve", "nve_cov", "coverage")
    }
    table["numerator"] = table["avg_ve"] * COUNTS[name]
    table["denominator"] = table["numerator"] / table["nve"]
    return table


def test_the_ten_scenarios_are_those_of_the_paper() -> None:
    assert {id_: s.n_biclusters for id_, s in SCENARIOS.items()} == COUNTS


@pytest.mark.parametrize("name", COUNTS)
def test_shape_planted_count_and_recipe(name: str) -> None:
    X, truth, description = make_scenario(name, 7)
    assert X.shape == truth.shape == (300, 40)
    assert X.dtype == np.float64
    assert len(truth) == COUNTS[name]
    assert [b.shape for b in truth] == [(b.rows, b.cols) for b in SCENARIOS[name].blocks]
    assert description.recipe["random_state"] == [7, list(COUNTS).index(name)]
    np.testing.assert_array_equal(X, make_scenario(name.lower(), 7)[0])


@pytest.mark.parametrize("name", COUNTS)
def test_planted_blocks_share_no_cell_unless_overlap_is_the_point(name: str) -> None:
    _, truth, _ = make_scenario(name, 0)
    cover = sum(np.outer(r, c).astype(int) for r, c in zip(truth.row_masks, truth.col_masks, strict=True))
    assert (cover.max() > 1) == (name == "S5")


def test_same_seed_same_memberships_and_values_on_every_platform() -> None:
    """Frozen from the first release: a change of this digest changes every published number."""
    members = hashlib.sha256()
    for name in COUNTS:
        for b in make_scenario(name, 1)[1]:
            members.update(b.rows.tobytes() + b.cols.tobytes())
    assert members.hexdigest()[:16] == MEMBERS
    for name, (corner, total) in VALUES.items():
        X = make_scenario(name, 1)[0]
        assert X[0, 0] == pytest.approx(corner, abs=1e-12)
        assert np.abs(X).sum() == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "n_seeds", "tolerance"),
    [("S1", 20, 0.06), ("S2", 20, 0.06), ("S9a", 20, 0.06), ("S9b", 200, 0.06), ("S7", 20, 0.07)],
)
def test_planted_table_is_close_to_the_paper(name: str, n_seeds: int, tolerance: float) -> None:
    for cell in planted_table([name], n_seeds):
        assert cell.paper == PLANTED[name][cell.measure]
        if cell.measure == "coverage":
            assert round(cell.mean, 4) == cell.paper
            assert cell.sd < 1e-12
        else:
            assert abs(cell.deviation) < tolerance, cell


def test_scenarios_without_printed_numbers_have_no_paper_value() -> None:
    [*_, cell] = planted_table(["S4"], 1)
    assert np.isnan(cell.paper)
    assert np.isnan(cell.deviation)
    assert np.isnan(cell.sd)


def test_s3_degrades_msr_and_ve_but_stays_separable() -> None:
    s1, s3 = scores("S1"), scores("S3")
    assert (s3["asr"] > s1["asr"]).all()
    assert (s3["avg_ve"] > s1["avg_ve"]).all()
    assert (s3["nve"] < 1).all()


def test_s5_looks_like_s1_to_coherence_but_not_to_nve() -> None:
    s1, s5 = scores("S1"), scores("S5")
    assert s5["asr"].mean() == pytest.approx(s1["asr"].mean(), rel=0.05)
    assert (s5["nve"] > s1["nve"]).all()


def test_decomposition_order_s1_s5_s7() -> None:
    s1, s5, s7 = scores("S1"), scores("S5"), scores("S7")
    assert (s1["denominator"] > s5["denominator"]).all()
    assert (s5["denominator"] > s7["denominator"]).all()
    assert (s1["nve"] < s5["nve"]).all()
    assert (s5["nve"] < s7["nve"]).all()
    means = [s["numerator"].mean() for s in (s1, s5, s7)]
    assert max(means) < 2 * min(means)


def test_s7_clones_have_no_separability() -> None:
    s7 = scores("S7")
    assert (np.abs(s7["nve"] - 1) < 0.15).all()
    assert (s7["avg_ve"] < 0.3).all()


def test_s9_reversal_in_every_seed() -> None:
    s4, s9a, s9b = scores("S4"), scores("S9a"), scores("S9b")
    assert (s9b["nve"] < np.minimum(s4["nve"], s9a["nve"])).all()
    assert (s9b["nve_cov"] > np.maximum(s4["nve_cov"], s9a["nve_cov"])).all()
    assert (s9b["nsr"] < s9a["nsr"]).all()


def test_s4_keeping_only_the_clean_blocks_helps_nve_and_hurts_nve_cov() -> None:
    full = scores("S4")
    clean = []
    for seed in range(100):
        X, truth, _ = make_scenario("S4", seed)
        clean.append(evaluate(X, truth.select([0, 1])).scores)
    nve = np.array([c["nve"] for c in clean])
    nve_cov = np.array([c["nve_cov"] for c in clean])
    assert (nve < full["nve"]).all()
    assert nve_cov.mean() > full["nve_cov"].mean()
    assert (nve_cov > full["nve_cov"]).mean() >= 0.8


def test_s6_stripes_have_no_virtual_error_and_flatter_the_solution() -> None:
    for seed in range(20):
        X, truth, _ = make_scenario("S6", seed)
        full = evaluate(X, truth)
        ve = [record["ve"] for record in full.records]
        assert max(ve[2:]) < 1e-12
        assert min(ve[:2]) > 0.1
        wide = evaluate(X, truth.select([0, 1])).scores
        assert wide["avg_ve"] > full.scores["avg_ve"]
        assert wide["nve"] > full.scores["nve"]


def test_s8_measures_climb_the_noise_ladder() -> None:
    for seed in range(100):
        X, truth, _ = make_scenario("S8", seed)
        records = evaluate(X, truth).records
        for key in ("msr", "ve"):
            assert (np.diff([record[key] for record in records]) > 0).all()


def test_unknown_scenario_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ParameterError, match=r"there is no scenario 'S9'; scenarios: S1, .* Did you mean 'S9"):
        get_scenario("S9")
    with pytest.raises(ParameterError, match=r"random_state is 1\.5; a whole number is needed"):
        make_scenario("S1", 1.5)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="n_seeds is 0"):
        planted_table(["S1"], 0)


MEMBERS = "1663cd6a15692642"
VALUES = {
    "S1": (-0.17434193212507498, 13289.188692174052),
    "S2": (0.8264221195573129, 14583.778870632108),
    "S3": (1.0040437812479475, 11849.522995763651),
    "S4": (-0.8789588950904658, 13076.729499417359),
    "S5": (-0.7111301623801612, 11224.424330966978),
    "S6": (-0.32821267032748846, 11948.769705484974),
    "S7": (-0.8439698603409405, 11017.082330486946),
    "S8": (1.4706915611479061, 13341.29331308063),
    "S9a": (-1.1002377551866294, 10705.36724767739),
    "S9b": (0.07869145580324811, 9783.197053565775),
}
