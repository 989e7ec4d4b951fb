"""The paper's conventions: what they change, and what they leave alone."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bivaluate import Biclustering, Matrix, ParameterError, evaluate
from bivaluate.replicate import get_profile
from bivaluate.replicate.profile import CONVENTIONS, scored_under

X = np.random.default_rng(0).normal(size=(30, 12))
SOLUTIONS = {
    "plain": [(range(10), range(5)), (range(8, 20), range(4, 12))],
    "thin": [(range(10), range(5)), (range(8, 20), range(4, 12)), (range(20, 30), [0])],
    "collapsed": [(range(15), [3])],
    "single": [(range(10), range(5))],
    "two columns": [(range(10), range(5)), (range(8, 20), range(4, 12)), (range(20, 30), [0, 1])],
}


class FakeRun:
    """What a run offers, for solutions written down above."""

    def __init__(self) -> None:
        self.solutions = {
            name: Biclustering([(list(r), list(c)) for r, c in pairs], X.shape) for name, pairs in SOLUTIONS.items()
        }
        rows = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, solution in self.solutions.items():
                rows.append({"dataset": name, "algorithm": "las", "k": 3, "seed": 0} | evaluate(X, solution).scores)
        self.results = pd.DataFrame(rows)

    def matrix(self, dataset: str, seed: int) -> Matrix:
        return Matrix.of(X)

    def solution(self, cell: Any) -> Biclustering:
        return self.solutions[cell.dataset]


def scored(profile: str) -> pd.DataFrame:
    return scored_under(FakeRun(), get_profile(profile)).set_index("dataset")  # type: ignore[arg-type]


def test_ordinary_solutions_are_the_same_under_every_profile() -> None:
    expected = scored("default").loc["plain", ["asr", "avg_ve", "nsr", "nve", "nve_cov", "coverage"]]
    for profile in CONVENTIONS:
        pd.testing.assert_series_equal(scored(profile).loc["plain", expected.index], expected)


def test_default_leaves_the_undefined_undefined() -> None:
    table = scored("default")
    assert math.isnan(table.loc["collapsed", "avg_ve"])
    assert math.isnan(table.loc["collapsed", "nve_cov"])
    assert math.isnan(table.loc["single", "nve"])


def test_paper_counts_one_column_as_zero() -> None:
    paper, default = scored("printed"), scored("default")
    assert paper.loc["thin", "avg_ve"] == pytest.approx(default.loc["thin", "avg_ve"] * 2 / 3)
    assert (paper.loc["collapsed", ["asr", "avg_ve", "nsr", "nve", "nve_cov"]] == 0).all()
    assert paper.loc["collapsed", "coverage"] == pytest.approx(15 / 360)


def test_one_bicluster_with_a_positive_numerator_leaves_the_contest() -> None:
    assert math.isnan(scored("printed").loc["single", "nve"])
    assert scored("zero").loc["single", "nve"] == 0
    assert scored("zero").loc["single", "avg_ve"] > 0


def test_filter_drops_thin_biclusters() -> None:
    filtered, default = scored("filtered"), scored("default")
    for name in ("thin", "two columns"):
        assert filtered.loc[name, "n_biclusters"] == 2
        assert filtered.loc[name, "avg_ve"] == pytest.approx(default.loc["plain", "avg_ve"])
    assert filtered.loc["collapsed", "n_biclusters"] == 0


def test_the_run_is_left_as_it_was() -> None:
    run = FakeRun()
    before = run.results.copy()
    scored_under(run, get_profile("printed"))  # type: ignore[arg-type]
    pd.testing.assert_frame_equal(run.results, before)


def test_the_paper_is_one_profile() -> None:
    paper = get_profile("printed")
    assert paper.algorithm_seed == 42
    assert paper.parameters == {"spectral": {"selection": "first"}}
    assert paper.score == {"degenerate": "formula", "epsilon": 1e-12}


def test_unknown_profile_is_refused() -> None:
    with pytest.raises(ParameterError, match="Did you mean 'printed'"):
        get_profile("prinetd")


def test_columns_scores_the_other_axis_and_offers_spectral_few_k() -> None:
    run = FakeRun()
    more = run.results.assign(algorithm="spectral", k=8)
    run.results = pd.concat([run.results, more.assign(k=5), more], ignore_index=True)
    table = scored_under(run, get_profile("columns"))  # type: ignore[arg-type]
    assert (table["algorithm"].eq("spectral") & table["k"].eq(8)).sum() == 0
    assert len(table) == 2 * len(SOLUTIONS)
    plain = table[(table["dataset"] == "plain") & (table["k"] == 3)].iloc[0]
    expected = evaluate(X.T, [(c, r) for r, c in SOLUTIONS["plain"]]).scores
    for key in ("avg_ve", "nve", "nve_cov"):
        assert plain[key] == pytest.approx(expected[key], rel=1e-9)
    assert plain["asr"] == pytest.approx(run.results.loc[0, "asr"])
