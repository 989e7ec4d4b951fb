"""Evidence: worked values, the naive twin, kinds of pattern, degenerate cases, tails."""

import gc
import math
import weakref

import numpy as np
import pytest
import scipy.sparse

from bivaluate import Biclustering, Matrix
from bivaluate._errors import MatrixError, ParameterError
from bivaluate.chance import _judging
from bivaluate.chance import evidence as module
from bivaluate.chance.assumptions import (
    RowSums,
    deviations,
    lost_to_ties,
    needs_ranks,
    normal_scores,
    row_step,
    sorted_sample,
    spacing,
)
from bivaluate.chance.evidence import evidence_table, explained_share, paying_biclusters, total_evidence
from bivaluate.chance.moments import log_beta_tail, log_beta_tail_bound, log_choose
from bivaluate.measures.registry import METRICS
from bivaluate.measures.workspace import Workspace
from tests.reference import evidence as twin

RECORDS = [metric for metric in METRICS.values() if metric.function.__module__ == "bivaluate.chance.evidence"]

X5 = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
S5 = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X5.shape)


def floor_of(X):
    return max((32 * np.finfo(float).eps * np.abs(X).max()) ** 2, spacing(sorted_sample(X)) ** 2 / 12)


def ranked(X):
    return needs_ranks(sorted_sample(X), RowSums.of(deviations(X)))


def planted(kind, seed=0, shape=(60, 24), rows=18, cols=9):
    """One block of a kind in the first rows and columns of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    block = np.ix_(range(rows), range(cols))
    if kind == "raised":
        X[block] += 3
    elif kind == "additive":
        X[block] = np.add.outer(rng.normal(0, 2, rows), rng.normal(0, 2, cols)) + rng.normal(0, 0.4, (rows, cols))
    elif kind == "row-affine":
        pattern = np.linspace(-2, 2, cols)[rng.permutation(cols)]
        X[block] = np.outer(np.linspace(0.5, 4, rows), pattern) + rng.normal(0, 0.2, (rows, cols))
    else:
        order = rng.permutation(cols)
        values = np.sort(rng.normal(size=(rows, cols)), axis=1)[:, order]
        X[block] = np.sign(values) * np.abs(values) ** np.linspace(0.2, 2.5, rows)[:, None]
    return X, Biclustering([(range(rows), range(cols))], shape)


def test_worked_example():
    result = evidence_table(X5, S5)
    assert result.alone[0] == pytest.approx(-7.043417, abs=1e-6)
    assert np.isnan(result.alone[1:]).all()
    assert result.reasons[1] == "it has 8 cells; fewer than 12 tell nothing"
    assert result.kinds == ("none", "none", "none")
    members = sum(log_choose(5, r) + log_choose(6, c) for r, c in ((3, 4), (2, 4), (3, 2)))
    assert result.total == pytest.approx(-members)
    assert (result.n_paying, result.explained, result.ranks) == (0, 0.0, False)


@pytest.fixture(params=[False, True], ids=["numpy", "compiled"])
def both_ways(request, monkeypatch):
    monkeypatch.setattr(module, "compiled_pays", lambda solution: request.param)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("kind", ["raised", "additive", "row-affine", "order-preserving"])
def test_each_kind_is_recognised_and_pays(kind):
    X, truth = planted(kind, shape=(120, 24))
    result = evidence_table(X, truth, normalise="none")
    assert result.kinds == (kind,)
    assert result.pays.all()
    assert result.n_paying == 1
    assert result.explained == pytest.approx(truth[0].size / X.size)
    gains, kinds, _, total = twin.evidence(X, [(b.rows, b.cols) for b in truth], floor_of(X))
    assert kinds == [kind]
    assert result.gain == pytest.approx(gains, rel=1e-9)
    assert result.total == pytest.approx(total, rel=1e-9)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("seed", range(8))
def test_the_naive_twin_agrees(seed):
    rng = np.random.default_rng(seed)
    n, m = 40, 15
    X = rng.normal(size=(n, m))
    blocks = []
    for _ in range(4):
        rows = np.sort(rng.choice(n, rng.integers(3, 14), replace=False))
        cols = np.sort(rng.choice(m, rng.integers(2, 9), replace=False))
        X[np.ix_(rows, cols)] += rng.choice([0.0, 2.0, 4.0])
        blocks.append((rows, cols))
    result = evidence_table(X, Biclustering(blocks, X.shape), normalise="none")
    gains, kinds, order, total = twin.evidence(X, blocks, floor_of(X))
    assert set(result.order) == set(order)
    for k, gain in enumerate(gains):
        if k in order:
            assert result.kinds[k] == kinds[k]
            assert result.gain[k] == pytest.approx(gain, rel=1e-8)
        elif math.isnan(gain):
            assert math.isnan(result.gain[k])
        else:  # of what cannot pay a form that comes near is given
            assert result.gain[k] <= gain + 1e-8 <= 1e-8
    assert result.total == pytest.approx(total, rel=1e-8)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("seed", range(12))
def test_compiled_judgement_is_that_of_numpy(seed, order, monkeypatch):
    """Blocks of every form, exact ones among them, that share cells; the forms that win and their nats."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 31)) + rng.choice([0.0, 1e3], size=(90, 1))
    blocks = []
    for form in rng.permutation(6):
        rows, cols = (np.sort(rng.choice(size, rng.integers(2, size // 2), replace=False)) for size in X.shape)
        levels = rng.normal(0, 3, size=(len(rows), 1)), rng.normal(0, 3, size=len(cols))
        added = [2.5, levels[0], levels[1], levels[0] + levels[1], rng.uniform(0.5, 2, size=(len(rows), 1)) * levels[1]]
        if form < 5:
            X[np.ix_(rows, cols)] += added[form]
        else:
            X[np.ix_(rows, cols)] = levels[0] + levels[1]  # nothing is left
        blocks.append((rows, cols))
    X[5], X[:, 3] = 1.0, 2.0
    solution, found = Biclustering(blocks, X.shape), []
    for compiled in (False, True):
        monkeypatch.setattr(module, "compiled_pays", lambda solution, compiled=compiled: compiled)
        found.append(evidence_table(np.array(X, order=order), solution))
    plain, compiled = found
    np.testing.assert_allclose(compiled.gain, plain.gain, rtol=1e-9)
    np.testing.assert_allclose(compiled.alone, plain.alone, rtol=1e-9)
    assert (compiled.kinds, compiled.order, compiled.reasons) == (plain.kinds, plain.order, plain.reasons)
    assert (compiled.ranks, compiled.independent) == (plain.ranks, pytest.approx(plain.independent, rel=1e-9))


@pytest.mark.parametrize("seed", range(12))
def test_rounding_decides_nothing(seed, monkeypatch):
    """Blocks of all rows, and blocks without noise: the order of the array and the way they are judged do not matter."""
    rng = np.random.default_rng(seed)
    noisy = rng.normal(size=(40, 12))
    exact = np.zeros((80, 30))
    for k in range(3):
        exact[20 * k : 20 * k + 20, 8 * k : 8 * k + 10] = np.add.outer(rng.normal(size=20), rng.normal(size=10))
    cases = [
        (noisy, Biclustering([(range(40), range(2 + seed % 8))], noisy.shape)),
        (exact, Biclustering([(range(20 * k, 20 * k + 20), range(8 * k, 8 * k + 10)) for k in range(3)], exact.shape)),
    ]
    for X, solution in cases:
        found = []
        for compiled in (False, True):
            monkeypatch.setattr(module, "compiled_pays", lambda solution, compiled=compiled: compiled)
            found += [evidence_table(np.array(X, order=order), solution) for order in ("C", "F")]
        for other in found[1:]:
            assert (other.kinds, other.ranks) == (found[0].kinds, found[0].ranks)
            assert other.independent == pytest.approx(found[0].independent, rel=1e-6)
            np.testing.assert_allclose(other.gain, found[0].gain, rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-130, 1e-79, 1e100, 1e148])
def test_evidence_does_not_depend_on_the_unit(factor):
    normal, truth = planted("raised")
    for X in (normal, np.random.default_rng(0).standard_t(2, size=normal.shape)):
        one, other = (evidence_table(values, truth) for values in (X, factor * X))
        assert (one.ranks, one.kinds) == (other.ranks, other.kinds)
        np.testing.assert_allclose(other.gain, one.gain, rtol=1e-9)


@pytest.mark.parametrize("shape", [(60, 14), (12, 40), (2600, 50)])
def test_a_compiled_look_at_the_matrix_sees_what_numpy_sees(shape):
    """All rows of a small matrix are looked at, every second one of a large one."""
    X = np.random.default_rng(0).standard_t(5, size=shape) + 3.0
    plain, compiled = (_judging._seen(X, way) for way in (False, True))
    for found, expected in zip((*compiled.means, *compiled.squares), (*plain.means, *plain.squares), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    for found, expected in zip(compiled.sums, plain.sums, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert len(plain.sums.squares) == -(-shape[0] // row_step(shape))
    X[0, 0] = np.nan
    for found, expected in zip(_judging._seen(X, True).means, _judging._seen(X, False).means, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(module, "_MANY_CELLS", 0)
    X, _ = planted("additive")
    rng = np.random.default_rng(1)
    solution = Biclustering(
        [(rng.choice(60, 12, replace=False), rng.choice(24, 6, replace=False)) for _ in range(9)], X.shape
    )
    one, two = (evidence_table(X, solution, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.gain, two.gain)
    assert one.order == two.order


def test_a_second_copy_does_not_pay_and_costs_its_members():
    X, truth = planted("raised")
    twice = Biclustering([(b.rows, b.cols) for b in (truth[0], truth[0])], X.shape)
    one, two = evidence_table(X, truth), evidence_table(X, twice)
    assert two.alone[0] == two.alone[1] == one.gain[0]
    assert two.order == (0,)
    assert two.gain[1] < 0
    assert two.total == pytest.approx(one.total - log_choose(60, 18) - log_choose(24, 9))


def test_overlapping_raised_blocks_all_pay():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 30))
    pairs = [
        (np.arange(40), np.arange(10)),
        (np.arange(30, 70), np.arange(7, 17)),
        (np.arange(60, 100), np.arange(14, 24)),
    ]
    order = rng.permutation(30)  # in neighbouring columns they would look like a series
    pairs = [(rows, order[cols]) for rows, cols in pairs]
    for rows, cols in pairs:
        X[np.ix_(rows, cols)] += 2
    result = evidence_table(X, Biclustering(pairs, X.shape))
    assert result.pays.all()
    assert (np.diff(result.gain[list(result.order)]) < 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_noise_does_not_pay(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 30)) + np.add.outer(rng.normal(size=100), rng.normal(size=30))
    order = np.argsort(X[:, :8].sum(axis=1))
    solution = Biclustering([(order[-20:], range(8)), (order[:30], range(8)), (range(100), range(30))], X.shape)
    result = evidence_table(X, solution)
    assert result.n_paying == 0
    assert result.total < 0


@pytest.mark.parametrize("seed", range(5))
def test_searched_counts_do_not_pay(seed):
    """Whole numbers make residuals that are exactly 0 easy to find; the spacing of the values allows for that."""
    from bivaluate.algorithms.registry import make_estimator

    X = np.random.default_rng(seed).poisson(6.0, size=(80, 25)).astype(float)
    found = make_estimator("cca", 6, random_state=0).fit(X).solution_
    assert evidence_table(X, found).n_paying == 0


def test_heavy_tails_are_ranked_by_the_stated_rule():
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(150, 30))
    X[:40, :8] += 4
    truth = Biclustering([(range(40), range(8))], X.shape)
    result = evidence_table(X, truth)
    assert result.ranks
    assert result.pays.all()
    assert not evidence_table(X, truth, normalise="none").ranks
    gains, *_ = twin.evidence(twin.normal_scores(X), [(b.rows, b.cols) for b in truth], 0.0)
    assert result.gain == pytest.approx(gains, rel=1e-6)


def test_rule_for_ranks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30))
    assert not ranked(X)
    assert ranked(np.exp(2 * X))
    assert ranked(rng.poisson(0.3, size=(200, 30)).astype(float))
    assert not ranked(np.zeros((5, 4)))
    X[rng.random(X.shape) < 0.1] = np.nan
    assert not ranked(X)
    assert ranked(np.exp(2 * X))


def test_normal_scores_and_ties():
    X = np.array([[3.0, 1.0, 3.0, 9.0], [1.0, 2.0, 3.0, 4.0]])
    np.testing.assert_allclose(normal_scores(X), twin.normal_scores(X))
    full = np.mean(twin.normal_scores(np.arange(4.0)[None]) ** 2)
    assert lost_to_ties(normal_scores(X[:1])) == pytest.approx(full - np.mean(normal_scores(X[:1]) ** 2))
    with_gap = np.array([[3.0, np.nan, 1.0, 2.0]])
    np.testing.assert_allclose(
        normal_scores(with_gap)[0, [0, 2, 3]], twin.normal_scores(np.array([[3.0, 1.0, 2.0]]))[0]
    )
    assert lost_to_ties(normal_scores(with_gap)) == 0


def test_missing_cells():
    X, truth = planted("additive")
    complete = evidence_table(X, truth, normalise="none")
    rng = np.random.default_rng(1)
    holes = X.copy()
    holes[rng.random(X.shape) < 0.1] = np.nan
    with pytest.raises(MatrixError, match="missing"):
        evidence_table(holes, truth)
    result = evidence_table(holes, truth, missing="omit", normalise="none")
    assert result.kinds == ("additive",)
    assert 0.6 * complete.gain[0] < result.gain[0] < complete.gain[0]
    for kind in ("raised", "row-affine"):
        X, truth = planted(kind)
        X[::7, ::5] = np.nan
        assert evidence_table(X, truth, missing="omit", normalise="none").kinds == (kind,)


def test_additive_fit_over_observed_cells_is_least_squares():
    from bivaluate.chance._patterns import fill_missing

    rng = np.random.default_rng(0)
    A = np.add.outer(rng.normal(0, 3, 9), rng.normal(0, 3, 7)) + rng.normal(0, 0.3, (9, 7))
    A[rng.random(A.shape) < 0.2] = np.nan
    seen = np.isfinite(A)
    design = np.hstack([np.kron(np.eye(9), np.ones((7, 1))), np.kron(np.ones((9, 1)), np.eye(7))])[seen.ravel()]
    fitted = design @ np.linalg.lstsq(design, A[seen], rcond=None)[0]
    filled = fill_missing(A)
    np.testing.assert_array_equal(filled[seen], A[seen])
    additive = filled.mean(axis=1, keepdims=True) + filled.mean(axis=0) - filled.mean()
    np.testing.assert_allclose(additive[seen], fitted, atol=1e-8)


def test_missing_cells_may_leave_too_little():
    X = np.full((6, 6), np.nan)
    X[:, :2] = np.random.default_rng(0).normal(size=(6, 2))
    X[:2] = np.random.default_rng(1).normal(size=(2, 6))
    solution = Biclustering([(range(1, 6), range(2, 6)), (range(4), range(3))], X.shape)
    result = evidence_table(X, solution, missing="omit")
    assert result.reasons[0] == "its observed cells do not leave two rows and two columns to compare"
    assert "fewer than 12" in result.reasons[1]


def test_lines_that_are_constant_over_the_whole_matrix_say_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 12)) + rng.normal(0, 3, size=12)
    X[:10] = 5.0
    result = evidence_table(X, Biclustering([(range(10), range(8)), (range(9, 12), range(8))], X.shape))
    assert np.isnan(result.gain[0])
    assert result.reasons[0].startswith("without the rows and columns that are constant over the whole matrix")
    assert result.gain[1] < 0
    everything = evidence_table(np.ones((5, 6)), S5)
    assert np.isnan(everything.gain).all()


def test_thin_blocks_are_undefined_with_a_reason():
    X = np.random.default_rng(0).normal(size=(30, 12))
    result = evidence_table(X, Biclustering([([3], range(12)), (range(30), [1]), (range(6), range(2))], X.shape))
    assert np.isnan(result.gain[:2]).all()
    assert result.reasons[0] == "it does not have two rows and two columns to compare"
    assert result.gain[2] < 0


def test_a_solution_without_biclusters_saves_nothing():
    X = np.random.default_rng(0).normal(size=(30, 12))
    result = evidence_table(X, Biclustering([], X.shape))
    assert (result.total, result.n_paying, result.explained) == (0.0, 0, 0.0)
    assert len(result.gain) == 0


@pytest.mark.parametrize("kind", ["raised", "additive", "row-affine"])
def test_invariances(kind):
    X, truth = planted(kind)
    rng = np.random.default_rng(5)
    moved = 4 * X + np.add.outer(rng.normal(0, 5, 60), rng.normal(0, 5, 24)) - 7
    before, after = (evidence_table(Y, truth, normalise="none").gain for Y in (X, moved))
    np.testing.assert_allclose(after, before, rtol=1e-9)
    offsets = X + 1e9 * rng.choice([-1.0, 1.0], size=(60, 1))
    np.testing.assert_allclose(evidence_table(offsets, truth, normalise="none").gain, before, rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_scales(scale):
    X, truth = planted("additive")
    before, after = (evidence_table(Y, truth, normalise="none").gain for Y in (X, X * scale))
    np.testing.assert_allclose(after, before, rtol=1e-9)


def test_noise_free_patterns_have_finite_gains():
    X = np.random.default_rng(0).normal(size=(40, 16))
    X[:12, :6] = np.add.outer(np.linspace(0, 3, 12), np.linspace(2, -1, 6))
    gain = evidence_table(X, Biclustering([(range(12), range(6))], X.shape)).gain[0]
    assert 500 < gain < 5000


def test_solution_measures_and_records_agree():
    X, truth = planted("raised")
    result = evidence_table(X, truth)
    assert total_evidence(X, truth) == result.total
    assert paying_biclusters(X, truth) == 1
    assert explained_share(X, truth) == result.explained
    workspace = Workspace.of(X, truth)
    values = {metric.key: metric.compute(workspace) for metric in RECORDS}
    assert values["total_evidence"] == result.total
    np.testing.assert_array_equal(values["evidence"], result.gain)
    assert values["n_paying"] == 1


def test_options_are_checked():
    with pytest.raises(ParameterError, match="normalise is 'ranks'"):
        evidence_table(X5, S5, normalise="ranks")


@pytest.mark.parametrize(("a", "b"), [(0.5, 20), (3.5, 2.0), (40, 300), (120.5, 17)])
@pytest.mark.parametrize("x", [0.05, 0.3, 0.6, 0.95, 0.9999])
def test_beta_tail_agrees_with_quadrature(x, a, b):
    ours = log_beta_tail(x, a, b)
    assert ours == pytest.approx(twin.log_beta_tail(x, a, b), rel=1e-6, abs=1e-6)
    assert log_beta_tail_bound(x, a, b) <= ours + 1e-9


def test_beta_tail_at_the_ends():
    assert log_beta_tail(0.0, 2, 3) == 0.0
    assert log_beta_tail(1.0, 2, 3) == -math.inf
    assert log_choose(300, 30) == pytest.approx(twin.log_choose(300, 30))


def test_union_bound_on_searched_noise():
    """The best of all 4 x 3 blocks of small noise matrices rarely has a positive gain."""
    from itertools import combinations

    rows, cols = list(combinations(range(7), 4)), list(combinations(range(6), 3))
    hits = 0
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(7, 6))
        every = Biclustering([(r, c) for r in rows for c in cols], X.shape)
        hits += bool((evidence_table(X, every, normalise="none").alone > 0).any())
    assert hits <= 1


@pytest.mark.parametrize("shape", [(60, 24), (220, 90)])
def test_row_offsets_of_1e9_cost_no_digits(shape):
    rng = np.random.default_rng(3)
    X = rng.normal(size=shape)
    rows, cols = shape[0] // 3, shape[1] // 2
    X[:rows, :cols] += 2
    X = np.round(X * 2**20) / 2**20  # so that 1e9 can be added and taken away again without a trace
    X += 2.0**30 * rng.integers(-1, 2, size=(len(X), 1))
    level = np.round(X[:, :1] / 2.0**30) * 2.0**30
    S = Biclustering([(range(rows), range(cols)), (range(rows, 2 * rows), range(cols // 2, cols))], shape)
    far, near = (evidence_table(values, S, normalise="none") for values in (X, X - level))
    assert far.gain == pytest.approx(near.gain, rel=1e-9)
    assert far.pays.tolist() == [True, False]


def autoregressive(rng, shape, correlation):
    """Rows of noise in which neighbouring columns are correlated."""
    X = rng.normal(size=shape)
    for j in range(1, shape[1]):
        X[:, j] = correlation * X[:, j - 1] + math.sqrt(1 - correlation**2) * X[:, j]
    return X


def runs_of_high_rows(X, width=8, size=25):
    """What a search for raised blocks finds in a series: for some runs of columns the rows that are highest there."""
    runs = [np.arange(start, start + width) for start in range(0, X.shape[1] - width + 1, width)]
    return Biclustering([(np.argsort(-X[:, cols].mean(axis=1))[:size], cols) for cols in runs], X.shape)


def test_what_a_block_leaves_out_does_not_pay_once_the_block_is_accepted():
    """A raised block moves the mean of the matrix, and so the deviations of cells in none of its rows and columns."""
    X = np.random.default_rng(6).normal(size=(150, 40))
    X[:50, :18] += 3
    result = evidence_table(X, Biclustering([(range(50, 150), range(18, 40)), (range(50), range(18))], X.shape))
    assert result.alone[0] > 0
    assert result.pays.tolist() == [False, True]


@pytest.mark.parametrize("turned", [False, True])
def test_what_a_few_rows_or_columns_do_is_not_what_the_bicluster_does(turned):
    X = np.random.default_rng(7).normal(size=(120, 36))
    X[:12, :14] += 5
    pairs = [(range(12), range(14)), (range(90), range(14))]
    if turned:
        X, pairs = X.T.copy(), [(cols, rows) for rows, cols in pairs]
    assert [evidence_table(X, Biclustering([pair], X.shape)).n_paying for pair in pairs] == [1, 0]


def test_rows_of_loud_noise_do_not_pay():
    rng = np.random.default_rng(8)
    for _ in range(5):
        X = rng.normal(size=(180, 40)) * rng.lognormal(0, 0.7, size=(180, 1))
        halves = Biclustering([(range(165), range(20)), (range(165), range(20, 40))], X.shape)
        assert evidence_table(X, halves).n_paying == 0


@pytest.mark.parametrize("correlation", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("shape", [(150, 32), (200, 16)])
def test_series_of_noise_do_not_pay(correlation, shape):
    for seed in range(3):
        X = autoregressive(np.random.default_rng(seed), shape, correlation)
        result = evidence_table(X, runs_of_high_rows(X), normalise="none")
        assert result.n_paying == 0
        assert result.independent == pytest.approx((1 - correlation) / (1 + correlation), abs=0.12)


def test_levels_far_beyond_a_series_pay_and_the_naive_twin_agrees():
    rng = np.random.default_rng(1)
    X = autoregressive(rng, (90, 24), 0.6)
    blocks = [
        (np.arange(20), np.arange(8)),
        (np.arange(40, 60), np.arange(10, 18)),
        (np.arange(70, 90), np.arange(5, 12)),
    ]
    for rows, cols in blocks[:2]:
        X[np.ix_(rows, cols)] += 4
    result = evidence_table(X, Biclustering(blocks, X.shape), normalise="none")
    assert result.pays.tolist() == [True, True, False]
    assert result.kinds == ("raised", "raised", "none")
    assert result.independent == pytest.approx(twin.independent_share(X, blocks), rel=1e-9)
    gains, kinds, _, total = twin.evidence(X, blocks, floor_of(X), twin.independent_share(X, blocks))
    assert result.gain == pytest.approx(gains, rel=1e-9)
    assert (list(result.kinds), result.total) == (kinds, pytest.approx(total, rel=1e-9))


@pytest.mark.parametrize("sizes", [[(60, 12)] * 3, [(50, 10)] * 4, [(70, 14), (40, 9), (60, 13)]])
def test_the_order_of_columns_means_nothing_where_they_are_no_series(sizes):
    """Blocks 4 standard deviations up that hold most rows pay whether they lie side by side or not."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 40))
    blocks, row, col = [], 0, 0
    for r, c in sizes:
        X[row : row + r, col : col + c] += 4
        blocks.append((np.arange(row, row + r), np.arange(col, col + c)))
        row, col = row + r, col + c
    order = rng.permutation(40)
    shuffled = [(rows, np.flatnonzero(np.isin(order, cols))) for rows, cols in blocks]
    side_by_side = evidence_table(X, Biclustering(blocks, X.shape))
    apart = evidence_table(X[:, order], Biclustering(shuffled, X.shape))
    assert side_by_side.pays.all()
    assert side_by_side.independent == apart.independent == 1
    assert side_by_side.gain == pytest.approx(apart.gain)


def test_a_series_stays_one_whatever_rows_are_grouped():
    X = autoregressive(np.random.default_rng(5), (120, 30), 0.7)
    by_level = np.argsort(X[:, :10].mean(axis=1))
    for size in (12, 40):
        groups = [(np.sort(by_level[start : start + size]), range(10)) for start in range(0, 120, size)]
        result = evidence_table(X, Biclustering(groups, X.shape))
        assert result.independent < 0.3
        assert result.n_paying == 0


def test_blocks_on_neighbouring_columns_are_no_series():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 40))
    X[:30, :12] += 4
    X[40:80, 15:30] += 4
    result = evidence_table(X, Biclustering([(range(30), range(12)), (range(40, 80), range(15, 30))], X.shape))
    assert result.independent == 1
    assert result.kinds == ("raised", "raised")


@pytest.mark.parametrize("dense", [True, False])
def test_what_is_known_of_a_settled_matrix_ends_with_it(dense):
    """Without waiting for the garbage collector: it may be the largest thing in memory."""
    values = np.random.default_rng(0).poisson(0.5, size=(40, 15)).astype(float)
    matrix = Matrix(values if dense else scipy.sparse.csr_array(values)).settled()
    gc.disable()
    try:
        evidence_table(matrix, Biclustering([(range(10), range(6))], values.shape))
        assert matrix._known
        gone = weakref.ref(matrix)
        del matrix
        assert gone() is None
    finally:
        gc.enable()
