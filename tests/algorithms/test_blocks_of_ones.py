"""Binarisation, BiBit and Bimax: naive twins, planted blocks, sparse data, edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from bivaluate import MatrixError, ParameterError, SearchWarning
from bivaluate.algorithms import BiBit, Bimax
from bivaluate.algorithms._bits import Largest, bits_of, members, split_in_two
from bivaluate.measures.cover import packed_masks
from tests.reference import blocks_of_ones as naive

BOTH = pytest.mark.parametrize("algorithm", [BiBit, Bimax])
TWINS = {BiBit: naive.bibit, Bimax: naive.bimax}


def as_set(solution):
    return {(tuple(b.rows.tolist()), tuple(b.cols.tolist())) for b in solution}


def ones_of(words, m):
    return np.array([np.isin(np.arange(m), items) for items in members(words, m)])


@pytest.mark.parametrize("shape", [(1, 1), (3, 64), (65, 7), (130, 129)])
def test_bits_are_those_of_the_matrix_and_of_its_transpose(shape, limits):
    ones = np.random.default_rng(0).random(shape) < 0.4
    limits(CELLS_AT_ONCE=64 * shape[1])  # several parts
    for X in (ones.astype(float), csr_array(ones.astype(float))):
        rows, columns = bits_of(X, "none")
        np.testing.assert_array_equal(ones_of(rows, shape[1]), ones)
        np.testing.assert_array_equal(ones_of(columns, shape[0]), ones.T)


@given(arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 9)), elements=st.integers(-4, 4).map(float)))
def test_rows_are_split_as_the_twin_splits_them(X):
    got, expected = split_in_two(X), naive.split_rows(X)
    for row, one, two in zip(X, got, expected, strict=True):
        if not np.array_equal(one, two):  # two splits may be equally good
            within = [sum(((part - part.mean()) ** 2).sum() for part in (row[s], row[~s])) for s in (one, two)]
            assert within[0] == pytest.approx(within[1], abs=1e-9)


def test_every_rule_of_binarisation():
    X = np.array([[0.0, 0.0, 5.0, 6.0], [1.0, 0.0, 1.0, 1.0], [3.0, 3.0, 3.0, 3.0]])
    for kind in (np.asarray, csr_array):
        for rule, expected in (
            ("rows", [[0, 0, 1, 1], [1, 0, 1, 1], [0, 0, 0, 0]]),
            ("nonzero", [[0, 0, 1, 1], [1, 0, 1, 1], [1, 1, 1, 1]]),
            (4, [[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]),
        ):
            np.testing.assert_array_equal(ones_of(bits_of(kind(X), rule)[0], 4), np.array(expected, bool))
        for none in ("none", None):  # None is what the command line makes of the word
            with pytest.raises(
                MatrixError, match=r"only 0 and 1 when binarise is 'none', but the cell at row 0, column 2 "
            ):
                bits_of(kind(X), none)
    with pytest.raises(ParameterError, match=r"binarise is 'row'; allowed: 'rows', 'nonzero', 'none'\. Did you mean"):
        bits_of(X, "row")
    with pytest.raises(ParameterError, match=r"binarise is nan; a finite number is needed"):
        bits_of(X, float("nan"))


@BOTH
def test_all_biclusters_are_those_of_the_twin_and_the_largest_come_first(algorithm):
    rng = np.random.default_rng(1)
    for _ in range(25):
        shape, density = (rng.integers(2, 26), rng.integers(2, 9)), rng.choice([0.3, 0.6, 0.9])
        ones = rng.random(shape) < density
        least = rng.integers(2, 4, 2)
        for X, minimum in ((ones, least), (ones.T, least[::-1])):
            options = {"min_rows": int(minimum[0]), "min_columns": int(minimum[1])}
            found = algorithm(10**9, **options).fit(X.astype(float)).solution_
            if algorithm is Bimax and X is not ones:
                expected = {(rows, cols) for cols, rows in naive.bimax(ones, *least)}
            else:
                expected = TWINS[algorithm](X, *minimum)
            assert as_set(found) == expected
            assert len(found) == len(expected)
            assert [b.size for b in found] == sorted((b.size for b in found), reverse=True)
            few = algorithm(3, **options).fit(X.astype(float)).solution_
            assert list(few) == list(found)[:3]


@BOTH
@pytest.mark.parametrize("wide", [False, True])
def test_a_planted_block_is_found_in_ones_in_numbers_and_in_sparse_data(algorithm, wide):
    rng = np.random.default_rng(2)
    shape = (90, 150) if wide else (150, 90)
    ones = (rng.random(shape) < 0.05).astype(float)
    ones[20:45, 30:42] = 1
    numbers = np.where(ones == 1, 6.0, 0.0) + rng.normal(size=shape)
    for X in (ones, csr_array(ones), numbers, csr_array(ones * 7)):
        rows, cols = algorithm(1).fit(X).solution_[0]
        assert set(range(20, 45)) <= set(rows.tolist())
        assert set(cols.tolist()) == set(range(30, 42))


@BOTH
def test_nothing_to_find_is_an_answer(algorithm):
    for X in (np.zeros((5, 4)), np.eye(6), np.full((4, 3), 2.0)):
        assert len(algorithm(min_rows=2, min_columns=2).fit(X).solution_) == 0
    assert algorithm().fit(np.ones((4, 3))).solution_[0].shape == (4, 3)


def test_a_pattern_that_no_two_rows_alone_share_is_left_to_bimax():
    X = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1.0]])
    assert (tuple(range(3)), (3,)) in as_set(Bimax(min_columns=1).fit(X).solution_)
    assert (tuple(range(3)), (3,)) not in as_set(BiBit(min_columns=1).fit(X).solution_)


def test_the_table_of_patterns_grows_and_has_an_end(limits):
    X = (np.random.default_rng(3).random((60, 40)) < 0.4).astype(float)
    expected = BiBit(20).fit(X).solution_
    limits(FIRST_TABLE=16, BUDGET=100)
    assert BiBit(20).fit(X).solution_ == expected
    limits(MOST_SLOTS=64)
    with pytest.raises(
        ParameterError, match=r"more than 32 different patterns of at least 2 columns.*Raise min_columns"
    ):
        BiBit(20).fit(X)


def test_a_search_in_small_steps_is_the_same_search(limits):
    X = (np.random.default_rng(3).random((50, 14)) < 0.5).astype(float)
    expected = Bimax(70).fit(X).solution_
    limits(BUDGET=1)
    assert Bimax(70).fit(X).solution_ == expected


def test_bimax_that_cannot_see_everything_says_so_and_is_no_worse_than_bibit():
    X = (np.random.default_rng(4).random((80, 20)) < 0.6).astype(float)
    for Y in (X, X.T):
        with pytest.warns(
            SearchWarning, match=r"Bimax stopped after 50 steps: .*Raise min_rows, min_columns or max_steps"
        ):
            found = Bimax(12, max_steps=50).fit(Y).solution_
        pairs, exact = BiBit(12).fit(Y).solution_, Bimax(12).fit(Y).solution_
        assert len(as_set(found)) == 12
        for a, b, c in zip(pairs, found, exact, strict=True):
            assert a.size <= b.size <= c.size


def test_the_largest_are_kept_and_the_floor_rises():
    largest = Largest(3)
    largest.add(np.array([4, 9, 4]), np.array([0, 1, 2]))
    assert largest.floor == 4
    largest.add(np.array([4, 6]), np.array([3, 4]))
    assert largest.parts[0].tolist() == [1, 4, 0]
    assert packed_masks(np.ones((1, 3), bool)).tolist() == [[7]]


@BOTH
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"min_columns": 0}, "min_columns is 0; it must be at least 1"),
        ({"min_rows": 0}, "min_rows is 0; it must be at least"),
        ({"binarise": float("inf")}, "binarise is inf; a finite number"),
        ({"n_biclusters": 0}, "n_biclusters is 0; it must be at least 1"),
    ],
)
def test_bad_parameters(algorithm, parameters, words):
    with pytest.raises(ParameterError, match=words):
        algorithm(**parameters).fit(np.eye(4))
