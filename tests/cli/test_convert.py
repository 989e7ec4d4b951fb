"""`bivaluate convert`: with and without a matrix, both kinds, faults."""

import json

import numpy as np
import pytest

from bivaluate import read_matrix

R_TEXT = "CC demo\n2 2\ng1 g3\nb d\n1 2\ng2\na b\n"
BLOCKS = "BC000\tS=4\n Genes [2]: g1 g3 \n Conds [2]: b d \n\nBC001\tS=2\n Genes [1]: g2 \n Conds [2]: a b \n"


@pytest.fixture
def files(example):
    (example / "r.txt").write_text(R_TEXT)
    (example / "q.blocks").write_text(BLOCKS)
    return example


def biclusters(path):
    return [(b["rows"], b["cols"]) for b in json.loads(path.read_text())["biclusters"]]


def test_labels_stay_labels_without_a_matrix(run, files):
    for name in ("r.txt", "q.blocks"):
        done = run("convert", name, "out.json")
        assert done.code == 0
        assert "2 biclusters, members by label" in done.err
        assert biclusters(files / "out.json") == [(["g1", "g3"], ["b", "d"]), (["g2"], ["a", "b"])]
    assert run("convert", "out.json", "out.csv").code == 0
    assert run("convert", "out.csv", "again.txt").code == 0
    assert (files / "again.txt").read_text().split("\n", 1)[1] == R_TEXT.split("\n", 1)[1]
    scored = run("score", "matrix.csv", "out.json", "out.csv", "again.txt", "--json")
    assert scored.code == 0
    assert len({json.dumps(s["scores"]) for s in json.loads(scored.out)}) == 1


def test_labels_become_indices_with_the_matrix(run, files):
    assert run("convert", "r.txt", "out.json", "--matrix", "matrix.csv").code == 0
    content = json.loads((files / "out.json").read_text())
    assert content["shape"] == [5, 6]
    assert biclusters(files / "out.json") == [([0, 2], [1, 3]), ([1], [0, 1])]
    assert content["biclusters"][0]["row_labels"] == ["g1", "g3"]
    assert run("convert", "out.json", "peer.json", "--format", "biclustlib").code == 0
    assert json.loads((files / "peer.json").read_text())["biclusters"][0] == [[0, 2], [1, 3]]
    assert run("convert", "peer.json", "back.txt", "--matrix", "matrix.csv").code == 0
    assert (files / "back.txt").read_text().split("\n", 1)[1] == R_TEXT.split("\n", 1)[1]


@pytest.mark.parametrize(
    ("words", "members"),
    [
        (["solution.json", "out.json"], "index"),
        (["solution.json", "out.json", "--matrix", "matrix.csv"], "index and label"),
        (["solution.json", "out.csv", "--matrix", "matrix.csv"], "index and label"),
        (["solution.json", "out.txt", "--matrix", "matrix.csv"], "label"),
        (["solution.json", "out.txt"], "index"),
        (["solution.json", "out.json", "--matrix", "matrix.csv", "--format", "biclustlib"], "index"),
        (["r.txt", "out.csv"], "label"),
    ],
)
def test_what_the_file_holds_is_said(run, files, words, members):
    done = run("convert", *words)
    assert done.code == 0, done.err
    assert done.err.strip().endswith(f"biclusters, members by {members}")


def test_indices_stay_indices_without_a_matrix(run, files):
    assert run("convert", "solution.json", "r_numbers.txt").code == 0
    assert (files / "r_numbers.txt").read_text().split("\n")[1:4] == ["3 4", "1 2 3", "1 2 3 4"]
    assert run("convert", "r_numbers.txt", "back.json").code == 0
    assert biclusters(files / "back.json") == biclusters(files / "solution.json")


def test_labels_cannot_become_indices_alone(run, files):
    done = run("convert", "r.txt", "peer.json", "--format", "biclustlib")
    assert done.code == 2
    assert "labels only: give the matrix as well" in done.err
    assert not (files / "peer.json").exists()


def test_index_base_and_item(run, files):
    (files / "bicat.txt").write_text("2 1\n1 2\n1\n")
    assert run("convert", "bicat.txt", "zero.json").code == 0
    assert run("convert", "bicat.txt", "one.json", "--index-base", "1").code == 0
    assert biclusters(files / "zero.json") == [([1, 2], [1])]
    assert biclusters(files / "one.json") == [([0, 1], [0])]
    (files / "many.json").write_text('[{"biclusters": [[[0], [1]]]}, {"biclusters": [[[2], [3]]]}]')
    assert "holds 2 biclusterings" in run("convert", "many.json", "x.json").err
    assert run("convert", "many.json", "x.json", "--item", "1").code == 0
    assert biclusters(files / "x.json") == [([2], [3])]


def test_matrices(run, files):
    assert run("convert", "matrix.csv", "matrix.npz").code == 0
    assert run("convert", "matrix.npz", "turned.tsv", "--transpose").code == 0
    turned, X = read_matrix(files / "turned.tsv"), read_matrix(files / "matrix.csv")
    np.testing.assert_array_equal(turned.values.T, X.values)
    assert turned.row_labels == X.col_labels
    (files / "two.csv").write_text("1,2\n3,4\n5,6\n7,8\n")
    assert run("convert", "two.csv", "two.npy").code == 0
    assert read_matrix(files / "two.npy").shape == (4, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.txt", "x.json"], "cannot read none.txt"),
        (["r.txt", "x.what"], "cannot tell the format of x.what"),
        (["r.txt", "x.json", "--format", "qubic"], "to is|format is 'qubic'"),
        (["r.txt", "x.json", "--solution-format", "qubicc"], "Did you mean 'qubic'"),
        (["r.txt", "x.json", "--transpose"], "is a solution; name its matrix with --matrix"),
        (["r.txt", "x.json", "--layer", "counts"], "is a solution; name its matrix with --matrix"),
        (["r.txt", "no/x.json"], "cannot write no/x.json"),
        (["solution.json", "x.json", "--matrix", "matrix.csv", "--transpose"], "Were rows and columns swapped"),
    ],
)
def test_faults(run, files, words, message):
    import re

    done = run("convert", *words)
    assert done.code == 2
    assert re.search(message, done.err)
    assert not (files / "x.json").exists()


def test_formats_are_listed(run):
    done = run("convert", "--formats")
    assert done.code == 0
    for key in ("qubic", "r-text", "h5ad", "score-tables"):
        assert key in done.out
