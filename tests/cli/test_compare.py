"""`bivaluate compare`, typed as a newcomer would."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from bivaluate import Biclustering, compare, load_run
from bivaluate.cli.compare import USUAL
from bivaluate.measures.external import EXTERNAL

R = [([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [3, 4, 5])]
P = [([0, 1], [0, 1, 2, 3]), ([2, 3, 4], [3, 4, 5]), ([0, 4], [5])]


@pytest.fixture
def files(tmp_path):
    for name, shape in (("", (5, 6)), ("_free", None)):
        Biclustering(R, shape).to_json(tmp_path / f"truth{name}.json")
        Biclustering(P, shape).to_json(tmp_path / f"found{name}.json")
    Biclustering([], (5, 6)).to_json(tmp_path / "none.json")
    return tmp_path


def test_json(run, files):
    shown = run("compare", "truth.json", "found.json", "--json")
    assert shown.code == 0
    scores = json.loads(shown.out)
    assert list(scores) == list(EXTERNAL)
    assert scores["ce"] == pytest.approx(0.636364, abs=1e-6)
    assert scores["agri"] == pytest.approx(0.407537, abs=1e-6)


def test_table(run, files):
    shown = run("compare", "truth.json", "found.json")
    assert "truth.json: 2 biclusters; found.json: 3 biclusters" in shown.out
    assert "0.6573" in shown.out
    assert "13AGRI" in shown.out


def test_several_solutions_stand_side_by_side(run, files):
    words = ["compare", "truth.json", "found.json", "none.json", "truth.json"]
    shown = run(*words, "--csv", "measures.csv")
    assert "truth.json: 2 biclusters; found.json: 3 biclusters; none.json: 0 biclusters" in shown.out
    heading = next(line for line in shown.out.splitlines() if line.startswith("measure"))
    assert heading.split()[2:5] == ["found.json", "none.json", "truth.json"]
    scores = json.loads(run(*words, "--json").out)
    assert scores["found.json"] == json.loads(run("compare", "truth.json", "found.json", "--json").out)
    assert set(scores["none.json"].values()) == {0.0}
    assert set(scores["truth.json"].values()) == {1.0}
    table = pd.read_csv(files / "measures.csv", index_col="measure")
    assert table.columns.tolist() == ["found.json", "none.json", "truth.json"]
    assert table.loc["agri", "found.json"] == pytest.approx(0.407537, abs=1e-6)
    (files / "other").mkdir()
    Biclustering(R, (5, 6)).to_json(files / "other" / "found.json")
    twice = json.loads(run("compare", "truth.json", "found.json", "other/found.json", "--json").out)
    assert list(twice) == ["found.json", "other/found.json"]
    assert set(twice["other/found.json"].values()) == {1.0}


def test_shape_is_needed_for_some(run, files):
    shown = run("compare", "truth_free.json", "found_free.json", "--json")
    scores = json.loads(shown.out)
    assert {key for key, value in scores.items() if value is None} == {
        "csi", "agri", "gri", "cari", "corrected_precision", "corrected_recall",
    }  # fmt: skip
    assert "pass --matrix or --shape" in run("compare", "truth_free.json", "found_free.json").out
    full = json.loads(run("compare", "truth_free.json", "found_free.json", "--shape", "5x6", "--json").out)
    assert full["agri"] == pytest.approx(0.407537, abs=1e-6)


def test_matrix_gives_shape_and_labels(run, files, example):
    text = '{"schema": 1, "shape": null, "biclusters": [{"rows": ["g1", "g2", "g3"], "cols": ["a", "b"]}]}'
    (files / "labels.json").write_text(text)
    shown = run("compare", "labels.json", "found_free.json", "--matrix", "matrix.csv", "--json")
    assert shown.code == 0
    assert json.loads(shown.out)["csi"] is not None


def test_labels_without_a_matrix(run, files):
    (files / "one.json").write_text(
        '{"schema": 1, "shape": null, "biclusters": [{"rows": ["g1", "g2"], "cols": ["a", "b"]}]}'
    )
    (files / "two.json").write_text(
        '{"schema": 1, "shape": null, "biclusters": [{"rows": ["g2", "g3"], "cols": ["b", "a"]}]}'
    )
    scores = json.loads(run("compare", "one.json", "two.json", "--json").out)
    assert scores["consensus"] == pytest.approx(1 / 3)
    assert scores["csi"] is None


def test_empty_solutions(run, files):
    assert set(json.loads(run("compare", "none.json", "none.json", "--json").out).values()) == {1.0}
    assert set(json.loads(run("compare", "truth.json", "none.json", "--json").out).values()) == {0.0}


def test_bad_input(run, files):
    shown = run("compare", "truth_free.json", "found_free.json", "--shape", "five")
    assert shown.code == 2
    assert "ROWSxCOLUMNS" in shown.err
    assert run("compare", "truth.json", "absent.json").code == 2


def test_one_solution_is_not_compared_with_itself(run, files):
    shown = run("compare", "truth.json")
    assert (shown.code, shown.out) == (2, "")
    assert "two solutions are needed: bivaluate compare truth.json FOUND" in shown.err


def test_the_table_ends_in_a_sentence(run, tmp_path):
    wanted = [(range(10), range(5)), (range(20, 30), range(5, 10)), (range(40, 50), range(5))]
    Biclustering(wanted, (60, 20)).to_json(tmp_path / "truth.json")
    Biclustering([*wanted[:2], (range(50, 60), range(10, 20))], (60, 20)).to_json(tmp_path / "found.json")
    Biclustering([], (60, 20)).to_json(tmp_path / "none.json")
    told = run("compare", "truth.json", "found.json", "none.json").out.splitlines()
    exactly = (
        "holds 2 of the 3 biclusters of truth.json, nearly exactly; it misses B3; 1 of its 3 biclusters matches none."
    )
    assert f"found.json {exactly}" in told
    assert "none.json holds 0 of the 3 biclusters of truth.json; it misses B1, B2 and B3." in told


def test_more_than_four_solutions_have_a_row_each_and_the_usual_measures(run, files):
    others = [f"f{i}.json" for i in range(5)]
    for i, name in enumerate(others):
        Biclustering(P[: i + 1] if i < 3 else R, (5, 6)).to_json(files / name)
    shown = run("compare", "truth.json", *others, "--csv", "m.csv", "--latex", "m.tex")
    lines = [line.split() for line in shown.out.splitlines()]
    assert lines[0][:4] == ["solution", "K", "found", "CE"]
    assert [line[0] for line in lines[1:6]] == ["f3.json", "f4.json", "f1.json", "f2.json", "f0.json"], "best first"
    assert lines[1][1:3] == ["2", "1"]
    assert "f3.json comes closest to truth.json by CE similarity." in shown.out
    table = pd.read_csv(files / "m.csv", index_col="solution")
    assert table.columns.tolist() == ["n_biclusters", *USUAL, "seeds"]
    assert table.loc["f2.json", "ce"] == pytest.approx(0.636364, abs=1e-6)
    assert "Share of the covered cells" not in (files / "m.tex").read_text()
    every = json.loads(run("compare", "truth.json", *others, "--metrics", "all", "--json").out)
    assert set(EXTERNAL) < set(every[0])


def test_keys_are_in_the_table_and_sentences_are_not_in_latex(run, files):
    shown = run("compare", "truth.json", "found.json", "--latex", "t.tex").out
    assert re.search(r"Prelić recovery +0\.\d+ +prelic_recovery +How well each true", shown)
    assert "A bicluster is held if one that was found has a Jaccard index of cells with it of at least 0.5." in shown
    assert "How well" not in (files / "t.tex").read_text()


def test_a_sweep_is_compared_fit_by_fit(run, files):
    assert run("sweep", "scenario:S1", "-a", "cca", "-k", "2,3", "--seeds", 2, "--out", "RUN").code == 0
    found = load_run(files / "RUN")
    expected = {
        k: [
            compare(found.truth("scenario:S1", s), found.solution(("scenario:S1", "cca", k, s)), metrics="ce")["ce"]
            for s in (0, 1)
        ]
        for k in (2, 3)
    }
    records = json.loads(run("compare", "RUN", "--json").out)
    assert {r["solution"]: r["ce"] for r in records} == pytest.approx(
        {f"cca K = {k}": np.mean(expected[k]) for k in (2, 3)}
    )
    assert {r["solution"]: r["ce_sd"] for r in records} == pytest.approx(
        {f"cca K = {k}": np.std(expected[k], ddof=1) for k in (2, 3)}
    )
    shown = run("compare", "RUN").out
    assert re.search(r"cca K = 2 +2 +0\.\d+ ± 0\.\d+", shown)
    assert "comes closest to the truth by CE similarity; mean ± sd over 2 seeds." in shown


def test_labels_of_the_truth_are_those_of_the_data_of_the_sweep(run, files, example):
    (files / "labels.json").write_text('[{"rows": ["g1", "g2", "g3"], "cols": ["a", "b"]}]')
    run("sweep", "matrix.csv", "-a", "cca", "-k", "2", "--out", "RUN")
    shown = run("compare", "labels.json", "RUN", "--metrics", "ce,consensus")
    assert "labels.json: 1 bicluster; cca K = 2: 2 biclusters" in shown.out, shown.err
    refused = run("compare", "RUN")
    assert refused.err == "error: RUN does not hold the truth of matrix: give a file with it, then RUN.\n"
