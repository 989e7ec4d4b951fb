"""QUBIC: the naive twin, planted blocks, consistency, overlap, edges."""

import numpy as np
import pytest

from bivaluate import ParameterError
from bivaluate.algorithms import Qubic
from bivaluate.algorithms.qubic import heaviest_pairs, symbols_of
from tests.reference import qubic as naive


def planted(seed, level=6.0):
    X = np.random.default_rng(seed).normal(size=(60, 25))
    X[:12, :5] += level
    X[20:26, :5] -= level
    return X


@pytest.mark.parametrize("seed", range(4))
def test_symbols_and_blocks_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(26, 17))
    X[:9, 2:8] += 3.0
    n_ranks, share, least = ((1, 0.95, 2), (2, 0.7, 1), (1, 0.8, 3), (3, 0.6, 2))[seed]
    np.testing.assert_array_equal(symbols_of(X, 0.2, n_ranks), naive.symbols(X, 0.2, n_ranks))
    options = {"quantile": 0.2, "n_ranks": n_ranks, "consistency": share, "min_columns": least}
    for n_candidates in (5, 70):
        expected = naive.qubic(X, 0.2, n_ranks, share, least, n_candidates)
        expected = sorted(expected, key=lambda b: -len(b[0]) * len(b[1]))
        found = Qubic(1000, n_candidates=n_candidates, **options).fit(X).solution_
        kept = [
            b
            for k, b in enumerate(expected)
            if not any(set(b[0]) <= set(r) and set(b[1]) <= set(c) for r, c in expected[:k])
        ]
        assert [(b.rows.tolist(), b.cols.tolist()) for b in found] == kept


def test_the_whole_search_does_not_depend_on_how_many_pairs_are_held(limits):
    X = planted(1)
    expected = Qubic(20).fit(X).solution_
    limits(PAIRS_AT_ONCE=7)
    assert Qubic(20).fit(X).solution_ == expected


def test_pairs_come_by_decreasing_weight(limits):
    rows = np.random.default_rng(0).integers(0, 2**20, (30, 1)).astype(np.uint64)
    limits(PAIRS_AT_ONCE=20)
    pairs = np.concatenate(list(heaviest_pairs(rows, 3, 20)))
    weights = [bin(int(rows[p // 30, 0] & rows[p % 30, 0])).count("1") for p in pairs]
    assert weights == sorted(weights, reverse=True)
    assert len(set(pairs.tolist())) == len(pairs)
    assert min(weights) >= 3


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_a_planted_block_is_found_with_the_rows_that_mirror_it(scale):
    X = planted(0) * scale + 40
    block = Qubic(1).fit(X).solution_[0]
    assert set(block.rows.tolist()) == {*range(12), *range(20, 26)}
    assert block.cols.tolist() == list(range(5))


def test_blocks_that_overlap_too_much_are_left_out():
    X = np.random.default_rng(0).normal(size=(60, 30))
    X[:20, :6] += 8
    X[14:32, 4:9] += 8
    every = Qubic(50, max_overlap=1.0).fit(X).solution_
    for most in (0.6, 0.2, 0.0):
        kept = []
        for b in every:  # from the largest to the smallest
            shared = [len(np.intersect1d(b.rows, k.rows)) * len(np.intersect1d(b.cols, k.cols)) for k in kept]
            kept += [b] if all(cells < most * b.size or cells == 0 for cells in shared) else []
        assert list(Qubic(50, max_overlap=most).fit(X).solution_) == kept
        assert 1 <= len(kept) < len(every)


@pytest.mark.parametrize("X", [np.full((5, 4), 2.0), np.eye(3), np.arange(6.0)[:, None], np.arange(5.0)[None, :]])
def test_nothing_to_find_is_an_answer(X):
    assert Qubic().fit(X).rows_.shape == (0, len(X))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"quantile": 0.6}, "quantile is 0.6; it must be at most 0.5"),
        ({"consistency": 0.5}, "consistency is 0.5; it must be more than 0.5"),
        ({"n_ranks": 0}, "n_ranks is 0; it must be at least 1"),
        ({"min_columns": 0}, "min_columns is 0; it must be at least 1"),
        ({"max_overlap": 2}, "max_overlap is 2; it must be at most 1"),
        ({"n_candidates": 0}, "n_candidates is 0; it must be at least 1"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        Qubic(**parameters).fit(np.eye(4))
