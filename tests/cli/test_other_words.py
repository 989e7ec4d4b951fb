"""Labels of any kind reach every output; what is written spoils neither spreadsheets nor files that are there."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

from bivaluate import (
    Biclustering,
    Matrix,
    Plan,
    Sweep,
    build_report,
    evaluate,
    read_matrix,
    read_solution,
    write_matrix,
    write_solution,
)
from bivaluate._files import as_text, table_text
from bivaluate.io import describe_formats

WRITTEN = [
    (f["key"], (*f["extensions"], ".x")[0]) for f in describe_formats() if f["kind"] == "solution" and f["written"]
]
ODD = ["lone \ud800", "=1+1", "-x", "@SUM(A1)", "'=quoted", "-1.5", "<script>"]
VALUES = np.random.default_rng(0).normal(size=(7, 4)).round(2)
X = Matrix(VALUES, ODD, ["+c1", "c2\udfff", "c3", "c4"])
S = Biclustering([([0, 1, 2, 3], [0, 1, 2]), ([3, 4, 5, 6], [1, 2, 3])], X.shape, info={"algorithm": "a\ud800"})


def test_half_a_surrogate_pair_reaches_every_file(tmp_path):
    write_matrix(X, tmp_path / "m.csv")
    write_solution(S, tmp_path / "s.csv", X=X)
    write_solution(S, tmp_path / "s.txt", X=X, format="r-text")
    write_solution(S, tmp_path / "s.json", X=X)
    assert read_matrix(tmp_path / "m.csv").row_labels[0] == "lone \\ud800"
    assert json.loads((tmp_path / "s.json").read_text())["info"]["algorithm"] == "a\ud800"
    page = build_report(evaluate(X, S), tmp_path / "page.html").read_bytes().decode("utf-8")
    assert "lone \\ud800" in page
    assert "<script>alert" not in page


def test_half_a_surrogate_pair_reaches_the_terminal(run, tmp_path):
    document = {"schema": 1, "shape": [7, 4], "biclusters": [{"rows": ["\ud800", "g2"], "cols": ["c1"]}]}
    (tmp_path / "s.json").write_text(json.dumps(document))
    write_matrix(Matrix(VALUES, [f"g{i}" for i in range(7)], [f"c{j}" for j in range(4)]), tmp_path / "m.csv")
    done = run("score", "m.csv", "s.json")
    assert done.code == 0
    assert "left out: '\\ud800'" in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_no_label_becomes_a_formula_and_all_read_back(tmp_path):
    plain = Matrix(VALUES, [label.replace(" \ud800", "") for label in ODD], ["+c1", "c2", "c3", "c4"])
    write_matrix(plain, tmp_path / "m.csv")
    cells = [cell for row in csv.reader((tmp_path / "m.csv").read_text().splitlines()) for cell in row]
    formulas = [cell for cell in cells if cell[:1] in "=+-@" and cell and as_text(cell) != cell]
    assert not formulas
    assert read_matrix(tmp_path / "m.csv").row_labels == plain.row_labels
    assert read_matrix(tmp_path / "m.csv").col_labels == plain.col_labels
    write_solution(S, tmp_path / "s.csv", X=plain)
    assert "'=1+1" in (tmp_path / "s.csv").read_text()
    assert read_solution(tmp_path / "s.csv", plain) == S


@pytest.mark.parametrize("dtype", ["object", "string"])
def test_no_text_of_a_table_becomes_a_formula(dtype):
    frame = pd.DataFrame({"text": pd.Series(["=1+1", "plain", None], dtype=dtype), "number": [-1.5, 2.0, -3.0]})
    assert table_text(frame) == b"text,number\n'=1+1,-1.5\nplain,2.0\n,-3.0\n"


def test_no_name_of_data_becomes_a_formula_beside_the_page(tmp_path):
    build_report(evaluate(X.renamed("@data"), S), tmp_path / "page.html")
    rows = list(csv.reader((tmp_path / "page.winners.csv").read_text().splitlines()))
    assert {row[rows[0].index("dataset")] for row in rows[1:]} == {"'@data"}


@pytest.fixture
def files(tmp_path):
    write_matrix(Matrix(VALUES), tmp_path / "m.csv")
    write_solution(S, tmp_path / "s.json")
    write_solution(S, tmp_path / "named.json", X=X)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["convert", "m.csv", "m.csv"], "m.csv, which is also read here"),
        (["score", "m.csv", "s.json", "--csv", "m.csv"], "--csv is m.csv, which is also read here"),
        (["score", "m.csv", "s.json", "--report", "s.json"], "--report is s.json, which is also read here"),
        (["run", "m.csv", "-a", "cca", "-k", "1", "--out", "notes.json"], "notes.json exists and is not what would be"),
        (["find", "m.csv", "--report", "notes.txt"], "notes.txt exists and is not what would be written there"),
        (["metrics", "--csv", "s.json"], "s.json exists and is not what would be written there"),
        (["metrics", "--csv", "notes.txt"], "notes.txt exists and is not what would be written there"),
        (["score", "m.csv", "s.json", "--mqc", "notes.txt"], "notes.txt exists and is not what would be written there"),
        (["convert", "s.json", "m.csv"], "m.csv exists and is not what would be written there"),
        (["convert", "s.json", "notes.txt"], "notes.txt exists and is not what would be written there"),
        (["datasets", "write", "yeast:04_elutriation", "notes.csv"], "notes.csv exists and is not what would be"),
        (["report", "run", "-o", "m.csv"], "m.csv exists and is not what would be written there"),
        (["report", "run", "-o", "run/results.csv"], "--out is run/results.csv, which is also read here"),
        (["report", "run", "-o", "run/journal.sqlite"], "--out is run/journal.sqlite, which is also read here"),
        (["select", "run", "--csv", "./run/results.csv"], "--csv is run/results.csv, which is also read here"),
        (["metrics", "--csv", "run/journal.sqlite"], "journal.sqlite exists and is not what would be written there"),
    ],
)
def test_nothing_that_is_read_or_of_another_kind_is_overwritten(run, files, words, message):
    for name in ("notes.json", "notes.txt", "notes.csv"):
        (files / name).write_text("my notes")
    if "run" in words:
        Sweep(Plan([str(files / "m.csv")], ["cca"], [1]), files / "run").run()
    else:
        (files / "run").mkdir()
        (files / "run" / "journal.sqlite").write_bytes(b"SQLite format 3\0")
    before = {path: path.read_bytes() for path in files.rglob("*") if path.is_file()}
    done = run(*words)
    assert done.code == 2
    assert message in done.err
    assert {path: path.read_bytes() for path in files.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "words",
    [
        *(
            ["convert", "named.json" if key == "gene-lists" else "s.json", f"x{ending}", "--format", key]
            for key, ending in WRITTEN
        ),
        ["metrics", "--csv", "x.csv"],
        ["score", "m.csv", "s.json", "--mqc", "x_mqc.json", "--report", "x.html"],
    ],
    ids=" ".join,
)
def test_what_a_command_wrote_it_may_write_again(run, files, words):
    for _ in range(2):
        done = run(*words)
        assert done.code == 0, done.err


def test_force_replaces_a_file_of_another_kind(run, files):
    (files / "notes.json").write_text("my notes")
    done = run("run", "m.csv", "-a", "cca", "-k", "1", "--out", "notes.json", "--force")
    assert done.code == 0, done.err
    assert read_solution(files / "notes.json").shape == (7, 4)
