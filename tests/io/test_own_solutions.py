"""bivaluate JSON and membership tables: by index, by label, both; shapes; faults."""

import json

import numpy as np
import pytest

from bivaluate import (
    Biclustering,
    EmptyBiclusterWarning,
    FileError,
    FormatError,
    LabelWarning,
    Matrix,
    ParameterError,
    SolutionError,
    read_solution,
    write_solution,
)
from bivaluate.io.solutions import read_members

X = Matrix(np.zeros((5, 4)), ("g1", "g2", "g3", "g4", "g5"), ("c1", "c2", "c3", "c4"))
S = Biclustering([([0, 2], [1, 3]), ([1, 2, 4], [0])], (5, 4))


@pytest.fixture
def put(tmp_path):
    def write(content, name="s.json"):
        path = tmp_path / name
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def document(biclusters, **more):
    return {"schema": 1, "shape": None, "biclusters": biclusters, **more}


def test_json_by_index_and_by_label(put):
    by_index = put(document([{"rows": [2, 0], "cols": [3, 1]}, {"rows": [1, 2, 4], "cols": [0]}]))
    by_label = put(
        document([{"rows": ["g1", "g3"], "cols": ["c2", "c4"]}, {"rows": ["g2", "g3", "g5"], "cols": ["c1"]}]), "l.json"
    )
    assert read_solution(by_index, X) == S
    assert read_solution(by_label, X) == S
    assert read_solution(by_label, X.to_frame()) == S
    assert not read_solution(by_index).has_shape
    assert read_solution(by_index, np.zeros((5, 4))).shape == (5, 4)
    with pytest.raises(SolutionError, match=r"names its members by label; give the matrix"):
        read_solution(by_label)
    with pytest.raises(SolutionError, match=r"X has no row labels"):
        read_solution(by_label, np.zeros((5, 4)))


@pytest.mark.parametrize("name", ["s.json", "s.csv", "s.tsv", "s.txt", "s.csv.gz", "s.bic"])
@pytest.mark.parametrize("matrix", [None, X], ids=["without-X", "with-X"])
def test_round_trips(tmp_path, name, matrix):
    write_solution(S, tmp_path / name, X=matrix)
    assert read_solution(tmp_path / name, X) == S
    reordered = Matrix(X.values, X.row_labels[::-1], X.col_labels)
    if matrix is not None and name != "s.csv.gz":
        assert read_solution(tmp_path / name, reordered)[0].rows.tolist() == [2, 4]


def test_biclustlib_round_trip(tmp_path):
    write_solution(S, tmp_path / "b.json", format="biclustlib")
    content = json.loads((tmp_path / "b.json").read_text())
    assert content["__module__"] == "biclustlib.models"
    assert content["biclusters"][0] == [[0, 2], [1, 3]]
    assert read_solution(tmp_path / "b.json", X) == S


def test_info_is_kept(tmp_path):
    write_solution(Biclustering(S, (5, 4), info={"algorithm": "las"}), tmp_path / "s.json")
    assert read_solution(tmp_path / "s.json").info == {"algorithm": "las"}


LISTS = "bicluster,rows,cols\nB1,g1 g3,c2 c4\nB2,g2 g3 g5,c1\n"
LONG = "bicluster,axis,label\n" + "".join(
    f"B{k},{axis},{m}\n"
    for k, axis, members in [(1, "row", "g1 g3"), (1, "column", "c2 c4"), (2, "row", "g2 g3 g5"), (2, "col", "c1")]
    for m in members.split()
)
MATRIX = (
    "axis,label,B1,B2\nrow,g1,1,0\nrow,g2,0,1\nrow,g3,1,1\nrow,g4,0,0\nrow,g5,0,1\n"
    "column,c1,0,1\ncolumn,c2,1,0\ncolumn,c3,0,0\ncolumn,c4,1,0\n"
)


@pytest.mark.parametrize("text", [LISTS, LONG, MATRIX, LISTS.replace(",", "\t"), LISTS.replace(" ", ";")])
def test_membership_layouts(put, text):
    assert read_solution(put(text, "s.csv"), X) == S


def test_zeros_and_ones_without_an_axis(put):
    text = MATRIX.replace("axis,", "").replace("row,", "").replace("column,", "")
    path = put(text, "s.csv")
    assert read_solution(path, X, format="csv") == S
    with pytest.raises(FormatError, match=r"In a table of zeros and ones, put a column 'axis' \(row or column\) in fr"):
        read_solution(path, X)
    alike = Matrix(X.values, X.row_labels, ("c1", "c2", "c3", "g1"))
    for matrix in (None, X.values, alike):
        with pytest.raises(FormatError, match=r"line 2: nothing tells whether 'g1' is a row or a column of the matrix"):
            read_solution(path, matrix, format="csv")


PAIRS = [[["g1", "g3"], ["c2", "c4"]], [["g2", "g3", "g5"], ["c1"]]]
NUMBERS = [[[0, 2], [1, 3]], [[1, 2, 4], [0]]]
BY_HAND = [
    PAIRS,
    NUMBERS,
    {"biclusters": PAIRS},
    {"biclusters": NUMBERS},
    [{"rows": r, "columns": c} for r, c in PAIRS],
    [{"genes": r, "samples": c} for r, c in PAIRS],
    {"biclusters": [{"genes": r, "conditions": c} for r, c in NUMBERS]},
    {"biclusters": [{"row_labels": r, "col_labels": c} for r, c in PAIRS]},
]


@pytest.mark.parametrize("content", BY_HAND)
def test_json_by_hand(put, content):
    assert read_solution(put(content), X) == S


def test_a_label_for_each_row_and_column(put, tmp_path):
    pairs = Biclustering([([0, 2], [1, 3]), ([1, 4], [0])], (5, 4))
    content = {"row_labels": ["a", "b", "a", "c", "b"], "column_labels": ["b", "a", "d", "a"]}
    with pytest.warns(EmptyBiclusterWarning, match=r"2 labels without both rows and columns dropped"):
        assert read_solution(put(content)) == pairs
    np.savez(tmp_path / "labels.npz", row_labels=[0, 1, 0, 1, 1], column_labels=[1, 0, 0, 0])
    assert read_solution(tmp_path / "labels.npz") == Biclustering([([0, 2], [1, 2, 3]), ([1, 3, 4], [0])], (5, 4))


@pytest.mark.parametrize("names", [("rows", "columns"), ("rows", "cols"), ("rows_", "columns_")])
def test_masks_of_numpy(tmp_path, names):
    masks = dict(zip(names, (S.row_masks, S.col_masks), strict=True))
    np.savez(tmp_path / "s.npz", **masks)
    assert read_solution(tmp_path / "s.npz", X) == S
    np.savez_compressed(tmp_path / "s.npz", **{name: mask.astype(float) for name, mask in masks.items()})
    assert read_solution(tmp_path / "s.npz") == S
    np.savez(tmp_path / "s.npz", **{names[0]: S.row_masks, names[1]: S.col_masks[:1]})
    with pytest.raises(FormatError, match=r"rows has 2 biclusters and cols has 1"):
        read_solution(tmp_path / "s.npz")
    np.savez(tmp_path / "s.npz", a=S.row_masks)
    with pytest.raises(FormatError, match=r"the arrays 'rows' and 'columns' are needed"):
        read_solution(tmp_path / "s.npz", format="masks")


@pytest.mark.parametrize("name", ["H", "components", "components_"])
def test_factors_of_numpy(tmp_path, name):
    blocks = Biclustering([([0, 2], [1, 3]), ([1, 4], [0])], (5, 4))
    W, H = blocks.row_masks.T * 3 + 0.1, blocks.col_masks * 2 + 0.1
    path = tmp_path / "factors.npz"
    np.savez(path, **{"W": W, name: H})
    assert read_solution(path, X) == blocks
    assert read_solution(path, X, rule="top:0.5") == Biclustering.from_factors(W, H, rule="top:0.5")
    assert read_solution(path).info["rule"] == "mixture"
    np.savez(path, **{"W": W, name: H.T})
    with pytest.raises(FormatError, match=r"factors\.npz: W has 2 factors \(columns\) and H has 4 \(rows\)"):
        read_solution(path)
    np.savez(path, W=W)
    with pytest.raises(FormatError, match=r"the arrays 'W' and 'H' are needed"):
        read_solution(path, format="factors")


def test_other_arrays_of_numpy_are_named(tmp_path):
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "s.npz", W=np.ones((5, 2)), H=np.ones((2, 4)), X=np.ones((5, 4)))
        with pytest.raises(FormatError, match=r"or factors 'W' and 'H', and nothing else; arrays found: H, W, X\."):
            read_solution(tmp_path / "s.npz")
    np.savez(tmp_path / "s.npz", rows=S.row_masks, columns=S.col_masks)
    with pytest.raises(ParameterError, match="holds members, not loadings"):
        read_solution(tmp_path / "s.npz", rule="sd:1")


@pytest.mark.parametrize(
    "text",
    [
        LISTS.replace("rows,cols", "genes,conditions"),
        LISTS.replace("bicluster,rows,cols", "id,samples,genes")
        .replace("g1 g3,c2 c4", "c2 c4,g1 g3")
        # the columns may stand in any order
        .replace("g2 g3 g5,c1", "c1,g2 g3 g5"),
        'module,genes,samples\n1,"g1, g3","c2, c4"\n2,"g2,g3,g5",c1\n',
    ],
)
def test_tables_by_hand(put, text):
    assert read_solution(put(text, "s.csv"), X) == S


def test_genes_and_their_clusters(put):
    whole = Biclustering([([0, 2], range(4)), ([1, 4], range(4))], (5, 4))
    text = "gene,cluster\ng1,7\ng3,7\ng2,8\ng5,8\ng4,\n"
    assert read_solution(put(text, "s.csv"), X) == whole
    assert read_solution(put("cluster\tgenes\n1\t0\n1\t2\n2\t1\n2\t4\n", "s.tsv"), np.zeros((5, 4))) == whole
    assert read_solution(put("row,cluster\n1,a\n3,a\n2,b\n5,b\n", "s.csv"), np.zeros((5, 4)), index_base=1) == whole
    columns = read_solution(put("sample,group\nc1,x\nc3,x\nc2,y\n", "s.csv"), X)
    assert columns == Biclustering([(range(5), [0, 2]), (range(5), [1])], (5, 4))
    with pytest.raises(SolutionError, match=r"names the rows of each cluster, so that each has every column"):
        read_solution(put(text, "s.csv"))


@pytest.mark.parametrize(
    "text",
    [
        "gene,moduleColor,kME\ng1,blue,0.9\ng3,blue,0.8\ng2,grey,0.1\ng5,grey,0.2\n",
        '"","moduleColor"\n"g1","blue"\n"g3","blue"\n"g2","grey"\n"g5","grey"\n',
        '"","module","gene"\n"1","blue","g1"\n"2","blue","g3"\n"3","grey","g2"\n"4","grey","g5"\n',
        ",module\ng1,blue\ng3,blue\ng2,grey\ng5,grey\n",
        "g1\tblue\ng3\tblue\ng2\tgrey\ng5\tgrey\n",
        "group,names,scores\nblue,g1,9\nblue,g3,8\ngrey,g2,7\ngrey,g5,6\n",
        "group,names,scores,pvals_adj\nblue,g1,9,0.01\nblue,g3,8,0.05\nblue,g4,7,0.06\ngrey,g2,7,0\ngrey,g5,6,0\n"
        "grey,g1,-9,0\n",
        "# of the WGCNA\n\ng1,blue\ng3,blue\ng2,grey\ng5,grey\n",
    ],
)
def test_modules_as_wgcna_users_keep_them(put, text):
    found = read_solution(put(text, "modules.tsv"), X)
    assert found == Biclustering([([0, 2], range(4)), ([1, 4], range(4))], (5, 4))
    assert found.names == ["blue", "grey"]


def test_a_module_without_header_keeps_the_numbers_of_its_lines(put):
    with pytest.warns(LabelWarning, match=r"'x9' \(line 1\)"):
        read_solution(put("x9\tblue\ng1\tblue\ng2\tgrey\n", "modules.tsv"), X)


@pytest.mark.parametrize("text", ["a,b\nc,d\n", "g1,0.5\ng2,0.5\ng3,1\n", "g1,blue\ng1,grey\ng2,blue\n"])
def test_two_columns_that_are_no_modules_are_told_what_to_call_them(put, text):
    with pytest.raises(FormatError, match="call the columns gene,module"):
        read_solution(put(text, "two.csv"), X)


def test_refusals_show_three_lines(put):
    for content, name in (("dear diary\n", "d.txt"), ("[1, 2]", "s.json"), ('{"clusters": 3}', "s.json")):
        with pytest.raises(FormatError, match=r"An example:\n  .*\n  .*\n  .*$"):
            read_solution(put(content, name))


def test_members_that_fit_nowhere_say_what_to_do(put):
    strange = put([[["x1", "x2"], ["c1"]], [["x3"], ["c2"]]])
    with pytest.raises(
        SolutionError, match=r"none of its 3 row labels is in X. It has x1, x2, x3; X has g1, g2, g3 and"
    ):
        read_solution(strange, X)
    with pytest.raises(SolutionError, match=r"3 differ in upper and lower case only: write them as X does."):
        read_solution(put([[["G1", "G2"], ["c1"]], [["G3"], ["c2"]]]), X)
    with pytest.raises(SolutionError, match=r"Read the solution with index_base=1"):
        read_solution(put([[[1, 5], [1, 4]]]), np.zeros((5, 4)))
    with pytest.raises(SolutionError, match=r"Read the matrix with transpose=True"):
        read_solution(put(document([], shape=[4, 5])), np.zeros((5, 4)))
    with pytest.raises(SolutionError, match=r"more than once.$"):
        read_solution(put([[[1, 1], [1, 2]]]), np.zeros((5, 4)))


def test_membership_by_index(put):
    text = "bicluster,rows,cols\nB1,0 2,1 3\nB2,1 2 4,0\n"
    assert read_solution(put(text, "s.csv"), (np.zeros((5, 4)))) == S
    one_based = "bicluster;rows;cols\nB1;1 3;2 4\nB2;2 3 5;1\n"
    assert read_solution(put(one_based, "s.csv"), np.zeros((5, 4)), index_base=1) == S
    assert read_solution(put(MATRIX, "m.csv")).shape == (5, 4)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"schema": 1, "biclusters": [', "line 1: not valid JSON"),
        ('{"schema": 1,\n "biclusters": }', "line 2: not valid JSON"),
        ("{}", 'the key "biclusters" is needed'),
        ("[1, 2]", 'B1 must be an object with "rows" and "cols", or a pair'),
        (document([], schema=9), "'9'; this version of bivaluate reads schema 1"),
        (document([], shape=[5]), r'"shape" is \[5\]'),
        (document([], shape=[5, 0]), "rows, columns"),
        (document({}), '"biclusters" must be a list'),
        (document([{"rows": [0]}]), 'B1 must be an object with "rows" and "cols"'),
        (document([{"rows": [0], "cols": 3}]), "B1, cols: a list of indices or labels"),
        (document([{"rows": [0.5], "cols": [1]}]), "B1, rows: '0.5' is neither an index nor a label"),
        (document([{"rows": [True], "cols": [1]}]), "neither an index nor a label"),
        (document([{"rows": [0], "cols": ["c1"]}]), "partly by index and partly by label"),
        (document([{"rows": [1 << 70], "cols": [1]}]), "too large for an index"),
        (document([{"rows": [0], "cols": [1], "row_labels": ["a", "b"], "col_labels": ["c"]}]), "one label for each"),
        (document([], info=3), '"info" must be an object'),
        (document([], info=json.loads('{"a":' * 40 + "1" + "}" * 40)), "nested too deeply"),
        ("[" * 100000 + "]" * 100000, "nested too deeply|biclusters"),
        ('{"schema": 1, "shape": [NaN, 2], "biclusters": []}', "not valid JSON"),
        ('{"schema": 1, "shape": [' + "9" * 5000 + ', 2], "biclusters": []}', "not valid JSON"),
    ],
)
def test_wrong_json(put, content, words):
    with pytest.raises(FormatError, match=words):
        read_solution(put(content), X)


@pytest.mark.parametrize(
    ("biclusters", "words"),
    [
        ([{"rows": [0], "cols": [4]}], r"B1 uses column 4, but X has 4 columns"),
        ([{"rows": [-1], "cols": [1]}], "never negative"),
        ([{"rows": [1, 1], "cols": [1]}], "lists row 1 more than once"),
        ([{"rows": [], "cols": [1]}], "B1 is empty"),
        ([{"rows": ["gg3"], "cols": ["c1"]}], r"B1 names row 'gg3', which X does not have\. Did you mean 'g3'"),
        (
            [{"rows": ["c1"], "cols": ["c2"]}],
            "B1 names row 'c1', which is a column of X. Were rows and columns swapped",
        ),
    ],
)
def test_members_that_do_not_fit(put, biclusters, words):
    with pytest.raises(SolutionError, match=words):
        read_solution(put(document(biclusters)), X)


def test_solution_of_another_shape(put):
    path = put(document([{"rows": [0], "cols": [1]}], shape=[4, 5]))
    with pytest.raises(SolutionError, match=r"shape \(4, 5\), but X has shape \(5, 4\).*Transpose one of them"):
        read_solution(path, X)
    with pytest.raises(SolutionError, match=r"Transpose"):
        read_solution(put(document([{"rows": ["c1"], "cols": ["g1"]}], shape=[4, 5])), X)


def test_repeated_labels(put):
    twice = Matrix(X.values, ("g1", "g1", "g3", "g4", "g5"), X.col_labels)
    with pytest.raises(SolutionError, match=r"a label X has 2 times"):
        read_solution(put(LISTS, "s.csv"), twice)
    assert read_solution(put("bicluster,rows,cols\nB1,g3 g4,c1\n", "s.csv"), twice)[0].rows.tolist() == [2, 3]


def test_labels_beside_indices_follow_a_reordered_matrix(tmp_path):
    write_solution(S, tmp_path / "s.json", X=X)
    reordered = Matrix(X.values, X.row_labels[::-1], X.col_labels)
    assert read_solution(tmp_path / "s.json", reordered)[0].rows.tolist() == [2, 4]
    assert read_solution(tmp_path / "s.json", reordered, members="index") == S
    with pytest.warns(LabelWarning, match=r"has no labels: members are taken by position, .*members='index'"):
        assert read_solution(tmp_path / "s.json", np.zeros((5, 4))) == S
    assert read_solution(tmp_path / "s.json", np.zeros((5, 4)), members="index") == S
    document, _ = read_members(tmp_path / "s.json", members="label")
    assert document.members[0] == (["g1", "g3"], ["c2", "c4"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bicluster,rows,cols\nB1,g1\n", "line 2 has 2 fields, but the header has 3"),
        ("bicluster,rows,cols\nB1,g1,\n", "line 2: the bicluster has no columns"),
        ('bicluster,rows,cols\nB1,"g1,c1\n', "line 2: unexpected end of data"),
        (LONG.replace("B1,row,g1", "B1,diagonal,g1"), "line 2: axis is 'diagonal'; 'row' or 'column' is needed"),
        ("bicluster,axis,index\nB1,row,x\n", "line 2: index 'x' is not a whole number"),
        ("bicluster,axis,index,label\nB1,row,,\n", "line 2: neither an index nor a label"),
        ("bicluster,axis,index,label\nB1,row,1,\nB1,column,,c1\n", "some members have only an index"),
        (MATRIX.replace("row,g2,0,1", "row,g2,0,2"), "line 3: cell '2' under 'B2'; 0 or 1 is needed"),
        ("axis,label,B1\nrow,g1,1\n", "lines for both axes are needed"),
    ],
)
def test_damaged_membership_names_the_line(put, text, words):
    with pytest.raises(FormatError, match=words):
        read_solution(put(text, "s.csv"), X)


def test_numbers_that_are_both_labels_and_positions(put):
    numbered = Matrix(np.zeros((5, 4)), tuple("12345"), tuple("1234"))
    path = put("bicluster,rows,cols\nB1,1 2,2 3\n", "s.csv")
    with pytest.raises(SolutionError, match=r"both labels and positions of X, and the two disagree"):
        read_solution(path, numbered)
    assert read_solution(path, numbered, members="label")[0].rows.tolist() == [0, 1]
    assert read_solution(path, numbered, index_base=0)[0].rows.tolist() == [1, 2]
    assert read_solution(path, numbered, index_base=1)[0].rows.tolist() == [0, 1]
    entrez = Matrix(np.zeros((5, 4)), ("7157", "4609", "3845", "1956", "672"), X.col_labels)
    assert read_solution(put("bicluster,rows,cols\nB1,4609 672,c1\n", "e.csv"), entrez)[0].rows.tolist() == [1, 4]


def test_wrong_arguments(put, tmp_path):
    path = put(LISTS, "s.csv")
    with pytest.raises(ParameterError, match=r"counted from 0 or from 1"):
        read_solution(path, X, index_base=2)
    with pytest.raises(ParameterError, match=r"Did you mean 'label'"):
        read_solution(path, X, members="labels")
    with pytest.raises(ParameterError, match=r"Did you mean 'qubic'"):
        read_solution(path, X, format="qubc")
    with pytest.raises(SolutionError, match=r"names, not indices"):
        read_solution(path, X, index_base=0)
    with pytest.raises(SolutionError, match=r"Are they counted from 0"):
        read_solution(put("bicluster,rows,cols\nB1,0 1,1\n", "z.csv"), np.zeros((5, 4)), index_base=1)
    with pytest.raises(FileError, match=r"No such file"):
        read_solution(tmp_path / "none.json")
    with pytest.raises(FormatError, match=r"is not in any format of biclusters that bivaluate knows"):
        read_solution(put("dear diary\n", "d.txt"))
    with pytest.raises(FormatError, match=r"is empty"):
        read_solution(put("", "e.txt"))
    with pytest.raises(ParameterError, match=r"cannot tell the format"):
        write_solution(S, tmp_path / "s.what")
    with pytest.raises(SolutionError, match=r"shape"):
        write_solution(S, tmp_path / "s.json", X=np.zeros((2, 2)))
