"""`bivaluate find` and `bivaluate refine`, typed as a newcomer would."""

import json
import re
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from bivaluate import read_solution
from bivaluate.cli import tables
from bivaluate.cli.find import print_evidence
from bivaluate.datasets import make_scenario


@pytest.fixture
def matrix(tmp_path):
    X, truth, _ = make_scenario("S1", random_state=3)
    path = tmp_path / "S1.csv"
    np.savetxt(path, X, delimiter=",")
    truth.to_json(tmp_path / "truth.json")
    return path


def test_find_writes_what_stands_out(run, matrix, tmp_path):
    done = run("find", matrix, "-o", "found.json", "--report", "page.html")
    assert done.code == 0, done.err
    assert done.out.split()[:5] == ["bicluster", "rows", "columns", "kind", "S"]
    assert len(read_solution(tmp_path / "found.json")) == 4
    assert "next: bivaluate score" in done.err
    assert (tmp_path / "page.html").is_file()
    score = json.loads(run("compare", tmp_path / "truth.json", "found.json", "--json").out)
    assert score["ce"] > 0.9


def test_an_interrupted_find_has_no_p_values(run, matrix, monkeypatch):
    from bivaluate.algorithms import coherent

    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(coherent, "calibrate", stop)
    done = run("find", matrix, "-o", "found.json")
    assert done.out.splitlines()[1].split()[-1] == "–"
    assert "so p is undefined" in " ".join(done.err.split())
    told = json.loads(run("find", matrix, "-o", "found.json", "--json").out)
    assert {row["p_value"] for row in told["biclusters"]} == {None}
    assert any("so p is undefined" in note for note in told["notes"])


def test_find_names_an_algorithm_that_finds_more(run, tmp_path):
    """What half of all rows share is correlation of the columns to the search."""
    X = np.random.default_rng(0).normal(size=(160, 40))
    X[:80, :12] += 3
    np.savetxt(tmp_path / "cells.csv", X, delimiter=",")
    done = run("find", "cells.csv")
    (command,) = re.findall(r"`bivaluate (run [^`]*)`", " ".join(done.err.split()))
    again = run(*command.split())
    assert again.code == 0, again.err
    told = re.search(r"finds (\d+) biclusters of more evidence", " ".join(done.err.split()))
    assert len(read_solution(tmp_path / command.split()[-1])) == int(told[1]) == 2
    assert "of more evidence" not in run("find", "cells.csv", "-k", "3").err


def test_find_with_missing_cells_says_how_to_score_them(run, matrix, tmp_path):
    X = np.loadtxt(matrix, delimiter=",")
    X[250, 3] = np.nan
    np.savetxt(tmp_path / "gaps.csv", X, delimiter=",")
    done = run("find", "gaps.csv", "--missing", "omit", "-o", "found.json")
    (command,) = re.findall(r"next: bivaluate (.*)", done.err)
    assert run(*command.split()).code == 0


def test_find_takes_at_most_k_and_prints_json(run, matrix):
    done = run("find", matrix, "-k", "2", "-o", "two.json", "--json")
    told = json.loads(done.out)
    assert [row["bicluster"] for row in told["biclusters"]] == ["B1", "B2"]
    assert {"n_rows", "n_cols", "kind", "evidence", "p_value"} <= told["biclusters"][0].keys()


def test_finding_nothing_is_an_answer(run, tmp_path):
    np.savetxt(tmp_path / "noise.csv", np.random.default_rng(0).normal(size=(60, 20)), delimiter=",")
    done = run("find", tmp_path / "noise.csv")
    assert done.code == 0
    assert "No bicluster was found." in done.out
    assert len(read_solution(tmp_path / "noise.find.json")) == 0


def test_a_p_value_too_small_for_a_float_is_not_zero(capsys):
    print_evidence([{"bicluster": "B1", "n_rows": 9, "n_cols": 4, "kind": "raised", "evidence": 900.0, "p_value": 0.0}])
    assert "<1e-300" in capsys.readouterr().out


def test_the_file_of_a_named_matrix_has_no_colon_in_its_name(run, tmp_path):
    assert run("find", "scenario:S1").code == 0
    assert [path.name for path in tmp_path.glob("*.json")] == ["scenario_S1.find.json"]


def test_refine_says_what_became_of_each(run, matrix, tmp_path):
    done = run("refine", matrix, tmp_path / "truth.json")
    assert done.code == 0, done.err
    assert done.out.count("•") == 4
    assert "nothing written; pass --out FILE" in done.err
    assert run("refine", matrix, tmp_path / "truth.json", "--out", "refined.json").code == 0
    assert len(read_solution(tmp_path / "refined.json")) == 4


def test_wrong_input_is_refused(run, matrix):
    assert run("find", matrix, "-k", "0").code == 2
    assert run("find", matrix, "--missing", "guess").code == 2
    assert run("find", "nowhere.csv").code == 2


def test_missing_cells_are_refused_with_the_option_that_omits_them(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 12))
    X[3, 4] = np.nan
    np.savetxt(tmp_path / "gaps.csv", X, delimiter=",")
    done = run("find", tmp_path / "gaps.csv")
    assert done.code == 2
    assert "or pass --missing omit to leave them out." in " ".join(done.err.split())
    assert run("find", tmp_path / "gaps.csv", "--missing", "omit").code == 0


def test_what_was_done_to_the_data_is_noted(run, tmp_path):
    X, _, _ = make_scenario("S1", random_state=3)
    np.savetxt(tmp_path / "skewed.csv", np.exp(X[:150, :20]), delimiter=",")
    done = run("find", tmp_path / "skewed.csv", "-o", "found.json")
    assert "note: Values were transformed to be near normal within rows: log." in " ".join(done.err.split())


def test_a_search_says_from_the_start_that_it_is_under_way(monkeypatch):
    told = []

    @contextmanager
    def watched(in_bytes=False):
        yield lambda *what: told.append(what)

    monkeypatch.setattr(tables, "progress", watched)
    model = SimpleNamespace()
    with tables.search_progress(model):
        model._progress(1, None)
    assert told == [("finding biclusters", 0, None), ("finding biclusters", 1, None)]


def test_run_passes_on_what_the_search_has_to_say(run, tmp_path):
    X = np.cumsum(np.random.default_rng(0).normal(size=(60, 20)), axis=1)
    np.savetxt(tmp_path / "series.csv", X, delimiter=",")
    assert "note: Columns are correlated in all rows" in run("run", "series.csv", "-a", "find").err


def test_what_score_will_deny_is_said(tmp_path):
    from bivaluate import Biclustering, Matrix
    from bivaluate.cli.find import _as_scored

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 20))
    X[:15, :6] += 3
    found = Biclustering([(range(15), range(6)), (range(40, 55), range(8, 14))], X.shape)
    [note] = _as_scored(Matrix(X), found, "raise")
    assert note.startswith("`bivaluate score` will not tell B2 from noise: its evidence asks how improbable a block is")
    assert _as_scored(Matrix(X), found.select([0]), "raise") == []
    series = np.cumsum(X, axis=1)
    [note] = _as_scored(Matrix(series), found.select([1]), "raise")
    assert "counts a cell as 0." in note
