"""What users have in their hands: labels, tables of other libraries, generators, keys as papers write them."""

import numpy as np
import pandas as pd
import pytest

from bivaluate import Biclustering, Matrix, MatrixError, ParameterError, SolutionError, evaluate, propose_pruning
from bivaluate.algorithms import ChengChurch, LargeAverageSubmatrices
from bivaluate.datasets import make_biclusters

X = np.random.default_rng(0).normal(size=(6, 5))
ROWS, COLS = [f"g{i}" for i in range(6)], [f"c{j}" for j in range(5)]
FRAME = pd.DataFrame(X, index=ROWS, columns=COLS)
PAIRS = [([0, 2, 3], [1, 2]), ([4, 5], [0, 3, 4])]
NAMED = [(["g3", "g0", "g2"], ["c2", "c1"]), (np.array(["g4", "g5"]), pd.Index(["c0", "c3", "c4"]))]


def test_members_are_labels_of_the_matrix():
    found = evaluate(FRAME, NAMED, metrics=["nve", "asr"])
    assert found.solution == Biclustering(PAIRS, (6, 5))
    assert propose_pruning(FRAME, NAMED).solution == propose_pruning(X, PAIRS).solution
    mixed = [(["g0", "g2", "g3"], [1, 2]), ([4, 5], ["c0", "c3", "c4"])]
    assert evaluate(FRAME, mixed, metrics="asr").scores == evaluate(X, PAIRS, metrics="asr").scores


def test_a_list_of_mappings():
    given = [{"rows": rows, "columns": cols} for rows, cols in PAIRS]
    assert evaluate(X, given, metrics="asr").solution == Biclustering(PAIRS, (6, 5))
    with pytest.raises(SolutionError, match="a bicluster is a mapping of rows, genes; it needs rows and cols"):
        evaluate(X, [{"rows": [1, 2], "genes": [0]}])


@pytest.mark.parametrize(
    "given", [(np.arange(6) % 2, np.arange(5) % 2), [0, 0, 1, 1, 0, 1], np.array([0, 0, 1, 1, 0, 1]), FRAME]
)
def test_labels_of_clusters_are_answered_with_the_call_that_takes_them(given):
    with pytest.raises(
        SolutionError, match=r"Biclustering\.from_labels\(row_labels, column_labels\), with diagonal=True"
    ):
        evaluate(X, given)


def test_labels_that_are_not_there_or_twice():
    with pytest.raises(SolutionError, match=r"B1 names row 'g9', which X does not have\."):
        evaluate(FRAME, [(["g9"], ["c1"])])
    with pytest.raises(SolutionError, match=r"B1 names column 'c1', a label X has 2 times\. Use indices"):
        evaluate(FRAME.set_axis(["c1", "c1", "c2", "c3", "c4"], axis=1), [(["g1", "g2"], ["c1", "c2"])])
    with pytest.raises(SolutionError, match=r"found 'g1'\. Labels are looked up where a matrix has them"):
        evaluate(X, [(["g1"], ["c1"])])


def test_a_score_asked_for_by_its_symbol():
    scores = evaluate(X, PAIRS, metrics=["nve", "asr"]).scores
    with pytest.raises(KeyError, match=r"no score is called 'NVE'\. Its key is 'nve'\."):
        scores["NVE"]
    with pytest.raises(KeyError, match=r"no score is called 'msr'\..* Computed: nve, asr\."):
        scores["msr"]


@pytest.mark.parametrize("estimator", [ChengChurch(2), LargeAverageSubmatrices(2, n_restarts=5)])
def test_generators_are_seeds(estimator):
    draw = np.random.default_rng(3)
    first = estimator.set_params(random_state=draw).fit(X)
    assert first.random_state is draw
    seed = int(np.random.default_rng(3).integers(2**32))
    assert first.solution_ == estimator.set_params(random_state=seed).fit(X).solution_
    with pytest.raises(ParameterError, match="a Generator, a RandomState or None is needed"):
        estimator.set_params(random_state="yes").fit(X)


def test_generators_draw_data():
    blocks = [{"rows": 3, "cols": 3}]
    given, again = (make_biclusters((9, 8), blocks, random_state=np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(given[0], again[0])


@pytest.mark.extra("tables", "parquet")
def test_tables_of_other_libraries():
    import pyarrow as pa

    table = pa.table({"gene": ROWS, **{name: X[:, j] for j, name in enumerate(COLS)}})
    matrix = Matrix.of(table)
    assert (matrix.row_labels, matrix.col_labels) == (tuple(ROWS), tuple(COLS))
    np.testing.assert_array_equal(matrix.values, X)
    assert evaluate(table, NAMED, metrics="asr").scores == evaluate(X, PAIRS, metrics="asr").scores
    with pytest.raises(MatrixError, match="a table in memory is needed"):
        Matrix.of(pa.array([1, 2]))


@pytest.mark.parametrize("module", ["torch", "cupy._core"])
def test_arrays_elsewhere_are_copied(module):
    class Tensor:
        detach = cpu = lambda self: self

        def get(self):
            return X

        def __array__(self, dtype=None, copy=None):
            if module != "torch":
                raise TypeError("Implicit conversion to a NumPy array is not allowed.")
            return X

    Tensor.__module__ = module
    np.testing.assert_array_equal(Matrix.of(Tensor()).values, X)


def test_an_array_that_cannot_be_copied_is_refused_in_words():
    class Remote:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("it lies on another machine")

    with pytest.raises(MatrixError, match="X is a Remote, which NumPy cannot copy: it lies on another machine"):
        Matrix.of(Remote())


def test_tensors_of_torch_are_copied_or_refused_in_words():
    torch = pytest.importorskip("torch")
    for tensor in (torch.tensor(X), torch.tensor(X, requires_grad=True)):
        np.testing.assert_array_equal(Matrix.of(tensor).values, X)
    for tensor in (torch.tensor(X, dtype=torch.bfloat16), torch.tensor(X).to_sparse(), torch.tensor(X, device="meta")):
        with pytest.raises(MatrixError, match="X is a Tensor, which NumPy cannot copy"):
            Matrix.of(tensor)
