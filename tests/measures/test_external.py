"""External measures: worked values, naive twins, solutions without biclusters, size."""

import numpy as np
import pytest

from bivaluate import Biclustering
from bivaluate._errors import ParameterError, SolutionError
from bivaluate.measures import _cell_pairs, external
from bivaluate.measures._cell_pairs import CellPairs, cell_classes
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


@pytest.fixture(params=["classes", "pairs"])
def way(request, monkeypatch):
    """Both ways to count pairs of cells; small solutions go the first way unless told otherwise."""
    if request.param == "pairs":
        monkeypatch.setattr(_cell_pairs, "_MANY_CLASSES", 0)


@pytest.mark.parametrize("seed", range(12))
def test_naive_twins_agree(seed, way):
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
    classes = cell_classes(found, truth, np.zeros((70, 70)))
    assert classes.counts.sum() == 1200
    cover = np.zeros(shape)
    for b in found:
        cover[np.ix_(b.rows, b.cols)] += 1
    np.testing.assert_allclose(
        np.bincount(cover.astype(int).ravel(), minlength=20),
        np.bincount(classes.first.sum(axis=1).astype(int), weights=classes.counts, minlength=20),
    )


@pytest.mark.parametrize(("seed", "K"), [(0, 3), (1, 9), (2, 90)])
def test_two_ways_to_count_pairs_agree(seed, K):
    rng = np.random.default_rng(seed)
    shape = (25, 11)
    truth, found = (random_solution(rng, shape, K) for _ in range(2))
    found += [*truth[:2], truth[0]]  # the same biclusters in both, one of them twice
    comparison = Comparison(Biclustering(truth, shape), Biclustering(found, shape))
    jaccard = external._jaccard(comparison, "cells")
    told = []
    sides = comparison.found, comparison.truth
    plain = cell_classes(*sides, jaccard).sums()
    compiled = CellPairs(*sides, jaccard).sums(lambda *numbers: told.append(numbers))
    for name in ("common", "apart"):
        for one, other in zip(getattr(plain, name), getattr(compiled, name), strict=True):
            np.testing.assert_array_equal(one, other[: len(one)])
            assert not other[len(one) :].any()
    assert (plain.least_common, plain.least_apart) == (compiled.least_common, compiled.least_apart)
    assert (compiled.precision, compiled.recall) == pytest.approx((plain.precision, plain.recall), abs=1e-12)
    assert sorted(told)[-1] == (len(told), len(told))


def test_many_biclusters_are_compared_by_pairs_of_cells():
    rng = np.random.default_rng(0)
    solution = Biclustering([(rng.permutation(150)[:9], rng.permutation(140)[:5]) for _ in range(60)], (150, 140))
    assert isinstance(Comparison(solution, solution).cells, CellPairs)
    assert isinstance(Comparison(TRUTH, FOUND).cells, _cell_pairs.CellClasses)
    assert all(value == pytest.approx(1.0) for key, value in compare(solution, solution).items() if key != "e4sc")


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


@pytest.mark.parametrize("turned", [False, True])
def test_without_a_shape_the_matrix_may_have_any(turned):
    pairs = [(range(40), [0, 1]), (range(30, 90), [1, 2])]
    pairs = [pair[::-1] for pair in pairs] if turned else pairs
    assert compare(Biclustering(pairs), Biclustering(pairs))["ce"] == 1.0


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


def test_one_measure_is_what_all_of_them_give():
    every = compare(TRUTH, FOUND)
    assert [*every] == [*EXTERNAL]
    for key in EXTERNAL:
        assert compare(TRUTH, FOUND, metrics=key) == {key: every[key]}
    assert compare(TRUTH, FOUND, metrics=["rnia", "ce"]) == {"rnia": every["rnia"], "ce": every["ce"]}
    with pytest.raises(ParameterError, match=r"no external measure 'consensu'.*consensus"):
        compare(TRUTH, FOUND, metrics="consensu")


def test_covers_are_counted_by_products_of_memberships():
    rng = np.random.default_rng(4)
    shape = (30, 17)
    truth, found = (random_solution(rng, shape, K) for K in (6, 9))
    cover = np.zeros((2, *shape), dtype=int)
    for side, pairs in zip(cover, (found, truth), strict=True):
        for rows, cols in pairs:
            side[np.ix_(rows, cols)] += 1
    kinds, counts = np.unique(cover.reshape(2, -1), axis=1, return_counts=True)
    comparison = Comparison(Biclustering(truth, shape), Biclustering(found, shape))
    np.testing.assert_array_equal(comparison.cover, [*kinds, counts])
