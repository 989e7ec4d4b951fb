"""Cells of any size: VE and MSR of every form of a matrix against a twin of 700 digits, or a reason and no value."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from bivaluate import Biclustering, MatrixError, evaluate
from tests.reference import internal as naive
from tests.sources import in_file

PAIRS = [(range(12), range(6)), (range(6, 25), range(3, 10)), (range(20, 40), range(5, 12))]


def with_cell(value):
    def placed(X, rng):
        X[8, 4] = value
        return X

    return placed


def offset(size):
    return lambda X, rng: X + size * rng.uniform(-1, 1, size=(len(X), 1))


CELLS = {
    "1e200": lambda X, rng: X * 1e200,
    "next to the largest number": lambda X, rng: X / np.abs(X).max() * 1.7e308,
    "counts of 1e200": lambda X, rng: np.round(3 * np.abs(X)) * 1e200,
    "denormal": lambda X, rng: X * 1e-310,
    "a cell of 1e160": with_cell(1e160),
    "a cell of 1e170": with_cell(1e170),
    "a cell of 1e149": with_cell(1e149),
    "a cell of 1e10": with_cell(1e10),
    "rows of 1e-160": lambda X, rng: X * np.where(np.arange(len(X)) < 9, 1e-160, 1.0)[:, None],
    "constant rows of 1e200": lambda X, rng: np.where(np.arange(len(X))[:, None] % 9 == 8, 1e200, X),
    "rows offset by 1e6": offset(1e6),
    "rows offset by 1e14": offset(1e14),
}


def forms(X, folder):
    gap = X.copy()
    gap[39, 11] = np.nan  # in the last bicluster alone
    yield "dense", X, {}
    yield "file", in_file(X, folder / "x.npy"), {}
    yield "sparse", scipy.sparse.csr_array(X), {}
    yield "missing", gap, {"missing": "omit"}


@pytest.mark.filterwarnings("ignore::bivaluate._errors.BivaluateWarning")
@pytest.mark.parametrize("cells", CELLS)
def test_errors_are_right_or_undefined_with_a_reason(cells, tmp_path, limits):
    rng = np.random.default_rng(0)
    X = CELLS[cells](rng.normal(size=(40, 12)), rng)
    expected = [naive.exact(X[np.ix_(rows, cols)], 700) for rows, cols in PAIRS[:2]]
    solution = Biclustering(PAIRS, X.shape)
    for way in ("NumPy", "kernels"):
        if way == "kernels":
            limits(KERNEL_CELLS=0)
        for form, matrix, options in forms(X, tmp_path):
            result = evaluate(matrix, solution, metrics=["ve", "msr", "nve", "asr"], **options)
            for k, (ve, msr) in enumerate(expected):
                found = result.records[k]
                assert found["ve"] == pytest.approx(ve, rel=1e-9, abs=0), (form, way)
                if np.isinf(msr):
                    assert np.isnan(found["msr"])
                else:
                    assert found["msr"] == pytest.approx(msr, rel=1e-9, abs=0), (form, way)
            assert np.isfinite(result.scores["nve"])
            assert np.isfinite(result.scores["asr"]) or "squares" in result.status["asr"]


def test_integers_that_would_lose_digits_are_refused():
    big = np.arange(12, dtype=np.uint64).reshape(3, 4) + np.uint64(2**63)
    solution = Biclustering([(range(3), range(4))], (3, 4))
    for X in (big, big.astype(object), scipy.sparse.csr_array(big)):
        with pytest.raises(MatrixError, match=r"holds 9223372036854775809 at row 0, column 1 .*beyond 2\*\*53"):
            evaluate(X, solution)
    exact = np.arange(12, dtype=np.int64).reshape(3, 4) * 2**55
    assert evaluate(exact, solution, metrics="ve").records[0]["ve"] == 0.0
    with pytest.raises(MatrixError, match=r"integer beyond 1\.8e308"):
        evaluate([[10**400, 1], [2, 3]], solution)


def test_a_merger_whose_squares_overflow_leaves_no_ratio():
    X = np.random.default_rng(1).normal(size=(20, 10))
    X[15, 8] = 1e170
    result = evaluate(X, Biclustering([(range(8), range(5)), (range(10, 18), range(4, 10))], X.shape))
    assert np.isfinite(result.records[0]["msr"])
    assert np.isnan(result.records[0]["nsr_k"])
    assert np.isnan(result.scores["nsr"])
    assert "squares" in result.status["nsr"]
    assert "squares" in result.to_dict()["biclusters"][0]["reasons"]["nsr_k"]


def test_a_ramp_of_unsigned_integers_has_no_error():
    ramp = np.arange(48, dtype=np.uint64).reshape(6, 8) * np.uint64(2**52)
    pairs = [(range(3), range(5)), (range(2, 6), range(3, 8))]
    for X in (ramp, ramp.astype(object), scipy.sparse.csr_array(ramp)):
        result = evaluate(X, Biclustering(pairs, ramp.shape), metrics=["ve", "msr", "nve", "avg_ve"])
        assert [row["ve"] for row in result.records] == pytest.approx([0.0, 0.0], abs=1e-12)
        assert result.scores["avg_ve"] == pytest.approx(0.0, abs=1e-12)
        assert np.isnan(result.scores["nve"])  # 0/0, and says so
        assert "0/0" in result.status["nve"]
