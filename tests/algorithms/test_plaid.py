"""The plaid model: layers against naive twins, planted layers, the test by shuffling, edges."""

import numpy as np
import pytest

from bivaluate import ParameterError
from bivaluate.algorithms import Plaid
from bivaluate.algorithms import plaid as fast
from tests.reference import plaid as naive


def planted(seed=0, shape=(60, 22)):
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 0.3, shape) + rng.normal(size=(shape[0], 1)) + rng.normal(size=shape[1])
    X[:12, :6] += 4 + rng.normal(0, 0.5, (12, 1)) + rng.normal(0, 0.5, 6)
    X[30:50, 10:17] -= 3
    return X


def fitted(layer):
    return layer.mean + layer.row_effects[:, np.newaxis] + layer.col_effects


@pytest.mark.parametrize("seed", range(5))
def test_a_layer_grows_as_in_the_twin(seed):
    rng = np.random.default_rng(seed)
    Z = planted(seed)
    Z = Z - Z.mean(axis=0) - Z.mean(axis=1, keepdims=True) + Z.mean()
    rows, cols = rng.random(60) < 0.4, rng.random(22) < 0.4
    for release in ((0.7, 0.7), (0.5, 0.3)):
        layer = fast.refine_layer(Z, rows, cols, release, 8)
        expected = naive.layer(Z, np.flatnonzero(rows), np.flatnonzero(cols), release, 8)
        if expected is None:
            assert layer is None
            continue
        np.testing.assert_array_equal(layer.rows, expected[0])
        np.testing.assert_array_equal(layer.cols, expected[1])
        mu, alpha, beta = naive.effects(Z, *expected)
        np.testing.assert_allclose(fitted(layer), (mu + alpha[:, None] + beta)[np.ix_(*expected)])
        assert layer.sum_of_squares == pytest.approx((fitted(layer) ** 2).sum())


@pytest.mark.parametrize("seed", range(6))
def test_the_start_equals_the_twin(seed):
    Z = planted(seed)
    rng = np.random.RandomState(seed)
    first = rng.randint(0, 60, 4)
    second = (first + rng.randint(1, 60, 4)) % 60
    group = fast.smaller_group(Z, Z, 4, np.random.RandomState(seed))
    np.testing.assert_array_equal(group, naive.two_means(Z, first, second))


def test_many_rows_are_grouped_by_some_of_them(limits):
    Z = np.repeat([[5.0, 5.0, 0.0], [0.0, 0.0, 0.0]], [20, 60], axis=0) + np.random.default_rng(0).normal(
        0, 0.1, (80, 3)
    )
    group = fast.smaller_group(Z, Z[10:40], 5, np.random.RandomState(0))
    np.testing.assert_array_equal(np.flatnonzero(group), np.arange(20))
    limits("algorithms", MOST_ROWS=30)
    layer = fast.find_layer(Z, (0.7, 0.7), 5, 10, np.random.RandomState(0))
    assert layer.rows.tolist() == list(range(20))
    assert layer.cols.tolist() == [0, 1]


def test_planted_layers_are_recovered_and_the_search_ends_there():
    model = Plaid(8, random_state=0).fit(planted())
    found = {(tuple(b.rows), tuple(b.cols)) for b in model.solution_}
    assert (tuple(range(12)), tuple(range(6))) in found
    assert (tuple(range(30, 50)), tuple(range(10, 17))) in found
    assert len(found) <= 4
    assert len(model.sums_of_squares_) == len(model.solution_)


def test_fitting_again_leaves_less_over():
    X = planted()
    X[5:35, 4:12] += 2.0
    left = [Plaid(4, n_backfits=k, n_shuffles=0, random_state=1).fit(X).residual_ for k in (0, 1, 5)]
    assert left[0] > left[1] > left[2] * 0.999
    none = X - X.mean(axis=0) - X.mean(axis=1, keepdims=True) + X.mean()
    assert left[0] < (none**2).mean()


def test_the_residual_is_what_the_model_leaves_over():
    X = planted()
    layer = fast.fit_layer(X, np.arange(60), np.arange(22))
    residual = X.copy()
    fast.subtract(residual, layer)
    np.testing.assert_allclose(residual, X - fitted(layer), atol=1e-12)
    block = fast.fit_layer(residual, np.arange(12), np.arange(6))
    fast.subtract(residual, block)
    layers = fast.backfit(residual, [layer, block])
    whole = fitted(layers[0])
    whole[:12, :6] += fitted(layers[1])
    np.testing.assert_allclose(residual, X - whole, atol=1e-12)


def test_noise_has_no_layer():
    noise = np.random.default_rng(3).normal(size=(80, 15))
    model = Plaid("auto", random_state=0).fit(noise)
    assert len(model.solution_) <= 1
    assert model.rows_.shape[1] == 80


@pytest.mark.parametrize(
    "X", [np.full((5, 4), 2.0), np.zeros((4, 6)), np.arange(6.0)[:, None], np.add.outer(np.arange(5.0), np.arange(4.0))]
)
def test_nothing_left_over_is_an_answer(X):
    model = Plaid(3, random_state=0).fit(X)
    assert len(model.solution_) == 0
    assert model.residual_ < 1e-20


def test_without_a_background_a_level_is_a_layer():
    X = np.full((8, 5), 3.0) + np.random.default_rng(0).normal(0, 0.1, (8, 5))
    model = Plaid(1, background=False, n_shuffles=0, random_state=0).fit(X)
    assert model.solution_[0].shape == (8, 5)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"row_release": 1.5}, "row_release is 1.5; it must be at most 1"),
        ({"col_release": -1}, "col_release is -1; it must be at least 0"),
        ({"background": 1}, "background is 1; True or False"),
        ({"n_starts": 0}, "n_starts is 0; it must be at least 1"),
        ({"n_iterations": 0}, "n_iterations is 0; it must be at least 1"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        Plaid(**parameters).fit(np.eye(4))
