""".h5ad and .loom: dense, sparse, layers, labels; results written back; damaged and lying files."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bivaluate import (
    Biclustering,
    FormatError,
    Matrix,
    MissingExtraError,
    ParameterError,
    SolutionError,
    evaluate,
    read_matrix,
)
from bivaluate.io import write_h5ad_results

anndata = pytest.importorskip("anndata")
h5py = pytest.importorskip("h5py")

VALUES = np.round(np.random.default_rng(0).normal(size=(6, 8)) * (np.random.default_rng(1).random((6, 8)) > 0.4), 3)
CELLS = tuple(f"cell{i}" for i in range(6))
GENES = tuple(f"gene{j}" for j in range(8))


@pytest.fixture
def h5ad(tmp_path):
    def write(values=VALUES, **layers):
        data = anndata.AnnData(X=values, layers=layers)
        data.obs_names, data.var_names = CELLS, GENES
        data.write_h5ad(tmp_path / "cells.h5ad")
        return tmp_path / "cells.h5ad"

    return write


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix, sparse.csc_matrix, np.float32])
def test_rows_are_genes(h5ad, store):
    X = read_matrix(h5ad(store(VALUES)))
    assert (X.row_labels, X.col_labels, X.name) == (GENES, CELLS, "cells")
    np.testing.assert_allclose(X.values, VALUES.T, rtol=1e-6)


def test_labels_beside_a_mask_of_missing_ones(h5ad):
    path = h5ad()
    with h5py.File(path, "r+") as file:
        for name, labels in (("obs", CELLS), ("var", GENES)):
            if isinstance(file[f"{name}/_index"], h5py.Group):  # anndata 0.13 and later write them so themselves
                continue
            del file[f"{name}/_index"]
            group = file[name].create_group("_index")
            group.attrs["encoding-type"] = "nullable-string-array"
            group["values"], group["mask"] = list(labels), np.zeros(len(labels), dtype=bool)
    X = read_matrix(path)
    assert (X.row_labels, X.col_labels) == (GENES, CELLS)


@pytest.mark.parametrize("most", [0, 1 << 22])
@pytest.mark.parametrize(("store", "by_rows"), [(sparse.csr_matrix, False), (sparse.csc_matrix, True)])
def test_what_is_said_of_the_order_of_cells_is_true_of_the_file(h5ad, limits, store, by_rows, most):
    """Cells x genes by rows are genes x cells by columns, read from the file some at a time or held in memory."""
    limits(CHUNK_CELLS=most)
    path = h5ad(store(VALUES))
    for transpose in (False, True):
        source = read_matrix(path, transpose=transpose).source
        assert (getattr(source, "converted_from", "") == "CSC") == (by_rows == transpose)


def test_transpose_gives_cells_as_rows(h5ad):
    X = read_matrix(h5ad(), transpose=True)
    assert X.row_labels == CELLS
    np.testing.assert_array_equal(X.values, VALUES)


def test_layers(h5ad):
    path = h5ad(counts=sparse.csr_matrix(VALUES * 2))
    np.testing.assert_array_equal(read_matrix(path, layer="counts").values, VALUES.T * 2)
    with pytest.raises(ParameterError, match=r"no layer 'count'; it has counts. Did you mean 'counts'"):
        read_matrix(path, layer="count")


@pytest.fixture
def evaluation():
    def make(X):
        solution = Biclustering([([0, 1, 2, 3], [0, 1, 2]), ([2, 3, 5], [1, 2, 4])], X.shape)
        return evaluate(X, solution)

    return make


def test_results_are_written_back(h5ad, evaluation):
    path = h5ad()
    X = read_matrix(path)
    result = evaluation(X)
    write_h5ad_results(path, result)
    back = anndata.read_h5ad(path)
    np.testing.assert_array_equal(back.varm["bivaluate"], result.solution.row_masks.T)
    np.testing.assert_array_equal(back.obsm["bivaluate"], result.solution.col_masks.T)
    assert back.obsm["bivaluate"].dtype == bool
    stored = back.uns["bivaluate"]
    assert stored["scores"]["nve"] == result.scores["nve"]
    assert stored["biclusters"]["bicluster"].tolist() == ["B1", "B2"]
    assert stored["biclusters"]["msr"].tolist() == result.biclusters["msr"].tolist()
    assert list(stored["findings"]) == list(result.findings)
    np.testing.assert_array_equal(stored["mergers"]["ve"], result.mergers["ve"])
    np.testing.assert_array_equal(back.X, VALUES)
    np.testing.assert_array_equal(read_matrix(path).values, X.values)
    write_h5ad_results(path, result)
    write_h5ad_results(path, result, key="second")
    assert {"bivaluate", "second"} <= set(anndata.read_h5ad(path).uns)
    assert [p.name for p in path.parent.iterdir()] == ["cells.h5ad"]


def test_results_of_a_transposed_reading(h5ad, evaluation):
    path = h5ad()
    result = evaluation(read_matrix(path, transpose=True))
    with pytest.raises(SolutionError, match=r"6 observations and 8 variables, but .* shape \(6, 8\)"):
        write_h5ad_results(path, result)
    write_h5ad_results(path, result, transpose=True)
    np.testing.assert_array_equal(anndata.read_h5ad(path).obsm["bivaluate"], result.solution.row_masks.T)


def test_wrong_key(h5ad, evaluation):
    path = h5ad()
    with pytest.raises(ParameterError, match=r"a name without '/'"):
        write_h5ad_results(path, evaluation(read_matrix(path)), key="a/b")


def test_truncated_and_foreign_hdf5(h5ad, tmp_path):
    path = h5ad()
    whole = path.read_bytes()
    for cut in (len(whole) // 2, 2000, 100, 8):
        path.write_bytes(whole[:cut])
        with pytest.raises(FormatError, match=r"truncated or damaged"):
            read_matrix(path)


def edit(path, change):
    with h5py.File(path, "r+") as file:
        change(file)


def _external(file):
    del file["X"]
    file["X"] = h5py.ExternalLink("/etc/passwd", "/X")


def _soft(file):
    del file["X"]
    file["X"] = h5py.SoftLink("/obs")


def _text(file):
    del file["X"]
    file["X"] = np.array([[b"a", b"b"]])


def _huge(file):
    del file["X"]
    file.create_dataset("X", shape=(1 << 20, 1 << 20), dtype="f8", chunks=(64, 64))


def _cube(file):
    del file["X"]
    file["X"] = np.zeros((2, 2, 2))


def _short(file):
    del file["X"]
    file["X"] = np.zeros((2, 2))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_external, "is a link; data must lie in the file itself"),
        (_soft, "is a link"),
        (_text, "real numbers are needed"),
        (_huge, "1048576 x 1048576; there are 6 observations"),
        (_cube, "3 dimension"),
        (_short, "6 observations and 8 variables"),
    ],
)
def test_lying_h5ad(h5ad, change, words):
    path = h5ad()
    edit(path, change)
    with pytest.raises(FormatError, match=words):
        read_matrix(path)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("indices", 99, "X: the indices of a sparse matrix are damaged"),
        ("indptr", -5, "X: the indices of a sparse matrix are damaged"),
    ],
)
def test_damaged_sparse(h5ad, key, value, words):
    path = h5ad(sparse.csr_matrix(VALUES))

    def change(file):
        file["X"][key][1] = value

    edit(path, change)
    with pytest.raises(FormatError, match=words):
        read_matrix(path)


def test_sparse_that_claims_another_shape(h5ad):
    path = h5ad(sparse.csr_matrix(VALUES))
    edit(path, lambda file: file["X"].attrs.__setitem__("shape", [1 << 40, 1 << 40]))
    with pytest.raises(FormatError, match=r"which is not possible"):
        read_matrix(path)
    edit(path, lambda file: file["X"].attrs.__setitem__("shape", [3, 3]))
    with pytest.raises(FormatError, match=r"do not fit its shape"):
        read_matrix(path)


def test_loom(tmp_path):
    with h5py.File(tmp_path / "m.loom", "w") as file:
        file["matrix"] = VALUES.T.astype("f4")
        file["layers/spliced"] = VALUES.T * 3
        file["row_attrs/Gene"] = [g.encode() for g in GENES]
        file["col_attrs/CellID"] = [c.encode() for c in CELLS]
    X = read_matrix(tmp_path / "m.loom")
    assert (X.row_labels, X.col_labels) == (GENES, CELLS)
    np.testing.assert_allclose(X.values, VALUES.T, rtol=1e-6)
    np.testing.assert_allclose(read_matrix(tmp_path / "m.loom", layer="spliced").values, VALUES.T * 3)
    with pytest.raises(ParameterError, match=r"no layer 'x'"):
        read_matrix(tmp_path / "m.loom", layer="x")
    (tmp_path / "cut.loom").write_bytes((tmp_path / "m.loom").read_bytes()[:900])
    with pytest.raises(FormatError, match=r"truncated or damaged"):
        read_matrix(tmp_path / "cut.loom")


def test_missing_extras_name_themselves(h5ad, evaluation, without):
    path = h5ad()
    result = evaluation(Matrix(VALUES.T))
    with without("h5py"), pytest.raises(MissingExtraError, match=r"reading .h5ad needs h5py: pip install h5py$"):
        read_matrix(path)
    hidden = without("anndata", "anndata.io", "anndata.experimental")
    with hidden, warnings.catch_warnings(), pytest.raises(MissingExtraError, match=r"writing .h5ad needs anndata"):
        write_h5ad_results(path, result)


def test_files_of_old_versions(tmp_path):
    """obs and var as tables of records, raw.X beside X, and the sparse form of h5sparse: as scanpy's own example is."""
    stored = sparse.csr_array(VALUES)
    with h5py.File(tmp_path / "old.h5ad", "w") as file:
        file["X"] = VALUES.astype("f4") * 2
        file["obs"] = np.array([(c.encode(), 1) for c in CELLS], dtype=[("index", "S8"), ("n", "i4")])
        file["var"] = np.array([(g.encode(),) for g in GENES], dtype=[("index", "S8")])
        file["raw.var"] = file["var"][()]
        group = file.create_group("raw.X")
        group.attrs["h5sparse_format"], group.attrs["h5sparse_shape"] = b"csr", VALUES.shape
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(stored, name)
    X = read_matrix(tmp_path / "old.h5ad")
    np.testing.assert_allclose(X.values, VALUES.T * 2, rtol=1e-6)
    raw = read_matrix(tmp_path / "old.h5ad", layer="raw")
    assert (raw.sparse, raw.row_labels, raw.col_labels) == (True, GENES, CELLS)
    np.testing.assert_array_equal(raw.values, VALUES.T)
    with pytest.raises(ParameterError, match=r"no layer 'row'; it has raw. Did you mean 'raw'"):
        read_matrix(tmp_path / "old.h5ad", layer="row")


def test_a_file_without_raw(h5ad):
    with pytest.raises(ParameterError, match=r"no layer 'raw'; it has none"):
        read_matrix(h5ad(), layer="raw")


MATRICES = {
    "float64": np.asarray,
    "float32": np.float32,
    "int32": lambda values: np.asarray(values * 1000, dtype=np.int32),
    "bool": lambda values: values > 0,
    "fortran": np.asfortranarray,
    "csr_matrix": sparse.csr_matrix,
    "csc_matrix": sparse.csc_matrix,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "csr of float32": lambda values: sparse.csr_matrix(values.astype(np.float32)),
    "csr of int64": lambda values: sparse.csr_matrix((values * 1000).astype(np.int64)),
}
LABELS = {"text": list, "categories": pd.CategoricalIndex, "strings": lambda names: pd.Index(names, dtype="string")}
PLACES = ["h5ad", "h5ad gzip", "h5ad lzf", "zarr 2", "zarr 3"]
WRITTEN = [(matrix, "text", "h5ad") for matrix in MATRICES]
WRITTEN += [(matrix, "text", "zarr 3") for matrix in ("float32", "bool", "csr_matrix", "csc_array")]
WRITTEN += [("csr_matrix" if "3" in place else "float64", labels, place) for labels in LABELS for place in PLACES]


@pytest.mark.parametrize(("matrix", "labels", "place"), WRITTEN)
@pytest.mark.filterwarnings("ignore")  # of anndata, about what it will do in other versions
def test_every_encoding_that_anndata_writes(tmp_path, limits, matrix, labels, place):
    """By the anndata that is installed: X, a layer and raw, labels of every kind, columns of every kind beside them."""
    kind, _, how = place.partition(" ")
    if kind == "zarr":
        pytest.importorskip("zarr")
    values = MATRICES[matrix](VALUES)
    expected = np.asarray(values.todense() if sparse.issparse(values) else values, dtype=np.float64)
    data = anndata.AnnData(X=values, layers={"same": values})
    data.obs_names, data.var_names = LABELS[labels](CELLS), LABELS[labels](GENES)
    data.obs["group"] = pd.Categorical(["a", "b"] * 3)
    data.obs["maybe"] = pd.array([1, None, 3, 4, 5, 6], dtype="Int64")
    data.raw = data.copy()
    path = tmp_path / f"x.{kind}"
    with anndata.settings.override(allow_write_nullable_strings=True):
        if kind == "h5ad":
            data.write_h5ad(path, compression=how or None)
        else:
            with anndata.settings.override(zarr_write_format=int(how)):
                data.write_zarr(path)
    for layer, most in ((None, 1 << 22), ("same", 5), ("raw", 5)):  # in memory, and some rows at a time
        limits(CHUNK_CELLS=most)
        X = read_matrix(path, layer=layer)
        assert (X.row_labels, X.col_labels) == (GENES, CELLS)
        np.testing.assert_array_equal(X.values, expected.T)
        assert X.sparse == sparse.issparse(values)


def test_a_damaged_file_is_called_by_its_format(tmp_path):
    (tmp_path / "bad.h5ad").write_text("X")
    with pytest.raises(FormatError, match=r"the \.h5ad file is truncated or damaged"):
        read_matrix(tmp_path / "bad.h5ad")
