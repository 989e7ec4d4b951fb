"""Cheng and Church: fast against naive twin, ties, planted blocks, edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bivaluate import ParameterError
from bivaluate.algorithms import ChengChurch
from tests.reference import cheng_church as naive


def continuous(rng, n, m):
    return rng.normal(size=(n, m))


def far_from_zero(rng, n, m):
    return 1e6 + rng.normal(size=(n, m))


def wide(rng, n, m):
    return rng.normal(size=(n, m + 100))


def duplicated_rows(rng, n, m):
    few = rng.normal(size=(max(n // 3, 1), m))
    return few[rng.integers(0, len(few), n)]


def small_integers(rng, n, m):
    return rng.integers(0, 4, (n, m)).astype(float)


def zeros_and_ones(rng, n, m):
    return rng.integers(0, 2, (n, m)).astype(float)


def wide_integers(rng, n, m):
    return rng.integers(0, 3, (n, m + 100)).astype(float)


def nearly_additive(rng, n, m):
    return rng.integers(0, 5, (n, 1)) + rng.integers(0, 5, m) + (rng.random((n, m)) < 0.1) * 1.0


KINDS = [
    continuous,
    far_from_zero,
    wide,
    duplicated_rows,
    small_integers,
    zeros_and_ones,
    wide_integers,
    nearly_additive,
]


def same(found, expected):
    return len(found) == len(expected) and all(
        np.array_equal(b.rows, rows) and np.array_equal(b.cols, cols)
        for b, (rows, cols) in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_equals_the_naive_twin_with_and_without_ties(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for trial in range(12):
        X = kind(rng, int(rng.integers(2, 60)), int(rng.integers(2, 30)))
        inverted = bool(trial % 2)
        model = ChengChurch(4, inverted_rows=inverted, random_state=trial).fit(X)
        assert same(model.solution_, naive.cheng_church(X, 4, trial, inverted=inverted)), (kind, trial)


@settings(max_examples=40)
@given(
    st.integers(1, 12),
    st.integers(1, 9),
    st.integers(0, 10_000),
    st.sampled_from([1.0, 1e-9, 1e9]),
    st.sampled_from([0.0, 0.5, None]),
)
def test_equals_the_naive_twin_on_awkward_shapes(n, m, seed, scale, delta):
    rng = np.random.default_rng(seed)
    X = scale * np.round(rng.normal(size=(n, m)), int(rng.integers(0, 3)))
    delta = None if delta is None else delta * scale**2
    model = ChengChurch(3, max_residue=delta, random_state=seed).fit(X)
    assert same(model.solution_, naive.cheng_church(X, 3, seed, delta=delta))


def test_many_single_deletions_equal_the_twin():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 25))
    delta = 0.05
    model = ChengChurch(1, max_residue=delta, deletion_factor=9.0).fit(X)
    assert same(model.solution_, naive.cheng_church(X, 1, 0, delta=delta, factor=9.0))


def test_found_blocks_are_below_the_threshold_and_the_matrix_is_left_alone():
    X = np.random.default_rng(0).normal(size=(80, 15))
    before = X.copy()
    model = ChengChurch(1, random_state=0).fit(X)
    b = model.solution_[0]
    H, _, _ = naive.residues(b.of(X))
    assert model.max_residue_ == pytest.approx(np.ptp(X) ** 2 / 12 * 0.005)
    assert b.shape[0] > 1
    assert 2 * model.max_residue_ >= H  # addition may raise H a little, mirrored rows more
    np.testing.assert_array_equal(X, before)


def test_mirrored_rows_can_be_switched_off():
    rng = np.random.default_rng(4)
    X = rng.uniform(-5, 5, (60, 20))
    pattern = rng.uniform(-3, 3, 8)
    X[:15, :8] = pattern + rng.uniform(-1, 1, (15, 1))
    X[15:20, :8] = -pattern + rng.uniform(-1, 1, (5, 1))
    on = ChengChurch(1, max_residue=0.01).fit(X).solution_[0]
    off = ChengChurch(1, max_residue=0.01, inverted_rows=False).fit(X).solution_[0]
    assert set(range(15, 20)) <= set(on.rows.tolist())
    assert not set(range(15, 20)) & set(off.rows.tolist())


def test_a_constant_matrix_is_one_bicluster():
    model = ChengChurch(5).fit(np.full((4, 3), 7.0))
    assert [b.shape for b in model.solution_] == [(4, 3)]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"max_residue": -1.0}, "max_residue is -1.0; it must be at least 0"),
        ({"deletion_factor": 0.5}, "deletion_factor is 0.5; it must be at least 1"),
        ({"min_columns": 0}, "min_columns is 0; it must be at least 1"),
        ({"inverted_rows": "yes"}, "inverted_rows is 'yes'; True or False"),
        ({"n_biclusters": 0}, "n_biclusters is 0; it must be at least 1"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        ChengChurch(**parameters).fit(np.eye(4))
