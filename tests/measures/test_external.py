"""External measures: worked values, naive twins, solutions without biclusters, size."""

import numpy as np
import pytest

from bivaluate import Biclustering
from bivaluate._errors import SolutionError
from bivaluate.measures import external
from bivaluate.measures._cell_classes import cell_classes
from bivaluate.measures.external import EXTERNAL, Comparison, compare
from tests.reference import external as twin

R = [([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [3, 4, 5])]
P = [([0, 1], [0, 1, 2, 3]), ([2, 3, 4], [3, 4, 5]), ([0, 4], [5])]
TRUTH, FOUND = Biclustering(R, (5, 6)), Biclustering(P, (5, 6))
WORKED = {
    "prelic_relevance": 0.657342,
    "prelic_recovery": 0.816497,
    "liu_wang": 0.674603,
    "consensus": 0.444444,
    "ce": 0.636364,
    "rnia": 0.681818,
    "e4sc": 0.696471,
    "csi": 0.325758,
    "agri": 0.407537,
}


@pytest.mark.parametrize("key", WORKED)
def test_worked_example(key):
    assert compare(TRUTH, FOUND)[key] == pytest.approx(WORKED[key], abs=1e-6)


def test_worked_example_other_way_and_parts():
    assert compare(FOUND, TRUTH)["liu_wang"] == pytest.approx(0.845238, abs=1e-6)
    assert external.generalised_rand_index(Comparison(TRUTH, FOUND))[0] == pytest.approx(0.816810, abs=1e-6)
    first = compare(TRUTH.select([0]), FOUND.select([0]))
    assert (first["corrected_precision"], first["corrected_recall"]) == pytest.approx((1.0, 0.545455), abs=1e-6)


def random_solution(rng, shape, K):
    return [
        (
            np.sort(rng.choice(shape[0], rng.integers(1, shape[0] + 1), replace=False)),
            np.sort(rng.choice(shape[1], rng.integers(1, shape[1] + 1), replace=False)),
        )
        for _ in range(K)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_naive_twins_agree(seed):
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(3, 6)), int(rng.integers(2, 5)))
    truth, found = (random_solution(rng, shape, int(rng.integers(1, 5))) for _ in range(2))
    scores = compare(Biclustering(truth, shape), Biclustering(found, shape))
    expected = {
        "prelic_relevance": twin.prelic(found, truth),
        "prelic_recovery": twin.prelic(truth, found),
        "liu_wang": twin.liu_wang(found, truth),
        "consensus": twin.consensus(found, truth),
        "ce": twin.ce(found, truth),
        "rnia": twin.rnia(found, truth),
        "e4sc": twin.e4sc(found, truth),
        "csi": twin.csi(found, truth, shape),
    }
    for key, value in expected.items():
        assert scores[key] == pytest.approx(value, abs=1e-12), key
    gri, agri = twin.agri(found, truth, shape)
    assert external.generalised_rand_index(Comparison(Biclustering(truth, shape), Biclustering(found, shape)))[
        0
    ] == pytest.approx(gri, abs=1e-12)
    if np.isfinite(agri):
        assert scores["agri"] == pytest.approx(agri, abs=1e-9)
    full = shape[0] * shape[1]
    if max(len(set().union(*map(twin.cells, side))) for side in (truth, found)) < full:
        assert (scores["corrected_precision"], scores["corrected_recall"]) == pytest.approx(
            twin.corrected(found, truth, shape)
        )


def test_identical_solutions_agree_fully():
    scores = compare(FOUND, FOUND)
    assert all(value == pytest.approx(1.0) for key, value in scores.items() if not key.startswith("e4"))


def test_many_biclusters_need_several_words():
    rng = np.random.default_rng(0)
    shape = (40, 30)
    truth, found = (
        Biclustering([(rng.choice(40, 5, replace=False), rng.choice(30, 4, replace=False)) for _ in range(70)], shape)
        for _ in range(2)
    )
    classes = cell_classes(found, truth)
    assert classes.counts.sum() == 1200
    cover = np.zeros(shape)
    for b in found:
        cover[np.ix_(b.rows, b.cols)] += 1
    np.testing.assert_allclose(
        np.bincount(cover.astype(int).ravel(), minlength=20),
        np.bincount(classes.first.sum(axis=1).astype(int), weights=classes.counts, minlength=20),
    )


def test_consensus_is_that_of_scikit_learn():
    from sklearn.metrics import consensus_score

    ours = compare(TRUTH, FOUND)["consensus"]
    theirs = consensus_score((FOUND.row_masks, FOUND.col_masks), (TRUTH.row_masks, TRUTH.col_masks))
    assert ours == pytest.approx(theirs)


def test_solutions_without_biclusters():
    none = TRUTH.select([])
    assert set(compare(none, none).values()) == {1.0}
    assert set(compare(TRUTH, none).values()) == {0.0}
    assert set(compare(none, FOUND).values()) == {0.0}


def test_without_a_shape_some_are_none():
    truth, found = Biclustering(R), Biclustering(P)
    scores = compare(truth, found)
    assert {key for key, value in scores.items() if value is None} == {
        "csi", "agri", "gri", "cari", "corrected_precision", "corrected_recall",
    }  # fmt: skip
    assert scores["ce"] == pytest.approx(WORKED["ce"], abs=1e-6)
    assert compare(truth, found, shape=(5, 6)) == compare(TRUTH, FOUND)
    assert compare(truth, FOUND) == compare(TRUTH, FOUND)


def test_solutions_of_two_matrices_are_refused():
    with pytest.raises(SolutionError, match=r"shape \(5, 6\) and found for one of shape \(6, 5\)"):
        compare(TRUTH, Biclustering([([0], [1])], (6, 5)))
    with pytest.raises(SolutionError, match="Were rows and columns swapped"):
        compare(TRUTH, FOUND, shape=(6, 5))


def test_truth_that_covers_everything():
    everything = Biclustering([(range(5), range(6))], (5, 6))
    assert np.isnan(compare(everything, FOUND)["corrected_precision"])
    assert compare(everything, everything)["agri"] == 1.0


def test_large_solutions_are_counted_by_classes():
    rng = np.random.default_rng(0)
    shape = (20000, 500)
    truth, found = (
        Biclustering(
            [(rng.choice(20000, 808, replace=False), rng.choice(500, 58, replace=False)) for _ in range(10)], shape
        )
        for _ in range(2)
    )
    scores = compare(truth, found)
    assert abs(scores["agri"]) < 0.01


def test_records_are_complete():
    for key, measure in EXTERNAL.items():
        assert key == measure.key
        assert measure.summary.endswith(".")
        assert measure.reference
        assert measure.range[0] < measure.range[1]
