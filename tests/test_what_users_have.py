"""What users have in their hands: labels, tables of other libraries, generators, keys as papers write them."""

import numpy as np
import pandas as pd
import pytest

from bivaluate import (
    Biclustering,
    LabelWarning,
    Matrix,
    MatrixError,
    ParameterError,
    SolutionError,
    compare,
    evaluate,
    find,
    propose_pruning,
    select_k,
    solution_scorer,
)
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


def test_results_and_searches_hold_a_solution():
    from sklearn.model_selection import GridSearchCV

    every, model = np.arange(60), LargeAverageSubmatrices(1, n_restarts=20, random_state=0)
    values = np.random.default_rng(0).normal(size=(60, 20))
    values[:15, 10:16] += 4
    grid = {"n_biclusters": [1, 2]}
    search = GridSearchCV(model, grid, scoring=solution_scorer(), cv=[(every, every)]).fit(values)
    chosen = select_k(model, values, k=[1, 2])
    found = find(values, algorithms=["las"])
    for holder in (search, chosen, found, evaluate(values, chosen)):
        solution = evaluate(values, holder).solution
        assert len(solution) >= 1
        assert compare(solution, holder, metrics="consensus") == {"consensus": 1.0}


def test_columns_that_a_pipeline_selects_are_counted_as_they_went_in():
    from sklearn.decomposition import PCA
    from sklearn.feature_selection import VarianceThreshold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 20)) * np.r_[np.full(8, 0.01), np.ones(12)]
    values[:15, 10:16] += 4
    model = LargeAverageSubmatrices(1, n_restarts=20, random_state=0)
    pipeline = make_pipeline(VarianceThreshold(0.1), StandardScaler(), model)
    planted = Biclustering([(range(15), range(10, 16))], (60, 20))
    assert evaluate(values, pipeline.fit(values)).solution == planted == select_k(pipeline, values, k=1).solution_
    with pytest.raises(SolutionError, match="PCA makes 3 columns of 20, not columns of X: judge"):
        evaluate(values, make_pipeline(PCA(3), model).fit(values))


def test_whole_numbers_are_positions_also_where_labels_are_numbers():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(6, 5)), index=range(10, 16))
    said = "X has numbers for row labels, but whole numbers are taken as positions"
    with pytest.warns(LabelWarning, match=said), pytest.raises(SolutionError, match="B1 uses row 11"):
        evaluate(frame, [([10, 11], range(3))])
    solution = evaluate(frame, [(frame.index[:2].astype(str), range(3))]).solution
    assert solution == Biclustering([([0, 1], [0, 1, 2])], (6, 5))
    with pytest.warns(LabelWarning, match="row labels"):
        evaluate(frame.sample(frac=1, random_state=0).set_axis([3, 4, 5, 0, 1, 2]), [([0, 1], [0, 1, 2])])


def test_what_is_nearly_a_list_of_pairs():
    mask = np.array([1, 1, 0, 0, 0, 1])
    for given in ((range(3), range(2)), ([0, 1], [0, 1])):
        with pytest.raises(SolutionError, match=r"a list of pairs \(rows, columns\), \[\(rows, columns\)\] for one"):
            evaluate(X, given)
    assert evaluate(X, [({2, 0}, {1, 0})]).solution == Biclustering([([0, 2], [0, 1])], (6, 5))
    with pytest.raises(SolutionError, match=r"row 0 more than once\. A mask has True and False: mask\.astype\(bool\)"):
        evaluate(X, [(mask, range(3))])
    with pytest.raises(SolutionError, match="2-D masks to from_masks"):
        evaluate(X, (mask[np.newaxis], mask[np.newaxis, :5]))
    with pytest.raises(MatrixError, match="Biclusters come second"):
        evaluate([(range(3), range(2))], X)
