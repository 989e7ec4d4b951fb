"""Co-clustering by modularity, information and block averages: labels against naive twins, planted blocks, edges."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from bivaluate import MatrixError, ParameterError
from bivaluate.algorithms import BlockAverageCoclustering, InformationCoclustering, ModularityCoclustering
from bivaluate.algorithms import _coclusters as shared
from tests.reference import coclusters as naive


def counts(seed=0, shape=(40, 26), K=(3, 4), low=0.3):
    """Poisson counts whose rates depend on clusters of rows and columns."""
    rng = np.random.default_rng(seed)
    rows, cols = rng.permutation(np.arange(shape[0]) % K[0]), rng.permutation(np.arange(shape[1]) % K[1])
    rates = rng.permutation(np.linspace(low, 9, K[0] * K[1])).reshape(K)
    return rng.poisson(rates[rows][:, cols]).astype(float), rows, cols


def balanced(n, K, n_starts, rng):
    """Random labels for every start, each label as often as any other."""
    return np.array([rng.permutation(np.arange(n) % K) for _ in range(n_starts)])


@pytest.mark.parametrize("seed", range(4))
def test_modularity_equals_the_twin_from_every_start_dense_and_sparse(seed):
    X = counts(seed)[0]
    starts = np.random.RandomState(seed).randint(3, size=(5, 26))
    first = np.zeros((5, 40), dtype=np.int64)
    expected = [naive.coclustmod(X, start, 3) for start in starts]
    for start, (z, w, Q) in zip(starts, expected, strict=True):
        for same in (X, csr_array(X)):
            found = shared.coclusters(shared.lines_of(same), first[:1], start[np.newaxis], "modularity", (3, 3), 100)
            np.testing.assert_array_equal(found.rows, z)
            np.testing.assert_array_equal(found.cols, w)
            assert found.kept.trace() / X.sum() == pytest.approx(Q)
    best = max(expected, key=lambda found: found[2])
    together = shared.coclusters(shared.lines_of(X), first, starts, "modularity", (3, 3), 100)
    assert together.kept.trace() / X.sum() == pytest.approx(best[2])


@pytest.mark.parametrize("kind", ["squared", "i-divergence"])
@pytest.mark.parametrize("seed", range(3))
def test_block_averages_equal_the_twin_from_every_start_dense_and_sparse(seed, kind):
    X, K = counts(seed, low=0.05)[0], (3, 4)
    rng = np.random.RandomState(seed)
    rows, cols = balanced(40, 3, 4, rng), balanced(26, 4, 4, rng)
    whole = naive.divergence(kind, X, X.mean()).sum()
    losses = []
    for s in range(4):
        z, w, loss = naive.block_average(X, rows[s], cols[s], K, kind)
        losses.append(loss)
        for same in (X, csr_array(X)):
            found = shared.coclusters(shared.lines_of(same), rows[[s]], cols[[s]], kind, K, 100)
            np.testing.assert_array_equal(found.rows, z)
            np.testing.assert_array_equal(found.cols, w)
            assert whole - found.kept.sum() == pytest.approx(loss)
    together = shared.coclusters(shared.lines_of(X), rows, cols, kind, K, 100)
    assert whole - together.kept.sum() == pytest.approx(min(losses))


@pytest.mark.parametrize("seed", range(3))
def test_information_equals_the_twin_from_every_start_dense_and_sparse(seed):
    X, K = counts(seed)[0] + 0.5, (3, 4)
    rng = np.random.RandomState(seed)
    rows, cols = balanced(40, 3, 3, rng), balanced(26, 4, 3, rng)
    for s in range(3):
        z, w, kept = naive.information(X, rows[s], cols[s], K)
        for same in (X, csr_array(X)):
            found = shared.coclusters(shared.lines_of(same), rows[[s]], cols[[s]], "information", K, 100)
            np.testing.assert_array_equal(found.rows, z)
            np.testing.assert_array_equal(found.cols, w)
            assert found.kept.sum() / X.sum() == pytest.approx(kept)


@pytest.mark.parametrize("kind", ["information", "squared", "i-divergence"])
def test_a_round_never_loses(kind):
    X = counts(7)[0]
    rng = np.random.RandomState(0)
    rows, cols = balanced(40, 3, 6, rng), balanced(26, 3, 6, rng)
    kept = [shared.coclusters(shared.lines_of(X), rows, cols, kind, (3, 3), k).kept.sum() for k in range(1, 8)]
    assert np.all(np.diff(kept) >= -1e-9)


@pytest.mark.parametrize("estimator", [BlockAverageCoclustering, InformationCoclustering])
def test_a_checkerboard_of_other_numbers_of_rows_and_columns_is_recovered(estimator):
    X, rows, cols = counts(3, (60, 40), (3, 5), low=0.0)
    model = estimator(3, n_column_clusters=5, selection="all", n_starts=30, random_state=0).fit(X)
    assert adjusted_rand_score(model.row_labels_, rows) == 1.0
    assert adjusted_rand_score(model.column_labels_, cols) > 0.7
    assert sum(b.size for b in model.solution_) == X.size
    assert len(estimator(3, n_column_clusters=5, random_state=0).fit(X).solution_) == 3


@pytest.mark.parametrize("estimator", [ModularityCoclustering, InformationCoclustering])
def test_planted_blocks_of_counts_are_recovered(estimator):
    rng = np.random.default_rng(0)
    rows, cols = np.arange(60) % 3, np.arange(24) % 3
    X = rng.poisson(np.where(np.equal.outer(rows, cols), 5.0, 0.4)).astype(float)
    found = {(tuple(b.rows), tuple(b.cols)) for b in estimator(3, random_state=0).fit(csr_array(X)).solution_}
    assert found == {(tuple(np.flatnonzero(rows == k)), tuple(np.flatnonzero(cols == k))) for k in range(3)}


@pytest.mark.parametrize("profiles", [False, True])
def test_starts_gather_what_is_nearest_to_random_lines_dense_and_sparse(profiles):
    X = counts(1)[0]
    lines = X / np.linalg.norm(X, axis=1, keepdims=True) if profiles else X
    for draws in np.random.default_rng(5).random((3, 4)):
        (labels,) = shared.nearest_of_drawn(X, 4, profiles, draws[np.newaxis])
        (again,) = shared.nearest_of_drawn(csr_array(X), 4, profiles, draws[np.newaxis])
        np.testing.assert_array_equal(labels, again)
        np.testing.assert_array_equal(labels, naive.nearest_of_drawn(lines, 4, draws))


def test_a_move_splits_one_cluster_and_merges_the_two_others_that_cost_least():
    X = np.kron(np.array([[9.0, 1.0], [2.0, 7.0], [2.1, 6.9], [5.0, 4.0]]), np.ones((5, 6)))
    rows, cols = np.repeat(np.arange(4), 5)[np.newaxis], np.repeat(np.arange(2), 6)[np.newaxis]
    found = shared.coclusters(shared.lines_of(X), rows, cols, "squared", (4, 2), 5)
    losses = shared.losses_of_mergers("squared", found.sums, found.n_rows, found.n_cols)
    of_rows = shared.split_and_merge(found.rows, losses, np.random.default_rng(0))
    assert len(of_rows) == 4
    # of two clusters of columns one cannot be split while two others merge
    assert shared.split_and_merge(found.cols, np.zeros((2, 2)), np.random.default_rng(0)) == []
    assert np.array_equal(of_rows[0][5:15], np.ones(10))  # the middle two rows of blocks are nearly alike
    assert sorted(np.unique(of_rows[0][:5], return_counts=True)[1]) == [2, 3]


@pytest.mark.parametrize("kind", ["squared", "i-divergence", "information"])
def test_a_merger_loses_what_the_blocks_keep_less(kind):
    rng = np.random.default_rng(3)
    sums, n_own, n_other = rng.gamma(2.0, 9.0, (4, 3)), np.array([3.0, 5, 2, 7]), np.array([4.0, 1, 6])
    losses = shared.losses_of_mergers(kind, sums, n_own, n_other)
    for a in range(4):
        for b in range(a + 1, 4):
            merged, sizes = np.delete(sums, b, axis=0), np.delete(n_own, b)
            merged[a], sizes[a] = sums[a] + sums[b], n_own[a] + n_own[b]
            expected = naive.kept(kind, sums, n_own, n_other) - naive.kept(kind, merged, sizes, n_other)
            assert losses[a, b] == pytest.approx(expected)


def test_an_empty_label_takes_half_of_a_cluster_and_nothing_is_merged():
    new_rows = shared.split_and_merge(np.array([0, 0, 0, 2, 2]), np.zeros((3, 3)), np.random.default_rng(1))
    assert [np.bincount(labels, minlength=3).tolist() for labels in new_rows] == [[2, 1, 2], [3, 1, 1]]


@pytest.mark.parametrize("estimator", [BlockAverageCoclustering, InformationCoclustering])
def test_a_large_checkerboard_is_searched_in_a_part_and_found_as_a_whole(estimator, limits):
    limits(MOST_LINES=30)
    X, rows, cols = counts(3, (190, 70), (3, 4), low=1.0)
    for seed in range(4):
        model = estimator(3, n_column_clusters=4, random_state=seed).fit(X)
        assert len(model.row_labels_) == 190
        assert adjusted_rand_score(rows, model.row_labels_) == 1.0
        assert adjusted_rand_score(cols, model.column_labels_) == 1.0


def test_a_part_that_promised_too_much_is_not_the_end(limits):
    limits(MOST_LINES=20)
    X = np.random.default_rng(0).normal(size=(150, 40))
    kept = []
    for share in (0.0, 10.0):  # never search the whole, always do
        limits(AS_PROMISED=share)
        kept.append(BlockAverageCoclustering(5, random_state=0).fit(X).kept_)
    assert kept[1] > kept[0]


def test_half_of_the_starts_are_random():
    labels = shared.starting_labels(counts(1)[0], 3, 5, False, np.random.default_rng(0))
    assert labels.shape == (5, 40)
    assert [sorted(np.bincount(line, minlength=3)) for line in labels[3:]] == [[13, 13, 14]] * 2


def test_fewer_distinct_lines_than_labels_are_no_trouble():
    X = np.repeat([[1.0, 0.0], [0.0, 3.0]], 4, axis=0)
    labels = shared.nearest_of_drawn(X, 4, False, np.random.default_rng(0).random((5, 4)))
    assert all(len(set(line[:4])) == len(set(line[4:])) == 1 and line[0] != line[4] for line in labels)


def test_one_raised_block_is_the_best_block():
    X = np.random.default_rng(0).normal(size=(50, 20))
    X[5:20, 3:10] += 4
    model = BlockAverageCoclustering(2, random_state=0).fit(X)
    assert model.solution_[0].rows.tolist() == list(range(5, 20))
    assert model.solution_[0].cols.tolist() == list(range(3, 10))
    assert 0.5 < model.kept_ < 1


def test_with_counts_raised_blocks_go_before_empty_ones():
    X = np.ones((30, 20))
    X[:20, :12] = 0.0
    X[20:, 12:] = 3.0
    model = BlockAverageCoclustering(2, divergence="i-divergence", random_state=0).fit(X)
    assert model.solution_[0].shape == (10, 8)
    assert model.kept_ == pytest.approx(1.0)
    np.testing.assert_array_equal(model.solution_[0].cols, np.arange(12, 20))


def test_modularity_is_that_of_the_labels_and_the_strongest_comes_first():
    X = counts(2)[0]
    model = ModularityCoclustering(3, random_state=0).fit(X)
    B = naive.modularity_matrix(X)
    gains = [B[np.ix_(b.rows, b.cols)].sum() / X.sum() for b in model.solution_]
    assert gains == sorted(gains, reverse=True)
    assert model.modularity_ == pytest.approx(sum(gains))
    for k, b in enumerate(model.solution_):
        np.testing.assert_array_equal(np.flatnonzero(model.row_labels_ == k), b.rows)


def test_more_starts_are_never_worse():
    X = counts(5)[0]
    few, many = (ModularityCoclustering(4, n_starts=k, random_state=0).fit(X).modularity_ for k in (1, 20))
    assert many >= few


@pytest.mark.parametrize("estimator", [ModularityCoclustering, InformationCoclustering, BlockAverageCoclustering])
@pytest.mark.parametrize("X", [np.zeros((6, 5)), np.full((6, 5), 3.0), np.eye(4)[:, :3]])
def test_flat_and_tiny_matrices_are_answered(estimator, X):
    for K in (1, 3, 9):
        for same in (X, csr_array(X)):
            model = estimator(K, random_state=0).fit(same)
            assert all(b.size for b in model.solution_)


def test_empty_matrices_have_no_modularity_and_no_information():
    assert np.isnan(ModularityCoclustering(2, random_state=0).fit(np.zeros((4, 5))).modularity_)
    assert np.isnan(InformationCoclustering(2, random_state=0).fit(np.zeros((4, 5))).information_)
    assert np.isnan(BlockAverageCoclustering(2, random_state=0).fit(np.full((4, 5), 2.0)).kept_)


def test_all_of_the_information_of_blocks_is_kept():
    X = np.kron([[4.0, 1.0], [1.0, 6.0]], np.ones((3, 4)))
    model = InformationCoclustering(2, random_state=0).fit(X)
    assert model.information_ == pytest.approx(naive.mutual_information(X))


def test_the_i_divergence_refuses_negative_cells():
    with pytest.raises(
        MatrixError, match=r"the lowest value of X is -1\. Transform the data, or use divergence='squared'"
    ):
        BlockAverageCoclustering(2, divergence="i-divergence").fit(np.array([[1.0, -1.0, 2.0], [3.0, 4.0, 5.0]]))


@pytest.mark.parametrize(
    ("estimator", "parameters", "words"),
    [
        (
            BlockAverageCoclustering,
            {"divergence": "square"},
            "divergence is 'square'; allowed: .*Did you mean 'squared'",
        ),
        (BlockAverageCoclustering, {"selection": "first"}, "selection is 'first'; allowed: 'best', 'all'"),
        (BlockAverageCoclustering, {"n_column_clusters": 0}, "n_column_clusters is 0; it must be at least 1"),
        (InformationCoclustering, {"n_starts": 0}, "n_starts is 0; it must be at least 1"),
        (ModularityCoclustering, {"max_iter": 0}, "max_iter is 0; it must be at least 1"),
        (ModularityCoclustering, {"n_biclusters": "auto"}, "n_biclusters is 'auto'; a whole number"),
    ],
)
def test_bad_parameters(estimator, parameters, words):
    with pytest.raises(ParameterError, match=words):
        estimator(**parameters).fit(np.eye(4))
