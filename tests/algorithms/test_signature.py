"""The iterative signature algorithm: fixed points against the naive twin, planted modules, noise, edges."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from bivaluate import ParameterError
from bivaluate.algorithms import IterativeSignature
from bivaluate.algorithms import signature as isa
from tests.reference import signature as naive


def planted(seed=0, level=3.0):
    X = np.random.default_rng(seed).normal(size=(70, 24))
    X[:15, :6] += level
    X[30:50, 10:18] += level
    return X


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("kind", ["planted", "counts"])
def test_fixed_points_equal_the_twin_dense_and_sparse(kind, two_sided):
    rng = np.random.default_rng(1)
    X = (
        planted(level=2.0)
        if kind == "planted"
        else rng.poisson(0.4, (60, 25)) + np.pad(np.full((9, 6), 3), [(5, 46), (2, 17)])
    )
    X = X.astype(float)
    pairs = np.array(list(product((1.0, 2.0), (1.0, 1.5))))
    seeds = isa.random_sets(len(X), 12, np.random.RandomState(3))
    expected = naive.modules(X, seeds, pairs, two_sided)
    assert len(expected) > 2
    for same in (X, csr_array(X)):
        found = isa.iterate(same, seeds, pairs, two_sided)
        rows, cols = found.rows.toarray(), found.cols.toarray()
        got = {
            (int(p), tuple(np.flatnonzero(r)), tuple(np.flatnonzero(c))): s
            for p, r, c, s in zip(found.pair, rows, cols, found.strength, strict=True)
        }
        assert set(got) == set(expected)
        for module, strength in got.items():
            assert strength == pytest.approx(expected[module], rel=1e-3)  # each stopped within its tolerance


def test_chunks_change_nothing(limits):
    X = planted()
    whole = IterativeSignature(n_seeds=20, random_state=0).fit(X)
    limits("algorithms", CHUNK=70 * 7)
    parts = IterativeSignature(n_seeds=20, random_state=0).fit(X)
    assert parts.solution_ == whole.solution_


def test_a_column_that_is_constant_but_for_rounding_is_constant():
    X = planted()
    X[:, 20] = 0.1
    exact = IterativeSignature(2, random_state=0).fit(X).solution_
    X[:15, 20] = np.nextafter(0.1, 1)  # the rows of the first module
    assert IterativeSignature(2, random_state=0).fit(X).solution_ == exact


def test_planted_modules_come_first_and_scores_name_their_members():
    model = IterativeSignature(2, random_state=0).fit(planted())
    assert {(tuple(b.rows), tuple(b.cols)) for b in model.solution_} == {
        (tuple(range(15)), tuple(range(6))),
        (tuple(range(30, 50)), tuple(range(10, 18))),
    }
    assert np.all(np.diff(model.robustness_) <= 0)
    assert np.all(model.robustness_ > 1.3)
    np.testing.assert_array_equal(model.row_scores_ > 0, model.rows_)
    np.testing.assert_allclose(np.linalg.norm(model.col_scores_, axis=1), 1.0)


def test_columns_that_are_low_only_when_asked():
    X = np.random.default_rng(0).normal(size=(70, 24))
    X[:15, :3] += 4.0
    X[:15, 3:6] -= 4.0
    high = IterativeSignature(1, row_threshold=1.5, col_threshold=1.5, random_state=0).fit(X)
    both = IterativeSignature(1, row_threshold=1.5, col_threshold=1.5, two_sided=True, random_state=0).fit(X)
    assert high.solution_[0].cols.tolist() == [0, 1, 2]
    assert both.solution_[0].cols.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.all(both.col_scores_[0, 3:6] < 0)


def test_scrambled_copies_hold_the_same_cells_and_are_the_same_dense_and_sparse():
    X = np.random.default_rng(0).poisson(0.5, (9, 7)).astype(float)
    dense, sparse = (isa.scrambled(x, np.random.RandomState(4)) for x in (X, csr_array(X)))
    np.testing.assert_array_equal(dense, sparse.toarray())
    np.testing.assert_array_equal(np.sort(dense.ravel()), np.sort(X.ravel()))
    assert not np.array_equal(dense, X)


def test_more_scrambled_copies_leave_less_of_noise_and_none_leaves_all():
    X = np.random.default_rng(5).normal(size=(60, 20))
    counts = [len(IterativeSignature(n_seeds=20, n_scrambled=k, random_state=0).fit(X).solution_) for k in (0, 1, 6)]
    assert counts[0] > counts[1] >= counts[2]
    assert counts[2] <= 3


def test_where_copies_hold_nothing_lower_thresholds_count():
    pairs = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0], [0.5, 3.0]])
    chance = isa.Modules(csr_array((2, 5)), csr_array((2, 4)), np.array([7.0, 4.0]), np.array([0, 1]))
    assert isa.strength_by_chance([chance], pairs).tolist() == [7.0, 4.0, 4.0, 1.0]


@pytest.mark.parametrize("X", [np.full((6, 5), 2.0), np.zeros((6, 5)), np.eye(2)])
def test_nothing_found_is_an_answer(X):
    for same in (X, csr_array(X)):
        model = IterativeSignature(random_state=0).fit(same)
        assert len(model.solution_) == 0
        assert model.robustness_.shape == (0,)
        assert model.row_scores_.shape == (0, X.shape[0])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"row_threshold": -1}, "row_threshold is -1; it must be at least 0"),
        ({"n_seeds": 0}, "n_seeds is 0; it must be at least 1"),
        ({"n_scrambled": -1}, "n_scrambled is -1; it must be at least 0"),
        ({"two_sided": 1}, "two_sided is 1; True or False"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        IterativeSignature(**parameters).fit(np.eye(4))
