"""The solution model: what it accepts, what it refuses and in which words."""

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import SpectralBiclustering, SpectralCoclustering
from sklearn.datasets import make_biclusters
from sklearn.metrics import consensus_score

import bivaluate
from bivaluate import Biclustering, EmptyBiclusterWarning, FileError, FormatError, SolutionError

PAIRS = [([2, 0, 1], [0, 1]), ([3, 4], [2, 3, 5])]


def test_members_are_sorted_read_only_integers():
    solution = Biclustering(PAIRS, (5, 6))
    assert solution[0].rows.tolist() == [0, 1, 2]
    assert solution[0].rows.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        solution[0].rows[0] = 7


def test_masks_and_indices_agree():
    solution = Biclustering(PAIRS, (5, 6))
    assert Biclustering.from_masks(solution.row_masks, solution.col_masks) == solution
    assert solution.row_masks.shape == (2, 5)
    assert solution.col_masks.shape == (2, 6)


@pytest.mark.parametrize("K", [3, 64, 65, 200])
def test_masks_of_few_and_of_many_biclusters(K):
    rng = np.random.default_rng(K)
    row_masks, col_masks = rng.random((K, 7)) < 0.4, rng.random((K, 5)) < 0.4
    row_masks[:, 2] = col_masks[:, 1] = True
    pairs = [(np.flatnonzero(row_masks[k]), np.flatnonzero(col_masks[k])) for k in range(K)]
    solution = Biclustering(pairs, (7, 5))
    np.testing.assert_array_equal(solution.row_masks, row_masks)
    np.testing.assert_array_equal(solution.col_masks, col_masks)


def test_select_keeps_order_and_info():
    solution = Biclustering(PAIRS, (5, 6), info={"algorithm": "x"})
    assert solution.select([1, 0])[0] == solution[1]
    assert solution.select([1]).info == {"algorithm": "x"}


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([([0, 57], [0])], r"B1 uses row 57, but X has 5 rows \(0\.\.4\)\. X has shape \(5, 6\)\."),
        ([([0], [0]), ([0, 5], [0])], r"B2 uses row 5, .*Were rows and columns swapped\?"),
        ([([0], [6])], r"B1 uses column 6.*counted from 1\?"),
        ([([0, -1], [0])], r"uses row -1; indices are counted from 0 and never negative"),
        ([([0, 0], [0])], r"B1 lists row 0 more than once"),
        ([([], [0])], r"B1 is empty: it has no rows"),
        ([([0], [])], r"B1 is empty: it has no columns"),
        ([([0.5], [0])], r"rows must be whole numbers counted from 0, found .*0\.5"),
        ([([True, False], [0])], r"B1: rows are a mask of 2 values True or False, but X has 5 rows"),
        ([([[0]], [0])], r"rows must be a list of indices, found 2 dimensions"),
        ([3], r"B1 is not a pair"),
    ],
)
def test_bad_members_are_refused(pairs, words):
    with pytest.raises(SolutionError, match=words):
        Biclustering(pairs, (5, 6))


def test_bad_shapes_are_refused():
    for shape in ((5,), (2.7, 3), 5):
        with pytest.raises(SolutionError, match="two numbers"):
            Biclustering([], shape)
    with pytest.raises(SolutionError, match="at least one row"):
        Biclustering([], (0, 3))


def test_solution_for_another_shape():
    solution = Biclustering(PAIRS, (5, 6))
    with pytest.raises(
        SolutionError, match=r"shape \(5, 6\), but X has shape \(6, 5\)\. Were rows and columns swapped"
    ):
        solution.with_shape((6, 5))
    with pytest.raises(SolutionError, match=r"shape \(5, 6\), but X has shape \(9, 9\)\.$"):
        solution.with_shape((9, 9))


def test_unknown_shape_is_filled_in():
    solution = Biclustering(PAIRS)
    assert not solution.has_shape
    with pytest.raises(SolutionError, match="does not say the shape"):
        _ = solution.shape
    assert solution.with_shape((5, 6)).shape == (5, 6)
    with pytest.raises(SolutionError, match="uses row 4"):
        solution.with_shape((4, 6))


def test_empty_masks_are_dropped_with_one_warning():
    rows = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0]], dtype=bool)
    cols = np.array([[1, 0], [1, 1], [0, 0]], dtype=bool)
    with pytest.warns(EmptyBiclusterWarning, match=r"2 empty biclusters dropped: B2, B3\.") as caught:
        solution = Biclustering.from_masks(rows, cols)
    assert len(solution) == len(caught) == 1


@pytest.mark.parametrize(
    ("rows", "cols", "words"),
    [
        (np.ones((2, 3)), np.ones((1, 4)), "rows has 2 biclusters and cols has 1"),
        (np.ones(3), np.ones((1, 4)), "rows has 1 dimension"),
        (np.full((1, 3), 2), np.ones((1, 4)), "True and False"),
    ],
)
def test_bad_masks_are_refused(rows, cols, words):
    with pytest.raises(SolutionError, match=words):
        Biclustering.from_masks(rows, cols)


def test_from_estimators():
    X = np.random.default_rng(0).random((30, 20))
    model = SpectralCoclustering(n_clusters=3, random_state=0).fit(X)
    solution = Biclustering.from_estimator(model)
    assert solution.shape == (30, 20)
    for k, bicluster in enumerate(solution):
        rows, cols = model.get_indices(k)
        assert bicluster.rows.tolist() == rows.tolist()
        assert bicluster.cols.tolist() == cols.tolist()
    checkerboard = SpectralBiclustering(n_clusters=(3, 2), random_state=0).fit(X)
    assert len(Biclustering.from_estimator(checkerboard)) == 6
    with pytest.raises(
        SolutionError,
        match=r"SpectralCoclustering has neither rows_ and columns_ nor .*: call fit first, which has to set one",
    ):
        Biclustering.from_estimator(SpectralCoclustering())


def test_from_labels():
    board = Biclustering.from_labels([0, 0, 1], [1, 0, 1, 0])
    assert [b.shape for b in board] == [(2, 2), (2, 2), (1, 2), (1, 2)]
    diagonal = Biclustering.from_labels(["a", "b", "a"], ["b", "a"], diagonal=True)
    assert [(b.rows.tolist(), b.cols.tolist()) for b in diagonal] == [([0, 2], [1]), ([1], [0])]
    with pytest.warns(EmptyBiclusterWarning, match="1 empty"):
        assert len(Biclustering.from_labels([0, 1], [0, 0], diagonal=True)) == 1
    with pytest.raises(SolutionError, match="one label per row"):
        Biclustering.from_labels([[0]], [0])


@given(
    st.lists(
        st.tuples(
            st.sets(st.integers(0, 6), min_size=1).map(sorted), st.sets(st.integers(0, 3), min_size=1).map(sorted)
        ),
        max_size=5,
    )
)
def test_json_round_trip(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("json") / "solution.json"
    for shape in ((7, 4), None):
        solution = Biclustering(pairs, shape, info={"name": "été"})
        solution.to_json(path)
        again = Biclustering.from_json(path)
        assert again == solution
        assert again.info == solution.info


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "line 1: not valid JSON"),
        ("{}", 'the key "biclusters"'),
        ('{"schema": 7, "biclusters": []}', r'"schema" is .7.; this version of bivaluate reads schema 1'),
        ('{"schema": 1, "shape": [1], "biclusters": []}', r'"shape" is \[1\]'),
        ('{"schema": 1, "biclusters": {}}', '"biclusters" must be a list'),
        ('{"schema": 1, "biclusters": [{"rows": [0]}]}', "B1 must be an object"),
        ('{"schema": 1, "biclusters": [{"rows": 0, "cols": [0]}]}', "B1, rows: a list"),
        ('{"schema": 1, "biclusters": [{"rows": [0.5], "cols": [0]}]}', "'0.5' is neither an index nor a label"),
        ('{"schema": 1, "biclusters": [{"rows": ["a"], "cols": [0]}]}', "partly by index and partly by label"),
        ('{"schema": 1, "info": 3, "biclusters": []}', '"info" must be an object'),
        ("[" * 100_000, "nested too deeply|not valid JSON"),
    ],
)
def test_wrong_documents_are_refused(tmp_path, content, words):
    path = tmp_path / "solution.json"
    path.write_text(content)
    with pytest.raises(FormatError, match=words):
        Biclustering.from_json(path)


def test_members_by_label_need_a_matrix(tmp_path):
    path = tmp_path / "solution.json"
    path.write_text(json.dumps({"schema": 1, "shape": None, "biclusters": [{"rows": ["a"], "cols": ["b"]}]}))
    with pytest.raises(SolutionError, match="names its members by label; pair it with a matrix"):
        Biclustering.from_json(path)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(FileError, match=r"cannot read .*missing\.json: No such file"):
        Biclustering.from_json(tmp_path / "missing.json")
    with pytest.raises(FileError, match="cannot write"):
        Biclustering(PAIRS).to_json(tmp_path / "no" / "folder.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match="not UTF-8"):
        Biclustering.from_json(tmp_path / "binary.json")


def test_json_holds_numpy_numbers_of_the_info(tmp_path):
    info = {"k": np.int64(3), "scores": np.array([0.5, 1.5]), "found": Path("somewhere")}
    solution = Biclustering([([0], [1])], (2, 2), info=info)
    solution.to_json(tmp_path / "solution.json")
    assert Biclustering.from_json(tmp_path / "solution.json").info == {
        "k": 3,
        "scores": [0.5, 1.5],
        "found": "somewhere",
    }


@pytest.mark.parametrize(
    "call",
    [
        lambda solution: bivaluate.average_virtual_error(np.arange(12.0).reshape(4, 3) ** 2, solution),
        lambda solution: bivaluate.evaluate(np.arange(12.0).reshape(4, 3) ** 2, solution).scores["coverage"],
        lambda solution: bivaluate.compare(solution, solution, shape=(4, 3))["ce"],
    ],
)
def test_plain_pairs_and_estimators_are_solutions_too(call):
    pairs = [([0, 1, 3], [0, 1]), ([1, 2], [1, 2])]
    solution = Biclustering(pairs, (4, 3))

    class Fitted:
        rows_, columns_ = solution.row_masks, solution.col_masks

    assert call(pairs) == call(Fitted()) == call(solution)


def test_what_is_no_solution_is_refused_with_a_way_out():
    with pytest.raises(
        SolutionError, match=r"is of type dict; pass a Biclustering, a fitted estimator, or a list of pairs"
    ):
        bivaluate.evaluate(np.eye(3), {"rows": [0]})
    with pytest.raises(
        SolutionError, match=r'clusters of cells: Biclustering.from_labels\(\["all"\] \* n_rows, labels\)'
    ):
        bivaluate.evaluate(np.eye(3), np.array(["0", "1", "0"]))
    assert Biclustering.from_labels(["all"] * 3, ["0", "1", "0"]).names == ["all × 0", "all × 1"]


def test_nested_lists_are_no_indices():
    with pytest.raises(SolutionError, match="B1: rows must be a list of indices, but it holds lists"):
        Biclustering([([0, [1]], [0])], (2, 3))


def test_info_cannot_be_written_into():
    given = {"algorithm": "x"}
    solution = Biclustering(PAIRS, (5, 6), info=given)
    given["algorithm"] = "y"
    assert solution.info == {"algorithm": "x"}
    with pytest.raises(TypeError, match="does not support item assignment"):
        solution.info["algorithm"] = "y"
    with pytest.raises(AttributeError):
        solution.info = {}
    more = solution.with_info(seed=3, algorithm="z")
    assert more == solution
    assert more.info == {"algorithm": "z", "seed": 3}
    assert solution.info == {"algorithm": "x"}


def test_pickled_and_copied_solutions_are_the_same():
    solution = Biclustering(PAIRS, (5, 6), info={"algorithm": "x"})
    for same in (pickle.loads(pickle.dumps(solution)), copy.copy(solution), copy.deepcopy(solution)):
        assert same == solution
        assert hash(same) == hash(solution)
        assert same.info == solution.info


def test_slices_are_solutions():
    solution = Biclustering(PAIRS, (5, 6), info={"algorithm": "x"})
    assert isinstance(solution[:1], Biclustering)
    assert solution[:1] == solution.select([0])
    assert solution[::-1][0] == solution[1]
    assert solution[1:].shape == (5, 6)
    assert solution[1:].info == {"algorithm": "x"}


def test_biclusters_unpack_to_rows_and_columns():
    pairs = [(rows.tolist(), cols.tolist()) for rows, cols in Biclustering(PAIRS, (5, 6))]
    assert pairs == [([0, 1, 2], [0, 1]), ([3, 4], [2, 3, 5])]
    assert Biclustering(Biclustering(PAIRS, (5, 6)), (5, 6)) == Biclustering(PAIRS, (5, 6))


def test_solutions_of_one_matrix_add_up():
    first, second = Biclustering(PAIRS[:1], (5, 6), info={"algorithm": "x"}), Biclustering(PAIRS[1:], (5, 6))
    assert first + second == Biclustering(PAIRS, (5, 6))
    assert (first + second).info == {}
    assert first + Biclustering(PAIRS[1:]) == Biclustering(PAIRS[:1]) + second == Biclustering(PAIRS, (5, 6))
    with pytest.raises(SolutionError, match=r"shape \(5, 6\), but X has shape \(6, 5\)"):
        first + Biclustering(PAIRS[:1], (6, 5))
    with pytest.raises(SolutionError, match="B1 uses row 4, but X has 4 rows"):
        Biclustering(PAIRS[1:]) + Biclustering([([0], [0])], (4, 6))
    with pytest.raises(TypeError):
        first + PAIRS


def test_estimators_with_labels_only_and_pipelines():
    class Coclust:
        row_labels_, column_labels_ = [0, 1, 1], [0, 1]

    class Pipeline:
        steps = (("scale", object()), ("cocluster", Coclust()))

    solution = Biclustering.from_estimator(Coclust())
    assert solution == Biclustering([([0], [0]), ([1, 2], [1])], (3, 2)) == Biclustering.from_estimator(Pipeline())
    assert solution.info["algorithm"] == "Coclust"
    with pytest.raises(SolutionError, match="object has neither rows_ and columns_ nor row_labels_ and column_labels_"):
        Biclustering.from_estimator(object())


def test_hand_written_documents(tmp_path):
    path = tmp_path / "solution.json"
    path.write_text('{"biclusters": [{"rows": [0], "cols": [1]}]}')
    assert Biclustering.from_json(path) == Biclustering([([0], [1])])
    for content in ("[[[0], [1]]]", '{"biclusters": [{"rows": [0], "columns": [1]}]}'):
        path.write_text(content)
        assert Biclustering.from_json(path) == Biclustering([([0], [1])])
    path.write_text("[]")
    assert len(Biclustering.from_json(path)) == 0
    path.write_text("3")
    with pytest.raises(FormatError, match=r"(?s)biclusters.*rows"):
        Biclustering.from_json(path)


def test_many_empty_masks_are_counted():
    with pytest.warns(EmptyBiclusterWarning, match=r"12 empty biclusters dropped: B1, .*, B10 and 2 more\.$"):
        Biclustering.from_masks(np.zeros((12, 3)), np.zeros((12, 2)))


def test_labels_are_refused_with_the_way_to_their_positions():
    with pytest.raises(SolutionError, match=r"found 'g0'\. Labels are looked up where a matrix has them"):
        Biclustering([(["g0", "g1"], [0, 1])])
    with pytest.raises(SolutionError, match=r"columns must be whole numbers counted from 0, found 0\.5\.$"):
        Biclustering([([0, 1], [0.5, 1.0])])


def test_a_bicluster_that_is_not_there_is_told_which_are():
    solution = Biclustering([([0], [1]), ([1], [0])])
    for ask in (lambda: solution[5], lambda: solution.select([0, 5])):
        with pytest.raises(SolutionError, match=r"no bicluster at 5; the solution has B1 at 0, B2 at 1\.") as caught:
            ask()
        assert isinstance(caught.value, IndexError)
    with pytest.raises(IndexError, match=r"no bicluster at -1; the solution has none\."):
        solution[:0][-1]
    assert list(reversed(solution)) == [solution[1], solution[0]]


@pytest.fixture(scope="module")
def planted():
    return make_biclusters((60, 40), 3, noise=3, random_state=3)


def test_masks_as_scikit_learn_has_them(planted):
    X, rows, cols = planted
    model = SpectralCoclustering(3, random_state=0).fit(X)
    expected = Biclustering.from_masks(rows, cols)
    assert bivaluate.evaluate(X, (rows, cols)).solution == expected
    assert bivaluate.compare((rows, cols), model, metrics="consensus")["consensus"] == consensus_score(
        model.biclusters_, (rows, cols)
    )
    assert bivaluate.compare(model.biclusters_, [rows, cols]) == bivaluate.compare(model, expected)


def test_pairs_of_masks(planted):
    X, rows, cols = planted
    expected = Biclustering.from_masks(rows, cols)
    pairs = [(pd.Series(r), c.tolist()) for r, c in zip(rows, cols, strict=True)]
    assert bivaluate.evaluate(X, pairs).solution == expected
    assert bivaluate.evaluate(pd.DataFrame(X).add_prefix("c"), pairs).solution == expected
    assert bivaluate.compare(pairs, expected, metrics="ce") == {"ce": 1.0}
    assert Biclustering.from_masks(*zip(*pairs, strict=True)) == expected
    assert Biclustering([(rows[0], np.flatnonzero(cols[0]))], X.shape)[0] == expected[0]
    with pytest.raises(SolutionError, match="B1 is empty: it has no rows"):
        Biclustering([(np.zeros(60, dtype=bool), cols[0])])
    with pytest.raises(SolutionError, match="B1: rows are a mask of 40 values True or False, but X has 60 rows"):
        bivaluate.evaluate(X, [(cols[0], rows[0])])


def test_labels_of_a_frame_reach_members_and_blocks():
    frame = pd.DataFrame(np.arange(30.0).reshape(5, 6), index=list("abcde"), columns=list("uvwxyz"))
    solution = Biclustering([([1, 3], [0, 2])], frame.shape)
    assert solution.to_frame(frame)["label"].tolist() == ["b", "d", "u", "w"]
    pd.testing.assert_frame_equal(solution[0].of(frame), frame.loc[["b", "d"], ["u", "w"]])
    for X in (frame.to_numpy(), bivaluate.Matrix(frame)):
        np.testing.assert_array_equal(solution[0].of(X), [[6, 8], [18, 20]])


def test_warnings_point_at_the_caller():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(5, 6)), columns=list("uvwxyz"))
    with pytest.warns(bivaluate.LabelWarning, match="left out: 'vv'") as told:
        bivaluate.evaluate(frame, [([0, 1, 2], ["u", "v", "vv"])])
    assert [str(one.filename) for one in told if one.category is bivaluate.LabelWarning] == [__file__]
    with pytest.warns(EmptyBiclusterWarning) as told:
        bivaluate.compare([([0], [0])], (np.eye(2, 3) > 0, np.eye(2, 1) > 0), metrics="ce")
    assert told[0].filename == __file__


def test_genes_are_not_spoken_of_where_rows_are_something_else():
    X = np.random.default_rng(0).normal(size=(30, 12))
    X[:10, :5] += 4
    frame = pd.DataFrame(X, index=[f"wine{i}" for i in range(30)])
    told = bivaluate.evaluate(frame, [(range(10), range(5))]).verdict
    assert told.headline == "The bicluster is supported."
    assert not any("enrich" in step for step in told.next_steps)


def test_rows_and_columns_are_items_of_a_bicluster():
    found = Biclustering([([0, 1], [2])], (3, 3))[0]
    assert [found[0].tolist(), found[1].tolist()] == [[0, 1], [2]]


@pytest.mark.parametrize("k", [3, 100])
def test_many_biclusters_are_checked_as_few_are(k):
    pairs = [(np.arange(i % 7, 9), np.arange(i % 3, 6)) for i in range(k)]
    found = Biclustering(pairs, (9, 6))
    assert found == Biclustering([(list(rows), list(cols)) for rows, cols in pairs], (9, 6))
    pairs[0][0][0] = 8
    assert found[0].rows.tolist() == list(range(9))
    for wrong in ([4, 9], [-1, 2], [2, 2], []):
        with pytest.raises(SolutionError, match="B3"):
            Biclustering([*pairs[1:3], (np.array(wrong, dtype=np.int64), np.arange(2)), *pairs[3:]], (9, 6))
