"""`bivaluate report` and `bivaluate score --report`."""

from __future__ import annotations

import html
import json
import re
import shlex

import numpy as np
import pytest

from bivaluate import Biclustering, Matrix, write_matrix
from bivaluate.datasets import load_example
from tests.test_agreement import shown_on


def test_score_writes_a_report(run, example) -> None:
    done = run("score", "matrix.csv", "solution.json", "two.json", "--report", "r.html")
    assert done.code == 0, done.err
    assert "wrote r.html" in done.err
    page = (example / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<h1" in page
    assert {p.name for p in example.glob("r.*.csv")} == {"r.winners.csv", "r.solutions.csv", "r.biclusters.csv"}


def test_score_looks_genes_up(run, example) -> None:
    (example / "sets.gmt").write_text("first\tna\tg1\tg2\tg3\nsecond\tna\tg4\tg5\n")
    words = ("score", "matrix.csv", "solution.json", "--sets", "sets.gmt")
    done = run(*words, "--report", "r.html")
    assert done.code == 0, done.err
    assert "5 of 5 genes of the matrix are in 2 sets." in (example / "r.html").read_text(encoding="utf-8")
    assert "bivaluate enrich" not in run(*words).out


def test_report_of_a_sweep(run, tmp_path) -> None:
    swept = run("sweep", "scenario:S9b", "-a", "spectral", "-k", "2,3", "--out", "RUN")
    assert swept.code == 0, swept.err
    done = run("report", "RUN", "-o", "page.html", "--title", "My <title>")
    assert done.code == 0, done.err
    assert done.err.strip() == "wrote page.html"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>My &lt;title&gt;</title>" in page
    assert "sweep scenario:S9b -a spectral" in page


def test_report_of_nothing(run) -> None:
    done = run("report", "nowhere")
    assert done.code == 2
    assert "there is no run folder 'nowhere'" in done.err


def test_report_explains_itself(run) -> None:
    done = run("report", "--help")
    assert done.code == 0
    assert "bivaluate report run -o report.html" in done.out


def commands(page) -> list[str]:
    """The commands that the page advises, as they can be copied from it."""
    text = page.read_text(encoding="utf-8").replace("\u00a0", " ")
    return [html.unescape(found) for found in re.findall(r"<code>(bivaluate [^<]*)</code>", text)]


@pytest.fixture
def series(tmp_path):
    """Smooth rows, of which one block stands out, and a solution of that block and noise."""
    noise = np.random.default_rng(0).normal(size=(60, 22))
    X = (noise[:, :-2] + noise[:, 1:-1] + noise[:, 2:]) / np.sqrt(3)
    X[:15, :8] += 20
    labels = [f"g{i}" for i in range(60)], [f"t{j}" for j in range(20)]
    write_matrix(Matrix(X, *labels), tmp_path / "my series.csv")
    Biclustering([(range(15), range(8)), (range(20, 40), range(9, 18))], X.shape).to_json(tmp_path / "two blocks.json")
    return tmp_path


@pytest.mark.parametrize("kind", ["score", "report", "score turned"])
def test_the_page_advises_commands_with_the_real_files(run, series, kind) -> None:
    if kind == "report":
        assert run("sweep", "my series.csv", "-a", "spectral_co", "-k", "3", "--out", "a run").code == 0
        done = run("report", "a run", "-o", "page.html")
    else:
        done = run("score", "my series.csv", "two blocks.json", "--report", "page.html")
    if kind == "score turned":
        Biclustering([(range(8), range(15)), (range(9, 18), range(20, 40))], (20, 60)).to_json(series / "turned.json")
        words = ["--transpose", "--index-base", "0"]
        done = run("score", "my series.csv", "turned.json", "--report", "page.html", *words)
    assert done.code == 0, done.err
    page = (series / "page.html").read_text(encoding="utf-8")
    assert "propose_pruning" not in page
    (prune,) = (command for command in commands(series / "page.html") if "-o pruned.json" in command)
    done = run(*shlex.split(prune)[1:])
    assert done.code == 0, (prune, done.err)
    assert "wrote pruned.json" in done.err
    others = [command for command in commands(series / "page.html") if "MATRIX" in command or "SOLUTION" in command]
    assert others == []
    for sweep in (command for command in commands(series / "page.html") if "--held-out" in command):
        assert run(*shlex.split(sweep)[1:]).code == 0


def test_what_came_from_standard_input_has_no_file_to_name(run, series) -> None:
    given = (series / "two blocks.json").read_bytes()
    assert run("score", "my series.csv", "-", "--report", "page.html", stdin=given).code == 0
    assert "bivaluate prune 'my series.csv' SOLUTION -o pruned.json" in commands(series / "page.html")


def test_score_writes_the_same_record_to_terminal_json_and_page(run, tmp_path) -> None:
    X, solution = load_example()
    write_matrix(X, tmp_path / "x.csv")
    solution.to_json(tmp_path / "s.json")
    words = ("score", "x.csv", "s.json", "--rows", "genes", "--columns", "conditions")
    told = run(*words, "--report", "page.html").out
    (document,) = json.loads(run(*words, "--json").out)
    record, page = document["verdict"], shown_on(tmp_path / "page.html")
    assert record["headline"] in told
    assert record["headline"] == page["headline"]
    assert record["reason"] in told
    assert record["reason"] == page["reason"]
    assert record["nouns"] == ["genes", "conditions"]
    assert "genes × conditions" in told
    assert [step.replace("`", "") for step in record["next_steps"]] == page["steps"]
    assert all(step in told for step in record["next_steps"])
    assert page["steps"][0].startswith("bivaluate prune x.csv --rows genes --columns conditions s.json")


def test_nouns_are_kept_in_a_run_folder(run, tmp_path) -> None:
    X, _ = load_example()
    write_matrix(X, tmp_path / "x.csv")
    words = ("-a", "las", "-k", "2", "--rows", "genes", "--columns", "conditions")
    assert run("sweep", "x.csv", *words, "--out", "RUN").code == 0
    assert run("report", "RUN", "-o", "page.html").code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "genes × conditions" in page
    assert "200 genes × 30 conditions" in page
