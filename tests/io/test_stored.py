"""Matrices that stay in files: HDF5, zarr, CellRanger, MuData, memory maps; the same cells as in memory."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from bivaluate import (
    Biclustering,
    FormatError,
    Matrix,
    MatrixError,
    ParameterError,
    evaluate,
    read_matrix,
    write_matrix,
)

h5py = pytest.importorskip("h5py")

RNG = np.random.default_rng(0)
VALUES = np.round(RNG.normal(size=(11, 7)) * (RNG.random((11, 7)) > 0.5), 3)
GENES = tuple(f"gene{i}" for i in range(11))
CELLS = tuple(f"cell{j}" for j in range(7))


@pytest.fixture(params=["in memory", "in the file"])
def held(request, limits):
    """Small matrices are read at once; here they are also left in their file, as large ones are."""
    if request.param == "in the file":
        limits(CHUNK_CELLS=5, _WINDOW=4)
    return request.param == "in the file"


def same(X, values, tolerance=0.0):
    np.testing.assert_allclose(X.values, values, rtol=tolerance)
    np.testing.assert_allclose(X.T.values, values.T, rtol=tolerance)
    rows = np.array([0, 2, 3, len(values) - 1])
    np.testing.assert_allclose(X.dense(X.checked(X.source.take(rows))), values[rows], rtol=tolerance)
    np.testing.assert_allclose(X.dense(X.checked(X.source.rows(4, 6))), values[4:6], rtol=tolerance)
    copy = pickle.loads(pickle.dumps(X.source))
    np.testing.assert_allclose(X.dense(X.checked(copy.rows(1, 5))), values[1:5], rtol=tolerance)


@pytest.fixture
def anndata_of():
    anndata = pytest.importorskip("anndata")

    def make(values):
        made = anndata.AnnData(X=values, layers={"twice": values * 2})
        made.obs_names, made.var_names = CELLS, GENES
        made.raw = made
        return made

    return make


STORES = [np.asarray, np.float32, sparse.csr_matrix, sparse.csc_matrix]


@pytest.mark.parametrize("store", STORES)
def test_anndata_in_hdf5(tmp_path, held, anndata_of, store):
    anndata_of(store(VALUES.T)).write_h5ad(tmp_path / "a.h5ad")
    for layer, factor in ((None, 1), ("twice", 2), ("raw", 1)):
        X = read_matrix(tmp_path / "a.h5ad", layer=layer)
        assert (X.row_labels, X.col_labels) == (GENES, CELLS)
        assert X.sparse == sparse.issparse(store(VALUES))
        same(X, VALUES * factor, 1e-6)
        same(read_matrix(tmp_path / "a.h5ad", layer=layer, transpose=True), VALUES.T * factor, 1e-6)


@pytest.mark.extra("zarr")
@pytest.mark.parametrize("store", STORES)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_anndata_in_zarr(tmp_path, held, anndata_of, store):
    anndata_of(store(VALUES.T)).write_zarr(tmp_path / "a.zarr")
    X = read_matrix(tmp_path / "a.zarr")
    assert (X.row_labels, X.col_labels, X.name) == (GENES, CELLS, "a")
    same(X, VALUES, 1e-6)
    same(read_matrix(tmp_path / "a.zarr", layer="twice"), VALUES * 2, 1e-6)
    same(read_matrix(tmp_path / "a.zarr", layer="raw"), VALUES, 1e-6)


@pytest.mark.extra("zarr")
def test_plain_zarr(tmp_path, held):
    import zarr

    zarr.save_array(tmp_path / "x.zarr", VALUES)
    same(read_matrix(tmp_path / "x.zarr"), VALUES)
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    group["numbers"] = VALUES
    group["line"] = VALUES[0]
    same(read_matrix(tmp_path / "g.zarr"), VALUES)
    group["more"] = VALUES
    with pytest.raises(FormatError, match=r"a zarr group, but not of AnnData.*Name the array .* layer="):
        read_matrix(tmp_path / "g.zarr")
    same(read_matrix(tmp_path / "g.zarr", layer="more"), VALUES)
    with pytest.raises(FormatError, match="1 dimension"):
        read_matrix(tmp_path / "g.zarr", layer="line")


def cellranger(path, version, genome="GRCh38", mode="w"):
    columns = sparse.csc_array(VALUES)
    with h5py.File(path, mode) as file:
        group = file.create_group("matrix" if version == 3 else genome)
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(columns, name)
        group["shape"] = VALUES.shape
        group["barcodes"] = [c.encode() for c in CELLS]
        group["features/id" if version == 3 else "genes"] = [g.encode() for g in GENES]


@pytest.mark.parametrize("version", [2, 3])
def test_cellranger(tmp_path, held, version):
    cellranger(tmp_path / "counts.h5", version)
    X = read_matrix(tmp_path / "counts.h5")
    assert (X.row_labels, X.col_labels) == (GENES, CELLS)
    same(X, VALUES)
    same(read_matrix(tmp_path / "counts.h5", transpose=True), VALUES.T)


def test_genomes_of_cellranger(tmp_path):
    cellranger(tmp_path / "two.h5", 2)
    cellranger(tmp_path / "two.h5", 2, "mm10", "a")
    with pytest.raises(ParameterError, match=r"holds 2 genomes: GRCh38, mm10. Choose one with layer="):
        read_matrix(tmp_path / "two.h5")
    assert read_matrix(tmp_path / "two.h5", layer="mm10").shape == VALUES.shape
    with h5py.File(tmp_path / "two.h5", "r+") as file:
        del file["mm10/barcodes"]
        file["mm10/barcodes"] = [b"one"]
    with pytest.raises(FormatError, match=r"11 x 7, but there are 11 genes and 1 barcodes"):
        read_matrix(tmp_path / "two.h5", layer="mm10")


def test_modalities(tmp_path, held):
    with h5py.File(tmp_path / "m.h5mu", "w") as file:
        for name, factor in (("prot", 1), ("rna", 3)):
            file[f"mod/{name}/X"] = VALUES.T * factor
            file[f"mod/{name}/obs/_index"] = [c.encode() for c in CELLS]
            file[f"mod/{name}/var/_index"] = [g.encode() for g in GENES]
    X = read_matrix(tmp_path / "m.h5mu", modality="rna")
    assert (X.row_labels, X.name) == (GENES, "m rna")
    same(X, VALUES * 3, 1e-15)
    with pytest.raises(ParameterError, match=r"holds 2 modalities: prot, rna. Choose one with modality="):
        read_matrix(tmp_path / "m.h5mu")
    with pytest.raises(ParameterError, match=r"no modality 'rnna'; it has prot, rna. Did you mean 'rna'"):
        read_matrix(tmp_path / "m.h5mu", modality="rnna")
    X = read_matrix(tmp_path / "m.h5mu", modality="all")
    assert X.row_labels == tuple(f"{name}:{gene}" for name in ("prot", "rna") for gene in GENES)
    assert X.col_labels == CELLS
    same(X, np.vstack([VALUES, VALUES * 3]), 1e-15)


@pytest.mark.extra("mudata")
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_a_file_that_mudata_wrote(tmp_path, anndata_of):
    import mudata

    fewer = anndata_of(VALUES.T * 3)[[5, 2, 0]].copy()  # of a protein only some cells were measured
    made = mudata.MuData({"rna": anndata_of(sparse.csr_matrix(VALUES.T)), "prot": fewer})
    same(Matrix.of(made["rna"]), VALUES)
    made.write(tmp_path / "m.h5mu")
    same(read_matrix(tmp_path / "m.h5mu", modality="rna"), VALUES)
    for joint in (Matrix.of(made), read_matrix(tmp_path / "m.h5mu", modality="all")):
        assert joint.row_labels == tuple(f"{name}:{gene}" for name in ("prot", "rna") for gene in GENES)
        assert joint.col_labels == tuple(CELLS[j] for j in (5, 2, 0))
        same(joint, np.vstack([VALUES * 3, VALUES])[:, [5, 2, 0]], 1e-15)
    found = evaluate(made, [([f"prot:{gene}" for gene in GENES[:4]], [CELLS[0], CELLS[5]])])
    assert found.solution[0].shape == (4, 2)
    fewer.obs_names = ["x", "y", "z"]
    with pytest.raises(MatrixError, match=r"the modalities of X \(prot, rna\) have no cells in common"):
        Matrix.of(mudata.MuData({"rna": made["rna"], "prot": fewer}))


def test_plain_hdf5(tmp_path, held):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["numbers"] = VALUES
        file["line"] = VALUES[0]
    same(read_matrix(tmp_path / "x.h5"), VALUES)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda f: f.create_dataset("numbers", data=[1, 2]),
            r"is an HDF5 file, but not of AnnData.* It holds /numbers",
        ),
        (lambda f: f.attrs.__setitem__("keras_version", "3"), "is the weights of a Keras model. It holds none"),
        (lambda f: f.create_group("assays"), r"is a Seurat object \(h5Seurat\)"),
        (lambda f: f.attrs.__setitem__("_NCProperties", "2"), "is a NetCDF file"),
        (lambda f: [f.create_dataset(k, data=VALUES) for k in "ab"], r"/a \(11, 7\), /b \(11, 7\). Name the dataset"),
    ],
)
def test_hdf5_of_something_else(tmp_path, change, words):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        change(file)
    with pytest.raises(FormatError, match=words):
        read_matrix(tmp_path / "other.h5")


def test_a_dataset_that_is_not_there(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["numbers"] = VALUES
    with pytest.raises(ParameterError, match=r"no dataset 'number'; it has numbers. Did you mean 'numbers'"):
        read_matrix(tmp_path / "x.h5", layer="number")


def test_a_file_that_shrinks(tmp_path, limits):
    limits(CHUNK_CELLS=5)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("numbers", data=np.arange(40_000.0).reshape(200, 200), chunks=(10, 200))
    source = pickle.loads(pickle.dumps(read_matrix(tmp_path / "x.h5").source))
    whole = (tmp_path / "x.h5").read_bytes()
    (tmp_path / "x.h5").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(MatrixError, match=r"x.h5: rows 190 to 199 .* The file became shorter while it was read"):
        source.rows(190, 200)
    (tmp_path / "x.h5").unlink()
    with pytest.raises(MatrixError, match="is missing, or was moved"):
        pickle.loads(pickle.dumps(source)).rows(0, 1)


def test_indices_are_checked_where_a_sparse_matrix_stays_in_its_file(tmp_path, limits):
    limits(CHUNK_CELLS=5)
    cellranger(tmp_path / "counts.h5", 3)
    with h5py.File(tmp_path / "counts.h5", "r+") as file:
        file["matrix/indices"][-1] = 99
    X = read_matrix(tmp_path / "counts.h5", transpose=True)
    assert isinstance(X, Matrix)
    with pytest.raises(FormatError, match="indices of a sparse matrix are damaged"):
        X.source.rows(0, 7)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, ">f8"])
def test_memory_mapped_npy(tmp_path, held, dtype):
    values = np.round(VALUES * 9).astype(dtype)
    np.save(tmp_path / "x.npy", values)
    X = read_matrix(tmp_path / "x.npy")
    assert X.in_memory != held
    same(X, values.astype(float))
    np.save(tmp_path / "f.npy", np.asfortranarray(values))
    same(read_matrix(tmp_path / "f.npy"), values.astype(float))


def test_a_npy_file_that_shrinks(tmp_path, limits):
    limits(CHUNK_CELLS=5)
    np.save(tmp_path / "x.npy", VALUES)
    X = read_matrix(tmp_path / "x.npy")
    whole = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(whole[:-60])
    with pytest.raises(MatrixError, match=r"ends within row 9 .*of 11: it became shorter"):
        X.source.rows(8, 11)
    with pytest.raises(FormatError, match=r"is truncated: shape \(11, 7\)"):
        read_matrix(tmp_path / "x.npy")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_save_npz(tmp_path, form, kind):
    sparse.save_npz(tmp_path / "x.npz", kind(VALUES).asformat(form))
    X = read_matrix(tmp_path / "x.npz")
    assert X.sparse
    same(X, VALUES)


def test_save_npz_with_indices_in_any_order(tmp_path):
    unsorted = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 4))
    sparse.save_npz(tmp_path / "x.npz", unsorted)
    assert read_matrix(tmp_path / "x.npz").values.tolist() == [[2, 0, 1, 0], [0, 3, 0, 0]]


def test_a_sparse_matrix_and_its_labels(tmp_path):
    from bivaluate import write_matrix

    write_matrix(Matrix(sparse.csr_array(VALUES), GENES, CELLS), tmp_path / "x.npz")
    X = read_matrix(tmp_path / "x.npz")
    assert (X.sparse, X.row_labels, X.col_labels) == (True, GENES, CELLS)
    same(X, VALUES)
    np.testing.assert_array_equal(sparse.load_npz(tmp_path / "x.npz").toarray(), VALUES)
    write_matrix(Matrix(sparse.csr_array(VALUES), absent="missing"), tmp_path / "r.npz")
    assert read_matrix(tmp_path / "r.npz").absent == "missing"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"indices": np.array([99, 0])}, "indices of a sparse matrix are damaged"),
        ({"indptr": np.array([0, 1])}, "do not fit its shape"),
        ({"shape": np.array([0, 3])}, r"its shape \(0, 3\) is not possible"),
        ({"format": np.array(b"dia")}, r"form 'dia'; save it as CSR, CSC or COO: X.tocsr\(\)"),
        ({"indices": None}, "'indices' is missing"),
        ({"data": np.array(["a", "b"])}, "real numbers are needed"),
    ],
)
def test_damaged_save_npz(tmp_path, change, words):
    parts = {"format": np.array(b"csr"), "shape": np.array([2, 3]), "data": np.array([1.0, 2.0])}
    parts |= {"indices": np.array([0, 2]), "indptr": np.array([0, 1, 2])} | change
    np.savez(tmp_path / "x.npz", **{name: part for name, part in parts.items() if part is not None})
    with pytest.raises(FormatError, match=words):
        read_matrix(tmp_path / "x.npz")


@pytest.mark.extra("parquet")
def test_parquet_by_row_groups(tmp_path, held):
    import pandas as pd

    frame = pd.DataFrame(VALUES, index=GENES, columns=CELLS)
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=4)
    X = read_matrix(tmp_path / "x.parquet")
    assert (X.in_memory, X.row_labels, X.col_labels) == (not held, GENES, CELLS)
    same(X, VALUES)
    np.testing.assert_array_equal(X.source.rows(0, 2), VALUES[:2])
    if held:
        frame.iloc[:6].to_parquet(tmp_path / "x.parquet")
        with pytest.raises(MatrixError, match=r"cannot be read from row 0 on .*6 rows are left of 11"):
            pickle.loads(pickle.dumps(X.source)).rows(0, 3)


def test_coordinates_stay_sparse(tmp_path):
    text = "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 2 5\n3 4 1\n"
    (tmp_path / "m.mtx").write_text(text)
    X = read_matrix(tmp_path / "m.mtx")
    assert X.sparse
    assert X.values.tolist() == [[0, 5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]


def test_an_infinite_cell_of_what_is_stored_by_columns_is_named(tmp_path, limits):
    limits(CHUNK_CELLS=6)  # two of the rows in the file
    cells = np.arange(15.0).reshape(5, 3)  # stored as observations x variables
    cells[4, 1] = np.inf
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = cells
        file["obs/_index"], file["var/_index"] = [f"c{j}" for j in range(5)], [f"g{i}" for i in range(3)]
    X = read_matrix(tmp_path / "x.h5ad")
    with pytest.raises(MatrixError, match=r"1 infinite value, the first at row 'g1', column 'c4'"):
        X.values  # noqa: B018


@pytest.mark.extra("parquet")
@pytest.mark.parametrize("together", [2, 7, 1 << 20])
def test_all_cells_of_parquet_by_row_groups(tmp_path, limits, together):
    import pyarrow as pa
    import pyarrow.parquet

    large = (1 << 60) + 1
    columns = {
        "g": [f"g{i}" for i in range(7)],
        "a": [*range(5), large, None],
        "b": [True] * 7,
        "c": np.linspace(0, 1, 7),
        "d": pa.array([*range(7)]).cast(pa.decimal128(21, 2)),
        "e": pa.array([None, *range(1, 7)], pa.float32()),
        "f": np.arange(7, dtype=np.float16),
        "h": np.arange(7, dtype=np.uint8),
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=3)
    counts = np.arange(7.0)
    fifth = [np.nan, *range(1, 7)]
    expected = np.column_stack(
        [[*range(5), large, np.nan], np.ones(7), np.linspace(0, 1, 7), counts, fifth, counts, counts]
    )
    np.testing.assert_array_equal(read_matrix(tmp_path / "x.parquet").values, expected)
    limits("io", CHUNK_CELLS=5, TOGETHER=together)
    X = read_matrix(tmp_path / "x.parquet")
    np.testing.assert_array_equal(X.values, expected)
    np.testing.assert_array_equal(X.source.rows(2, 7), expected[2:])


@pytest.fixture
def parquet_rows(tmp_path, limits):
    """Numbers, and a source that reads them 5 rows at a time."""
    X = np.arange(600.0).reshape(200, 3)
    write_matrix(X, tmp_path / "x.parquet")
    limits(CHUNK_CELLS=15)
    return X, read_matrix(tmp_path / "x.parquet").source


@pytest.mark.extra("parquet")
def test_rows_of_parquet_after_an_interrupt(parquet_rows, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    X, source = parquet_rows
    source.rows(0, 3)
    with monkeypatch.context() as patch:
        patch.setattr(source, "_by_columns", interrupt)
        with pytest.raises(KeyboardInterrupt):
            source.rows(3, 9)
    np.testing.assert_array_equal(source.rows(7, 12), X[7:12])


@pytest.mark.extra("parquet")
def test_rows_of_parquet_read_by_two_threads(parquet_rows):
    X, source = parquet_rows
    taken = [(start, start + 20) for start in (0, 150, 60, 100, 20, 170) * 10]
    found = [np.empty((20, 3)) for _ in taken]

    def read(at):
        found[at][:] = source.rows(*taken[at])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read, range(len(taken))))
    for rows, (start, stop) in zip(found, taken, strict=True):
        np.testing.assert_array_equal(rows, X[start:stop])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(source)).rows(4, 9), X[4:9])


@pytest.mark.extra("parquet")
def test_a_parquet_file_that_is_gone(tmp_path, limits):
    write_matrix(VALUES, tmp_path / "x.parquet")
    limits(CHUNK_CELLS=5)
    X = read_matrix(tmp_path / "x.parquet")
    (tmp_path / "x.parquet").unlink()
    for read in (lambda: X.source.rows(0, 2), lambda: X.values):
        with pytest.raises(MatrixError, match=r"x\.parquet cannot be read from row 0 on.* is gone, or is damaged"):
            read()


@pytest.mark.parametrize("memory", [100, 1000, 10**6])
def test_a_sparse_file_is_turned_by_way_of_temporary_files(tmp_path, temporary, limits, anndata_of, memory):
    limits("_stored", CHUNK_CELLS=5)
    anndata_of(sparse.csr_matrix(VALUES.T)).write_h5ad(tmp_path / "a.h5ad")
    X = read_matrix(tmp_path / "a.h5ad")
    source = X.source.within(memory)
    assert source.shape == X.shape == (11, 7)
    np.testing.assert_array_equal(source.rows(0, 11).toarray(), VALUES)
    np.testing.assert_array_equal(source.take(np.array([1, 4, 10])).toarray(), VALUES[[1, 4, 10]])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(source)).rows(2, 5).toarray(), VALUES[2:5])
    assert len(list(temporary.iterdir())) == (memory < 10**6)
    del source
    assert not list(temporary.iterdir())
    solution = Biclustering([([0, 1, 2, 5], [0, 3, 4]), ([4, 6, 7], [1, 2])], X.shape)
    held = evaluate(X, solution, metrics=["nve"], memory="16M")
    assert held.matrix.source.memory == 16_000_000
    assert held.scores["nve"] == pytest.approx(evaluate(VALUES, solution, metrics=["nve"]).scores["nve"])
