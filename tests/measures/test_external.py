"""External measures: worked values, naive twins, solutions without biclusters, size."""

import re

import numpy as np
import pytest

from bivaluate import Biclustering, ParameterError, SolutionError
from bivaluate.measures.external import EXTERNAL, compare
from tests.reference import external as twin
from tests.reference import groups

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
    assert compare(TRUTH, FOUND)["gri"] == pytest.approx(0.816810, abs=1e-6)
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
    assert scores["gri"] == pytest.approx(gri, abs=1e-12)
    assert scores["mocice"] == pytest.approx(groups.mocice(found, truth, shape), abs=1e-12)
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


@pytest.mark.parametrize("nested", [False, True])
def test_many_biclusters_that_overlap(nested):
    """More biclusters than a word has bits; nested ones have too many subsets to count by."""
    rng = np.random.default_rng(3)
    shape, K = (8, 6), 70
    drawn = [(rng.choice(8, 2, replace=False), rng.choice(6, 2, replace=False)) for _ in range(2 * K)]
    truth = [(range(1 + k % 8), range(1 + k % 6)) for k in range(K)] if nested else drawn[:K]
    found = drawn[K:] + truth[:3]  # some in both, one of them twice
    scores = compare(Biclustering(truth, shape), Biclustering(found, shape), metrics=["csi", "gri", "mocice"])
    assert scores["csi"] == pytest.approx(twin.csi(found, truth, shape), abs=1e-12)
    assert scores["gri"] == pytest.approx(twin.agri(found, truth, shape)[0], abs=1e-12)
    assert scores["mocice"] == pytest.approx(groups.mocice(found, truth, shape), abs=1e-12)


def test_cells_in_many_biclusters():
    """Cells in a dozen biclusters have too many subsets: their sets are taken one by one, and progress is told."""
    rng = np.random.default_rng(5)
    shape = (6, 5)
    truth = [(rng.choice(6, 5, replace=False), rng.choice(5, 4, replace=False)) for _ in range(7)]
    found = [(rng.choice(6, 5, replace=False), rng.choice(5, 4, replace=False)) for _ in range(8)]
    steps = []
    sides = Biclustering(truth, shape), Biclustering(found, shape)
    scores = compare(*sides, progress=lambda done, total: steps.append((done, total)))
    assert steps[-1][0] == steps[-1][1] == len(steps)
    assert scores["csi"] == pytest.approx(twin.csi(found, truth, shape), abs=1e-12)
    assert scores["agri"] == pytest.approx(twin.agri(found, truth, shape)[1], abs=1e-9)
    assert scores["mocice"] == pytest.approx(groups.mocice(found, truth, shape), abs=1e-12)


def test_many_biclusters_are_like_themselves():
    rng = np.random.default_rng(0)
    solution = Biclustering([(rng.permutation(150)[:9], rng.permutation(140)[:5]) for _ in range(60)], (150, 140))
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


def test_the_documentation_names_every_measure_that_needs_a_shape():
    named = re.findall(r"``(\w+)``", compare.__doc__.partition("shape : tuple")[2].partition("progress :")[0])
    assert set(named) == {key for key, measure in EXTERNAL.items() if measure.needs_shape}


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


def test_large_solutions_are_counted():
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
