"""What the algorithms find in real matrices, as far as the paper prints it."""

import numpy as np
import pytest

from bivaluate import coverage_ratio, datasets
from bivaluate.algorithms import LargeAverageSubmatrices, SpectralCheckerboard


@pytest.mark.network
def test_coverage_of_the_yeast_solutions(tmp_path, monkeypatch):
    monkeypatch.setenv("BIVALUATE_DATA", str(tmp_path))
    elutriation = datasets.load("yeast:04_elutriation")
    las = LargeAverageSubmatrices(8, random_state=42).fit(elutriation)
    assert coverage_ratio(las.solution_) == pytest.approx(0.052, abs=0.003)
    spectral = SpectralCheckerboard(3, random_state=42).fit(elutriation)
    assert coverage_ratio(spectral.solution_) == pytest.approx(0.433, abs=0.0005)
    heat_shock = datasets.load("yeast:13_heat_shock_2")
    las = LargeAverageSubmatrices(8, random_state=42).fit(heat_shock)
    assert [bicluster.shape for bicluster in las.solution_] == [(15, 1)]
    assert np.round(100 * coverage_ratio(las.solution_), 2) == 0.21
