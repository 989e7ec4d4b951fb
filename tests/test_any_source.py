"""The same answers from every kind of matrix: arrays, sparse matrices, files, other people's sources."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse

from bivaluate import Biclustering, Matrix, MatrixError, ParameterError, evaluate, evidence_table, propose_pruning
from tests.sources import Own, as_it_is, in_file

pytestmark = pytest.mark.filterwarnings("ignore::bivaluate._errors.BivaluateWarning")


def counts(shape=(140, 30)):
    rng = np.random.default_rng(11)
    X = rng.poisson(0.4, size=shape).astype(float)
    X[:30, :8] += rng.poisson(3.0, size=(30, 8))
    X[40:44] = 0
    pairs = [(range(30), range(8)), (range(20, 60), range(4, 12)), ([3, 80, 90, 100, 139], range(20, 29))]
    return X, Biclustering([*pairs, (range(38, 50), range(2, 9)), ([7], range(4))], shape)


def forms(X, folder):
    return {
        "CSR": scipy.sparse.csr_array(X),
        "CSC": scipy.sparse.csc_array(X),
        "file": in_file(X, folder / "x.npy"),
        "float32": as_it_is(X.astype(np.float32)),
        "own": Own(X),
    }


@pytest.mark.parametrize("size", ["small", "large"])
def test_every_measure_and_finding_is_the_same_from_every_source(size, tmp_path, limits):
    X, solution = counts()
    expected = evaluate(X, solution, metrics="all")
    if size == "large":
        limits(KERNEL_CELLS=0, CHUNK_CELLS=600)
    for name, form in forms(X, tmp_path).items():
        found = evaluate(form, solution, metrics="all")
        assert found.scores == pytest.approx(expected.scores, rel=1e-9, abs=1e-12, nan_ok=True), name
        assert len(found.records) == len(expected.records)
        for one, other in zip(found.records, expected.records, strict=True):
            words = {key for key, value in other.items() if isinstance(value, str) or value is None}
            assert {key: one[key] for key in words} == {key: other[key] for key in words}, name
            for key in other.keys() - words:
                assert one[key] == pytest.approx(other[key], rel=1e-9, abs=1e-12, nan_ok=True), (name, key)
        assert found.findings[: len(expected.findings)] == expected.findings, name
        said = "Values not stored in the sparse matrix are read as 0; absent='missing' reads them as unknown."
        assert found.findings[len(expected.findings) :] == [said] * (name in ("CSR", "CSC")), name


def test_absent_cells_may_be_missing():
    X, solution = counts()
    X[40:44, 0] = 1.0
    stored = scipy.sparse.csr_array(X)
    with_gaps = np.where(X == 0, np.nan, X)
    expected = evaluate(with_gaps, solution, missing="omit")
    found = evaluate(stored, solution, absent="missing")
    assert found.scores == pytest.approx(expected.scores, rel=1e-9, abs=1e-12, nan_ok=True)
    assert found.scores["ve" if "ve" in found.scores else "avg_ve"] != evaluate(stored, solution).scores["avg_ve"]
    assert found.findings[-1].startswith(
        "Values not stored in the sparse matrix are read as unknown; absent='zero' reads them as 0."
    )


def test_pruning_is_the_same():
    X, solution = counts()
    expected = propose_pruning(X, solution)
    found = propose_pruning(scipy.sparse.csr_array(X), solution)
    assert [p.reason for p in found.proposals] == [p.reason for p in expected.proposals]
    assert found.after == pytest.approx(expected.after, rel=1e-9, nan_ok=True)


def test_what_needs_too_many_cells_at_once_is_undefined_with_a_reason(limits):
    X, solution = counts()
    limits(LARGEST_DENSE_BYTES=8 * 2000)
    limits("measures", LARGEST_DENSE_BYTES=8 * 300)
    found = evaluate(Own(X), solution, metrics=["ve", "var", "las", "bisilhouette"])
    assert found._reasons(1) == dict.fromkeys(("var", "las"), "it needs more values at once than fit in memory")
    assert found.status["bisilhouette"] == "it needs more values at once than fit in memory"
    assert found.records[1]["ve"] == evaluate(X, solution, metrics=["ve"]).records[1]["ve"]


def test_a_missing_cell_far_down_is_named(limits):
    X, _ = counts()
    X[137, 21] = np.nan
    limits(KERNEL_CELLS=0, CHUNK_CELLS=60)
    wide = Biclustering([(range(140), range(30)), (range(5), range(9))], X.shape)
    with pytest.raises(MatrixError, match=r"1 missing value \(NaN\), the first at row 137, column 21"):
        evaluate(Own(X), wide, metrics=["ve"])


@pytest.mark.parametrize("gaps", [False, True])
def test_evidence_is_the_same_by_chunks(gaps, tmp_path, limits):
    X, solution = counts()
    X[X == 0] = -1.0 * np.random.default_rng(2).integers(0, 3, int((X == 0).sum()))
    X[:, 5] = X[60] = 2.0
    if gaps:
        X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    expected = evidence_table(X, solution, missing="omit")
    limits(CHUNK_CELLS=700)
    for name, form in forms(X, tmp_path).items():
        found = evidence_table(form, solution, missing="omit")
        np.testing.assert_allclose(found.gain, expected.gain, rtol=1e-9, err_msg=name)
        np.testing.assert_allclose(found.alone, expected.alone, rtol=1e-9, err_msg=name)
        for name in ("patterns", "verdicts", "redundant_with", "order", "reasons", "family"):
            assert getattr(found, name) == getattr(expected, name)


def test_memory_bounds_the_chunks_and_progress_is_told():
    X, solution = counts((4000, 30))
    told = []
    found = evaluate(Own(X), solution, memory="16M", progress=lambda done, total: told.append((done, total)))
    assert found.matrix.memory == 16_000_000
    assert list(found.matrix.chunks()) == [(0, 4000)]
    assert told
    assert all(done <= total for done, total in told)
    with pytest.raises(ParameterError, match="memory is '2 apples'; a number of bytes is needed, such as 2G"):
        evaluate(Own(X), solution, memory="2 apples")
    with pytest.raises(ParameterError, match="memory is 3K; at least 16M"):
        evaluate(Own(X), solution, memory="3K")


def test_a_sample_of_rows_estimates_means_with_standard_errors():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 20))
    X[:2000, :10] += np.outer(rng.uniform(0.2, 3, 2000), rng.normal(size=10))
    solution = Biclustering(
        [(range(2000), range(10)), (range(1500, 3000), range(8, 20)), (range(9), range(5))], X.shape
    )
    exact = evaluate(X, solution)
    hits = []
    for seed in range(12):
        found = evaluate(X, solution, sample=0.1, random_state=seed)
        error = found.standard_errors["ve"]
        hits += [abs(found.records[k]["ve"] - exact.records[k]["ve"]) < 2 * error[k] for k in range(2)]
        assert error[2] == 0
        assert found.records[2]["ve"] == pytest.approx(exact.records[2]["ve"])
        assert found.records[0]["msr_se"] == found.standard_errors["msr"][0] > 0
        assert found.scores["nve"] == pytest.approx(exact.scores["nve"], rel=0.1)
        assert found.scores["coverage"] == exact.scores["coverage"]
    assert np.mean(hits) > 0.8
    assert (
        found.status["total_evidence"] == "it is not a mean over rows, which is all that a sample of rows can estimate"
    )
    assert found.findings[0].startswith("Scores are those of 30")
    document = found.to_dict()
    assert document["standard_errors"]["avg_ve"] == pytest.approx(np.sqrt((error**2).sum()) / 3)
    assert "evidence" in document["biclusters"][0]["reasons"]
    assert {"ve_se", "msr_se"} <= set(found.biclusters.columns)
    assert evaluate(X, solution).standard_errors == {}
    with pytest.raises(ParameterError, match="sample is 2; it is a share of the rows"):
        evaluate(X, solution, sample=2)


class SparseNDArray:
    """What bivaluate asks of TileDB-SOMA: coordinates whose slices include their end, tables of Arrow as an answer."""

    uri, closed = "memory", False

    def __init__(self, X):
        self._X, self.shape = scipy.sparse.coo_array(X), X.shape
        self.schema = pytest.importorskip("pyarrow").schema({"soma_data": pytest.importorskip("pyarrow").float32()})

    def read(self, coords):
        kept = np.ones(len(self._X.data), dtype=bool)
        for where, numbers in zip(coords, self._X.coords, strict=True):
            if not isinstance(where, slice) or where != slice(None):
                kept &= np.isin(numbers, np.arange(where.start, where.stop + 1) if isinstance(where, slice) else where)
        self._found = self._X.row[kept], self._X.col[kept], self._X.data[kept].astype(np.float32)
        return self

    def tables(self):
        import pyarrow as pa

        names = ("soma_dim_0", "soma_dim_1", "soma_data")
        for part in np.array_split(np.arange(len(self._found[0])), 3):
            yield pa.table({name: values[part] for name, values in zip(names, self._found, strict=True)})


SparseNDArray.__module__ = "tiledbsoma._sparse_nd_array"


def soma_array(X, folder):
    """An array that TileDB-SOMA wrote and reads."""
    import pyarrow as pa

    tiledbsoma = pytest.importorskip("tiledbsoma", reason="TileDB-SOMA is not installed")
    with tiledbsoma.SparseNDArray.create(str(folder / "soma"), type=pa.float32(), shape=X.shape) as array:
        array.write(pa.SparseCOOTensor.from_scipy(scipy.sparse.coo_array(X.astype(np.float32))))
    return tiledbsoma.open(str(folder / "soma"))


@pytest.mark.extra("parquet")
@pytest.mark.parametrize("made", [lambda X, folder: SparseNDArray(X), soma_array], ids=["alike", "tiledbsoma"])
def test_arrays_of_tiledb_soma(made, tmp_path):
    X, solution = counts()
    array = made(X, tmp_path)
    matrix = Matrix.of(array)
    assert (matrix.shape, matrix.sparse, matrix.source.dtype) == (X.shape, True, np.float32)
    assert np.array_equal(matrix.to_scipy().toarray(), X)
    assert np.array_equal(matrix.T.to_scipy().toarray(), X.T)
    for rows in ([], [0], [40, 41], [3, 5, 139]):
        assert np.array_equal(matrix.source.take(np.array(rows, dtype=np.int64)).toarray(), X[rows])
    assert matrix.source.rows(40, 44).nnz == 0
    found, expected = (evaluate(form, solution) for form in (array, scipy.sparse.csr_array(X)))
    assert found.scores == pytest.approx(expected.scores, rel=1e-12, nan_ok=True)
    if made is soma_array:
        again = pickle.loads(pickle.dumps(matrix.source))
        assert np.array_equal(again.rows(0, 10).toarray(), X[:10])


@pytest.mark.extra("parquet")
def test_what_of_tiledb_soma_is_no_matrix():
    array = SparseNDArray(np.eye(3))
    array.closed = True
    with pytest.raises(MatrixError, match=r"a closed array of TileDB-SOMA; open it first: tiledbsoma.open\('memory'\)"):
        Matrix.of(array)
    array.shape = (3, 3, 3)
    with pytest.raises(MatrixError, match=r"SparseNDArray of TileDB-SOMA; a SparseNDArray of two dimensions is needed"):
        Matrix.of(array)
