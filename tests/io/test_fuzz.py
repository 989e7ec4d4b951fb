"""Any bytes give a value or a bivaluate error, never a crash and never a hang."""

import contextlib
import gzip
import io
import warnings
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bivaluate import BivaluateError, BivaluateWarning, Matrix, read_matrix, read_solution
from bivaluate.io.formats import formats_of
from bivaluate.io.solutions import read_members
from tests.io import test_field_matrices as field
from tests.io import test_tool_solutions as tools
from tests.io.rds_writer import biclust_object
from tests.io.test_own_solutions import LISTS, LONG, MATRIX

X = tools.X
FUZZ = settings(
    max_examples=50,
    deadline=timedelta(seconds=5),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    database=None,
    derandomize=True,
)


def npy():
    stream = io.BytesIO()
    np.save(stream, np.arange(6.0).reshape(2, 3))
    return stream.getvalue()


def npz():
    stream = io.BytesIO()
    np.savez_compressed(stream, X=np.arange(6.0).reshape(2, 3), rows=np.array(["a", "b"]))
    return stream.getvalue()


def masks():
    stream = io.BytesIO()
    np.savez(stream, rows=np.eye(2, 5, dtype=bool), columns=np.eye(2, 4, dtype=bool))
    return stream.getvalue()


def factors():
    stream = io.BytesIO()
    np.savez(stream, W=np.eye(5, 2), H=np.eye(2, 4))
    return stream.getvalue()


OWN = '{"schema": 1, "shape": [5, 4], "biclusters": [{"rows": [0, 2], "cols": [1]}], "info": {"a": [1]}}'
SOLUTIONS = [(key, text.encode()) for key, text in tools.CASES]
SOLUTIONS += [("csv", text.encode()) for text in (LISTS, LONG, MATRIX)]
SOLUTIONS += [("bivaluate", OWN.encode()), ("rds", biclust_object(*tools.masks()))]
SOLUTIONS += [("masks", masks()), ("factors", factors()), ("csv", b"gene,cluster\ng1,1\ng2,1\n")]
MATRICES = [
    ("csv", b"gene,c1,c2\ng1,1,2\ng2,3,4\n"),
    ("csv", b'"","a b"\n"x ""y""",1.5e3\n'),
    ("csv", gzip.compress(b"a\t1,5\t2\nb\t3,5\tNA\n", mtime=0)),
    ("gct", field.GCT_2.encode()),
    ("gct", field.GCT_3.encode()),
    ("pcl", field.PCL.encode()),
    ("pcl", field.CDT.encode()),
    ("10x", field.MTX.encode()),
    ("npy", npy()),
    ("npy", npz()),
]


@st.composite
def damaged(draw, whole):
    """A valid file with some bytes replaced, removed, repeated or cut off."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        piece = draw(
            st.binary(max_size=6)
            | st.sampled_from([b"\n", b"\t", b",", b" ", b'"', b"[", b"99999999999", b"-1", b"\xff\xff\xff\x7f"])
        )
        stop = min(len(data), at + draw(st.integers(0, 6)))
        data[at:stop] = piece
    return bytes(data[: draw(st.integers(0, len(data)) | st.just(len(data)))])


def answers(read):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BivaluateWarning)
        with contextlib.suppress(BivaluateError):
            read()


@pytest.mark.parametrize(("key", "whole"), SOLUTIONS, ids=[key for key, _ in SOLUTIONS])
@FUZZ
@given(data=st.data())
def test_damaged_solutions(tmp_path, key, whole, data):
    path = tmp_path / "solution"
    path.write_bytes(data.draw(damaged(whole)))
    answers(lambda: read_solution(path, X))
    answers(lambda: read_solution(path, X, format=key))
    answers(lambda: read_members(path, format=key))


@pytest.mark.parametrize(("key", "whole"), MATRICES, ids=[key for key, _ in MATRICES])
@FUZZ
@given(data=st.data())
def test_damaged_matrices(tmp_path, key, whole, data):
    path = tmp_path / "matrix"
    path.write_bytes(data.draw(damaged(whole)))
    answers(lambda: read_matrix(path))
    answers(lambda: read_matrix(path, format=key))


ANY = st.binary(max_size=200) | st.text(max_size=100).map(lambda t: t.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("key", sorted(formats_of("solution")))
@FUZZ
@given(content=ANY)
def test_any_bytes_as_a_solution(tmp_path, key, content):
    path = tmp_path / "solution"
    path.write_bytes(content)
    answers(lambda: read_solution(path, Matrix(np.zeros((3, 2)))))
    answers(lambda: read_solution(path, X, format=key))


@pytest.mark.parametrize("key", sorted(formats_of("matrix")))
@FUZZ
@given(content=ANY)
def test_any_bytes_as_a_matrix(tmp_path, key, content):
    path = tmp_path / "matrix"
    path.write_bytes(content)
    answers(lambda: read_matrix(path))
    answers(lambda: read_matrix(path, format=key))


@FUZZ
@given(
    content=st.lists(
        st.sampled_from(["1", "2.5", "a", "", ",", ";", "\t", " ", '"', "\n", "\r", "#", "-", "NA", "e5", "\ufeff"]),
        max_size=60,
    )
)
def test_any_table(tmp_path, content):
    path = tmp_path / "matrix.csv"
    path.write_bytes("".join(content).encode())
    answers(lambda: read_matrix(path))
    answers(lambda: read_matrix(path, delimiter=",", header=True, index_cols=1))
