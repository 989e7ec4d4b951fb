"""Sparse singular value decomposition: layers against the naive twin, sparse data, planted layers, edges."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from bivaluate import ParameterError
from bivaluate.algorithms import SparseSVD
from bivaluate.algorithms import sparse_svd as fast
from tests.reference import sparse_svd as naive


def planted(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 0.5, (50, 18))
    X[:10, :5] += np.outer(rng.uniform(2, 4, 10), rng.choice([-1, 1], 5))
    X[20:35, 8:14] += 2.5
    return X


@pytest.mark.parametrize("gamma", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("shape", ["tall", "wide"])
def test_layers_equal_the_twin(gamma, shape):
    for seed in range(3):
        X = planted(seed) if shape == "tall" else planted(seed).T
        model = SparseSVD(3, row_weight=gamma, col_weight=gamma, centred=False).fit(X)
        expected = naive.layers(X, 3, gamma)
        assert len(model.solution_) == len(expected)
        for k, (s, u, v) in enumerate(expected):
            sign = np.sign(u @ model.left_[k])
            assert model.singular_values_[k] == pytest.approx(s, rel=1e-6)
            np.testing.assert_allclose(sign * model.left_[k], u, atol=1e-5)
            np.testing.assert_allclose(sign * model.right_[k], v, atol=1e-5)
            np.testing.assert_array_equal(model.rows_[k], u != 0)


@pytest.mark.parametrize("gamma", [0.0, 2.0])
@pytest.mark.parametrize("kind", ["normal", "ties", "zeros", "one"])
def test_one_penalised_vector_equals_the_twin(gamma, kind):
    rng = np.random.default_rng(0)
    z = {
        "normal": rng.normal(size=30) * 10.0 ** rng.integers(-3, 3, 30),
        "ties": rng.integers(-3, 4, 25) * 1.0,
        "zeros": np.append(rng.normal(size=5) * 4, np.zeros(9)),
        "one": np.array([3.0]),
    }[kind]
    squares = (z**2).sum() + 40.0
    found = fast.penalised(z, gamma, squares, 20, len(z))
    expected = naive.penalised(z, gamma, squares, 20)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_array_equal(found != 0, expected != 0)


@pytest.mark.parametrize("centred", [True, False])
def test_sparse_and_large_matrices_give_the_same_layers(limits, centred):
    rng = np.random.default_rng(1)
    X = rng.poisson(0.3, (50, 20)) * 1.0
    X[:12, :6] += 3
    dense = SparseSVD(3, centred=centred).fit(X)
    sparse = SparseSVD(3, centred=centred).fit(csr_array(X))
    limits("algorithms", FEW=5)
    large = SparseSVD(3, centred=centred).fit(csr_array(X))
    for other in (sparse, large):
        assert other.solution_ == dense.solution_
        np.testing.assert_allclose(other.singular_values_, dense.singular_values_, rtol=1e-6)


def test_what_is_left_over_is_never_built_and_always_right():
    X = planted()
    left = fast.LeftOver(X)
    rest = X.copy()
    rng = np.random.default_rng(0)
    for _ in range(3):
        u, v = rng.normal(size=50), rng.normal(size=18)
        u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
        left.subtract(2.5, u, v)
        rest -= 2.5 * np.outer(u, v)
    assert left.squares == pytest.approx((rest**2).sum())
    np.testing.assert_allclose(left.times(np.arange(18.0)), rest @ np.arange(18.0))
    np.testing.assert_allclose(left.times(np.arange(50.0), turned=True), rest.T @ np.arange(50.0))
    first = np.linalg.svd(rest)[0][:, 0]
    assert abs(left.leading() @ first) == pytest.approx(1.0)


def test_planted_layers_are_recovered():
    X = planted()
    model = SparseSVD(2).fit(X)
    found = {(tuple(b.rows), tuple(b.cols)) for b in model.solution_}
    assert found == {(tuple(range(10)), tuple(range(5))), (tuple(range(20, 35)), tuple(range(8, 14)))}


def test_centring_takes_the_level_away():
    X = planted() + 20.0
    assert SparseSVD(1, centred=False).fit(X).solution_[0].shape == (50, 18)
    assert SparseSVD(1).fit(X).solution_[0].shape != (50, 18)
    assert fast._median(csr_array(np.array([[1.0, 2.0, 0.0], [4.0, 3.0, 6.0]]))) == 2.5
    assert fast._median(csr_array(np.array([[1.0, 0.0, 0.0], [4.0, 0.0, 6.0]]))) == 0.5
    assert fast._median(csr_array(np.array([[1.0, 0.0, 0.0], [4.0, 0.0, 0.0]]))) == 0.0


@pytest.mark.parametrize("X", [np.full((5, 4), 2.0), np.zeros((4, 6)), np.random.default_rng(0).normal(size=(200, 30))])
def test_nothing_found_is_an_answer(X):
    model = SparseSVD("auto").fit(X)
    assert len(model.solution_) == 0
    assert model.left_.shape == (0, X.shape[0])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"row_weight": -1}, "row_weight is -1; it must be at least 0"),
        ({"col_weight": float("inf")}, "col_weight is inf; a finite number"),
        ({"centred": "no"}, "centred is 'no'; True or False"),
        ({"max_iter": 0}, "max_iter is 0; it must be at least 1"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        SparseSVD(**parameters).fit(np.eye(4))
