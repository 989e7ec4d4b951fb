"""The matrix model and every rule about its cells."""

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.cluster import SpectralCoclustering

from bivaluate import Biclustering, Matrix, MatrixError, ParameterError, evaluate
from bivaluate._errors import suggest
from bivaluate.datasets import Block
from bivaluate.measures.differential import relevance_index


def test_float64_is_not_copied():
    X = np.asfortranarray(np.random.default_rng(0).random((4, 3)))
    assert Matrix.of(X).values is X
    assert np.shares_memory(Matrix.of(X[::2]).values, X)


def test_labels_of_a_frame_are_kept():
    frame = pd.DataFrame([[1, 2], [3, 4]], index=["g1", "g2"], columns=["a", 7])
    matrix = Matrix.of(frame)
    assert matrix.row_labels == ("g1", "g2")
    assert matrix.col_labels == ("a", "7")
    assert matrix.T.row_labels == ("a", "7")
    assert matrix.row_label(1) == "g2"
    assert Matrix.of([[1.0]]).col_label(0) == "0"
    pd.testing.assert_frame_equal(matrix.to_frame(), frame.astype(float).rename(columns=str))
    assert Matrix.of(pd.DataFrame([[1.0]])).row_labels is None


@pytest.mark.parametrize("values", [[[1, 2], [3, 4]], np.float32([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]], object)])
def test_other_types_become_float64(values):
    assert Matrix.of(values).values.dtype == np.float64
    assert Matrix.of(values).values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([1, 2], r"1 dimension, shape \(2,\); a 2-D matrix"),
        (np.zeros((2, 2, 2)), r"3 dimensions"),
        (np.zeros((0, 3)), r"X is empty: its shape is \(0, 3\)"),
        ([[1, np.nan], [3, 4]], r"1 missing value \(NaN\), the first at row 0, column 1.*missing='omit'"),
        ([[1, 2], [np.inf, 4]], r"1 infinite value, the first at row 1, column 0"),
        (np.array([["1", "2.5"]]), r"X holds numbers written as text; .*X\.astype\(float\)"),
        (np.array([[1.0, "2.5"]], object), r"X holds numbers written as text"),
        ([[1, "x"]], r"not a number at row 0, column 1 \(counted from 0\): .*x"),
        ([[1, 2], [3]], "X is ragged: its rows have different lengths"),
        (np.array([[1j]]), "dtype complex128"),
        (
            scipy.sparse.csr_array(np.array([[1, 0, np.inf], [0, 2, 0]])),
            r"1 infinite value, the first at row 0, column 2",
        ),
        (
            scipy.sparse.csr_array(np.array([[1, 0], [np.nan, 2]])),
            r"1 missing value \(NaN\), the first at row 1, column 0",
        ),
        (scipy.sparse.csr_array(np.array([[1j, 0]])), "2 dimensions and dtype complex128"),
    ],
)
def test_bad_matrices_are_refused(X, words):
    with pytest.raises(MatrixError, match=words):
        Matrix.of(X)


def test_non_numeric_cell_of_a_frame_is_named():
    frame = pd.DataFrame({"a": [1, 2], "b": ["3", "oops"]}, index=["g1", "g2"])
    with pytest.raises(MatrixError, match=r"not a number at row 'g2', column 'b': 'oops'"):
        Matrix.of(frame)


@pytest.mark.parametrize(("bad", "words"), [(np.nan, "missing"), (np.inf, "infinite")])
def test_bad_cells_are_named_by_label(bad, words):
    frame = pd.DataFrame([[1, 2], [3, bad]], index=["g1", "g2"], columns=["a", "b"])
    with pytest.raises(MatrixError, match=rf"1 {words} value.*the first at row 'g2', column 'b'\."):
        Matrix.of(frame)
    with pytest.raises(MatrixError, match=rf"m has 1 {words} value.*row 'g2', column 'b'"):
        Matrix.of(Matrix(frame.to_numpy(), ("g1", "g2"), ("a", "b"), "m"))


def test_missing_may_stay_infinite_may_not():
    assert np.isnan(Matrix.of([[1, np.nan]], "omit").values[0, 1])
    with pytest.raises(MatrixError, match="infinite"):
        Matrix.of([[np.nan, np.inf]], "omit")


def test_huge_finite_values_are_fine():
    assert Matrix.of(np.full((2, 2), 1e308)).shape == (2, 2)


def test_labels_must_fit():
    with pytest.raises(MatrixError, match="X has 1 row but 2 row labels"):
        Matrix(np.zeros((1, 1)), ("a", "b"))


def test_parameters():
    X, pairs = np.arange(12.0).reshape(4, 3) ** 2, [([0, 1, 2], [0, 1])]
    with pytest.raises(
        ParameterError, match=r"degenerate is 'formla'; allowed: 'nan', 'formula'\. Did you mean 'formula'"
    ):
        evaluate(X, pairs, degenerate="formla")
    with pytest.raises(ParameterError, match="min_rows is 0; it must be at least 1"):
        evaluate(X, pairs, min_rows=0)
    with pytest.raises(ParameterError, match="ddof is 9; it must be at most 1"):
        relevance_index(X, [0, 1], [0, 1], ddof=9)
    for bad in (1.5, True, "3"):
        with pytest.raises(ParameterError, match=r"min_rows is .*; a whole number is needed"):
            evaluate(X, pairs, min_rows=bad)
    assert evaluate(X, pairs, min_rows=np.int32(4), metrics=["coverage"]).records[0]["status"] == "small"
    for value in (np.nan, "x", True):
        with pytest.raises(ParameterError, match=r"epsilon is .*; a finite number is needed"):
            evaluate(X, pairs, epsilon=value)
    with pytest.raises(ParameterError, match="epsilon is -1; it must be at least"):
        evaluate(X, pairs, epsilon=-1)
    with pytest.raises(ParameterError, match="negative of a block is 2; it must be at most 1"):
        Block(3, 3, negative=2)


def test_labels_of_a_part_of_a_frame_stay():
    frame = pd.DataFrame(np.arange(20.0).reshape(10, 2)).iloc[4:8]
    assert Matrix.of(frame).row_labels == ("4", "5", "6", "7")
    assert Matrix.of(frame).col_labels is None


def test_missing_marks_of_pandas_are_missing_cells():
    frame = pd.DataFrame({"a": [1, None, 3], "b": [4, 5, 6]}).convert_dtypes()
    np.testing.assert_array_equal(Matrix.of(frame, missing="omit").values, [[1, 4], [np.nan, 5], [3, 6]])
    with pytest.raises(MatrixError, match=r"1 missing value \(NaN\), the first at row 1, column 0"):
        Matrix.of(frame)


def test_a_matrix_holds_float64_and_tuples_however_it_is_made():
    made = Matrix(np.ones((2, 3), dtype=np.float32), row_labels=["a", "b"])  # type: ignore[arg-type]
    assert made.values.dtype == np.float64
    assert made.row_labels == ("a", "b")
    with pytest.raises(MatrixError, match=r"X has 1 dimension, shape \(3,\); a 2-D matrix"):
        Matrix(np.ones(3))


def test_masked_cells_are_missing_cells():
    masked = np.ma.masked_equal([[1, -1, 3], [4, 5, 6]], -1)
    np.testing.assert_array_equal(Matrix.of(masked, missing="omit").values, [[1, np.nan, 3], [4, 5, 6]])
    np.testing.assert_array_equal(Matrix(masked).values, [[1, np.nan, 3], [4, 5, 6]])
    with pytest.raises(MatrixError, match=r"1 missing value \(NaN\), the first at row 0, column 1"):
        Matrix.of(masked)
    np.testing.assert_array_equal(Matrix.of(np.ma.array([[1.0, 2.0]])).values, [[1, 2]])


@pytest.mark.parametrize("path", ["expression.csv", Path("expression.csv")])
def test_a_path_is_not_a_matrix(path):
    with pytest.raises(MatrixError, match=r"X is a path; read it first: bivaluate.read_matrix\('expression.csv'\)"):
        Matrix.of(path)


@pytest.mark.parametrize(("word", "known"), [("YBL002W", "X1002"), ("plaid", "las"), ("g6", "g1")])
def test_no_far_fetched_suggestions(word, known):
    assert suggest(word, [known]) == ""


SPARSE = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 0], [0, 3, 4]], dtype=np.float32)


@pytest.mark.parametrize("form", ["csr_array", "csr_matrix", "csc_array", "coo_array", "dia_array"])
def test_a_sparse_matrix_stays_sparse_and_its_absent_cells_are_zero_or_missing(form):
    X = Matrix.of(getattr(scipy.sparse, form)(SPARSE))
    assert X.sparse
    assert not X.in_memory
    assert X.source.converted_from == ("" if form.startswith("csr") else form[:3].upper())
    np.testing.assert_array_equal(X.values, SPARSE)
    np.testing.assert_array_equal(X.block(np.array([1, 3]), np.array([0, 1])), [[2, 0], [0, 3]])
    np.testing.assert_array_equal(X.T.values, SPARSE.T)
    missing = Matrix.of(X, "omit", absent="missing")
    np.testing.assert_array_equal(missing.block(np.array([1, 2]), np.array([0, 1])), [[2, np.nan], [np.nan, np.nan]])


def test_repeated_entries_of_a_sparse_matrix_add_up():
    twice = scipy.sparse.csr_matrix(([1.0, 2.0], [1, 1], [0, 2]), shape=(1, 3))
    assert Matrix.of(twice).values.tolist() == [[0, 3, 0]]
    assert twice.nnz == 2


def test_large_arrays_of_other_types_are_not_copied(limits):
    limits(CHUNK_CELLS=8)
    for dtype in (np.float32, np.int16, np.bool_):
        X = np.ones((5, 3), dtype=dtype)
        assert Matrix.of(X).source.array is X
        assert Matrix.of(X).values.dtype == np.float64


def test_a_memory_map_is_read_some_rows_at_a_time(tmp_path, limits):
    limits(CHUNK_CELLS=8)
    X = np.arange(21, dtype=np.float32).reshape(7, 3)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    matrix = Matrix.of(mapped)
    assert matrix.source.path == tmp_path / "x.npy"
    np.testing.assert_array_equal(matrix.block(np.array([0, 1, 4, 6]), np.array([1, 2])), X[[0, 1, 4, 6]][:, 1:])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(matrix)).values, X)
    np.testing.assert_array_equal(Matrix.of(mapped[2:]).values, X[2:])  # a part of a map keeps the offset of the whole
    del mapped
    (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-20])
    with pytest.raises(MatrixError, match=r"x\.npy ends within row 5 \(counted from 0\) of 7: it became shorter"):
        Matrix.of(matrix).values  # noqa: B018
    (tmp_path / "x.npy").unlink()
    with pytest.raises(MatrixError, match="is missing, or was moved"):
        matrix.block(np.array([1]), np.array([1]))


class Halves:
    """A source of someone's own."""

    shape, dtype, sparse = (4, 3), np.dtype(np.float64), False

    def rows(self, start, stop):
        return np.arange(start, stop)[:, None] / 2 * np.ones((1, 3 if stop < 4 else 2))

    def take(self, rows):
        return np.stack([rows / 2] * 3, axis=1)


def test_a_source_of_rows_is_taken_and_its_chunks_are_checked():
    X = Matrix.of(Halves())
    np.testing.assert_array_equal(X.block(np.array([1, 3]), np.array([0, 2])), [[0.5, 0.5], [1.5, 1.5]])
    with pytest.raises(MatrixError, match=r"X has 3 columns, but its rows from row 0 on .* came with shape \(4, 2\)"):
        X.values  # noqa: B018


def test_what_does_not_fit_in_memory_says_so():
    X = Matrix(scipy.sparse.csr_array((10_000_000, 40_000)))
    with pytest.raises(MatrixError, match=r"X has 10,000,000 × 40,000 cells, 3,200\.0 GB as one dense array"):
        X.values  # noqa: B018
    with pytest.raises(MatrixError, match=r"20,000 rows × 20,000 columns of X are more than this can hold"):
        X.block(np.arange(20_000), np.arange(20_000))


def test_what_is_known_of_a_settled_matrix_is_found_out_once():
    asked = []

    def total(matrix, factor):
        asked.append(factor)
        return factor * matrix.values.sum()

    X = np.ones((3, 2))
    plain, settled = Matrix.of(X), Matrix.of(X).settled()
    assert settled.values is X
    assert [settled.once(total, factor) for factor in (1, 2, 1)] == [6, 12, 6]
    assert asked == [1, 2]
    assert [plain.once(total, 1), plain.once(total, 1)] == [6, 6]
    assert asked == [1, 2, 1, 1]
    X[0, 0] = 5.0
    assert plain.once(total, 1) == 10
    assert settled.once(total, 1) == 6  # as it was told
    assert settled.settled().once(total, 1) == 10
    assert settled.renamed("Y").once(total, 1) == 10


def test_a_settled_matrix_stays_one_elsewhere_but_nothing_known_travels():
    settled = Matrix.of(np.ones((3, 2))).settled()
    before = len(pickle.dumps(settled))
    settled.once(lambda matrix: np.zeros(10_000))
    there = pickle.loads(pickle.dumps(settled))
    assert len(pickle.dumps(settled)) == before
    assert there.once(lambda matrix: 1) == 1
    assert len(there._known) == 1


def test_a_settled_matrix_is_still_checked():
    gaps = Matrix([[1.0, np.nan], [3.0, 4.0]]).settled()
    assert Matrix.of(gaps, "omit") is gaps
    for _ in range(2):
        with pytest.raises(MatrixError, match="1 missing value"):
            Matrix.of(gaps)


def test_a_solution_in_the_place_of_the_matrix_is_called_so():
    with pytest.raises(MatrixError, match=r"X is a Biclustering, not a matrix\. Were the two swapped\?"):
        Matrix.of(Biclustering([([0, 1], [0, 1])]))
    with pytest.raises(MatrixError, match=r"not a number at row 0, column 1 \(counted from 0\): 'b'\."):
        Matrix.of(np.array([["1", "b"]]))


@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_sparse_cells_are_given_to_others_as_they_are_stored(monkeypatch, absent):
    cells = scipy.sparse.csr_array(np.where(np.random.default_rng(0).random((40, 7)) < 0.3, 2.5, 0.0))
    X = Matrix(cells, absent=absent)
    for found in (X, X.T.T, dataclasses.replace(X, memory=200)):
        given = found.to_scipy()
        assert given.format == "csr"
        assert given.nnz == cells.nnz
        np.testing.assert_array_equal(given.toarray(), cells.toarray())
    with pytest.raises(MatrixError, match=r"is dense: its cells are in \.values"):
        Matrix.of([[1.0, 2.0]]).to_scipy()


def test_a_matrix_is_an_array_to_others_and_a_frame_keeps_its_labels():
    frame = pd.DataFrame(np.random.default_rng(0).random((12, 8)), index=list("abcdefghijkl")).add_prefix("c")
    X = Matrix(frame)
    assert (X.row_labels, X.col_labels) == (tuple(frame.index), tuple(frame.columns))
    assert Matrix(frame, row_labels=tuple(map(str, range(12)))).row_label(3) == "3"
    np.testing.assert_array_equal(np.asarray(X), frame)
    assert np.asarray(X) is X.values, "not copied"
    assert np.array(X) is not X.values
    assert np.asarray(X, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(
        SpectralCoclustering(2, random_state=0).fit(X).rows_, SpectralCoclustering(2, random_state=0).fit(frame).rows_
    )
    with pytest.raises(MatrixError, match=r"X is sparse: to_scipy\(\) returns it as a sparse matrix"):
        np.asarray(Matrix(scipy.sparse.eye_array(3)))
    with pytest.raises(MatrixError, match="not a number at row 'b', column 'c1': 'x'"):
        Matrix(frame.astype(object).where(~((frame.index == "b")[:, None] & (frame.columns == "c1")), "x"))
