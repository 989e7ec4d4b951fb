"""FABIA: rounds and members against the naive twin, planted products, edges."""

import numpy as np
import pytest

from bivaluate import ParameterError
from bivaluate.algorithms import FABIA
from bivaluate.algorithms import fabia as fast
from tests.reference import fabia as naive


def planted(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 0.4, (70, 18))
    X[:9, :5] += np.outer(rng.uniform(2, 4, 9) * rng.choice([-1, 1], 9), rng.uniform(0.8, 1.2, 5))
    X[30:40, 8:13] += np.outer(rng.uniform(2, 4, 10), rng.uniform(0.8, 1.2, 5))
    return X


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sparseness", [0.0, 0.01, 0.3])
def test_rounds_and_members_equal_the_twin(seed, sparseness):
    Z = fast.unit_rows(planted(seed))
    first = np.random.RandomState(seed).standard_normal((70, 3))
    model = fast.fit_factors(Z, first, sparseness, 6)
    loadings, noise, factors = naive.fit(Z, first, sparseness, 6)
    np.testing.assert_allclose(model.loadings, loadings, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.noise, noise, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.factors.T, factors, rtol=1e-7, atol=1e-9)
    for (rows, cols), expected in zip(
        fast.biclusters_of(model, 0.5), naive.members(loadings, factors, 0.5), strict=True
    ):
        np.testing.assert_array_equal(rows, expected[0])
        np.testing.assert_array_equal(cols, expected[1])


def test_planted_products_are_recovered_and_the_most_informative_comes_first():
    model = FABIA(2, random_state=0).fit(planted())
    found = {(tuple(b.rows), tuple(b.cols)) for b in model.solution_}
    assert found == {(tuple(range(9)), tuple(range(5))), (tuple(range(30, 40)), tuple(range(8, 13)))}
    assert len(model.information_) == 2
    assert model.information_[0] >= model.information_[1] > 0


def test_rows_are_centred_by_the_median_and_scaled():
    Z = fast.unit_rows(np.array([[1.0, 2.0, 9.0], [4.0, 4.0, 4.0]]))
    assert Z[0, 1] == 0
    assert (Z[0] ** 2).mean() == pytest.approx(1.0)
    assert not Z[1].any()


@pytest.mark.parametrize(
    "X", [np.full((6, 5), 2.0), np.zeros((4, 6)), np.arange(5.0)[None, :], np.arange(4.0)[:, None]]
)
def test_flat_and_thin_matrices_are_answered(X):
    model = FABIA(3, random_state=0).fit(X)
    assert model.rows_.shape[1] == X.shape[0]
    assert len(model.information_) == len(model.solution_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"sparseness": -1}, "sparseness is -1; it must be at least 0"),
        ({"factor_threshold": 0}, "factor_threshold is 0; it must be at least 1e-06"),
        ({"max_iter": 0}, "max_iter is 0; it must be at least 1"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        FABIA(**parameters).fit(np.eye(4))
