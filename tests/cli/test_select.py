"""`bivaluate select` as a newcomer types it."""

import json
import re
import shlex

import numpy as np
import pytest
from scipy import sparse

from bivaluate import Biclustering, Matrix, Plan, Sweep, load_run, write_matrix
from tests.sweep.standins import BLOCKS


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep") / "run"
    plan = Plan(["scenario:S9b", "scenario:S1"], ["cca"], [2, 3, 4], seeds=2, null="permute", null_runs=2)
    Sweep(plan, folder).run()
    return folder


def test_select_prints_the_choice_and_what_to_distrust(run, sweep):
    done = run("select", sweep, "--by", "nve_cov")
    assert done.code == 0, done.err
    assert "best by NVE_cov" in done.out
    assert "what each measure chooses" in done.out
    assert re.search(r"cca \d \(\d/\d; -?[\d.]+, p [\d.]+\)", done.out), "every measure beside its null"
    assert "Disagreements" in done.out or "Warnings" in done.out
    assert "p (at least 0.3333)" in done.out
    title, _, last = done.out.rpartition("\nRecommendation\n")
    assert title
    assert last.count("no bicluster is supported") == 2
    assert "take " not in last


def test_select_ends_in_a_recommendation(run, tmp_path):
    Sweep(Plan(["scenario:S4"], ["las"], [2], metrics=["total_evidence"]), tmp_path / "paying").run()
    done = run("select", "paying")
    assert done.code == 0, done.err
    last = done.out.rpartition("\nRecommendation\n")[2]
    (taken,) = re.findall(r"take (\S+\.json)", last)
    assert len(Biclustering.from_json(tmp_path / taken)) == 2


def test_a_data_set_without_anything_has_a_row(run, tmp_path):
    rng = np.random.default_rng(0)
    for name, level in (("noise", 0), ("raised", 4)):
        X = rng.normal(size=(60, 20))
        X[:15, :8] += level
        write_matrix(X, tmp_path / f"{name}.csv")
    Sweep(Plan([str(tmp_path / "noise.csv"), str(tmp_path / "raised.csv")], ["las"], [1]), tmp_path / "run").run()
    shown = run("select", "run").out.splitlines()
    assert shown[1].split()[-3:] == ["supported", "coverage", "runner-up"]
    assert shown[2].split()[:3] == ["raised", "las", "1"]
    assert shown[3].split() == ["noise", "nothing", *["–"] * 9]


def test_select_as_json_and_csv(run, sweep, tmp_path):
    done = run("select", sweep, "--by", "nve_cov", "--json", "--tables", "tables")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert {row["dataset"] for row in told["best"]} == {"scenario:S1", "scenario:S9b"}
    assert all({"measure", "algorithm", "k", "n_supported", "k_low", "k_high"} <= row.keys() for row in told["best"])
    assert (tmp_path / "tables" / "best_k.csv").is_file()
    assert run("select", sweep, "--csv", "best.csv").code == 0
    assert (tmp_path / "best.csv").read_text().startswith("measure,dataset,algorithm,k,")


@pytest.mark.parametrize(
    ("words", "message"), [(["nowhere"], "there is no run folder 'nowhere'"), (["."], "is not a run folder")]
)
def test_bad_folders(run, words, message):
    done = run("select", *words)
    assert done.code == 2
    assert message in done.err


def test_evidence_chooses_as_total_evidence(run, sweep):
    total = run("select", sweep, "--by", "total_evidence")
    assert total.code == 0
    assert run("select", sweep, "--by", "evidence").out == total.out


def test_bad_measure(run, sweep):
    done = run("select", sweep, "--by", "nve_cv")
    assert done.code == 2
    assert "Did you mean 'nve_cov'" in done.err


def test_shares_are_percentages(run, sweep):
    shown = run("select", sweep, "--by", "coverage").out.splitlines()
    best = next(line for line in shown if line.startswith("scenario:S1"))
    assert re.search(r"cca +\d +\S+ +[\d.]+ % +[\d.]+ % to [\d.]+ %", best), best


@pytest.mark.parametrize(
    ("algorithm", "words"),
    [("las", r"2 biclusters \(B1 \d+ %, B2 \d+ % of the seeds\)"), (BLOCKS, r"0 biclusters \(none recurs\)")],
)
def test_consensus_says_who_comes_back(run, tmp_path, algorithm, words):
    X = np.random.default_rng(0).normal(size=(60, 20))
    X[:15, :8] += 5
    X[30:50, 10:18] += 4
    write_matrix(X, tmp_path / "data.csv")
    Sweep(Plan([str(tmp_path / "data.csv")], [algorithm], [2], seeds=3), tmp_path / "run").run()
    said = run("select", "run", "--by", "nve", "--consensus", "kept").err
    assert re.search(r"wrote kept.data\.json: " + words, said)


def typed(run, shown, command):
    """Run a command that was printed between backquotes, as it stands there."""
    (words,) = re.findall(rf"`(bivaluate {command} [^`]*)`", shown)
    assert "\n" not in words
    done = run(*shlex.split(words)[1:])
    assert done.code == 0, (words, done.err)
    return words, done


def one_block(n=60, m=20):
    """A block that pays, where three are asked for."""
    X = np.random.default_rng(0).normal(size=(n, m))
    X[:15, :8] += 5
    return X


@pytest.mark.parametrize("kind", ["without labels", "a file with labels", "labels, file gone", "sparse", "turned"])
def test_the_printed_prune_command_works_as_typed(run, tmp_path, kind):
    X, folder = one_block(), "a run" if kind == "turned" else "run"
    labelled = Matrix(X, [f"g{i}" for i in range(60)], [f"c {j}" for j in range(20)])
    words = ["my matrix.csv", "-a", "spectral_co", "-k", 3]
    if kind == "without labels":
        words = ["scenario:S1", "-a", "las", "-k", 4, "--seeds", 2]
    elif kind == "sparse":
        cells = sparse.csr_array(np.where(X > 1, X, 0))
        write_matrix(Matrix(cells, labelled.row_labels, labelled.col_labels), tmp_path / "cells.npz")
        words = ["cells.npz", "-a", "las", "-k", 3]
    elif kind == "turned":
        words += ["--transpose"]
        write_matrix(Matrix(X.T, labelled.col_labels, labelled.row_labels), tmp_path / words[0])
    else:
        write_matrix(labelled, tmp_path / words[0])
    assert run("sweep", *words, "--out", folder).code == 0
    if kind in ("labels, file gone", "sparse"):
        (tmp_path / words[0]).unlink()
    shown = run("select", folder, COLUMNS="80").out
    command, done = typed(run, shown, "prune")
    assert ("my matrix.csv" in command) == (kind == "a file with labels")
    assert "wrote pruned.json" in done.err
    names = json.loads((tmp_path / "pruned.json").read_text())["biclusters"][0].get("row_labels")
    assert (names is None) == (kind == "without labels"), "labels come along"


SPELT = (
    "--param las.n_restarts=20 --score min_rows=2 --metrics total_evidence,nve_cov --time-limit 60 --algorithm-seed 3"
)


@pytest.mark.parametrize(
    "words",
    [
        "scenario:S4 -a las -k 2,3",
        f"'my matrix.csv' --transpose -a las,cca -k 2 --seeds 4-4 --null permute --null-runs 5 {SPELT}",
    ],
)
def test_the_printed_second_opinion_works_as_typed(run, tmp_path, words):
    write_matrix(one_block().T, tmp_path / "my matrix.csv")
    assert run("sweep", *shlex.split(words), "--out", "run").code == 0
    shown = run("select", "run").out
    assert "shows which choice predicts held-out values" in shown
    typed(run, shown, "sweep")
    again, before = load_run(tmp_path / "run-held-out"), load_run(tmp_path / "run")
    assert "predictive" in again.results
    changed = {"held_out": 5, "null": None, "null_runs": 0}
    assert again.plan.to_dict() == before.plan.to_dict() | changed
    assert "bivaluate sweep" not in run("select", "run-held-out").out, "nobody asks twice"
    assert "--out run-held-out-2" in run("select", "run").out, "the folder is new"


def test_k_found_is_told_from_k_asked_for(run, tmp_path):
    write_matrix(one_block(), tmp_path / "data.csv")
    assert run("sweep", "data.csv", "-a", "find", "-k", "3,5", "--out", "run").code == 0
    last = run("select", "run").out.rpartition("\nRecommendation\n")[2]
    assert "coherent, which finds K itself: the bicluster is supported." in last
    assert "with K = 5" not in last
    headings, chosen = (line.split() for line in run("select", "run").out.splitlines()[1:3])
    assert " ".join(headings).startswith("data set algorithm K requested as good")
    assert chosen[:5] == ["data", "coherent", "5", "at", "most"]


def test_measures_of_ones_own_are_listed_and_nothing_is_imported_for_it(run_afresh, tmp_path):
    text = "def size(X, solution):\n    return float(sum(b.size for b in solution))\nsize.direction = 'low'\n"
    (tmp_path / "mine.py").write_text(text)
    plan = ["scenario:S9b", "-a", "cca", "-k", "2,3", "--metrics", "total_evidence", "--measure", "mine:size"]
    assert run_afresh("sweep", *plan, "--out", "run").code == 0
    (tmp_path / "mine.py").unlink()
    done = run_afresh("select", "run", "--json")
    (best,) = (row for row in json.loads(done.out)["best"] if row["measure"] == "mine:size")
    assert best["k"] == 2
    run_afresh("report", "run", "-o", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    shown = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    (size,) = (measure for measure in shown["measures"] if measure["key"] == "mine:size")
    assert (size["symbol"], size["direction"], shown["main"][-1]) == ("size", "low", "mine:size")
    assert "mine:size,S9b,cca,2" in (tmp_path / "page.winners.csv").read_text().replace("scenario:", "")
