"""NumPy, Parquet and Excel files: round trips, no pickle, damaged and lying files."""

import io
import zipfile

import numpy as np
import pytest
from scipy import sparse

from bivaluate import FormatError, Matrix, MissingExtraError, ParameterError, read_matrix, write_matrix
from bivaluate.sweep.folder import prepare_folder, store_matrix

X = Matrix(np.arange(12.0).reshape(4, 3) / 7, ("g1", "g2", "g3", "gé"), ("c1", "c2", "c3"), "X")


@pytest.mark.parametrize("name", ["m.npz", pytest.param("m.parquet", marks=pytest.mark.extra("parquet"))])
@pytest.mark.parametrize("labelled", [True, False])
def test_round_trip(tmp_path, name, labelled):
    matrix = X if labelled else Matrix(X.values)
    write_matrix(matrix, tmp_path / name)
    back = read_matrix(tmp_path / name)
    np.testing.assert_array_equal(back.values, matrix.values)
    assert (back.row_labels, back.col_labels, back.name) == (matrix.row_labels, matrix.col_labels, "m")


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("kind", ["dense", "sparse", "sparse, absent cells missing", "sparse, without its shape"])
def test_matrices_that_a_run_folder_keeps(tmp_path, kind, labelled):
    cells = np.where(X.values > 0.5, X.values, 0.0)
    cells[:, 2] = 0  # no entry tells of the last column
    source = cells if kind == "dense" else sparse.csr_array(cells)
    labels = (X.row_labels, X.col_labels) if labelled else (None, None)
    matrix = Matrix(source, *labels, "d", "missing" if "missing" in kind else "zero")
    prepare_folder(tmp_path / "run")
    path = tmp_path / "run" / "matrices" / store_matrix(tmp_path / "run", "d", None, matrix, "")
    if "without" in kind:  # as earlier versions wrote it
        with np.load(path) as kept:
            np.savez(path, **{key: kept[key] for key in kept if key != "shape"})
        if not labelled:
            with pytest.raises(FormatError, match="does not say how many columns it has; name the file"):
                read_matrix(path)
            return
    back = read_matrix(path)
    assert (back.row_labels, back.col_labels, back.absent) == (*labels, matrix.absent)
    assert back.sparse == (kind != "dense")
    np.testing.assert_array_equal(back.values, matrix.values)


@pytest.mark.parametrize("labels", [np.arange(4, dtype="u1"), np.frombuffer(b"null", dtype="u1") + 1])
def test_numbers_as_labels_are_no_text_of_a_run_folder(tmp_path, labels):
    np.savez(tmp_path / "m.npz", values=X.values, rows=labels, cols=np.array(["a", "b", "c"]))
    assert read_matrix(tmp_path / "m.npz").row_labels == tuple(map(str, labels.tolist()))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "?", ">f8", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_of_any_real_dtype(tmp_path, dtype, order):
    values = np.asarray([[0, 1, 1], [1, 0, 1]], dtype=dtype, order=order)
    np.save(tmp_path / "m.npy", values)
    back = read_matrix(tmp_path / "m.npy")
    assert back.values.dtype == np.float64
    np.testing.assert_array_equal(back.values, values.astype(float))


def test_npy_is_recognised_by_content(tmp_path):
    write_matrix(X, tmp_path / "m.npy")
    (tmp_path / "m.csv").write_bytes((tmp_path / "m.npy").read_bytes())
    np.testing.assert_array_equal(read_matrix(tmp_path / "m.csv").values, X.values)


class Boom:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_pickles_are_never_loaded(tmp_path):
    np.save(tmp_path / "m.npy", np.array([[Boom()]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "m.npz", X=np.array([[Boom()]], dtype=object))
    for name in ("m.npy", "m.npz"):
        with pytest.raises(FormatError, match=r"pickled Python objects.*bivaluate never unpickles"):
            read_matrix(tmp_path / name)


def header(shape, dtype="<f8"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (header((1000, 1000)) + b"\0" * 100, "is truncated: shape .1000, 1000. of float64 needs 8000000 bytes"),
        (header((1 << 62, 1 << 62)), "is not possible"),
        (header((1 << 20, 1 << 20)), "truncated"),
        (header((-1, 3)), "is not possible"),
        (header((3,)) + b"\0" * 24, "1 dimension"),
        (header((0, 3)), "empty matrix, shape"),
        (header((1, 1), "<c16") + b"\0" * 16, "real numbers are needed"),
        (b"\x93NUMPY\x01\x00v\x00{'descr': __import__('os')", "header is damaged"),
        (b"\x93NUMPY", "header is damaged"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", "header is damaged"),
    ],
)
def test_lying_npy(tmp_path, content, words):
    (tmp_path / "m.npy").write_bytes(content)
    with pytest.raises(FormatError, match=words):
        read_matrix(tmp_path / "m.npy")


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)


def test_npz_whose_array_is_larger_than_it_says(tmp_path):
    archive(tmp_path / "m.npz", X=header((1 << 13, 1 << 13)) + b"\0" * 1000)
    with pytest.raises(FormatError, match=r"truncated"):
        read_matrix(tmp_path / "m.npz")


def test_npz_keys(tmp_path):
    np.savez(tmp_path / "one.npz", expression=X.values)
    assert read_matrix(tmp_path / "one.npz").shape == (4, 3)
    np.savez(tmp_path / "two.npz", a=X.values, b=X.values)
    with pytest.raises(FormatError, match=r"name the matrix X; arrays found: a, b"):
        read_matrix(tmp_path / "two.npz")
    np.savez(tmp_path / "sparse.npz", indptr=[0], indices=[0], data=[0])
    with pytest.raises(FormatError, match=r"parts of a sparse matrix without its format and shape"):
        read_matrix(tmp_path / "sparse.npz")
    np.savez(tmp_path / "rows.npz", X=X.values, rows=[1.5, 2, 3, 4])
    with pytest.raises(FormatError, match=r"1-D array of text"):
        read_matrix(tmp_path / "rows.npz")


@pytest.mark.parametrize(
    "name",
    [
        "m.npy",
        "m.npz",
        pytest.param("m.parquet", marks=pytest.mark.extra("parquet")),
        pytest.param("m.xlsx", marks=pytest.mark.extra("excel")),
    ],
)
def test_truncated_files(tmp_path, name):
    path = tmp_path / name
    if name == "m.xlsx":
        workbook(path, [["gene", "a"], ["g1", 1.0]])
    else:
        write_matrix(X, path)
    whole = path.read_bytes()
    for cut in (len(whole) - 10, len(whole) // 2, 10):
        path.write_bytes(whole[:cut])
        with pytest.raises(FormatError, match=r"truncated|damaged"):
            read_matrix(path)


@pytest.mark.extra("parquet")
def test_parquet_of_pandas(tmp_path):
    frame = X.to_frame()
    frame.to_parquet(tmp_path / "index.parquet")
    frame.reset_index(names="gene").to_parquet(tmp_path / "column.parquet", index=False)
    frame.astype("float32").to_parquet(tmp_path / "narrow.parquet")
    for name in ("index", "column", "narrow"):
        back = read_matrix(tmp_path / f"{name}.parquet")
        np.testing.assert_allclose(back.values, X.values, rtol=1e-6)
        assert (back.row_labels, back.col_labels) == (X.row_labels, X.col_labels)


@pytest.mark.extra("parquet")
def test_parquet_with_a_second_text_column(tmp_path):
    frame = X.to_frame().assign(note="x")
    frame.to_parquet(tmp_path / "m.parquet")
    with pytest.raises(FormatError, match=r"column 'note' holds (large_)?string, not numbers"):
        read_matrix(tmp_path / "m.parquet")


@pytest.mark.extra("parquet", "excel")
def test_missing_extras_name_themselves(tmp_path, without):
    write_matrix(X, tmp_path / "m.parquet")
    workbook(tmp_path / "m.xlsx", [["gene", "a"], ["g1", 1.0]])
    for package, name, words in (
        ("pyarrow", "m.parquet", r"reading .parquet needs pyarrow: pip install pyarrow$"),
        ("openpyxl", "m.xlsx", r"reading .xlsx needs openpyxl: pip install openpyxl$"),
    ):
        with without(package), pytest.raises(MissingExtraError, match=words):
            read_matrix(tmp_path / name)


def workbook(path, rows, title="Sheet"):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.create_sheet("second").append(["gene", "z"])
    book["second"].append(["h1", 9.5])
    book.save(path)


@pytest.mark.extra("excel")
def test_excel(tmp_path):
    rows = [["gene", "c1", "c2"], ["g 1", 1 / 3, 2], ["g2", None, -4.5e-7]]
    workbook(tmp_path / "m.xlsx", rows)
    back = read_matrix(tmp_path / "m.xlsx")
    assert (back.row_labels, back.col_labels) == (("g 1", "g2"), ("c1", "c2"))
    np.testing.assert_array_equal(back.values, [[1 / 3, 2], [np.nan, -4.5e-7]])
    assert read_matrix(tmp_path / "m.xlsx", sheet="second").values.tolist() == [[9.5]]
    assert read_matrix(tmp_path / "m.xlsx", sheet=1).values.tolist() == [[9.5]]
    with pytest.raises(ParameterError, match=r"no sheet 'secnd'.*Did you mean 'second'"):
        read_matrix(tmp_path / "m.xlsx", sheet="secnd")
    with pytest.raises(ParameterError, match=r"has 2 sheet"):
        read_matrix(tmp_path / "m.xlsx", sheet=7)


@pytest.mark.extra("excel")
def test_excel_faults_name_the_line(tmp_path):
    workbook(tmp_path / "m.xlsx", [["gene", "c1", "c2"], ["g1", 1, 2], ["g2", 3, "oops"], ["g3", 3, 4]])
    with pytest.raises(FormatError, match=r"line 3: row 'g2', column 'c2' holds 'oops'"):
        read_matrix(tmp_path / "m.xlsx")


@pytest.mark.extra("excel")
def test_excel_bombs_are_refused_before_unpacking(tmp_path, limits):
    workbook(tmp_path / "m.xlsx", [["gene", "c1"], ["g1", 1]])
    limits("io", MAX_UNPACKED=100)
    with pytest.raises(FormatError, match=r"unpacks to"):
        read_matrix(tmp_path / "m.xlsx")
