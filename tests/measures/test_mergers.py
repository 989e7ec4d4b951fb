"""VE and MSR of mergers: NumPy and the kernels against the naive twins, on awkward and on large inputs."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bivaluate import evaluate, mean_squared_residue, virtual_error
from bivaluate.measures._mergers import is_large, union_cells
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering
from tests.conftest import limited
from tests.reference import internal as naive

X_WORKED = np.array(
    [[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]]
)
PAIRS_WORKED = [([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])]


def by_numpy(X, pairs, **options):
    """Return VE and MSR of all mergers as small input has them."""
    solution = Biclustering(pairs, X.shape)
    assert not is_large(solution)
    return _mergers(X, solution, **options)


def by_kernels(X, pairs, **options):
    """Return the same as large input has them."""
    with limited(KERNEL_CELLS=0):
        return _mergers(X, Biclustering(pairs, X.shape), **options)


def _mergers(X, solution, **options):
    workspace = Workspace.of(X, solution, **options)
    return workspace.mergers


def _alone(workspace):
    """Return VE and MSR of the biclusters."""
    return workspace.ve, workspace.msr


PATHS = [pytest.param(by_numpy, id="numpy"), pytest.param(by_kernels, id="kernels")]


def solve(path, X, pairs, **options):
    return path(X, pairs, **options)


def random_pairs(rng, shape, K, r, c):
    return [
        (np.sort(rng.choice(shape[0], r, replace=False)), np.sort(rng.choice(shape[1], c, replace=False)))
        for _ in range(K)
    ]


@pytest.mark.parametrize("path", PATHS)
def test_worked_example(path):
    V, M = solve(path, X_WORKED, PAIRS_WORKED)
    assert np.diag(V) == pytest.approx([0.104551, 0.362878, 1.333333], abs=1e-6)
    assert np.diag(M) == pytest.approx([0.315972, 0.5625, 2.888889], abs=1e-6)
    nve, each, _ = naive.normalised(V)
    assert nve == pytest.approx(0.934293, abs=1e-6)
    assert each == pytest.approx([0.180496, 0.471935, 2.301846], abs=1e-6)
    assert naive.normalised(M)[0] == pytest.approx(0.562624, abs=1e-6)


def test_twins_know_the_worked_example():
    assert naive.nve(X_WORKED, PAIRS_WORKED) == pytest.approx(0.934293, abs=1e-6)
    assert naive.nsr(X_WORKED, PAIRS_WORKED) == pytest.approx(0.562624, abs=1e-6)
    assert naive.coverage(PAIRS_WORKED, X_WORKED.shape) == pytest.approx(0.733333, abs=1e-6)
    assert naive.nve_cov(X_WORKED, PAIRS_WORKED) == pytest.approx(1.091020, abs=1e-6)
    assert naive.multiplicity(PAIRS_WORKED) == pytest.approx(1.181818, abs=1e-6)
    assert naive.overlap_fraction(PAIRS_WORKED) == pytest.approx(0.181818, abs=1e-6)
    assert naive.mean_jaccard(PAIRS_WORKED) == pytest.approx(0.095238, abs=1e-6)
    V, M = naive.exact_mergers(X_WORKED, PAIRS_WORKED)
    assert V[0, 0] == pytest.approx(0.104551, abs=1e-6)
    assert M[0, 0] == pytest.approx(0.315972, abs=1e-6)


@st.composite
def awkward(draw):
    """A matrix and biclusters: overlaps, repeats, single rows and columns, constant rows, ties, offsets."""
    n, m = draw(st.integers(1, 40)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, m))
    if draw(st.booleans()):
        X = rng.integers(-1, 2, size=(n, m)).astype(float)
    if draw(st.booleans()):
        X[rng.random(n) < 0.3] = draw(st.sampled_from([0.0, 0.1, 1e8, -1e-3]))
    X *= draw(st.sampled_from([1.0, 1e-8, 1e6]))
    X += draw(st.sampled_from([0.0, 0.1, 1e8]))
    if draw(st.booleans()):
        X += rng.choice([0.0, 1e8], size=(n, 1))
    pairs = [
        (
            np.sort(rng.choice(n, rng.integers(1, n + 1), replace=False)),
            np.sort(rng.choice(m, rng.integers(1, m + 1), replace=False)),
        )
        for _ in range(draw(st.integers(1, 5)))
    ]
    if draw(st.booleans()):
        pairs.append(pairs[0])
    return X, pairs


def assert_close_to_exact(found, X, pairs):
    """Agree to 1e-6 relative, or to rounding of the cells themselves where the true value is next to nothing."""
    V, M = naive.exact_mergers(X, pairs)
    top = np.abs(X).max()
    for k, l in np.ndindex(V.shape):  # noqa: E741
        block = X[np.ix_(*(np.union1d(one, other) for one, other in zip(pairs[k], pairs[l], strict=True)))]
        rounding = 1e-16 * np.abs(block).max(axis=1) / np.maximum(block.std(axis=1), 1e-9 * top + 1e-300)
        assert found[0][k, l] == pytest.approx(V[k, l], rel=1e-6, abs=1e-13 + 4 * rounding.mean())
    assert found[1] == pytest.approx(M, rel=1e-6, abs=(1e-15 * top) ** 2 + 1e-300)


@pytest.mark.parametrize("path", PATHS)
@given(case=awkward())
def test_awkward_inputs_match_the_high_precision_twin(path, case):
    X, pairs = case
    assert_close_to_exact(solve(path, X, pairs), X, pairs)


@pytest.mark.parametrize("path", PATHS)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 90), m=st.integers(2, 50), K=st.integers(1, 8))
def test_ordinary_inputs_match_the_naive_twin(path, seed, n, m, K):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) + 3.0
    pairs = random_pairs(rng, X.shape, K, rng.integers(1, n + 1), rng.integers(1, m + 1))
    V, M = solve(path, X, pairs)
    expected_V, expected_M = naive.mergers(X, pairs)
    assert pytest.approx(expected_V, rel=1e-10, abs=1e-12) == V
    assert pytest.approx(expected_M, rel=1e-10, abs=1e-12) == M
    assert np.array_equal(V, V.T)
    assert np.array_equal(M, M.T)


SHIFTS = {
    "as it is": lambda X, rng: X,
    "shifted": lambda X, rng: X + 1e8,
    "scaled": lambda X, rng: X * 1e-8,
    "columns at 0 and 1e8": lambda X, rng: X + rng.choice([0.0, 1e8], size=X.shape[1]),
    "columns at 0 and 1e8 in turn": lambda X, rng: X + 1e8 * (np.arange(X.shape[1]) % 2),
    "rows at 0 and 1e8": lambda X, rng: X + rng.choice([0.0, 1e8], size=(X.shape[0], 1)),
    "small on 1": lambda X, rng: 1 + 1e-8 * X,
    "rows of all sizes": lambda X, rng: X * 10.0 ** rng.integers(-8, 9, size=(X.shape[0], 1)),
    "squares overflow": lambda X, rng: X * 1e200,
    "squares underflow": lambda X, rng: X * 1e-200,
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("shift", SHIFTS)
def test_offsets_and_scales_cost_no_digits(path, shift):
    rng = np.random.default_rng(7)
    X = SHIFTS[shift](rng.normal(size=(70, 14)), rng)
    pairs = [*random_pairs(rng, X.shape, 4, 25, 5), (np.arange(40), np.arange(0, 14, 2))]
    V, M = solve(path, X, pairs)
    expected_V, expected_M = naive.exact_mergers(X, pairs)
    assert pytest.approx(expected_V, rel=1e-6, abs=0) == V
    with np.errstate(invalid="ignore"):
        assert pytest.approx(expected_M, rel=1e-6, abs=0) == M
    assert naive.normalised(V)[0] == pytest.approx(naive.normalised(expected_V)[0], rel=1e-6)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("path", PATHS)
def test_row_offsets_of_1e9_cost_no_digits(path, order):
    rng = np.random.default_rng(11)
    X = np.array(rng.normal(size=(90, 31)) + 1e9 * rng.uniform(-1, 1, size=(90, 1)), order=order)
    pairs = [*random_pairs(rng, X.shape, 3, 37, 11), (np.arange(45), np.arange(0, 31, 2))]
    V, M = solve(path, X, pairs)
    expected_V, expected_M = naive.exact_mergers(X, pairs)
    assert pytest.approx(expected_V, rel=1e-12, abs=0) == V
    assert pytest.approx(expected_M, rel=1e-12, abs=0) == M


NOISELESS = {
    "shift": lambda a, s, p: a + p,
    "scale": lambda a, s, p: s * p,
    "shift and scale": lambda a, s, p: a + s * p,
    "far from zero": lambda a, s, p: 1e9 * a + p,
    "small": lambda a, s, p: 1e-9 * (a + p),
    "large": lambda a, s, p: 1e12 * (a + p),
}


@pytest.mark.parametrize("K", [4, 80], ids=["numpy", "kernels"])
@pytest.mark.parametrize("family", NOISELESS)
def test_zero_up_to_rounding_is_undefined_and_says_so(K, family):
    rng = np.random.default_rng(5)
    X = NOISELESS[family](rng.normal(size=(60, 1)), rng.uniform(0.5, 3, size=(60, 1)), rng.normal(size=25))
    solution = Biclustering(random_pairs(rng, X.shape, K, 20, 8), X.shape)
    keys = ["nve", "cc", "anve", "nve_k"] + (["nsr", "nsr_k"] if "scale" not in family else [])
    result = evaluate(X, solution, metrics=keys)
    assert all(np.isnan(value) for value in result.scores.values())
    assert set(result.status.values()) == {"errors here are zero up to rounding, so the formula has no value (0/0)"}
    document = result.to_dict()["biclusters"][0]
    assert document["nve_k"] is None
    assert "zero up to rounding" in document["reasons"]["nve_k"]
    single = evaluate(X, solution.select([0]), metrics=["nve"], single="matrix")
    assert np.isnan(single.scores["nve"])


def test_small_errors_that_are_not_rounding_stay():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 1)) + rng.normal(size=25) + 1e-9 * rng.normal(size=(60, 25))
    pairs = random_pairs(rng, X.shape, 4, 20, 8)
    result = evaluate(X, Biclustering(pairs, X.shape), metrics=["nve", "nsr", "cc", "anve"])
    V, M = naive.exact_mergers(X, pairs)
    assert result.scores["nve"] == pytest.approx(naive.normalised(V)[0], rel=1e-6)
    assert result.scores["nsr"] == pytest.approx(naive.normalised(M)[0], rel=1e-6)
    assert 0 <= result.scores["cc"] <= 1


@pytest.mark.parametrize("path", PATHS)
def test_noiseless_patterns(path):
    rng = np.random.default_rng(3)
    s, p = rng.uniform(1, 3, 30), rng.normal(size=9)
    family = np.outer(s, p) + rng.normal(size=(30, 1))
    pairs = [(np.arange(20), np.arange(6)), (np.arange(10, 30), np.arange(3, 9))]
    V, M = solve(path, family, pairs)
    assert np.abs(V).max() < 1e-12
    V, M = solve(path, np.outer(s, p), pairs)
    assert M[0, 0] == pytest.approx(np.var(s[:20]) * np.var(p[:6]), rel=1e-9)
    assert M[0, 1] == pytest.approx(np.var(s) * np.var(p), rel=1e-9)


@pytest.mark.parametrize("path", PATHS)
def test_constant_rows_by_range_not_by_deviation(path):
    X = np.vstack([[0.1] * 3, [1.0, 2.0, 4.0], [2.0, 2.5, 3.0]])
    V, _ = solve(path, X, [([0, 1, 2], [0, 1, 2])])
    assert V[0, 0] == pytest.approx(naive.ve(X), rel=1e-12)
    worked = X_WORKED[:3, :4].copy()
    worked[1] = 5.0
    assert virtual_error(worked) == pytest.approx(0.3676, abs=5e-5)


@pytest.mark.parametrize("path", PATHS)
def test_constant_pattern_and_constant_block(path):
    X = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [7.0, 7.0, 7.0]])
    V, M = solve(path, X, [([0, 1], [0, 1, 2]), ([2], [0, 1, 2]), ([2], [0, 1])])
    assert V[0, 0] == pytest.approx(np.mean(np.abs([1, 0, 1])) * np.sqrt(1.5), rel=1e-12)
    assert V[1, 2] == 0.0
    assert M[1, 2] == 0.0


@pytest.mark.parametrize("path", PATHS)
def test_single_rows_and_columns_give_zero(path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 5))
    V, M = solve(path, X, [([2], [0, 1, 4]), ([2], [3]), ([0, 1, 2], [3])])
    assert np.array_equal(V == 0, [[True, True, False], [True, True, True], [False, True, True]])
    assert np.array_equal(M == 0, V == 0)


@pytest.mark.parametrize("path", PATHS)
def test_no_biclusters(path):
    V, M = solve(path, np.ones((3, 2)), [])
    assert V.shape == M.shape == (0, 0)


@pytest.mark.parametrize("path", PATHS)
def test_twins_merge_into_themselves(path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 20))
    pair = (np.arange(5, 30), np.arange(3, 11))
    V, M = solve(path, X, [pair, pair])
    assert np.ptp(V) < 1e-14
    assert np.ptp(M) < 1e-14


@pytest.mark.parametrize("path", PATHS)
def test_any_layout_gives_the_same_answer_and_is_left_unwritten(path):
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(80, 30)) * 64)
    pairs = random_pairs(rng, X.shape, 5, 30, 8)
    expected = solve(path, X, pairs)
    wide = np.zeros((160, 90))
    wide[::2, ::3] = X
    frozen = X.copy()
    frozen.setflags(write=False)
    record = np.zeros((80, 30), dtype=[("flag", "i1"), ("value", "f8")])
    record["value"] = X
    layouts = {
        "Fortran": np.asfortranarray(X),
        "strided": wide[::2, ::3],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "read-only": frozen,
        "integers": X.astype(np.int64).astype(np.float64),
        "float32": X.astype(np.float32).astype(np.float64),
        "unaligned": record["value"],
    }
    for name, layout in layouts.items():
        before = layout.copy()
        found = solve(path, layout, pairs)
        assert np.array_equal(layout, before), name
        for matrix, reference in zip(found, expected, strict=True):
            assert matrix == pytest.approx(reference, rel=1e-12, abs=1e-14), name


def test_few_columns_of_a_wide_matrix():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(40, 300))
    pairs = [(rows, cols * 20) for rows, cols in random_pairs(rng, (40, 15), 4, 12, 5)]
    for found, expected in zip(solve(by_kernels, X, pairs), naive.mergers(X, pairs), strict=True):
        assert found == pytest.approx(expected, rel=1e-11)


def test_checkerboard_and_long_blocks():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(900, 12))
    board = Biclustering.from_labels(rng.integers(0, 3, 900), rng.integers(0, 4, 12))
    pairs = [(b.rows, b.cols) for b in board] + [(np.arange(900), np.arange(12))]
    for found, expected in zip(solve(by_kernels, X, pairs), naive.mergers(X, pairs), strict=True):
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-13)


def test_large_input_takes_the_compiled_path_and_agrees():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 60))
    pairs = random_pairs(rng, X.shape, 12, 200, 20)
    solution = Biclustering(pairs, X.shape)
    assert union_cells(solution) > 600_000
    expected = naive.mergers(X, pairs)
    for found, twin in zip(_mergers(X, solution), expected, strict=True):
        assert found == pytest.approx(twin, rel=1e-11)


@pytest.mark.parametrize(("K", "r", "c", "large"), [(4, 41, 10, False), (20, 120, 15, True), (30, 3, 3, False)])
def test_the_size_alone_chooses_the_way(K, r, c, large):
    rng = np.random.default_rng(0)
    assert is_large(Biclustering(random_pairs(rng, (300, 40), K, r, c), (300, 40))) == large


def odd_biclusters(seed):
    """Noise, and biclusters of one row, of one column, of constant rows, twins, and of a pattern without noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 24))
    X[3, :9], X[70] = 1.5, 2.0
    X[40:50, 10:20] = np.add.outer(rng.normal(size=10), rng.normal(size=10))
    pairs = [
        (range(20), range(9)), (range(10, 30), range(5, 16)), (range(10, 30), range(5, 16)), ([3], range(4)),
        ([3, 4, 5], range(6)), (range(60, 80), [7]), (range(40, 50), range(10, 20)), ([60, 70], [1, 2, 3]),
    ]  # fmt: skip
    return X, Biclustering(pairs[: 8 - 2 * (seed % 2)], X.shape)


@pytest.mark.parametrize("seed", range(4))
def test_biclusters_and_constant_rows_are_the_same_whichever_way(seed):
    X, solution = odd_biclusters(seed)
    K = len(solution)
    many = Biclustering([*((b.rows, b.cols) for b in solution), *[(range(20), range(9))] * 80], X.shape)
    one, other = Workspace.of(X, solution), Workspace.of(X, many)
    for found, expected in zip(_alone(other), _alone(one), strict=True):
        np.testing.assert_allclose(found[:K], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(other.constant_rows[:K], one.constant_rows)
    np.testing.assert_array_equal(other.merged_constant_rows[:K, :K], one.merged_constant_rows)


def test_constant_rows_are_counted_whatever_was_asked_for_before():
    X, solution = odd_biclusters(0)
    for chosen, constant in ((solution, [1, 0, 0, 1, 1, 20, 0, 1]), (solution.select([1, 2]), [0, 0])):
        for name in ("ve", "mergers", "r"):
            workspace = Workspace.of(X, chosen)
            getattr(workspace, name)
            assert workspace.constant_rows.tolist() == constant
            assert np.diagonal(workspace.merged_constant_rows).tolist() == constant


def test_threads_do_not_change_a_bit(limits):
    limits(CELLS_PER_THREAD=20_000)
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 60))
    X[:, ::7] += 1e8
    solution = Biclustering(random_pairs(rng, X.shape, 20, 80, 16), X.shape)
    assert is_large(solution)
    one = _mergers(X, solution, n_jobs=1)
    for n_jobs in (2, 3, 8, None):
        for found, expected in zip(_mergers(X, solution, n_jobs=n_jobs), one, strict=True):
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("shift", SHIFTS)
def test_blocks_alone_are_the_diagonal_to_the_bit(shift):
    rng = np.random.default_rng(6)
    X = SHIFTS[shift](rng.normal(size=(300, 40)), rng)
    X[3:9] = 0.1
    pairs = [*random_pairs(rng, X.shape, 9, 60, 7), ([4], [1, 2]), ([4, 5], [3])]
    pairs += [(rng.permutation(300)[:150], pairs[0][1]), pairs[1]]
    solution = Biclustering([*pairs, *pairs[:1] * 80], X.shape)
    for alone, matrix in zip(_alone(Workspace.of(X, solution)), _mergers(X, solution), strict=True):
        assert np.array_equal(alone, np.diag(matrix))


@pytest.mark.parametrize(("K", "r", "c"), [(5, 20, 6), (25, 120, 15)])
def test_errors_of_biclusters_are_those_on_the_diagonal(K, r, c):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 40))
    solution = Biclustering(random_pairs(rng, X.shape, K, r, c), X.shape)
    after = Workspace.of(X, solution)
    diagonals = [np.diag(matrix) for matrix in after.mergers]
    assert np.array_equal(_alone(after), diagonals)
    assert np.array_equal(_alone(Workspace.of(X, solution)), diagonals)


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the peak is read from Linux's /proc")
def test_memory_stays_small():
    code = (
        "import numpy as np\n"
        "from benchmarks.memory import peak_rise\n"
        "from bivaluate.solution import Biclustering\n"
        "from bivaluate import evaluate\n"
        "def pairs(n, r): return [(np.arange(k, k + r), np.arange(k, k + 30)) for k in range(12)]\n"
        "rng = np.random.default_rng(0)\n"
        "warm = rng.normal(size=(400, 500))\n"
        "evaluate(warm, Biclustering(pairs(400, 385), warm.shape), metrics='nve')\n"
        "X = rng.normal(size=(20000, 500))\n"
        "solution = Biclustering(pairs(20000, 15000), X.shape)\n"
        "rise = peak_rise(lambda: evaluate(X, solution, metrics='nve'))\n"
        "limit = 16 * 2**20 + 8 * (12**2 + 12 * (20000 + 500))\n"
        "assert rise < limit < X.nbytes / 2, (rise, limit)\n"
    )
    run_python(code)


def test_unwritable_cache_and_announcement(tmp_path):
    if os.geteuid() == 0:
        blocked = "/proc/1/nowhere"
    else:
        blocked = tmp_path / "blocked"
        blocked.mkdir(mode=0o500)
    code = (
        "from bivaluate._jit import kernel, strict_kernel\n"
        "@kernel\ndef double(x): return 2 * x\n"
        "@strict_kernel\ndef triple(x): return 3 * x\n"
        "assert double(2.0) == 4.0 and triple(2.0) == 6.0\n"
    )
    result = run_python(code, NUMBA_CACHE_DIR=str(blocked), HOME=str(blocked))
    assert result.stderr.count("compiling kernels, once") == 1


def test_kernels_of_others_are_compiled_in_silence(tmp_path):
    code = (
        "import numba\n"
        "from bivaluate._jit import kernel\n"
        "@numba.njit\ndef theirs(x): return x + 1\n"
        "assert theirs(2.0) == 3.0\n"
    )
    assert "compiling" not in run_python(code, NUMBA_CACHE_DIR=str(tmp_path)).stderr


def run_python(code, **environment):
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result


def test_missing_cells_match_the_twin():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(30, 12))
    X[rng.random(X.shape) < 0.3] = np.nan
    X[4] = np.nan
    X[5, 1:] = np.nan
    X[6, ~np.isnan(X[6])] = 0.1
    pairs = random_pairs(rng, X.shape, 5, 12, 5)
    workspace = Workspace.of(X, Biclustering(pairs, X.shape), missing="omit", degenerate="formula")
    V, M = workspace.mergers
    for k, (rows, cols) in enumerate(pairs):
        for other, (more_rows, more_cols) in enumerate(pairs):
            A = X[np.ix_(np.union1d(rows, more_rows), np.union1d(cols, more_cols))]
            assert V[k, other] == pytest.approx(naive.ve_missing(A), rel=1e-10)
            assert M[k, other] == pytest.approx(naive.msr_missing(A), rel=1e-10)


def with_gaps(A):
    """VE and MSR of a whole matrix whose cells may be missing."""
    work = Workspace.of(A, Biclustering([tuple(map(range, A.shape))], A.shape), missing="omit")
    return work.ve[0], work.msr[0]


def test_missing_cells_on_a_shifted_matrix():
    rng = np.random.default_rng(12)
    A = np.round(rng.normal(size=(8, 6)), 4)
    A[rng.random(A.shape) < 0.2] = np.nan
    assert with_gaps(A + 2.0**27) == pytest.approx(with_gaps(A), rel=1e-6)


def test_missing_cells_leave_nothing():
    A = np.array([[1.0, np.nan, np.nan], [np.nan, 2.0, np.nan]])
    assert np.isnan(with_gaps(A)).all()
    A = np.array([[1.0, 2.0, np.nan], [np.nan, 2.0, np.nan]])
    assert with_gaps(A) == (0.0, 0.0)


def test_without_missing_cells_both_agree():
    rng = np.random.default_rng(13)
    A = rng.normal(size=(7, 5))
    more = np.vstack([A, np.full(5, np.nan)])
    assert with_gaps(more) == (virtual_error(A), mean_squared_residue(A))
    assert mean_squared_residue(A) == pytest.approx(naive.msr(A), rel=1e-12)
