"""Cell Jaccard, 13GRI, CARI, MOCICE-BCubed F1: worked values and naive twins."""

import numpy as np
import pytest

from bivaluate import Biclustering
from bivaluate.measures import external as more
from bivaluate.measures.external import Comparison
from tests.reference import groups as twin

R = [([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [3, 4, 5])]
P = [([0, 1], [0, 1, 2, 3]), ([2, 3, 4], [3, 4, 5]), ([0, 4], [5])]
SHAPE = (5, 6)


def comparison(found, truth, shape=SHAPE):
    return Comparison(Biclustering(truth, shape), Biclustering(found, shape))


def test_worked_values():
    both = comparison(P, R)
    assert more.cell_jaccard_relevance(both) == pytest.approx(0.492063, abs=1e-6)
    assert more.cell_jaccard_recovery(both) == pytest.approx(0.666667, abs=1e-6)
    assert more.rand_index(both) == pytest.approx(0.816810, abs=1e-6)
    assert more.coclustering_adjusted_rand_index(both) == pytest.approx(twin.cari(P, R, SHAPE))
    assert more.mocice_bcubed(both) == pytest.approx(twin.mocice(P, R, SHAPE))


@pytest.mark.parametrize("seed", range(8))
def test_naive_twins_agree(seed):
    rng = np.random.default_rng(seed)
    shape = (6, 5)
    found, truth = (
        [
            (rng.choice(6, rng.integers(1, 5), replace=False), rng.choice(5, rng.integers(1, 4), replace=False))
            for _ in range(rng.integers(1, 4))
        ]
        for _ in range(2)
    )
    both = comparison(found, truth, shape)
    assert more.cell_jaccard_relevance(both) == pytest.approx(twin.cell_jaccard(found, truth))
    assert more.cell_jaccard_recovery(both) == pytest.approx(twin.cell_jaccard(truth, found))
    assert more.coclustering_adjusted_rand_index(both) == pytest.approx(twin.cari(found, truth, shape))
    assert more.mocice_bcubed(both) == pytest.approx(twin.mocice(found, truth, shape))


def test_identical_and_disjoint_solutions():
    same = comparison(P, P)
    for function in (more.cell_jaccard_relevance, more.rand_index, more.coclustering_adjusted_rand_index):
        assert function(same) == pytest.approx(1.0)
    assert more.mocice_bcubed(comparison(R, R)) == pytest.approx(1.0)
    apart = comparison([([0], [0, 1])], [([3, 4], [4, 5])])
    assert more.cell_jaccard_relevance(apart) == more.mocice_bcubed(apart) == 0.0
    everything = [(range(5), range(6))]
    assert more.coclustering_adjusted_rand_index(comparison(everything, everything)) == 1.0
