"""VE along columns: the same numbers as along rows of the transposed problem, from every kind of matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from bivaluate import (
    Biclustering,
    Matrix,
    ParameterError,
    average_virtual_error,
    evaluate,
    normalised_virtual_error,
    virtual_error,
)
from bivaluate.measures.coverage import normalised_virtual_error_coverage
from bivaluate.measures.normalised import virtual_error_sums
from bivaluate.measures.virtual_error import transposed_virtual_error
from bivaluate.registry import METRICS
from tests.reference import catalogue
from tests.sources import in_file

pytestmark = pytest.mark.filterwarnings("ignore::bivaluate._errors.BivaluateWarning")
FOLLOWING = [key for key, metric in METRICS.items() if metric.of_ve]


def problem(gaps: bool = False) -> tuple[np.ndarray, Biclustering]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 25)) * (rng.random((60, 25)) < 0.7)
    X[:20, :9] += np.outer(rng.normal(size=20), np.ones(9)) * 3
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    pairs = [(range(20), range(9)), (range(15, 40), range(5, 14)), (range(30, 33), range(20)), ([50, 51], [1, 2, 7])]
    return X, Biclustering(pairs, X.shape)


def swapped(S: Biclustering) -> Biclustering:
    return Biclustering([(b.cols, b.rows) for b in S], S.shape[::-1])


def naive_ve(A: np.ndarray) -> float:
    return catalogue.vet(A)


def naive_nve(X: np.ndarray, S: Biclustering) -> float:
    def merged(a, b):
        return naive_ve(X[np.ix_(np.union1d(a.rows, b.rows), np.union1d(a.cols, b.cols))])

    own = sum(naive_ve(X[np.ix_(b.rows, b.cols)]) for b in S)
    return own / sum(min(merged(a, b) for b in S if b is not a) for a in S)


def test_naive_twin() -> None:
    X, S = problem()
    blocks = [X[np.ix_(b.rows, b.cols)] for b in S]
    found = evaluate(X, S, ve_axis="columns")
    expected = [naive_ve(A) for A in blocks]
    assert found.biclusters["ve"].tolist() == pytest.approx(expected, rel=1e-9)
    assert [virtual_error(A, axis="columns") for A in blocks] == pytest.approx(expected, rel=1e-9)
    assert [transposed_virtual_error(A) for A in blocks] == [virtual_error(A, axis="columns") for A in blocks]
    assert found.scores["nve"] == pytest.approx(naive_nve(X, S), rel=1e-9)
    assert np.diagonal(found.mergers["ve"]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("gaps", [False, True])
def test_columns_are_rows_of_the_transposed_problem(gaps: bool) -> None:
    X, S = problem(gaps)
    options = {"missing": "omit" if gaps else "raise", "metrics": [*FOLLOWING, "msr", "nsr", "evidence", "coverage"]}
    columns, rows = evaluate(X, S, ve_axis="columns", **options), evaluate(X, S, **options)
    turned = evaluate(X.T, swapped(S), **options)
    for key in FOLLOWING:
        if METRICS[key].level == "solution":
            assert columns.scores[key] == pytest.approx(turned.scores[key], rel=1e-9, nan_ok=True), key
        else:
            assert columns.biclusters[key].tolist() == pytest.approx(turned.biclusters[key].tolist(), rel=1e-9), key
    assert columns.mergers["ve"] == pytest.approx(turned.mergers["ve"], rel=1e-9)
    assert [r["partner"] for r in columns.records] == [r["partner"] for r in turned.records]
    assert [r["ve_merged"] for r in columns.records] == pytest.approx([r["ve_merged"] for r in turned.records])
    assert columns.records[3]["status"] == "low_power"
    for key in ("nsr", "coverage"):
        assert columns.scores[key] == rows.scores[key]
    np.testing.assert_array_equal(columns.biclusters["evidence"], rows.biclusters["evidence"])
    assert columns.findings == rows.findings


def test_functions_of_solutions() -> None:
    X, S = problem()
    scores = evaluate(X, S, ve_axis="columns", metrics=FOLLOWING).scores
    assert average_virtual_error(X, S, ve_axis="columns") == scores["avg_ve"]
    assert normalised_virtual_error(X, S, ve_axis="columns") == scores["nve"]
    assert normalised_virtual_error_coverage(X, S, ve_axis="columns") == scores["nve_cov"]
    assert virtual_error_sums(X, S, ve_axis="columns") == (scores["nve_numerator"], scores["nve_denominator"])


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("form", ["sparse", "file in memory", "file by columns", "dask", "frame"])
def test_every_source_gives_the_same(form: str, gaps: bool, tmp_path, temporary, limits) -> None:
    X, S = problem(gaps)
    options = {"missing": "omit" if gaps else "raise", "metrics": ["ve", "nve", "nve_cov", "avg_ve"]}
    expected = evaluate(X, S, ve_axis="columns", **options)
    source = X
    if form == "sparse":
        source = scipy.sparse.csr_array(X)
    elif form == "frame":
        source = Matrix.of(X, missing="omit").to_frame()
    elif form == "dask":
        source = pytest.importorskip("dask.array").from_array(X, chunks=(17, -1))
    else:
        source = in_file(X, tmp_path / "x.npy")
    if form == "file by columns":
        limits(LARGEST_DENSE_BYTES=8 * X.size - 1, CHUNK_CELLS=7 * X.shape[1])
    found = evaluate(source, S, ve_axis="columns", **options)
    assert found.scores == pytest.approx(expected.scores, rel=1e-9)
    assert found.biclusters["ve"].tolist() == pytest.approx(expected.biclusters["ve"].tolist(), rel=1e-9)
    assert len(list(temporary.glob("*.columns"))) == (form == "file by columns")
    del found
    assert not list(temporary.glob("*.columns"))


def test_a_block_is_blind_to_the_levels_of_its_axis() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 7))
    row_levels, col_levels = A + 50 * rng.normal(size=(12, 1)), A + 50 * rng.normal(size=(1, 7))
    assert virtual_error(row_levels) == pytest.approx(virtual_error(A))
    assert virtual_error(col_levels) < 0.1
    assert virtual_error(col_levels, axis="columns") == pytest.approx(virtual_error(A, axis="columns"))
    assert virtual_error(row_levels, axis="columns") < 0.1


def test_what_cannot_be_asked() -> None:
    X, S = problem()
    with pytest.raises(ParameterError, match="a sample of rows estimates means over rows"):
        evaluate(X, S, ve_axis="columns", sample=0.5)
    with pytest.raises(ParameterError, match="ve_axis"):
        evaluate(X, S, ve_axis="cols")
    with pytest.raises(ParameterError, match="axis"):
        virtual_error(X, axis="both")
