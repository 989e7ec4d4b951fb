"""Published measures: worked values, twins, patterns they are blind to or perfect on, undefined cases."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bivaluate import Biclustering, MatrixError, ParameterError, SolutionError, evaluate, virtual_error
from bivaluate.measures import correlation as co
from bivaluate.measures import differential as di
from bivaluate.measures import r_biclust as rb
from bivaluate.measures import residue as rv
from bivaluate.measures import virtual_error as vv
from bivaluate.registry import METRICS
from tests.reference import catalogue as twin

X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
ROWS, COLS = [0, 1, 2], [0, 1, 2, 3]
B1 = X[np.ix_(ROWS, COLS)]
S = Biclustering([(ROWS, COLS), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)

OF_A_BLOCK = {
    "var": rv.sum_of_squares,
    "mar": rv.mean_absolute_residue,
    "msr_u": rv.corrected_squared_residue,
    "smsr": rv.scaling_squared_residue,
    "mmse": rv.minimal_squared_error,
    "vet": vv.transposed_virtual_error,
    "ve_standardised": vv.standardised_virtual_error,
    "ac": co.average_correlation,
    "acv": co.average_correlation_value,
    "spearman_asr": co.average_spearman,
    "scs": co.submatrix_correlation_score,
    "constant_variance": rb.constant_variance,
    "additive_variance": rb.additive_variance,
    "multiplicative_variance": rb.multiplicative_variance,
    "sign_variance": rb.sign_variance,
}
WORKED = {
    "var": 50.0625,
    "mar": 0.4375,
    "msr_u": 0.631944,
    "smsr": 0.011024,
    "mmse": 0.025847,
    "vet": 0.194095,
    "ac": 0.981347,
    "acv": 0.981347,
    "spearman_asr": 1.0,
    "scs": 0.015930,
    "sbm": 0.622008,
    "ri": 1.773772,
    "chia_karuturi": 1.966388,
    "constant_variance": 2.126534,
    "additive_variance": 0.833560,
    "multiplicative_variance": 0.313164,
    "sign_variance": 0.142857,
}


@pytest.mark.parametrize("key", WORKED)
def test_worked_example_through_evaluate(key):
    assert evaluate(X, S, metrics=[key]).records[0][key] == pytest.approx(WORKED[key], abs=1e-6)


def test_worked_variants():
    assert rv.sum_of_squares(B1, normalise=True) == pytest.approx(4.171875)
    assert di.relevance_index(X, ROWS, COLS, ddof=1) == pytest.approx(1.328526, abs=1e-6)
    scores = di.differential_coexpression(X, ROWS, COLS)
    assert scores.row_effect == pytest.approx((16.388889, 1.083333), abs=1e-6)
    assert scores.col_effect == pytest.approx((17.129630, 2.388889), abs=1e-6)
    assert scores.error[0] == pytest.approx(0.631944, abs=1e-6)
    assert scores.ts == pytest.approx(-0.044180, abs=1e-6)
    offsets = B1 + np.array([[5], [-3], [100]])
    assert vv.transposed_virtual_error(offsets) == pytest.approx(0.0015, abs=5e-5)


blocks = arrays(
    np.float64,
    st.tuples(st.integers(2, 6), st.integers(2, 7)),
    elements=st.one_of(st.integers(-3, 3).map(float), st.floats(-50, 50, width=32)),
)


@pytest.mark.parametrize("key", OF_A_BLOCK)
@settings(max_examples=25)
@given(A=blocks)
def test_twins_agree(key, A):
    if key == "smsr" and (abs(A.mean(axis=0)).min() < 1e-3 or abs(A.mean(axis=1)).min() < 1e-3):
        return
    if key == "multiplicative_variance" and abs(A).min() < 1e-3:
        return
    varying = [row for side in (A, A.T) for row in side if np.ptp(row) > 0]
    if any(np.ptp(row) < 1e-6 * abs(row).max() for row in varying) or (abs(A[A != 0]) < 1e-6).any():
        return
    found = OF_A_BLOCK[key](A)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            expected = getattr(twin, key)(A)
        except (ValueError, ZeroDivisionError):
            expected = float("nan")
    if key == "ve_standardised" and expected != pytest.approx(found, rel=1e-6, abs=1e-8):
        rows = np.array([twin._standardise(list(row)) for row in A])
        assert np.ptp(rows.mean(axis=0)) < 1e-9
        return
    if np.isnan(found) or np.isnan(expected):
        assert np.isnan(found) == np.isnan(expected)
    else:
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_twins_of_measures_that_need_the_matrix():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(12, 15)) + 1
    for rows, cols in (([0, 3, 5], [1, 2, 8]), (range(8), range(4, 15)), ([1, 2], range(12))):
        block = data[np.ix_(list(rows), list(cols))]
        assert di.relevance_index(data, rows, cols) == pytest.approx(twin.ri(data, rows, cols))
        assert di.chia_karuturi(data, rows, cols) == pytest.approx(twin.chia_karuturi(data, list(rows), list(cols)))
        assert co.spearman_biclustering_measure(block, 15) == pytest.approx(twin.sbm(block, 15))


P, ALPHA, BETA = np.array([1.0, 4, 2, 8]), np.array([[1.0], [2], [0.5]]), np.array([[0.0], [3], [-1]])
PATTERNS = {
    "shift": P + BETA,
    "scale": ALPHA * P,
    "row affine": ALPHA * P + BETA,
    "negative row scaling": np.array([[1.0], [-2], [0.5]]) * P,
    "column affine": P * np.array([[1.0], [5], [2]]) + np.array([0.0, 2, -1, 3]),
}
ZERO = {
    "mar": {"shift"},
    "smsr": {"scale", "negative row scaling"},
    "mmse": {"shift", "scale", "row affine", "negative row scaling"},
    "vet": {"shift", "scale", "negative row scaling", "column affine"},
    "ve_standardised": {"shift", "scale", "row affine"},
    "scs": set(PATTERNS),
}


@pytest.mark.parametrize("key", ZERO)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_without_noise(key, pattern):
    value = OF_A_BLOCK[key](PATTERNS[pattern])
    assert (abs(value) < 1e-9) == (pattern in ZERO[key])
    assert co.average_correlation_value(PATTERNS[pattern]) == pytest.approx(1)


def test_large_offsets_cost_no_digits():
    for key in ("var", "mar", "msr_u", "mmse", "vet", "ve_standardised", "ac", "additive_variance"):
        assert OF_A_BLOCK[key](B1 + 1e8) == pytest.approx(OF_A_BLOCK[key](B1), rel=1e-5), key


@pytest.mark.parametrize("power", [-500, 540, 1016])
def test_sizes_whose_squares_overflow_or_underflow(power):
    vast = np.ldexp(X, power)
    block = vast[np.ix_(ROWS, COLS)]
    for key in ("ac", "acv", "scs", "ve_standardised", "smsr"):
        assert OF_A_BLOCK[key](block) == pytest.approx(OF_A_BLOCK[key](B1))
    assert rv.mean_absolute_residue(block) == np.ldexp(WORKED["mar"], power)
    for key in ("var", "msr_u", "mmse"):
        assert OF_A_BLOCK[key](block) == (
            np.inf if power > 0 else pytest.approx(np.ldexp(WORKED[key], -1000), rel=1e-4)
        )
    mixed = np.where(np.arange(6) < 2, vast, X)
    for data in (vast, mixed):
        assert di.relevance_index(data, ROWS, COLS) == pytest.approx(WORKED["ri"])
        assert evaluate(data, S, metrics=["ri"]).records[0]["ri"] == pytest.approx(WORKED["ri"])
    ratio = di.differential_coexpression(np.ldexp(X, 400), ROWS, COLS).sb
    assert di.chia_karuturi(vast, ROWS, COLS) == (pytest.approx(ratio) if power > 0 else 0)


def test_an_effect_of_nothing_beside_a_vast_one():
    data = np.full((3, 6), 1e300)
    data[:, :3] = 0.0
    scores = di.differential_coexpression(data, [0, 1, 2], [0, 1, 2])
    assert scores.sb == pytest.approx(np.log(0.01) - 600 * np.log(10))
    assert scores.row_effect == (0.0, np.inf)


def test_undefined_is_nan():
    assert np.isnan(rv.corrected_squared_residue([[1, 2, 3]]))
    assert np.isnan(rv.scaling_squared_residue([[1, -1], [2, 3]]))
    assert np.isnan(rv.scaling_squared_residue(np.zeros((2, 2))))
    assert np.isnan(rb.multiplicative_variance([[0, 1], [2, 3]]))
    assert np.isnan(rb.constant_variance([[1, 2]]))
    assert np.isnan(co.average_correlation([[1, 1], [2, 2]]))
    assert np.isnan(co.spearman_biclustering_measure(np.ones((3, 3)), 5))
    assert np.isnan(di.chia_karuturi(X, ROWS, [0, 1, 2, 3, 4]))
    assert np.isnan(di.relevance_index(X, [0], COLS, ddof=1))
    assert np.isnan(di.relevance_index(np.ones((4, 4)), [0, 1], [0, 1]))
    assert vv.standardised_virtual_error([[1, 2, 3]]) == 0
    assert vv.standardised_virtual_error([[1, 2, 3], [3, 2, 1]]) == pytest.approx(
        np.abs([1.224745, 0]).mean() * 4 / 3, abs=1e-5
    )


def test_constant_columns_of_the_matrix_are_passed_over():
    data = X.copy()
    data[:, 1] = 0.1
    assert di.relevance_index(data, ROWS, COLS) == pytest.approx(twin.ri(data, ROWS, [0, 2, 3]))
    seven = np.random.default_rng(0).normal(size=(7, 3))
    seven[:, 0] = 0.1  # its computed variance is 2e-34
    expected = pytest.approx(twin.ri(seven, [0, 3], [1]))
    assert di.relevance_index(seven, [0, 3], [0, 1]) == expected
    one = Biclustering([([0, 3], [0, 1])], seven.shape)
    assert evaluate(seven, one, metrics=["ri"]).records[0]["ri"] == expected


def test_pattern_of_the_virtual_error():
    assert virtual_error(B1, pattern="standardised") == vv.standardised_virtual_error(B1)
    assert virtual_error(B1) == pytest.approx(0.104551, abs=1e-6)
    assert virtual_error(B1 * [[1], [10], [0.1]]) == pytest.approx(0.0974, abs=5e-5)
    with pytest.raises(ParameterError, match="pattern is 'mean'; allowed: 'raw', 'standardised'"):
        virtual_error(B1, pattern="mean")


def test_bad_input_is_explained():
    with pytest.raises(MatrixError, match="2-D matrix"):
        rv.sum_of_squares([1, 2, 3])
    with pytest.raises(ParameterError, match="n_cols is 3; it must be at least 4"):
        co.spearman_biclustering_measure(B1, 3)
    with pytest.raises(SolutionError, match="uses row 9"):
        di.relevance_index(X, [0, 9], COLS)


def test_every_measure_of_the_catalogue_is_registered():
    assert {*OF_A_BLOCK, *WORKED} <= METRICS.keys()
    assert not any(METRICS[key].default for key in {*OF_A_BLOCK, *WORKED})
