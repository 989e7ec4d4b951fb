"""Awkward content: nothing, one, very many, very large, hostile labels, unfinished and damaged runs."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bivaluate import BivaluateWarning, FileError, ParameterError
from bivaluate.evaluation import Evaluation, evaluate
from bivaluate.matrix import Matrix
from bivaluate.report import Figure, Section, build_report
from bivaluate.report.page import make_page
from bivaluate.report.source import read_source
from bivaluate.solution import Biclustering
from bivaluate.sweep import Plan, Run, Sweep, load_run
from tests.report.stand_ins import empty_evaluation, named, planted
from tests.sweep.standins import BLOCKS

Visit = Callable[..., Any]
LIMIT = 8_000_000


def quietly(matrix: Matrix, solution: Biclustering) -> Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BivaluateWarning)
        return evaluate(matrix, solution)


def test_no_bicluster(visit: Visit, tmp_path: Path) -> None:
    shown = visit(build_report(empty_evaluation(), tmp_path / "r.html"))
    assert shown.locator("h1").inner_text() == "The solution has no biclusters."
    assert shown.locator("#compare").count() == 0
    assert shown.locator("#judged-map canvas").count() > 0
    assert shown.locator("details.measures").count() == 0


def test_one_bicluster(visit: Visit, tmp_path: Path) -> None:
    matrix, truth = planted()
    shown = visit(build_report(quietly(matrix, named(truth.select([0]), "lone")), tmp_path / "r.html"))
    assert shown.locator("h1").inner_text() == "The bicluster is supported."
    for fold in shown.locator("details.measures > summary").all():
        fold.click()
    assert "nothing to merge it with" in shown.locator("[data-fold=distinct]").inner_text()
    assert shown.locator(".profiles svg").count() == 1


@pytest.mark.parametrize("algorithm", ["find", "las"])
def test_find_is_not_advised_where_find_found_nothing(algorithm: str) -> None:
    X = np.random.default_rng(0).normal(size=(60, 20))
    pairs = [(range(10), range(5)), (range(20, 30), range(8, 14))]
    result = evaluate(X, Biclustering(pairs, X.shape, info={"algorithm": algorithm, "name": "mine"}))
    steps = make_page(read_source(result)).verdict.next_steps
    assert any(step.startswith("`bivaluate.find(X)`") for step in steps) == (algorithm != "find")
    assert steps == result.verdict.next_steps


def test_two_hundred_biclusters(visit: Visit, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    matrix = Matrix(rng.normal(size=(120, 40)))
    pairs = [(rng.choice(120, 8, False), rng.choice(40, 6, False)) for _ in range(200)]
    path = build_report(evaluate(matrix, Biclustering(pairs, (120, 40))), tmp_path / "r.html")
    assert path.stat().st_size < LIMIT
    shown = visit(path)
    assert (
        "the profiles of 160 biclusters other than the 40 with the most evidence"
        in shown.locator(".left-out").inner_text()
    )
    shown.locator("[data-fold=coherent] > summary").click()
    shown.locator(".profiles svg").nth(11).wait_for()
    assert shown.locator(".profiles svg").count() == 12
    shown.get_by_role("button", name="Show all 40 profiles").click()
    shown.locator(".profiles svg").nth(39).wait_for()
    assert shown.locator(".profiles svg").count() == 40
    shown.get_by_role("button", name="Show all 200 rows").click()
    assert shown.locator(".solution-body tbody tr").count() == 200
    assert shown.locator(".chip").count() == 200


def test_a_large_matrix_is_binned_and_says_so(visit: Visit, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    matrix = Matrix(rng.normal(size=(20_000, 500)), name="large")
    pairs = [(rng.choice(20_000, 50, False), rng.choice(500, 20, False)) for _ in range(5)]
    scored = evaluate(matrix, Biclustering(pairs, matrix.shape))
    path = build_report(scored, tmp_path / "r.html")
    assert path.stat().st_size < 2_000_000
    shown = visit(path)
    note = shown.locator("#judged-map .caption").first.inner_text()
    assert "Too large to draw value by value: each tile is a mean (20,000 rows in " in note
    assert "500 columns in " in note
    canvas = shown.locator("#judged-map canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    canvas.hover(position={"x": box["width"] - 4, "y": box["height"] - 4})
    assert "mean " in shown.locator("#tip").inner_text()


def test_labels_with_markup_stay_text(visit: Visit, tmp_path: Path) -> None:
    matrix, truth = planted()
    bad = '</script><script>alert(1)</script><img src=x onerror="alert(2)">'
    labelled = Matrix(
        matrix.values,
        tuple(f"{bad}{i}" for i in range(matrix.shape[0])),
        tuple(f"<b>{j}" for j in range(matrix.shape[1])),
        f"data {bad}",
    )
    path = build_report(
        [quietly(labelled, named(truth, f"name {bad}")), quietly(labelled, named(truth.select([0, 1]), "b"))],
        tmp_path / "r.html",
        title=f"title {bad}",
        sections=[Section(f"section {bad}", bad, ["<i>"], [[bad, None, 1.5]])],
    )
    assert bad not in path.read_text(encoding="utf-8")
    shown = visit(path)
    assert shown.locator("img, main script").count() == 0
    assert shown.title() == f"title {bad}"
    canvas = shown.locator("#judged-map canvas").first
    canvas.scroll_into_view_if_needed()
    canvas.hover(position={"x": 5, "y": 5})
    assert f"row {bad}" in shown.locator("#tip").inner_text()
    assert f"name {bad}" in shown.locator("#solution-table").inner_text()


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that was interrupted from the keyboard after its third cell."""
    folder = tmp_path_factory.mktemp("report") / "cut short"

    def stop(finished: int, *_: Any) -> None:
        if finished >= 3:
            raise KeyboardInterrupt

    plan = Plan(datasets=["scenario:S9b"], algorithms=["spectral"], k=[2, 3], seeds=3)
    with pytest.raises(KeyboardInterrupt):
        Sweep(plan, folder, progress=stop).run()
    return load_run(folder)


def test_an_unfinished_run_says_what_is_missing(visit: Visit, unfinished: Run, tmp_path: Path) -> None:
    missing = len(unfinished.missing)
    assert 0 < missing < 6
    shown = visit(build_report(unfinished, tmp_path / "r.html"))
    verdict = shown.locator("#verdict").inner_text()
    assert f"{missing} of 6 planned fits {'is' if missing == 1 else 'are'} not finished" in verdict
    cell = unfinished.missing[0]
    warning = shown.locator("#warnings").inner_text()
    assert f"scenario:S9b, Spectral, K = {cell.k}, seed {cell.seed}" in warning.replace("\xa0", " ")
    assert "Run the same command again to continue." in warning


def test_an_unfinished_null_is_said(tmp_path: Path) -> None:
    def stop(finished: int, *_: object) -> None:
        if finished >= 2:
            raise KeyboardInterrupt

    plan = Plan("scenario:S9b", BLOCKS, 2, null="permute", null_runs=3)
    with pytest.raises(KeyboardInterrupt):
        Sweep(plan, tmp_path / "run", progress=stop).run()
    cut = load_run(tmp_path / "run")
    assert cut.missing_copies
    titles = [entry["title"] for entry in make_page(read_source(cut)).warnings]
    assert f"Not finished beside the data: {cut.missing_copies}" in titles


def test_parquet_is_not_needed(run: Run, unfinished: Run, tmp_path: Path) -> None:
    for table in unfinished.path.glob("*.parquet"):
        table.unlink()
    assert build_report(str(unfinished.path), tmp_path / "r.html").stat().st_size > 100_000


def test_a_folder_that_is_not_a_run_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no run folder"):
        build_report(tmp_path / "nowhere", tmp_path / "r.html")


def test_what_a_report_is_built_from(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="a run folder, an evaluation or a list of evaluations; found int"):
        build_report([3], tmp_path / "r.html")


def test_files_that_are_not_known_are_plainly_to_be_filled_in(tmp_path: Path) -> None:
    text = build_report(empty_evaluation(), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "with the names of your files in place of YOUR_MATRIX.csv" in text
    assert "bivaluate score YOUR_MATRIX.csv YOUR_SOLUTION.json --report report.html" in text


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot write"):
        build_report(empty_evaluation(), tmp_path / "no" / "folder.html")


def test_sections_of_a_caller(visit: Visit, evaluations: list[Evaluation], tmp_path: Path) -> None:
    picture = tmp_path / "figure.svg"
    picture.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"/>')
    section = Section(
        "Claims of the paper",
        "Each claim with its verdict.",
        ["claim", "measured", "verdict"],
        [["NVE is low on S1", 0.364, "reproduced"], ["never", None, "not testable"]],
        [Figure(picture, "A square")],
        (("reproduced", "good"), ("not testable", "muted")),
    )
    shown = visit(build_report(evaluations, tmp_path / "r.html", sections=[section]))
    box = shown.locator("#section-claims-of-the-paper")
    assert box.locator(".mark.good").inner_text() == "reproduced"
    assert box.locator("[data-value='0.364']").count() == 1
    assert box.get_by_role("img", name="A square").count() == 1
    shown.get_by_role("link", name="Claims of the paper").click()


def test_a_caller_may_begin_the_page_and_fold_its_rows(
    visit: Visit, evaluations: list[Evaluation], tmp_path: Path
) -> None:
    rows = [["1.1", "reproduced"], ["1.2", "partly"], ["2.1", "reproduced"]]
    section = Section("Claims", columns=["claim", "verdict"], rows=rows, marks=(("reproduced", "good"), ("partly", "fair")),
                      folds=(("1. First", 2), ("2. Second", 1)))  # fmt: skip
    shown = visit(build_report(evaluations, tmp_path / "r.html", sections=[section], headline="2 of 3 are reproduced."))
    assert shown.locator("h1").inner_text() == "2 of 3 are reproduced."
    assert shown.locator("#verdict .record").count() == 0
    assert (
        shown.locator("#section-claims ~ #runs h2")
        .first.inner_text()
        .startswith("planted: most evidence, 3 of 3 supported; doubled: 3 of 5")
    )
    first, second = shown.locator("#section-claims details.fold").all()
    assert [mark.inner_text() for mark in first.locator("summary .mark").all()] == ["1 reproduced", "1 partly"]
    assert not first.locator("table").is_visible()
    first.locator("summary").click()
    assert first.locator("tbody tr").count() == 2
    assert second.locator("tbody tr").count() == 1


def test_a_figure_must_be_a_picture(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"allowed: \.png, \.svg"):
        Figure(tmp_path / "a.pdf", "no").data_uri()
    with pytest.raises(FileError, match="cannot read"):
        Figure(tmp_path / "a.png", "no").data_uri()


def test_scattered_biclusters_are_outlined_in_the_colours_they_are_named_after(visit: Visit, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, names = (
        rng.normal(size=(240, 64)),
        ["turquoise", "blue", "brown", "M4", "black", "lightcyan", "M7", "M8", "M9", "red"],
    )
    pairs = [(rng.permutation(240)[:60], rng.permutation(64)[:20]) for _ in names]
    for rows, cols in pairs:
        X[np.ix_(rows, cols)] += 4
    page = build_report(quietly(Matrix(X), Biclustering(pairs, X.shape, names=names)), tmp_path / "r.html")
    for scheme in ("light", "dark"):
        shown = visit(page, scheme=scheme)
        assert "Outlined are the largest pieces" in shown.locator("#judged-map").inner_text()
        labels = json.loads(shown.locator("#judged-map .heat-frame canvas").get_attribute("data-labels"))
        colours = {label["text"]: label["colour"] for label in labels}
        assert len(colours) >= 4
        assert colours.get("blue", "#0000ff") == ("#0000ff" if scheme == "light" else colours["blue"]) != ""
        assert colours.get("black", "") != ("#000000" if scheme == "dark" else "")


def test_a_long_word_in_the_headline_is_broken(visit: Visit, tmp_path: Path) -> None:
    matrix, truth = planted()
    long = "sklearn.decomposition:NonnegativeMatrixFactorisation, K = 9: all 3 biclusters are supported."
    shown = visit(build_report(quietly(matrix, named(truth, "x")), tmp_path / "r.html", headline=long), width=390)
    assert shown.evaluate(
        "(() => { const h = document.querySelector('h1'); return h.scrollWidth <= h.clientWidth; })()"
    )
