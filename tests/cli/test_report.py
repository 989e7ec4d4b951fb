"""`bivaluate report` and `bivaluate score --report`."""

from __future__ import annotations


def test_score_writes_a_report(run, example) -> None:
    done = run("score", "matrix.csv", "solution.json", "two.json", "--report", "r.html")
    assert done.code == 0, done.err
    assert "wrote r.html" in done.err
    page = (example / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "solution, K" in page


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
