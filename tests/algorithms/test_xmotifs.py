"""xMOTIFs: the naive twin, planted motifs, states, edges."""

import math

import numpy as np
import pytest

from bivaluate import ParameterError
from bivaluate.algorithms import XMotifs
from bivaluate.algorithms.xmotifs import find_motif, given_states, interval_states
from tests.reference import xmotifs as naive


def planted(seed, shape=(50, 20), block=(12, 15)):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    X[: block[0], : block[1]] = rng.normal(size=(block[0], 1)) + rng.normal(0, 0.001, block)
    return X


@pytest.mark.parametrize("p", [0.5, 0.05, 0.001])
def test_states_are_the_intervals_of_the_twin(p):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(8, 15)), rng.integers(0, 6, (6, 15)), np.full((1, 15), 3.0), planted(1)[:4, :15]])
    states = interval_states(X, math.log(p))
    for row, line in zip(X, states, strict=True):
        found = {frozenset(np.flatnonzero(line == state).tolist()) for state in set(line.tolist()) - {0}}
        assert found == naive.interval_sets(row, math.log(p))


@pytest.mark.parametrize("seed", range(5))
def test_motifs_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    states = rng.integers(0, 3, (70, 12))
    states[:20, :8] = rng.integers(1, 3, (20, 1))
    left = np.setdiff1d(np.arange(12), rng.integers(0, 12, seed))
    for size, least in ((1, 1), (3, 5), (4, 7)):
        arguments = (states, left, 4, 30, size, least)
        rows, cols = find_motif(*arguments, np.random.RandomState(seed))
        expected = naive.find_motif(*arguments, np.random.RandomState(seed))
        assert (rows.tolist(), cols.tolist() if len(rows) else []) == expected


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_motif_is_found_and_columns_are_used_once(seed):
    X = planted(seed)
    solution = XMotifs(min_share=0.75, max_p_value=1e-4, random_state=seed).fit(X).solution_
    assert (solution[0].rows.tolist(), solution[0].cols.tolist()) == (list(range(12)), list(range(15)))
    solution = XMotifs(random_state=seed, set_size=2).fit(X).solution_
    used = np.concatenate([b.cols for b in solution])
    assert len(set(used.tolist())) == len(used)


def test_given_states_need_no_intervals():
    X = np.tile(np.arange(10.0), (15, 1))
    X[:, :6] = np.arange(15)[:, None] % 4
    block = XMotifs(1, states="given", set_size=4, random_state=0).fit(X).solution_[0]
    assert (block.shape, block.cols.tolist()) == ((15, 6), list(range(6)))
    np.testing.assert_array_equal(given_states(np.array([[2.5, -1.0], [7.0, 2.5]])), [[2, 1], [3, 2]])


def test_the_search_does_not_depend_on_how_many_sets_are_drawn_at_once(limits):
    X = planted(4)
    expected = XMotifs(random_state=0, set_size=3).fit(X).solution_
    limits(SETS_AT_ONCE=7)
    assert XMotifs(random_state=0, set_size=3).fit(X).solution_ == expected


def test_nothing_to_find_is_an_answer():
    for X in (np.arange(20.0).reshape(4, 5), np.arange(4.0)[:, None]):
        assert XMotifs(random_state=0, max_p_value=1e-6).fit(X).rows_.shape == (0, 4)
    assert XMotifs(random_state=0).fit(np.ones((4, 6))).solution_[0].shape == (4, 6)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_seeds": 0}, "n_seeds is 0; it must be at least 1"),
        ({"n_sets": 0}, "n_sets is 0; it must be at least 1"),
        ({"set_size": 0}, "set_size is 0; it must be at least 1"),
        ({"min_share": 1.5}, "min_share is 1.5; it must be at most 1"),
        ({"states": "given "}, "states is 'given '; allowed: 'intervals', 'given'"),
        ({"max_p_value": 0.0}, "max_p_value is 0.0; it must be at least"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        XMotifs(**parameters).fit(np.eye(4))
