"""AnnData objects as citizens: scored as they are, results into them, memberships out of them."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from bivaluate import (
    Biclustering,
    Matrix,
    MatrixError,
    ParameterError,
    SolutionError,
    evaluate,
    propose_pruning,
    select_k,
)

anndata = pytest.importorskip("anndata")

RNG = np.random.default_rng(4)
COUNTS = RNG.poisson(1.2, size=(9, 14)).astype(np.float32)  # cells x genes
COUNTS[:4, 2:8] += 6
SOLUTION = Biclustering([(range(2, 8), range(4)), ([0, 1, 9, 10], [5, 6, 7])], (14, 9), info={"name": "a", "k": 2})


@pytest.fixture
def adata():
    made = anndata.AnnData(X=COUNTS.copy(), layers={"twice": sparse.csr_matrix(COUNTS * 2)})
    made.obs_names = [f"cell{i}" for i in range(9)]
    made.var_names = [f"gene{j}" for j in range(14)]
    made.raw = made
    return made


def scores(result):
    return {key: value for key, value in result.scores.items() if value == value}


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_genes_are_rows(adata, store):
    adata.X = store(COUNTS)
    result = evaluate(adata, SOLUTION)
    assert scores(result) == pytest.approx(scores(evaluate(COUNTS.T.astype(float), SOLUTION)), rel=1e-9)
    assert result.matrix.row_labels[2] == "gene2"
    assert result.matrix.col_labels[0] == "cell0"


def test_cells_as_rows_and_layers(adata):
    turned = Biclustering([(b.cols, b.rows) for b in SOLUTION], (9, 14))
    result = evaluate(adata, turned, obs_rows=True, layer="twice")
    assert scores(result) == pytest.approx(scores(evaluate(COUNTS * 2.0, turned)), rel=1e-9)
    assert scores(evaluate(adata, SOLUTION, layer="raw")) == scores(evaluate(adata, SOLUTION))
    assert Matrix.of(adata).shape == (14, 9)
    assert str(propose_pruning(adata, SOLUTION)) == str(propose_pruning(COUNTS.T, SOLUTION))


@pytest.mark.parametrize("obs_rows", [False, True])
def test_results_into_the_object_and_memberships_out(adata, tmp_path, obs_rows):
    solution = Biclustering([(b.cols, b.rows) for b in SOLUTION], (9, 14)) if obs_rows else SOLUTION
    solution = solution.with_info(name="a", k=2)
    result = evaluate(adata, solution, key_added="mine", obs_rows=obs_rows)
    assert adata.uns["mine"]["scores"]["nve"] == result.scores["nve"]
    assert adata.varm["mine"].shape == (14, 2)
    assert adata.obsm["mine"].dtype == bool
    back = Biclustering.from_anndata(adata, key="mine", obs_rows=obs_rows)
    assert back == solution
    assert dict(back.info) == {"name": "a", "k": 2}
    adata.write_h5ad(tmp_path / "a.h5ad")
    read = anndata.read_h5ad(tmp_path / "a.h5ad")
    assert Biclustering.from_anndata(read, key="mine", obs_rows=obs_rows) == solution
    assert list(read.uns["mine"]["findings"]) == list(result.findings)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("obs_rows", [False, True])
def test_backed_objects(adata, tmp_path, store, obs_rows, limits):
    limits(CHUNK_CELLS=5)  # what is larger stays in the file
    adata.X = store(COUNTS)
    adata.write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    X = Matrix.from_anndata(backed, obs_rows=obs_rows)
    values = COUNTS if obs_rows else COUNTS.T
    assert X.sparse == sparse.issparse(store(COUNTS))
    np.testing.assert_array_equal(X.values, values)
    np.testing.assert_array_equal(X.T.values, values.T)
    np.testing.assert_array_equal(X.dense(X.source.take(np.array([0, 3, 8]))), values[[0, 3, 8]])
    sent = pickle.dumps(X.source)
    np.testing.assert_array_equal(X.dense(pickle.loads(sent).rows(1, 5)), values[1:5])
    backed.file.close()
    np.testing.assert_array_equal(X.dense(X.source.rows(1, 5)), values[1:5])  # opened again
    (tmp_path / "a.h5ad").rename(tmp_path / "b.h5ad")
    with pytest.raises(MatrixError, match=r"a\.h5ad is missing, or was moved.* on other machines too"):
        pickle.loads(sent).rows(1, 5)


@pytest.mark.extra("zarr")
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("obs_rows", [False, True])
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_an_object_backed_by_zarr_is_opened_again_where_it_is_sent(adata, tmp_path, store, obs_rows, limits):
    import zarr

    limits(CHUNK_CELLS=5)
    adata.X = store(COUNTS)
    adata.write_zarr(tmp_path / "a.zarr")
    node = zarr.open_group(tmp_path / "a.zarr", mode="r")["X"]
    backed = anndata.AnnData(
        X=anndata.io.sparse_dataset(node) if sparse.issparse(adata.X) else node, obs=adata.obs, var=adata.var
    )
    X = Matrix.from_anndata(backed, obs_rows=obs_rows)
    values = COUNTS if obs_rows else COUNTS.T
    np.testing.assert_array_equal(X.values, values)
    sent = pickle.dumps(X.source)
    np.testing.assert_array_equal(X.dense(pickle.loads(sent).rows(1, 5)), values[1:5])
    np.testing.assert_array_equal(X.dense(pickle.loads(sent).take(np.array([0, 3, 8]))), values[[0, 3, 8]])
    (tmp_path / "a.zarr").rename(tmp_path / "b.zarr")
    with pytest.raises(MatrixError, match=r"a\.zarr is missing, or was moved.* on other machines too"):
        pickle.loads(sent).rows(1, 5)


def test_what_is_refused(adata):
    with pytest.raises(ParameterError, match=r"no layer 'twise'; it has twice, raw. Did you mean 'twice'"):
        evaluate(adata, SOLUTION, layer="twise")
    with pytest.raises(SolutionError, match=r"Were rows and columns swapped"):
        evaluate(adata, SOLUTION, obs_rows=True)
    with pytest.raises(ParameterError, match=r"key is 'a/b'; a name without '/'"):
        evaluate(adata, SOLUTION, key_added="a/b")
    with pytest.raises(ParameterError, match=r"are about AnnData objects, but X is of type ndarray"):
        evaluate(COUNTS.T, SOLUTION, key_added="mine")
    with pytest.raises(SolutionError, match=r"no memberships .varm\['mine'\]"):
        Biclustering.from_anndata(adata, key="mine")
    adata.varm["mine"], adata.obsm["mine"] = np.full((14, 2), 0.5), np.ones((9, 2), dtype=bool)
    with pytest.raises(SolutionError, match=r"varm\['mine'\] must hold True and False"):
        Biclustering.from_anndata(adata, key="mine")
    with pytest.raises(SolutionError, match="ndarray is not an AnnData object"):
        Biclustering.from_anndata(COUNTS)
    with pytest.raises(MatrixError, match="X is of type ndarray, not an AnnData object"):
        Matrix.from_anndata(COUNTS)
    adata.raw = None
    with pytest.raises(ParameterError, match="has no raw"):
        evaluate(adata, SOLUTION, layer="raw")
    del adata.X
    with pytest.raises(MatrixError, match=r"no X; name one of its layers with layer="):
        evaluate(adata, SOLUTION)


def test_select_k_takes_cells_as_rows(adata):
    from sklearn.decomposition import NMF

    found = select_k(NMF(init="nndsvda", max_iter=50), adata, k=[2, 3], obs_rows=True, scoring="asr")
    assert found.best_params_["n_components"] in (2, 3)


def test_what_does_not_take_an_object_says_what_to_pass(adata):
    from sklearn.cluster import SpectralCoclustering
    from sklearn.decomposition import NMF

    from bivaluate.algorithms import NMFBiclusters

    model = NMF(2, init="nndsvda", max_iter=50).fit(np.abs(np.asarray(adata.X)))
    with pytest.raises(SolutionError, match=r"pass what the model was fitted to, such as X\.X"):
        Biclustering.from_factor_model(model, adata)
    with pytest.raises(MatrixError, match=r"NMFBiclusters takes a matrix, and X is an AnnData object: pass X\.X"):
        NMFBiclusters(2).fit(adata)
    cells_first = Biclustering([([0, 1], [0, 1, 2])], adata.shape)
    with pytest.raises(SolutionError, match="pass obs_rows=True"):
        evaluate(adata, cells_first)
    with pytest.raises(SolutionError, match="pass obs_rows=True"):
        evaluate(adata, SpectralCoclustering(2, random_state=0).fit(np.abs(np.asarray(adata.X)) + 1))
