"""`bivaluate find` and `bivaluate refine`, typed as a newcomer would."""

import json
import re

import numpy as np
import pytest

from bivaluate import evaluate, read_matrix, read_solution
from bivaluate.datasets import make_scenario


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    X, truth, _ = make_scenario("S1", random_state=3)
    folder = tmp_path_factory.mktemp("planted")
    np.savetxt(folder / "S1.csv", X, delimiter=",")
    truth.to_json(folder / "truth.json")
    return folder


@pytest.fixture
def matrix(planted):
    return planted / "S1.csv"


def test_find_writes_the_supported_biclusters_and_says_who_found_them(run, matrix, planted, tmp_path):
    done = run("find", matrix, "-o", "found.json", "--report", "page.html")
    assert done.code == 0, done.err
    assert done.out.strip().startswith("4 biclusters")
    assert "found them" in done.out
    found = read_solution(tmp_path / "found.json")
    assert len(found) == 4
    assert "next: bivaluate score" in done.err
    assert (tmp_path / "page.html").is_file()
    assert json.loads(run("compare", planted / "truth.json", "found.json", "--json").out)["ce"] > 0.9
    scored = evaluate(read_matrix(matrix), found)
    assert scored.scores["n_supported"] == 4


def test_find_prints_json_that_agrees_with_what_it_writes(run, matrix, tmp_path):
    done = run("find", matrix, "-a", "las,bregman", "-o", "found.json", "--json")
    told = json.loads(done.out)
    evaluation = evaluate(read_matrix(matrix), read_solution(tmp_path / "found.json"))
    names = ("bicluster", "n_rows", "n_cols", "pattern", "evidence", "verdict")
    assert told["biclusters"] == [{name: record[name] for name in names} for record in evaluation.records]
    best = told["candidates"][0]
    assert set(best) == {"algorithm", "k", "seed", "total_evidence", "n_supported"}
    assert best["n_supported"] == len(told["biclusters"])
    assert best["total_evidence"] == pytest.approx(sum(row["evidence"] for row in told["biclusters"]), rel=1e-9)
    assert {row["algorithm"].removesuffix("-final") for row in told["candidates"]} == {"las", "bregman"}


def test_sweep_and_select_give_the_members_that_find_writes(run, matrix, tmp_path):
    assert run("find", matrix, "-a", "las,bregman", "-o", "found.json").code == 0
    assert run("sweep", matrix, "-a", "las,bregman", "-o", "run").code == 0
    told = json.loads(run("select", "run", "--json").out)
    (taken,) = re.findall(r"take (\S+\.json)", " ".join(told["recommendation"]))
    assert read_solution(tmp_path / taken) == read_solution(tmp_path / "found.json")
    (best,) = (row for row in told["best"] if row["measure"] == "total_evidence")
    assert best["n_supported"] == len(read_solution(tmp_path / "found.json"))
    assert best["k_low"] <= best["k_high"]


def test_missing_cells_are_left_out_and_the_next_command_says_so(run, matrix, tmp_path):
    X = np.loadtxt(matrix, delimiter=",")
    X[250, 3] = np.nan
    np.savetxt(tmp_path / "gaps.csv", X, delimiter=",")
    done = run("find", "gaps.csv", "-a", "coherent", "-o", "found.json")
    (command,) = re.findall(r"next: bivaluate (.*)", done.err)
    assert run(*command.split()).code == 0


def test_what_follows_can_be_typed_where_the_matrix_was_turned(run, matrix, tmp_path):
    done = run("find", matrix, "--transpose", "-a", "bregman", "-o", "turned.json")
    (command,) = re.findall(r"next: bivaluate (.*)", done.err)
    scored = run(*command.split())
    assert scored.out.startswith("\nturned: ")  # headed by its file
    refused = run("score", matrix, "turned.json")
    assert "Read the matrix with --transpose or, if it was, without." in " ".join(refused.err.split())


def test_finding_nothing_is_an_answer(run, tmp_path):
    np.savetxt(tmp_path / "noise.csv", np.random.default_rng(0).normal(size=(60, 20)), delimiter=",")
    done = run("find", tmp_path / "noise.csv", "-a", "las,bregman")
    assert done.code == 0
    assert "No bicluster is supported." in done.out
    assert "comes nearest." in done.out
    assert len(read_solution(tmp_path / "noise.find.json")) == 0


def test_the_file_of_a_named_matrix_has_no_colon_in_its_name(run, tmp_path):
    assert run("find", "scenario:S1", "-a", "bregman").code == 0
    assert [path.name for path in tmp_path.glob("*.json")] == ["scenario_S1.find.json"]


def test_refine_says_what_changed(run, matrix, planted, tmp_path):
    X, truth = np.loadtxt(matrix, delimiter=","), read_solution(planted / "truth.json")
    first = truth[0]
    truth.select([0]).__class__([(first.rows[1:], first.cols)], X.shape).to_json(tmp_path / "less.json")
    done = run("refine", matrix, "less.json")
    assert done.code == 0, done.err
    assert f"• B1 gains 1 row ({first.rows[0]}): evidence +" in done.out
    assert "nothing written; pass --out FILE" in done.err
    assert "prune" not in done.out
    truth.__class__([first, (first.rows[1:], first.cols)], X.shape).to_json(tmp_path / "twice.json")
    hint = f"`bivaluate prune {matrix} refined.json -o pruned.json` leaves out what is redundant or not supported."
    assert hint in " ".join(run("refine", matrix, "twice.json", "-o", "refined.json").out.split())
    assert run("refine", matrix, "less.json", "--out", "refined.json").code == 0
    assert read_solution(tmp_path / "refined.json")[0] == first


def test_wrong_input_is_refused_and_nothing_is_written(run, matrix, tmp_path):
    assert run("find", matrix, "--time", "0").code == 2
    assert run("find", matrix, "-a", "laas").code == 2
    assert run("find", "nowhere.csv").code == 2
    np.savetxt(tmp_path / "thin.csv", np.random.default_rng(0).normal(size=(30, 3)), delimiter=",")
    done = run("find", "thin.csv", "-o", "found.json")
    assert done.code == 2
    assert "from 4 rows and 4 columns on" in " ".join(done.err.split())
    np.savetxt(tmp_path / "same.csv", np.ones((30, 8)), delimiter=",")
    assert "all values of same are equal" in " ".join(run("find", "same.csv", "-o", "found.json").err.split())
    assert not (tmp_path / "found.json").exists()


def test_what_was_done_to_the_data_is_noted(run, tmp_path):
    X = np.random.default_rng(0).poisson(0.7, size=(60, 30))
    np.savetxt(tmp_path / "counts.csv", X, delimiter=",", fmt="%d")
    done = run("find", "counts.csv", "-o", "found.json", "--time", "120")
    assert "note: Algorithms were given log2(1 + x), because" in " ".join(done.err.split())


def test_with_a_budget_the_whole_plan_is_run_in_other_processes(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 24))
    X[:20, :8] += 3
    np.savetxt(tmp_path / "raised.csv", X, delimiter=",")
    done = run("find", "raised.csv", "-o", "found.json", "-a", "las", "-a", "coherent", "--time", "500")
    assert done.code == 0
    assert (tmp_path / "found.json").exists()


def test_a_search_says_from_the_start_that_it_is_under_way(run, example):
    for words in (("run", "matrix.csv", "-a", "cca", "-k", "1"), ("find", "matrix.csv", "-a", "cca")):
        lines = run(*words).err.splitlines()
        assert lines[0].endswith(" …")
        assert any(re.fullmatch(r"done after \d+\.\d s", line) for line in lines)


def test_run_passes_on_what_the_search_has_to_say(run, tmp_path):
    X = np.cumsum(np.random.default_rng(0).normal(size=(60, 20)), axis=1)
    np.savetxt(tmp_path / "series.csv", X, delimiter=",")
    assert "note: Columns are correlated in all rows" in run("run", "series.csv", "-a", "find").err
