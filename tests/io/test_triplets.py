"""user item rating: recognised, read as a sparse matrix, or refused; never silently n x 3."""

import numpy as np
import pytest

from bivaluate import FormatError, read_matrix

CELLS = [("3", "20", 4.0), ("1", "7", 5.0), ("3", "7", 1.5), ("10", "20", 2.0), ("1", "100", 3.0)]
VALUES = np.array([[5.0, 0, 3], [1.5, 4, 0], [0, 2, 0]])  # rows 1, 3, 10; columns 7, 20, 100


def text(delimiter, header=None, time=False, names=lambda key: key):
    lines = [header] if header else []
    for user, item, value in CELLS:
        cells = [names(user), names(item), f"{value:g}", *(["881250949"] if time else [])]
        lines.append(delimiter.join(cells))
    return "\n".join(lines) + "\n"


@pytest.fixture
def put(tmp_path):
    def write(content, name="ratings.csv"):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    "content",
    [
        text("\t", time=True),
        text("::"),
        text("::", time=True),
        text(",", "userId,movieId,rating"),
        text(",", "userId,movieId,rating,timestamp", time=True),
        text("\t", "user_id:token\titem_id:token\trating:float\ttimestamp:float", time=True),
        text(" ", "row col value"),
        text(",", '"document","word","count"'),
    ],
)
@pytest.mark.parametrize("name", ["ratings.csv", "u.data", "ratings.txt"])
def test_recognised(put, content, name):
    X = read_matrix(put(content, name))
    assert X.sparse
    assert (X.row_labels, X.col_labels) == (("1", "3", "10"), ("7", "20", "100"))
    np.testing.assert_array_equal(X.values, VALUES)


def test_words_as_keys(put):
    X = read_matrix(put(text("\t", names=lambda key: f"k{key}")))
    assert X.row_labels == ("k3", "k1", "k10")
    assert X.col_labels == ("k20", "k7", "k100")
    assert X.values[0].tolist() == [4, 1.5, 0]


@pytest.mark.parametrize("content", [text("\t"), text(","), text(" "), text(",", "a,b,c")])
def test_numbers_alone_are_refused_until_it_is_said(put, content):
    path = put(content)
    with pytest.raises(FormatError, match=r"three columns.*that repeat.*format='triplets' or format='csv'"):
        read_matrix(path)
    np.testing.assert_array_equal(read_matrix(path, format="triplets").values, VALUES)
    assert read_matrix(path, format="csv").shape == (5, 3)


@pytest.mark.parametrize(
    ("content", "shape"),
    [
        ("1,2,3\n4,5,6\n7,8,9\n", (3, 3)),
        ("gene,c1,c2\ng1,1,2\ng2,1,2\n", (2, 2)),
        ("0.5,1,3\n0.5,1,6\n0.25,2,9\n", (3, 3)),
        ("1,1,2,3\n1,1,5,6\n1,2,8,9\n", (3, 4)),
        ("g1,name,3\ng2,name,6\n", (2, 1)),
        ("1,1\n1,1\n2,1\n", (3, 2)),
    ],
)
def test_tables_that_are_tables(put, content, shape):
    assert read_matrix(put(content)).shape == shape


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("user,item,rating\n1,2,3\n1,2,4\n", r"line 3: '1' and '2' occur together twice"),
        ("user,item,rating\n1,2,3\n1,3\n", r"line 3: 2 fields with delimiter ','; row, column and value"),
        ("user,item,rating\n1,2,3\n" * 1 + "1,3,x\n", r"line 3: the value is 'x', which is not a number"),
    ],
)
def test_faults_name_the_line(put, content, words):
    with pytest.raises(FormatError, match=words):
        read_matrix(put(content), format="triplets", delimiter=",")


def test_missing_values_are_absent_cells(put):
    X = read_matrix(put("user,item,rating\n1,2,3\n1,3,NA\n2,2,1\n"))
    assert X.values.tolist() == [[3, 0], [1, 0]]
    assert X.source.array.nnz == 2
