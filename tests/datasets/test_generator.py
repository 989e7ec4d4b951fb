"""The generator: planted models are exact, memberships are as asked, and bad plans are refused in words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bivaluate import ParameterError
from bivaluate.datasets.generator import MODELS, Block, make_biclusters

PLAIN = Block(6, 5, row_effect=2.0, col_effect=1.5, level=3.0)


def planted(block: Block, **options: object) -> np.ndarray:
    X, truth, _ = make_biclusters((30, 12), [block], random_state=3, **options)
    return truth[0].of(X)


def double_centred(A: np.ndarray) -> np.ndarray:
    return A - A.mean(axis=1, keepdims=True) - A.mean(axis=0) + A.mean()


def test_additive_block_has_exactly_the_effects_asked_for() -> None:
    A = planted(PLAIN)
    np.testing.assert_allclose(double_centred(A), 0, atol=1e-12)
    assert A.mean() == pytest.approx(3.0, abs=1e-12)
    assert A.mean(axis=1).std() == pytest.approx(2.0, abs=1e-12)
    assert A.mean(axis=0).std() == pytest.approx(1.5, abs=1e-12)


def test_scaling_block_is_an_outer_product_of_even_values() -> None:
    A = planted(Block(4, 3, "scaling", scale=(0.5, 2.0), pattern=(0.0, 6.0)))
    assert np.linalg.matrix_rank(A) == 1
    assert sorted(np.round(A.sum(axis=1) / 9.0, 12)) == pytest.approx([0.5, 1.0, 1.5, 2.0])
    assert sorted(np.round(A.sum(axis=0) / 5.0, 12)) == pytest.approx([0.0, 3.0, 6.0])


def test_shift_scale_block_has_the_share_of_negative_rows() -> None:
    A = planted(Block(10, 6, "shift_scale", scale=(0.5, 2.0), negative=0.25, row_effect=1.0, col_effect=1.0))
    centred = A - A.mean(axis=1, keepdims=True)
    assert np.linalg.matrix_rank(centred, tol=1e-9) == 1
    signs = np.sign(centred[:, np.abs(centred[0]).argmax()])
    assert sorted([(signs > 0).sum(), (signs < 0).sum()]) == [3, 7]
    np.testing.assert_allclose(sorted(centred.std(axis=1)), np.linspace(0.5, 2.0, 10), atol=1e-12)


def test_constant_block_has_constant_columns_in_order() -> None:
    X, truth, _ = make_biclusters(
        (30, 12), [Block(5, 2, "constant", pattern=(4.0, 2.0))], random_state=0, shuffle=False, placement="stacked"
    )
    np.testing.assert_array_equal(truth[0].of(X), np.tile([4.0, 2.0], (5, 1)))


def test_clone_repeats_columns_and_pattern_with_its_own_rows() -> None:
    X, truth, _ = make_biclusters((30, 12), [PLAIN, Block(4, 5, "clone", row_effect=1.0)], random_state=1)
    np.testing.assert_array_equal(truth[0].cols, truth[1].cols)
    assert not set(truth[0].rows) & set(truth[1].rows)
    first, second = (b.of(X) - b.of(X).mean(axis=1, keepdims=True) for b in truth)
    np.testing.assert_allclose(first[0], second[0], atol=1e-12)


def test_noise_is_added_to_the_block() -> None:
    X, truth, _ = make_biclusters((400, 60), [Block(300, 50, noise=0.7)], random_state=0)
    assert truth[0].of(X).std() == pytest.approx(0.7, rel=0.02)


def test_overlapping_blocks_agree_because_they_are_cut_from_one_matrix() -> None:
    common = {"noise": 0.0, "row_effect": 2.0, "col_effect": 1.0}
    X, truth, _ = make_biclusters(
        (40, 20),
        [Block(10, 6, shared_cols=0, **common), Block(10, 6, shared_rows=4, shared_cols=2, **common)],
        random_state=5,
        effects="matrix",
    )
    a, b = truth
    assert len(np.intersect1d(a.rows, b.rows)) == 4
    assert len(np.intersect1d(a.cols, b.cols)) == 2
    for bicluster in truth:
        np.testing.assert_allclose(double_centred(bicluster.of(X)), 0, atol=1e-12)


def test_rows_are_used_once_unless_shared() -> None:
    _, truth, _ = make_biclusters((60, 12), [PLAIN] * 5, random_state=2)
    rows = np.concatenate([b.rows for b in truth])
    assert len(np.unique(rows)) == 30


def test_background_is_what_no_block_covers() -> None:
    X, truth, _ = make_biclusters((30, 12), [PLAIN], random_state=0, background=0.0)
    outside = np.ones_like(X, dtype=bool)
    outside[np.ix_(truth[0].rows, truth[0].cols)] = False
    assert (X[outside] == 0).all()


def test_without_shuffling_blocks_stack_from_the_top() -> None:
    _, truth, _ = make_biclusters((30, 12), [PLAIN, PLAIN, PLAIN], random_state=0, shuffle=False, placement="stacked")
    assert [b.rows.tolist() for b in truth] == [list(range(k, k + 6)) for k in (0, 6, 12)]
    assert [b.cols.tolist() for b in truth] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [0, 1, 2, 10, 11]]


@pytest.mark.parametrize("model", MODELS)
def test_recipe_survives_json_and_makes_the_same_matrix(model: str) -> None:
    blocks = [PLAIN, Block(6, 5, model, noise=0.2, row_effect=1.0, scale=(1, 2), pattern=(0, 1), negative=0.5)]
    X, truth, recipe = make_biclusters((30, 12), blocks, random_state=[4, 2])
    again, same_truth, same_recipe = make_biclusters(**json.loads(json.dumps(recipe)))
    np.testing.assert_array_equal(X, again)
    assert truth == same_truth
    assert recipe == same_recipe


def test_seeds_differ_and_global_random_state_is_left_alone() -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = make_biclusters((30, 12), [PLAIN], random_state=0)[0]
    second = make_biclusters((30, 12), [PLAIN], random_state=1)[0]
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_no_blocks_gives_pure_background() -> None:
    X, truth, _ = make_biclusters((3, 2), [], random_state=0, effects="matrix")
    assert X.shape == (3, 2)
    assert len(truth) == 0


@pytest.mark.parametrize(
    ("blocks", "options", "words"),
    [
        ([Block(40, 5)], {}, "block 1 has 40 x 5 cells, but the matrix has only 30 x 12"),
        ([PLAIN] * 6, {}, "the blocks need 36 rows together, but the matrix has only 30"),
        (
            [PLAIN, Block(6, 5, shared_rows=7)],
            {"effects": "block"},
            "block 2 shares 7 rows with the block before it, but it has 6 rows",
        ),
        ([PLAIN, Block(6, 5, shared_cols=6)], {}, "at most 5 can be shared"),
        ([Block(6, 5, shared_rows=1)], {}, "block 1 shares 1 rows with the block before it"),
        ([Block(6, 8), Block(6, 8, shared_cols=2)], {}, "block 2 needs 6 columns .* only 4 of 12 are free"),
        ([PLAIN, Block(6, 5, shared_rows=2, shared_cols=1)], {}, "pass effects='matrix'"),
        ([Block(3, 3, "clone")], {}, "there is no block before it to clone"),
        ([PLAIN, Block(3, 4, "clone")], {}, "clone with 4 columns of a block with 5"),
        ([PLAIN, Block(6, 5, noise=1.0)], {"effects": "matrix"}, "block 2 has noise 1.0, block 1 has 0.0"),
        ([Block(6, 5, "scaling")], {"effects": "matrix"}, "cut out of one additive matrix"),
        ([PLAIN], {"background": -1}, "background is -1; it must be at least 0"),
        ([PLAIN], {"placement": "stack"}, "Did you mean 'stacked'"),
        ([PLAIN], {"effects": "blocks"}, "Did you mean 'block'"),
        ([PLAIN], {"random_state": -1}, "random_state is -1"),
        ([PLAIN], {"random_state": None}, "a whole number is needed"),
        ([PLAIN], {"shape": (30,)}, "two numbers"),
        ([{"rows": 3}], {}, "block 1 has no 'cols'"),
        ([{"rows": 3, "cols": 2, "nois": 1}], {}, "no field 'nois'.*Did you mean 'noise'"),
        ([3], {}, "block 1 is 3"),
    ],
)
def test_bad_plans_are_refused(blocks: list, options: dict, words: str) -> None:
    arguments = {"shape": (30, 12), "random_state": 0, **options}
    with pytest.raises(ParameterError, match=words):
        make_biclusters(blocks=blocks, **arguments)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"noise": -0.1}, "noise of a block is -0.1; it must be at least 0"),
        ({"noise": float("nan")}, "a finite number is needed"),
        ({"model": "aditive"}, "Did you mean 'additive'"),
        ({"rows": 0}, "rows of a block is 0"),
        ({"negative": 2}, "at most 1"),
        ({"scale": (1, 2, 3)}, "two numbers"),
        ({"shared_rows": -1}, "at least 0"),
    ],
)
def test_bad_blocks_are_refused(fields: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Block(**{"rows": 3, "cols": 3, **fields})
