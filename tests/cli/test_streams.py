"""`-` stands for standard input and output wherever a file is named, and tables come as JSON and CSV too."""

import csv
import io
import json

import pytest

from bivaluate import Biclustering


@pytest.fixture
def bytes_of(tmp_path):
    return lambda name: (tmp_path / name).read_bytes()


def test_standard_input_is_a_matrix_or_a_solution(type_in, bytes_of):
    expected = type_in("score", "m.csv", "d/s.json", "--json")[1]
    for words, name in (("score - d/s.json", "m.csv"), ("score m.csv -", "d/s.json")):
        code, out, _ = type_in(*words.split(), "--json", stdin=bytes_of(name))
        assert code == 0
        assert json.loads(out)[0]["scores"] == json.loads(expected)[0]["scores"]
    code, _, err = type_in("score", "m.csv", "-", stdin=b"dear diary")
    assert code == 2
    assert err.startswith("error: standard input is not in any format of biclusters")


def test_standard_output_is_a_file_and_nothing_else(type_in):
    code, out, err = type_in("score", "m.csv", "d/s.json", "--csv", "-")
    assert code == 0
    (row,) = csv.DictReader(io.StringIO(out))
    assert row["solution"] == "s"
    assert "low is better" in err
    assert "wrote" not in err
    _, out, err = type_in("score", "m.csv", "d/s.json", "--report", "-")
    assert out.startswith("<!doctype html>")
    assert out.rstrip().endswith("</html>")


@pytest.mark.parametrize("words", ["run m.csv -a cca -k 1 -o -", "prune m.csv d/s.json -o -", "convert d/s.json - "])
def test_solutions_go_through_a_pipe(type_in, tmp_path, words):
    code, out, _ = type_in(*words.split())
    assert code == 0
    code, _, _ = type_in("convert", "-", "back.json", stdin=out.encode())
    assert code == 0
    assert isinstance(Biclustering.from_json(tmp_path / "back.json"), Biclustering)


@pytest.mark.parametrize(
    ("words", "column"),
    [
        ("metrics", "direction"),
        ("algorithms", "seeks"),
        ("datasets scenarios", "stress"),
        ("datasets", "sha256"),
        ("doctor", "version"),
        ("convert --formats", "index_base"),
        ("compare s.json d/s.json", "value"),
        ("prune m.csv d/s.json", "after"),
        ("datasets scenarios planted S1 --seeds 1", "paper"),
    ],
)
def test_tables_as_csv_and_json(type_in, words, column):
    code, out, _ = type_in(*words.split(), "--csv", "-")
    assert code == 0
    assert column in next(csv.reader(io.StringIO(out)))
    code, out, _ = type_in(*words.split(), "--json")
    assert code == 0
    assert json.loads(out)
