"""Chance correction: exact values, twins, simulation, degenerate cases, options, warnings and cost."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from benchmarks.noise_search import search_block
from bivaluate import Biclustering, BivaluateWarning, NullModelWarning, ParameterError, evaluate, virtual_error
from bivaluate.chance import moments
from bivaluate.chance import scores as chance
from bivaluate.chance.assumptions import broken_assumptions, prepare_values
from bivaluate.chance.moments import null_mean, null_sd, search_reference
from bivaluate.chance.permutation import permutation_null, permutation_p_value
from bivaluate.chance.scores import largest_weight_sum
from bivaluate.matrix import Matrix
from bivaluate.measures.cover import Cover
from bivaluate.measures.workspace import Workspace
from tests.reference import chance as twin
from tests.sources import in_file

X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
PAIRS = [([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])]
S = Biclustering(PAIRS, X.shape)
B1 = X[np.ix_(*PAIRS[0])]

COLUMNS = (2, 3, 4, 5, 8, 10, 20, 50, 100)
TABLE = {
    2: (0.5000, 0.6284, 0.6344, 0.6321, 0.6251, 0.6223, 0.6165, 0.6130, 0.6118),
    3: (0.6082, 0.7485, 0.7567, 0.7551, 0.7485, 0.7457, 0.7397, 0.7360, 0.7348),
    5: (0.7048, 0.8519, 0.8614, 0.8603, 0.8540, 0.8512, 0.8452, 0.8415, 0.8402),
    10: (0.7952, 0.9454, 0.9555, 0.9545, 0.9483, 0.9455, 0.9394, 0.9356, 0.9343),
    20: (0.8564, 1.0071, 1.0171, 1.0161, 1.0097, 1.0069, 1.0007, 0.9969, 0.9956),
    50: (0.9097, 1.0596, 1.0693, 1.0680, 1.0614, 1.0585, 1.0522, 1.0482, 1.0469),
    100: (0.9362, 1.0854, 1.0948, 1.0934, 1.0866, 1.0836, 1.0772, 1.0732, 1.0718),
    500: (0.9715, 1.1193, 1.1282, 1.1266, 1.1194, 1.1163, 1.1097, 1.1056, 1.1042),
}


@pytest.mark.parametrize("r", TABLE)
def test_published_table_of_null_means(r):
    np.testing.assert_allclose(null_mean(r, COLUMNS), TABLE[r], atol=5.1e-5)


@pytest.mark.parametrize("shape", [(2, 3), (3, 4), (7, 3), (5, 6), (40, 11), (2, 60), (1000, 17), (300, 150)])
def test_null_mean_is_exact(shape):
    assert float(null_mean(*shape)) == pytest.approx(twin.null_mean(*shape), abs=1e-9)


def test_null_mean_in_the_limits():
    assert float(null_mean(10**12, 3)) == pytest.approx(8 * np.sqrt(2) / np.pi**2, abs=1e-5)
    assert float(null_mean(10**12, 4)) == pytest.approx(2 / np.sqrt(3), abs=1e-5)
    for r in (2, 10, 100):
        limit = 2 / np.sqrt(np.pi) * np.sqrt(1 - 1 / np.sqrt(r))
        assert float(null_mean(r, 10**6)) == pytest.approx(limit, abs=1e-5)


@pytest.mark.parametrize("shape", [(4, 2), (3, 4), (10, 6), (20, 20)])
def test_moments_against_simulation(shape):
    rng = np.random.default_rng(1)
    simulated = np.array([virtual_error(rng.normal(size=shape)) for _ in range(4000)])
    assert simulated.mean() == pytest.approx(float(null_mean(*shape)), abs=5 * simulated.std() / 63)
    assert simulated.std() == pytest.approx(float(null_sd(*shape)), rel=0.12)


@pytest.mark.parametrize(
    "case",
    [(3, 4, 5, 6), (10, 3, 300, 40), (5, 5, 300, 40), (10, 10, 300, 40), (50, 20, 300, 40), (235, 2, 300, 40),
     (300, 40, 300, 40), (290, 38, 300, 40), (2, 5, 60, 60), (808, 58, 20000, 500), (2, 40, 300, 1000)],
)  # fmt: skip
def test_search_reference_by_definition(case):
    r, c, n, m = case
    assert float(search_reference(r, c, (n, m))) == pytest.approx(twin.search_reference(r, c, n, m), abs=1e-8)
    if c > 2:
        exact = twin.search_reference_exact(r, c, n, m)
        assert float(search_reference(r, c, (n, m))) == pytest.approx(exact, abs=2e-5)


def test_search_reference_survives_underflow():
    values = search_reference(2, [1500, 2000, 2500], (20000, 5000))
    assert np.isfinite(values).all()
    assert (values > 0).all()
    assert (values < 0.62).all()
    smooth = search_reference(2, np.arange(395, 415), (20000, 5000))
    assert np.abs(np.diff(smooth, n=2)).max() < 1e-5


def test_search_reference_does_not_depend_on_what_was_asked_with_it():
    shapes = [(r, c) for r in (2, 5, 41, 150, 290) for c in (2, 3, 10, 38)]
    together = search_reference(*np.array(shapes).T, (300, 40))
    for shape, value in zip(shapes, together, strict=True):
        moments._known.clear()
        assert float(search_reference(*shape, (300, 40))) == value


def test_a_score_does_not_depend_on_what_else_is_asked_for():
    for seed in range(8):
        values = np.random.default_rng(seed).normal(size=(80, 20))
        solution = Biclustering(
            [(range(20 * k, 20 * k + 6 + seed), range(5 * k, 5 * k + 6)) for k in range(3)], values.shape
        )
        alone, together = (
            evaluate(values, solution, metrics=keys).biclusters["ave"] for keys in (["ave"], ["ave", "cc"])
        )
        np.testing.assert_array_equal(alone, together)


def test_published_floors():
    shapes = [(10, 3), (5, 5), (10, 10), (50, 10), (50, 20), (234, 2)]
    floors = [1 - search_reference(r, c, (300, 40)) / null_mean(r, c) for r, c in shapes]
    np.testing.assert_allclose(floors, [0.995, 0.949, 0.60, 0.38, 0.23, 1.0], atol=5.1e-3)


def test_worked_example():
    assert float(null_mean(3, 4)) == pytest.approx(0.756676, abs=1e-6)
    assert float(null_sd(3, 4)) == pytest.approx(0.2007, abs=5e-5)
    assert chance.virtual_error_z(B1) == pytest.approx(3.25, abs=5e-3)
    assert chance.virtual_error_ratio(B1) == pytest.approx(0.138172, abs=1e-6)
    assert float(search_reference(3, 4, X.shape)) == pytest.approx(0.282853, abs=1e-6)
    records = evaluate(X, S, metrics="all").records
    assert [record["ave"] for record in records] == pytest.approx([0.764362, 1.460540, 3.192357], abs=1e-6)
    assert chance.adjusted_virtual_error(B1, X.shape, search="none") == pytest.approx(0.138172, abs=1e-6)


def random_case(rng, n=12, m=9, K=4):
    data = rng.normal(size=(n, m))
    pairs = []
    for _ in range(K):
        rows = np.sort(rng.choice(n, rng.integers(1, 7), replace=False))
        cols = np.sort(rng.choice(m, rng.integers(1, 6), replace=False))
        data[np.ix_(rows, cols)] = rng.normal(size=len(cols)) + 0.1 * rng.normal(size=(len(rows), len(cols)))
        pairs.append((rows, cols))
    data[2] = 0.1
    data[5, pairs[0][1]] = 7.0
    return data, pairs


@pytest.mark.parametrize("seed", range(5))
def test_solution_scores_against_twin(seed):
    data, pairs = random_case(np.random.default_rng(seed))
    solution = Biclustering(pairs, data.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BivaluateWarning)
        result = evaluate(data, solution, metrics=["ave", "anve", "cc", "avg_ave"])
    aVE, aNVE, CC = twin.solution_scores(data, pairs)
    assert [record["ave"] for record in result.records] == pytest.approx(aVE, abs=1e-8)
    assert result.scores["avg_ave"] == pytest.approx(np.mean(aVE), abs=1e-8)
    assert result.scores["anve"] == pytest.approx(aNVE, abs=1e-8)
    assert result.scores["cc"] == pytest.approx(CC, abs=1e-8)


def test_functions_agree_with_evaluate():
    scores = evaluate(X, S, metrics="all").scores
    assert chance.average_adjusted_virtual_error(X, S) == scores["avg_ave"]
    assert chance.average_virtual_error_z(X, S) == scores["avg_z"]
    assert chance.adjusted_normalised_virtual_error(X, S) == scores["anve"]
    assert chance.coherent_coverage(X, S) == scores["cc"]
    assert chance.average_adjusted_virtual_error(X, S, centre="columns") == pytest.approx(scores["avg_ave_centred"])
    assert chance.average_virtual_error_z(X, S, centre="columns") == pytest.approx(scores["avg_z_centred"])
    ranked = chance.chance_table(X, S, normalise="rank").adjusted
    assert ranked == pytest.approx(chance.chance_table(prepare_values(X, normalise="rank"), S).adjusted)


def test_degenerate_blocks_count_as_one():
    assert chance.adjusted_virtual_error([[1, 2, 3]], (5, 6)) == 1
    assert chance.adjusted_virtual_error([[1], [2]], (5, 6)) == 1
    assert chance.adjusted_virtual_error(np.ones((3, 4)), (5, 6)) == 1
    assert np.isnan(chance.virtual_error_ratio([[1, 2, 3]]))
    assert np.isnan(chance.virtual_error_z([[1], [2]]))
    one_row = Biclustering([PAIRS[0], ([4], [0, 1])], X.shape)
    table = chance.chance_table(X, one_row)
    assert table.adjusted[1] == 1
    assert table.separation.tolist() == [1, 0]
    assert table.weight[0] == pytest.approx(1 - 0.764362, abs=1e-6)


def test_single_and_no_biclusters():
    assert chance.chance_table(X, S.select([0])).separation.tolist() == [1]
    none = S.select([])
    assert chance.coherent_coverage(X, none) == 0
    assert np.isnan(chance.adjusted_normalised_virtual_error(X, none))
    assert np.isnan(chance.average_adjusted_virtual_error(X, none))


def test_clones_are_worth_nothing():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(300, 20))
    data[:40, :10] = rng.normal(size=10) * 2 + 0.2 * rng.normal(size=(40, 10))
    one = Biclustering([(range(40), range(10))], data.shape)
    clones = Biclustering([(range(40), range(10)), (range(40), range(10))], data.shape)
    assert chance.coherent_coverage(data, one) > 0.03
    assert chance.coherent_coverage(data, clones) == 0


@pytest.mark.parametrize("seed", range(6))
def test_constant_rows_are_counted_like_a_loop_would(seed):
    rng = np.random.default_rng(seed)
    data, pairs = random_case(rng, K=6)
    data[pairs[1][0][:2]] = 3.0
    data[rng.random(data.shape) < 0.6] = 0.0
    solution = Biclustering(pairs, data.shape)
    counts = Workspace.of(data, solution).merged_constant_rows
    rows, cols = Cover(solution).merged_shapes(np.arange(6), np.arange(6))
    for k, (rows_k, cols_k) in enumerate(pairs):
        for j, (rows_j, cols_j) in enumerate(pairs):
            A = data[np.ix_(np.union1d(rows_k, rows_j), np.union1d(cols_k, cols_j))]
            if k == j or min(len(cols_k), len(cols_j)) > 1:
                assert counts[k, j] == len(A) - twin.varying_rows(A)
            assert (rows[k, j], cols[k, j]) == A.shape


def test_largest_weight_sum_in_chunks(limits):
    rng = np.random.default_rng(5)
    pairs = [(rng.choice(40, 15, replace=False), rng.choice(30, 10, replace=False)) for _ in range(6)]
    solution, weights = Biclustering(pairs, (40, 30)), rng.random(6)
    weights[2] = 0
    cells = np.zeros((40, 30))
    for (rows, cols), weight in zip(pairs, weights, strict=True):
        cells[np.ix_(rows, cols)] = np.maximum(cells[np.ix_(rows, cols)], weight)
    assert largest_weight_sum(Cover(solution), weights) == pytest.approx(cells.sum())
    limits("chance", _CHUNK_CELLS=100)
    assert largest_weight_sum(Cover(solution), weights) == pytest.approx(cells.sum())


def noise_kinds():
    rng = np.random.default_rng(0)
    smooth = np.cumsum(rng.normal(size=(200, 30)), axis=1)
    return {
        "Columns have strong effects": rng.normal(size=(200, 30)) + rng.normal(size=30),
        "Values are heavily skewed": np.exp(1.5 * rng.normal(size=(200, 30))),
        "Neighbouring columns are correlated": smooth,
    }


@pytest.mark.parametrize("words", noise_kinds())
def test_broken_assumptions_are_named(words):
    data = noise_kinds()[words]
    solution = Biclustering([(range(20), range(10)), (range(20, 40), range(10))], data.shape)
    with pytest.warns(NullModelWarning, match=words):
        chance.chance_table(data, solution)


def test_remedies_silence_the_warning():
    kinds = noise_kinds()
    assert broken_assumptions(Matrix(prepare_values(kinds["Columns have strong effects"], "columns"))) == {}
    assert broken_assumptions(Matrix(prepare_values(kinds["Values are heavily skewed"], normalise="rank"))) == {}
    assert broken_assumptions(Matrix(np.random.default_rng(1).normal(size=(100, 20)))) == {}
    assert broken_assumptions(Matrix(np.ones((100, 20)))) == {}


def with_holes(share):
    rng = np.random.default_rng(0)
    ratings = rng.integers(1, 6, size=(100, 80)).astype(float)
    effects = rng.normal(size=(200, 60)) + rng.normal(size=60)
    tails = rng.standard_t(2.5, size=(200, 60))
    return [np.where(rng.random(cells.shape) < share, np.nan, cells) for cells in (ratings, effects, tails)]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.9])
def test_missing_cells_are_no_zeros(share):
    ratings, effects, _ = with_holes(share)
    assert broken_assumptions(Matrix(ratings)) == {}
    said = broken_assumptions(Matrix(effects))
    assert said.keys() == {"column effects"}
    explained = int(said["column effects"].split("(")[1].split(" %")[0])
    assert 0.42 * (1 - 1 / (60 * (1 - share))) <= explained / 100 <= 0.48  # row means take their part


def test_cells_are_looked_at_alike_wherever_they_are(tmp_path):
    for cells in with_holes(0.7):
        said = broken_assumptions(Matrix(cells))
        stored = sparse.csr_array(np.nan_to_num(cells))
        for other in (Matrix.of(stored, absent="missing"), in_file(cells, tmp_path / "cells.npy")):
            assert not other.in_memory
            assert broken_assumptions(other) == said


def test_centring_undoes_column_effects():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(100, 20))
    solution = Biclustering([(range(20), range(8)), (range(30, 60), range(5, 15))], data.shape)
    shifted = data + 5 * rng.normal(size=20)
    keys = ["ave_centred", "z_centred", "ave"]
    plain, moved = (evaluate(values, solution, metrics=keys).records for values in (data, shifted))
    for a, b in zip(plain, moved, strict=True):
        assert a["ave_centred"] == pytest.approx(b["ave_centred"])
        assert a["z_centred"] == pytest.approx(b["z_centred"])
        assert b["ave"] < a["ave"] - 0.2


def test_missing_cells():
    holes = X.copy()
    holes[0, 1] = holes[3, 2] = np.nan
    keys = ["ve", "ave", "z", "r_ve", "cc", "ave_centred", "z_centred"]
    scores = evaluate(holes, S, metrics=keys, missing="omit")
    assert np.isfinite(scores.scores["cc"])
    for record in scores.records:
        assert record["r_ve"] == pytest.approx(record["ve"] / float(null_mean(record["n_rows"], record["n_cols"])))
        assert np.isfinite(record["z_centred"])
    emptied = X.copy()
    emptied[0, 1:4] = np.nan
    record = evaluate(emptied, S, metrics=["ve", "r_ve"], missing="omit").records[0]
    assert record["r_ve"] == pytest.approx(record["ve"] / float(null_mean(2, 4)))
    plain = evaluate(X, S, metrics=keys).records
    same = evaluate(X, S, metrics=keys, missing="omit").records
    assert [r["ave_centred"] for r in plain] == [r["ave_centred"] for r in same]


def test_bad_input_is_explained():
    with pytest.raises(ParameterError, match="does not fit into a matrix of 2 x 2"):
        chance.adjusted_virtual_error(B1, (2, 2))
    with pytest.raises(ParameterError, match="search is 'some'; allowed: 'exhaustive', 'none'"):
        chance.adjusted_virtual_error(B1, X.shape, search="some")
    with pytest.raises(ParameterError, match="centre is 'rows'; allowed: 'none', 'columns'"):
        chance.chance_table(X, S, centre="rows")
    with pytest.raises(ParameterError, match="normalise is 'log'"):
        chance.chance_table(X, S, normalise="log")


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("shape", [(30, 11), (7, 2), (1, 6), (260, 9)])
def test_many_permuted_blocks_at_once_as_one_by_one(shape, offset):
    A = np.random.default_rng(3).normal(size=shape) + offset
    rng = np.random.default_rng(5)
    start = np.sort(A, axis=1)  # the order of rows and columns does not matter
    start = start[np.lexsort((start - start.mean(axis=1, keepdims=True)).T)]
    slow = [virtual_error(rng.permuted(start, axis=1)) for _ in range(60)]
    np.testing.assert_allclose(permutation_null(A, n_permutations=60, random_state=5).null, slow, rtol=1e-12)


def test_permutation_null():
    null = permutation_null(B1, n_permutations=2000, random_state=0)
    assert null.null.mean() == pytest.approx(0.7541, abs=0.02)
    assert null.null.std() == pytest.approx(0.2007, abs=0.02)
    assert null.p_value == pytest.approx((1 + (null.null <= null.observed).sum()) / 2001)
    assert null.p_value < 0.006
    again = permutation_null(B1[::-1, ::-1], n_permutations=50, random_state=3)
    np.testing.assert_allclose(again.null, permutation_null(B1, n_permutations=50, random_state=3).null)
    assert permutation_p_value(np.random.default_rng(0).normal(size=(6, 5))) > 0.01
    with pytest.raises(ParameterError, match="n_permutations is 0"):
        permutation_null(B1, n_permutations=0)


def test_blocks_equal_but_for_rounding_are_hits():
    # two columns: every block is one of a few up to the order of columns, so VE takes few values
    rng = np.random.default_rng(0)
    for _ in range(20):
        null = permutation_null(rng.normal(size=(3, 2)), n_permutations=199, random_state=0)
        as_low = np.isclose(null.null, null.observed, rtol=0, atol=1e-12) | (null.null < null.observed)
        assert null.p_value == (1 + as_low.sum()) / 200
        assert null.p_value > 0.1


def test_search_reaches_what_the_reference_says():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(300, 40))
    for r, c in ((10, 3), (10, 6), (10, 10), (38, 10)):
        block, ve = search_block(noise, r, c, rng=rng, restarts=30, steps=60)
        assert block.shape == (r, c)
        assert ve == pytest.approx(virtual_error(block.of(noise)), abs=1e-12)
        assert 0.93 < chance.adjusted_virtual_error(block.of(noise), noise.shape) < 1.12
    with pytest.raises(ParameterError, match="n_cols is 41; it must be at most 40"):
        search_block(noise, 5, 41, rng=rng)
    with pytest.raises(ParameterError, match="restarts is 0"):
        search_block(noise, 5, 5, rng=rng, restarts=0)


def test_ranks_are_those_of_the_observed_cells():
    skewed = noise_kinds()["Values are heavily skewed"]
    holes = np.where(np.random.default_rng(1).random(skewed.shape) < 0.3, np.nan, skewed)
    assert "rank-normalise the rows" in broken_assumptions(Matrix(holes))["tails"]
    ranked = prepare_values(holes, normalise="rank")
    assert broken_assumptions(Matrix(ranked)) == {}
    assert (np.isnan(ranked) == np.isnan(holes)).all()
    one = Biclustering([(range(20), range(10))], skewed.shape)
    found = chance.chance_table(holes, one, normalise="rank", missing="omit").adjusted
    np.testing.assert_allclose(found, chance.chance_table(ranked, one, missing="omit").adjusted)
