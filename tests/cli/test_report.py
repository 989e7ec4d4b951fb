"""`bivaluate report` and `bivaluate score --report`."""

from __future__ import annotations


def test_score_writes_a_report(run, example) -> None:
    done = run("score", "matrix.csv", "solution.json", "two.json", "--report", "r.html")
    assert done.code == 0, done.err
    assert "wrote r.html" in done.err
    page = (example / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "solution, K" in page
    assert {p.name for p in example.glob("r.*.csv")} == {"r.winners.csv", "r.solutions.csv", "r.biclusters.csv"}


def test_score_looks_genes_up(run, example) -> None:
    (example / "sets.gmt").write_text("first\tna\tg1\tg2\tg3\nsecond\tna\tg4\tg5\n")
    words = ("score", "matrix.csv", "solution.json", "--sets", "sets.gmt")
    done = run(*words, "--report", "r.html")
    assert done.code == 0, done.err
    assert "5 of 5 genes of the matrix are in 2 sets." in (example / "r.html").read_text(encoding="utf-8")
    done = run(*words)
    assert done.code == 2
    assert "--sets adds gene sets to a report: add --report FILE, or use `bivaluate enrich`." in done.err


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
