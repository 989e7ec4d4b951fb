"""Whatever is written reads back the same, whatever the labels look like."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bivaluate import Biclustering, Matrix, read_matrix, read_solution, write_matrix, write_solution

AWKWARD = st.text(
    st.sampled_from("ab1 ,;|\"'#\\µé漢[]{}:=<>%_-.NA") | st.characters(categories=["L", "N", "P", "S"]), max_size=6
)
LABELS = AWKWARD.map(lambda word: f"g{word}".strip())
ROUND_TRIP = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    database=None,
    derandomize=True,
)


@st.composite
def matrices(draw):
    n, m = draw(st.tuples(st.integers(2, 6), st.integers(1, 6)))
    cells = st.floats(allow_infinity=False, width=64)
    values = draw(arrays(np.float64, (n, m), elements=cells))
    rows = draw(st.lists(LABELS, min_size=n, max_size=n, unique=True))
    cols = draw(st.lists(LABELS, min_size=m, max_size=m, unique=True))
    return Matrix(values, tuple(rows), tuple(cols))


def solutions(shape):
    sides = [st.sets(st.integers(0, size - 1), min_size=1).map(sorted) for size in shape]
    return st.lists(st.tuples(*sides), min_size=1, max_size=4).map(lambda pairs: Biclustering(pairs, shape))


@pytest.mark.parametrize(
    "name", ["m.csv", "m.tsv", "m.tsv.gz", "m.npz", pytest.param("m.parquet", marks=pytest.mark.extra("parquet"))]
)
@ROUND_TRIP
@given(X=matrices())
def test_matrices(tmp_path, name, X):
    write_matrix(X, tmp_path / name)
    back = read_matrix(tmp_path / name)
    assert (back.row_labels, back.col_labels) == (X.row_labels, X.col_labels)
    np.testing.assert_array_equal(back.values, X.values)


@pytest.mark.parametrize(
    ("name", "key"), [("s.json", None), ("s.csv", None), ("s.tsv", None), ("s.txt", "r-text"), ("b.json", "biclustlib")]
)
@pytest.mark.parametrize("labelled", [True, False])
@ROUND_TRIP
@given(data=st.data(), X=matrices())
def test_solutions(tmp_path, name, key, labelled, data, X):
    solution = data.draw(solutions(X.shape))
    matrix = X if labelled else Matrix(X.values)
    write_solution(solution, tmp_path / name, X=matrix, format=key)
    assert read_solution(tmp_path / name, matrix) == solution
