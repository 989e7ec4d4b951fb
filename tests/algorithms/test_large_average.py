"""LAS: kernels against naive twins, planted blocks, threads, edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import consensus_score

from bivaluate import ParameterError, SearchWarning
from bivaluate._parallel import SliceThreads
from bivaluate.algorithms import LargeAverageSubmatrices
from bivaluate.algorithms import _kernels_las as kernels
from bivaluate.algorithms._kernels_las import adapt_size, constrained_search
from bivaluate.algorithms.large_average import log_binomials, search, standardised
from tests.algorithms import entry
from tests.reference import las as naive

kth_largest, choose, best_size = map(entry, (kernels.kth_largest, kernels.choose, kernels.best_size))


def planted(seed, shape=(90, 25), block=(18, 7), level=3.0):
    X = np.random.default_rng(seed).normal(size=shape)
    X[: block[0], : block[1]] += level
    return X


@settings(deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=60), st.data())
def test_kth_largest_and_choice_keep_the_tie_rule(numbers, data):
    values = np.array(numbers, dtype=float)
    k = data.draw(st.integers(1, len(values)))
    guess = data.draw(st.sampled_from([-9.0, 0.0, 0.5, 9.0]))
    cut = kth_largest(values, k, guess, np.empty(len(values) + 1), np.empty(len(values) + 1))
    assert cut == np.sort(values)[::-1][k - 1]
    chosen = np.empty(len(values), np.uint8)
    choose(values, k, cut, chosen)
    np.testing.assert_array_equal(np.flatnonzero(chosen), naive.largest(values, k))


@given(
    st.integers(1, 700),
    st.integers(1, 60),
    st.integers(0, 10_000),
    st.sampled_from(["normal", "heavy", "ties", "flat"]),
)
def test_best_size_equals_the_twin(n, other, seed, kind):
    rng = np.random.default_rng(seed)
    sums = {
        "normal": rng.normal(size=n) * np.sqrt(other),
        "heavy": rng.standard_t(2, n) * other,
        "ties": rng.integers(-2, 3, n).astype(float),
        "flat": np.full(n, rng.normal()),
    }[kind]
    chosen, room = np.empty(n, np.uint8), (np.empty(n, np.int64), np.empty(n), np.empty(n, np.int32), np.empty(n))
    score = best_size(sums, other, log_binomials(n), chosen, room)
    expected, value = naive.best_size(sums, other, 60)
    assert score - log_binomials(60)[other] == pytest.approx(value, rel=1e-10, abs=1e-10)
    assert np.array_equal(np.flatnonzero(chosen), naive.largest(sums, int(chosen.sum())))
    if kind in ("normal", "heavy"):
        assert chosen.sum() == len(expected)


def test_rounds_of_search_and_adaptation_equal_the_twin():
    rng = np.random.default_rng(5)
    for X in (planted(1), planted(2, (300, 12)), np.repeat(planted(3), 2, axis=0)):
        Z = standardised(X)
        np.testing.assert_allclose(Z, naive.standardised(X), atol=1e-12)
        n, m = Z.shape
        Zt = np.ascontiguousarray(Z.T)
        k, width = rng.integers(1, n // 2, 30), rng.integers(1, m // 2, 30)
        lots = rng.random((30, m))
        starts = (-lots).argsort(axis=1)
        sets = np.empty((30, m), np.uint8)
        constrained_search(Z, Zt, k, width, lots, np.zeros(30), sets)
        for s in range(30):
            np.testing.assert_array_equal(
                np.flatnonzero(sets[s]), naive.constrained_search(Z, k[s], width[s], starts[s])
            )
        rows, new_sets, scores = np.empty((30, n), np.uint8), np.empty_like(sets), np.empty(30)
        adapt_size(Z, Zt, (log_binomials(n), log_binomials(m)), sets, rows, new_sets, scores)
        for s in range(30):
            expected = naive.adapt_size(Z, np.flatnonzero(sets[s]))
            np.testing.assert_array_equal(np.flatnonzero(rows[s]), expected[0])
            np.testing.assert_array_equal(np.flatnonzero(new_sets[s]), expected[1])
            assert scores[s] == pytest.approx(expected[2], rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_whole_search_equals_the_twin_and_the_score_is_that_of_the_block(seed):
    Z = standardised(planted(seed, level=1.0))
    with SliceThreads(1, 0) as workers:
        score, rows, cols = search(Z, 40, np.random.RandomState(seed), workers)
    expected = naive.search(Z, 40, np.random.RandomState(seed))
    assert score == pytest.approx(expected[0], rel=1e-10)
    np.testing.assert_array_equal(rows, expected[1])
    np.testing.assert_array_equal(cols, expected[2])
    assert score == pytest.approx(naive.score(Z, rows, cols), rel=1e-10)


def test_clean_planted_blocks_are_recovered():
    X = planted(0)
    X[40:60, 10:18] += 3.0
    model = LargeAverageSubmatrices(2, n_restarts=200, random_state=0).fit(X)
    rows, cols = np.zeros((2, 90), bool), np.zeros((2, 25), bool)
    rows[0, :18], cols[0, :7], rows[1, 40:60], cols[1, 10:18] = True, True, True, True
    assert consensus_score(model.biclusters_, (rows, cols)) > 0.97
    assert np.all(np.diff(model.scores_) < 0)
    assert np.all(model.averages_ > 1)


def test_low_averages_only_when_asked():
    X = -planted(7)
    high = LargeAverageSubmatrices(1, n_restarts=100, random_state=0).fit(X)
    both = LargeAverageSubmatrices(1, n_restarts=100, two_sided=True, random_state=0).fit(X)
    assert both.averages_[0] < -1
    assert both.solution_[0].shape == (18, 7)
    assert len(high.scores_) == 0 or high.scores_[0] < both.scores_[0] / 2


def test_the_answer_does_not_depend_on_threads():
    X = np.random.default_rng(1).normal(size=(200, 40))
    X[:30, :10] += 0.8
    runs = [
        LargeAverageSubmatrices(3, n_restarts=150, min_score=-50.0, n_jobs=jobs, random_state=3).fit(X)
        for jobs in (1, 2, 3, -1, None)
    ]
    for run in runs[1:]:
        assert run.solution_ == runs[0].solution_
        np.testing.assert_array_equal(run.scores_, runs[0].scores_)


def test_stops_when_nothing_scores():
    noise = np.random.default_rng(0).normal(size=(60, 8))
    model = LargeAverageSubmatrices(5, n_restarts=50, min_score=20.0, random_state=0).fit(noise)
    assert len(model.solution_) == 0
    assert model.rows_.shape == (0, 60)
    assert model.columns_.shape == (0, 8)


@pytest.mark.parametrize("X", [np.full((5, 4), 2.0), np.arange(6.0)[:, None], np.arange(5.0)[None, :]])
def test_constant_one_column_one_row(X):
    model = LargeAverageSubmatrices(3, n_restarts=20, random_state=0).fit(X)
    assert model.rows_.shape[1] == X.shape[0]


def test_a_constant_column_stays_out_of_the_way():
    X = planted(3)
    X[:, 20] = 0.1
    X[:18, 20] = np.nextafter(0.1, 1)  # the rounding of those that are high elsewhere
    model = LargeAverageSubmatrices(1, n_restarts=100, random_state=0).fit(X)
    assert model.solution_[0].shape == (18, 7)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_restarts": 0}, "n_restarts is 0; it must be at least 1"),
        ({"min_score": float("nan")}, "min_score is nan; a finite number"),
        ({"two_sided": 1}, "two_sided is 1; True or False"),
        ({"n_jobs": 0}, "n_jobs is 0; it must be at least 1"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        LargeAverageSubmatrices(**parameters).fit(np.eye(4))


def test_fewer_than_asked_for_are_warned_of():
    X = np.random.default_rng(0).normal(size=(60, 20))
    X[:12, :5] += 4
    with pytest.warns(SearchWarning, match="LargeAverageSubmatrices found 2 of the 8 biclusters asked for"):
        LargeAverageSubmatrices(8, n_restarts=50, random_state=0).fit(X)
