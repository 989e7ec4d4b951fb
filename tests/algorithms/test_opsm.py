"""Order-preserving submatrices: the naive twin, planted orders, significance, ties, edges."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from bivaluate import ParameterError
from bivaluate.algorithms import OrderPreservingSubmatrices
from bivaluate.algorithms.opsm import best_model, log_significance, ranks_of
from tests.reference import opsm as naive


def planted(seed, shape=(60, 12), n_rows=15, order=(4, 1, 7, 2, 9)):
    X = np.random.default_rng(seed).normal(size=shape)
    X[:n_rows, order] = np.sort(X[:n_rows, order], axis=1)
    return X


@pytest.mark.parametrize("kind", ["numbers", "ties"])
def test_the_best_model_of_every_size_is_that_of_the_twin(kind):
    rng = np.random.default_rng(3)
    for shape, n_models in (((14, 6), 3), ((9, 7), 8), ((20, 5), 30)):
        X = rng.normal(size=shape)
        if kind == "ties":
            X = rng.integers(0, 6, shape).astype(float)
        for size in range(2, shape[1] + 1):
            rows, order = best_model(ranks_of(X), size, n_models)
            assert (rows.tolist(), order.tolist()) == naive.best_model(X, size, n_models)


@pytest.mark.parametrize("transform", [lambda X: X, np.exp, lambda X: X * 7 + np.arange(60)[:, None]])
def test_a_planted_order_is_found_whatever_keeps_the_order_of_the_rows(transform):
    model = OrderPreservingSubmatrices().fit(transform(planted(0, n_rows=20)))
    found = dict(zip((b.shape[1] for b in model.solution_), model.solution_, strict=True))
    assert set(range(20)) <= set(found[5].rows.tolist())
    assert model.orders_[[b.shape[1] for b in model.solution_].index(5)].tolist() == [4, 1, 7, 2, 9]
    assert (np.diff(model.log_p_values_) >= 0).all()
    for (rows, cols), order in zip(model.solution_, model.orders_, strict=True):
        assert sorted(order.tolist()) == cols.tolist()
        assert (np.diff(planted(0, n_rows=20)[np.ix_(rows, order)], axis=1) > 0).all()


@pytest.mark.parametrize(("n", "m", "size", "count"), [(60, 12, 5, 15), (60, 12, 2, 40), (30, 9, 9, 1), (8, 4, 3, 8)])
def test_significance_is_the_bound_of_the_paper(n, m, size, count):
    tail = binom.sf(count - 1, n, 1 / math.factorial(size))
    expected = math.log(math.factorial(m) / math.factorial(m - size) * tail)
    assert log_significance(n, m, size, count) == pytest.approx(expected, rel=1e-9)


def test_significance_stays_finite_where_probabilities_do_not():
    assert -1e6 < log_significance(300, 60, 60, 200) < -1e4


def test_noise_and_constant_rows_hold_nothing():
    noise = np.random.default_rng(5).normal(size=(12, 9))
    assert len(OrderPreservingSubmatrices(max_p_value=1e-3).fit(noise).solution_) == 0
    model = OrderPreservingSubmatrices().fit(np.ones((6, 5)))
    assert len(model.solution_) == 0
    assert model.orders_ == []
    assert len(OrderPreservingSubmatrices().fit(np.arange(5.0)[:, None]).solution_) == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_models": 0}, "n_models is 0; it must be at least 1"),
        ({"min_rows": 0}, "min_rows is 0; it must be at least 1"),
        ({"min_columns": 1}, "min_columns is 1; it must be at least 2"),
        ({"max_p_value": 0.0}, "max_p_value is 0.0; it must be at least"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        OrderPreservingSubmatrices(**parameters).fit(np.eye(4))
