"""The page in a real Chromium: what it shows is what was scored, and everyone can use it."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bivaluate import Biclustering, Matrix, write_matrix
from bivaluate.enrichment import GeneSets
from bivaluate.evaluation import Evaluation, evaluate
from bivaluate.judge.verdict import described, with_shares
from bivaluate.report import build_report
from bivaluate.report.source import ENDS, Null, read_source
from bivaluate.sweep import Run

Visit = Callable[..., Any]
SOLUTIONS = "#solution-table table"


def eventually(page: Any, expression: str) -> bool:
    """Ask until the answer is yes; the page's own policy forbids Playwright's way of waiting."""
    for _ in range(60):
        if page.evaluate(expression):
            return True
        page.wait_for_timeout(50)
    return False


def ask(page: Any, solution: int, question: str) -> Any:
    """Open a solution and one of the questions folded under it; return the fold once it is drawn."""
    page.evaluate(f"location.hash = '#solution-{solution}'")
    page.locator(f"#solution-{solution}[data-drawn]").wait_for()
    fold = page.locator(f"#solution-{solution} details[data-fold={question}]")
    if fold.get_attribute("open") is None:
        fold.locator("> summary").click()
    fold.locator(".solution-body > *").first.wait_for()
    return fold


def column(page: Any, key: str, table: str = SOLUTIONS) -> list[str | None]:
    cells = page.locator(f"{table} tbody [data-key='{key}']")
    return [cell.get_attribute("data-value") for cell in cells.all()]


def test_every_solution_value_is_the_scored_one(visit: Visit, page: Path, evaluations: list[Evaluation]) -> None:
    shown = visit(page)
    shown.get_by_label("measures").check()
    by_name = {e.solution.info["name"]: e.scores for e in evaluations}
    seen = 0
    for row in shown.locator(f"{SOLUTIONS} tbody tr").all():
        name = row.locator("[data-key=algorithm]").inner_text()
        for key, value in by_name[name].items():
            shown_value = row.locator(f"[data-key='{key}']").get_attribute("data-value")
            assert (shown_value is None) == math.isnan(value), (name, key)
            if shown_value is not None:
                assert float(shown_value) == pytest.approx(value, rel=1e-9), (name, key)
                seen += 1
    assert seen > 50


def test_every_bicluster_value_is_the_scored_one(visit: Visit, page: Path, evaluations: list[Evaluation]) -> None:
    shown = visit(page)
    ask(shown, 2, "coherent")
    table = "#solution-2 .solution-body table"
    shown.wait_for_selector(table)
    records = evaluations[1].records
    for key in ("n_rows", "n_cols", "msr", "ve", "nve_k", "ve_merged"):
        values = column(shown, key, table)
        assert len(values) == len(records) == 5
        for value, record in zip(values, records, strict=True):
            assert (value is None) == math.isnan(record[key])
            assert value is None or float(value) == pytest.approx(record[key], rel=1e-9)


def test_run_values_equal_the_result_table_over_and_by_seed(visit: Visit, run_page: Path, run: Run) -> None:
    shown = visit(run_page)
    names = {"cca": "CCA", "spectral": "Spectral"}
    results = run.results.assign(algorithm=run.results["algorithm"].map(names))
    means = results.groupby(["dataset", "algorithm", "k"])["nve_cov"].mean()
    rows = shown.locator(f"{SOLUTIONS} tbody tr").all()
    assert len(rows) == len(means) == 12
    for row in rows:
        place = [row.locator(f"[data-key={key}]").inner_text() for key in ("dataset", "algorithm", "k")]
        value = row.locator("[data-key=nve_cov]").get_attribute("data-value")
        mean = means[place[0], place[1], int(place[2])]
        assert (value is None) == math.isnan(mean)
        assert value is None or float(value) == pytest.approx(mean, rel=1e-9)
    shown.get_by_label("each seed on its own row").check()
    more = shown.get_by_role("button", name="Show all 24 rows")
    more.click()
    listed = sorted(float(v) for v in column(shown, "nve") if v is not None)
    assert listed == pytest.approx(sorted(results["nve"].dropna()), rel=1e-9)


def test_the_table_sorts_both_ways_with_undefined_last(visit: Visit, page: Path) -> None:
    shown = visit(page)
    header = shown.locator(f"{SOLUTIONS} th[data-key=asr]")
    header.get_by_role("button").click()
    up = [v for v in column(shown, "asr") if v]
    assert header.get_attribute("aria-sort") == "ascending"
    assert [float(v) for v in up] == sorted(float(v) for v in up)
    header.get_by_role("button").press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    assert [v for v in column(shown, "asr") if v] == up[::-1]
    shown.locator(f"{SOLUTIONS} th[data-key=nve] button").click()
    assert column(shown, "nve")[-1] is None


def test_the_filters_work(visit: Visit, run_page: Path) -> None:
    shown = visit(run_page)
    status = shown.locator("#solution-table [role=status]")
    assert status.inner_text() == "12 rows"
    shown.get_by_label("Filter").fill("spectral K = 3")
    assert status.inner_text() == "2 of 12 rows"
    shown.get_by_label("Data set", exact=True).select_option("scenario:S1")
    assert status.inner_text() == "1 of 12 rows"
    shown.get_by_label("Filter").fill("")
    shown.get_by_label("Algorithm").select_option("CCA")
    assert status.inner_text() == "3 of 12 rows"


def test_undefined_cells_explain_themselves(visit: Visit, page: Path) -> None:
    shown = visit(page)
    shown.locator(f"{SOLUTIONS} .undefined").first.hover()
    assert "Undefined: " in shown.locator("#tip").inner_text()
    shown.keyboard.press("Escape")
    assert shown.locator("#tip").is_hidden()


def test_hovering_the_heatmap_shows_labels(visit: Visit, page: Path) -> None:
    shown = visit(page)
    canvas = shown.locator("#judged-map canvas").first
    canvas.scroll_into_view_if_needed()
    canvas.hover(position={"x": 3, "y": 3})
    text = shown.locator("#tip").inner_text()
    assert text.splitlines()[0].startswith("row gene")
    assert text.splitlines()[1].startswith("column t")
    assert text.splitlines()[3] == "in B1"


def test_the_heatmap_value_is_the_matrix_cell(visit: Visit, page: Path, evaluations: list[Evaluation]) -> None:
    shown = visit(page)
    canvas = shown.locator("#judged-map canvas").first
    canvas.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        canvas.press(key)
    row, col, value, *_ = shown.locator("#judged-map [aria-live]").inner_text().split(", ")
    matrix = evaluations[0].matrix
    cell = matrix.values[
        matrix.row_labels.index(row.removeprefix("row ")), matrix.col_labels.index(col.removeprefix("column "))
    ]
    assert float(value.removeprefix("value ")) == pytest.approx(cell, rel=6e-3, abs=2e-3)


def test_zoom_by_button_keyboard_and_bicluster(visit: Visit, page: Path) -> None:
    shown = visit(page)
    canvas = shown.locator("#judged-map canvas").first
    zoomed = lambda: canvas.evaluate("c => c.__zoom.k")  # noqa: E731 -- d3 keeps the zoom there
    shown.locator("#judged-map").get_by_role("button", name="Zoom in").click()
    assert zoomed() == pytest.approx(1.6)
    canvas.press("0")
    assert zoomed() == 1
    chip = shown.locator("#judged-map .chip", has_text="B2")
    chip.click()
    assert chip.get_attribute("aria-pressed") == "true"
    assert zoomed() > 1
    shown.locator("#judged-map").get_by_role("button", name="Show the whole matrix").click()
    assert zoomed() == 1


def test_points_of_charts_show_labels(visit: Visit, run_page: Path) -> None:
    shown = visit(run_page)
    point = shown.locator("#compare svg .point").first
    point.hover()
    assert "K" in shown.locator("#tip").inner_text()
    shown.locator(".nve-cell").first.hover()
    assert "NVE" in shown.locator("#tip").inner_text()


def test_the_comparison_follows_the_data_set(visit: Visit, run_page: Path) -> None:
    shown = visit(run_page)
    before = shown.locator("#compare .multiples svg").first.inner_html()
    shown.get_by_label("Data set in the pictures below").select_option("scenario:S9b")
    assert shown.locator("#compare .multiples svg").first.inner_html() != before


def test_winners_are_counted(visit: Visit, run_page: Path, run: Run) -> None:
    shown = visit(run_page)
    means = run.results.groupby(["dataset", "algorithm", "k"])[["nve", "n_supported"]].mean().dropna()
    best = [(name, *means["nve"][name].idxmin()) for name in run.datasets]
    winners = [place[1] for place in best if means["n_supported"][place] > 0]  # what is not supported wins nothing
    for key, name in (("cca", "CCA"), ("spectral", "Spectral")):
        row = shown.locator(".winners tbody tr", has=shown.locator("th", has_text=name))
        assert row.locator("td").nth(2).inner_text() == str(winners.count(key))


@pytest.mark.parametrize("which", ["page", "run_page"])
def test_every_anchor_resolves_and_ids_are_unique(visit: Visit, which: str, request: pytest.FixtureRequest) -> None:
    shown = visit(request.getfixturevalue(which))
    lost = shown.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href').slice(1))"
        ".filter(id => !document.getElementById(id))"
    )
    assert lost == []
    ids = shown.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_a_link_opens_the_solution_it_points_to(visit: Visit, page: Path) -> None:
    shown = visit(page)
    assert not shown.locator("#solution-2 canvas").count()
    shown.locator(f"{SOLUTIONS} a[href='#solution-2']").click()
    shown.locator("#solution-2 canvas").first.wait_for(state="visible")


@pytest.mark.parametrize(("which", "scheme"), [("page", "dark"), ("run_page", "light")])
def test_no_serious_accessibility_violation(
    visit: Visit, which: str, scheme: str, request: pytest.FixtureRequest
) -> None:
    from axe_core_python.sync_playwright import Axe

    shown = visit(request.getfixturevalue(which), scheme=scheme)
    shown.evaluate("document.querySelectorAll('details:not(.solution)').forEach(d => { d.open = true; })")
    shown.wait_for_timeout(100)
    found = Axe().run(shown)["violations"]
    grave = [v for v in found if v["impact"] in ("serious", "critical")]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in grave] == []


@pytest.mark.parametrize("which", ["page", "run_page"])
def test_the_page_never_scrolls_sideways(visit: Visit, which: str, request: pytest.FixtureRequest) -> None:
    shown = visit(request.getfixturevalue(which), width=390)
    shown.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    for width in (390, 820, 1400):
        shown.set_viewport_size({"width": width, "height": 900})
        assert eventually(shown, f"document.documentElement.scrollWidth === {width}")


def test_colours_follow_the_system_and_the_button(visit: Visit, page: Path) -> None:
    shown = visit(page, scheme="dark")
    background = lambda: shown.evaluate("getComputedStyle(document.body).backgroundColor")  # noqa: E731
    dark = background()
    shown.get_by_role("button", name="Change to light colours").click()
    assert background() != dark
    for scheme in ("light", "dark"):
        shown.emulate_media(color_scheme=scheme)
        shown.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert eventually(shown, f"document.documentElement.dataset.theme === '{scheme}'")
    assert background() == dark


def test_it_prints_in_light_colours_without_controls(visit: Visit, page: Path) -> None:
    shown = visit(page, scheme="dark")
    assert shown.pdf()[:5] == b"%PDF-"
    shown.emulate_media(media="print", color_scheme="dark")
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown.evaluate("document.documentElement.dataset.theme") == "light"
    assert shown.locator(".controls").first.is_hidden()
    shown.evaluate("dispatchEvent(new Event('afterprint'))")
    assert shown.evaluate("document.documentElement.dataset.theme") == "dark"


def test_paper_has_no_word_on_the_pointer_and_no_methods(visit: Visit, page: Path) -> None:
    shown = visit(page)
    assert shown.locator(".by-hand").first.is_visible()
    shown.emulate_media(media="print")
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown.locator(".by-hand").first.is_hidden()
    assert shown.locator("#methods dl").is_hidden()


@pytest.mark.parametrize("width", [390, 1400])
def test_labels_stand_beside_their_blocks(visit: Visit, tmp_path: Path, width: int) -> None:
    X = np.random.default_rng(0).normal(size=(600, 60))
    names = ["M1_up", "M2_profile", "M3_down", "M4_scaled", "tiny", "M1_half_noise"]
    rows = [range(40), range(60, 95), range(100, 125), range(130, 160), range(200, 202), range(20, 60)]
    cols = [range(20), range(20, 40), range(42, 57), range(5, 30), range(1, 3), range(20)]
    solution = Biclustering(zip(rows, cols, strict=True), X.shape, names=names)
    shown = visit(build_report(evaluate(X, solution), tmp_path / "r.html"), width)
    labels = json.loads(shown.locator("#judged-map .heat-frame canvas").get_attribute("data-labels"))
    assert len(labels) == len(names)
    for k, a in enumerate(labels):
        assert a["away"] < 60
        for b in labels[:k]:
            assert abs(a["y"] - b["y"]) >= 17 or a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]


def test_sixteen_biclusters_have_sixteen_colours(visit: Visit, page: Path) -> None:
    for scheme in ("light", "dark"):
        shown = visit(page, scheme=scheme)
        colours = shown.evaluate("d3.range(16).map((i) => R.token(R.series(i).slice(4, -1)))")
        assert len({*colours}) == 16
        assert "" not in colours


def test_weak_support_looks_weak_and_cut_tables_have_a_shadow(
    visit: Visit, evaluations: list[Evaluation], tmp_path: Path
) -> None:
    weak = replace(evaluations[0].verdict, biclusters=({**evaluations[0].verdict.biclusters[0], "strength": "weak"},))
    source = read_source(evaluations[:1])
    drawn = source.load(0)
    assert drawn is not None
    shown = visit(build_report(replace(source, load=lambda i: replace(drawn, verdict=weak)), tmp_path / "r.html"), 390)
    assert shown.locator("#verdict .mark.weak").evaluate("e => getComputedStyle(e).borderTopStyle") == "dashed"
    layers = shown.locator(".scroll").first.evaluate("e => getComputedStyle(e).backgroundAttachment")
    assert layers == "local, scroll"


def test_the_winner_is_open_and_its_best_biclusters_are_marked(
    visit: Visit, evaluations: list[Evaluation], tmp_path: Path
) -> None:
    shown = visit(build_report(evaluations[::-1], tmp_path / "r.html"))
    opened = [box.get_attribute("open") is not None for box in shown.locator("details.solution").all()]
    assert opened == [False, False, True]
    errors = [record["ve"] for record in evaluations[0].records]
    ask(shown, 3, "coherent")
    best = shown.locator("#solution-3 .solution-body td.best[data-key=ve]")
    assert [float(cell.get_attribute("data-value")) for cell in best.all()] == [pytest.approx(min(errors))]


def test_every_column_of_solutions_is_in_view(visit: Visit, page: Path, run_page: Path) -> None:
    for path in (page, run_page):
        shown = visit(path, width=1280)
        assert (
            shown.evaluate(
                "(() => { const s = document.querySelector('#solution-table .scroll'); return s.scrollWidth - s.clientWidth; })()"
            )
            <= 0
        )


def test_the_record_is_on_top_with_the_picture_and_the_next_steps(
    visit: Visit, page: Path, evaluations: list[Evaluation]
) -> None:
    shown = visit(page)
    heading = shown.get_by_role("heading", level=1)
    assert (
        heading.inner_text().replace("\xa0", " ")
        == "planted: most evidence, 3 of 3 supported; doubled: 3 of 5; single: 1 of 1."
    )
    assert heading.bounding_box()["y"] < 300
    verdict = evaluations[0].verdict
    assert shown.locator("#verdict .reason").inner_text() == verdict.reason
    rows = shown.locator("#verdict .record tbody tr").all()
    assert [row.locator("th").inner_text() for row in rows] == [row["bicluster"] for row in verdict.biclusters]
    for row, known in zip(rows, verdict.biclusters, strict=True):
        said, *cells = row.locator("td").all_inner_texts()
        assert [said.partition("\n")[0], *cells] == [*described(known), known["members"]]
    picture = shown.locator("#judged-map canvas").first.bounding_box()
    assert heading.bounding_box()["y"] < picture["y"]
    steps = shown.locator("#verdict .step")
    assert steps.all_inner_texts() == [step.replace("`", "") for step in verdict.next_steps]
    assert all(picture["y"] < step.bounding_box()["y"] for step in steps.all())


def test_a_verdict_other_than_supported_says_why(visit: Visit, page: Path, evaluations: list[Evaluation]) -> None:
    shown = visit(page)
    shown.evaluate("location.hash = '#solution-2'")
    rows = shown.locator("#solution-2 .record tbody tr").all()
    assert "redundant with B1" in rows[3].inner_text()
    assert evaluations[1].verdict.biclusters[3]["why"] in rows[3].inner_text()


def test_one_solution_is_not_compared_and_its_members_are_visible_and_printed(
    visit: Visit, evaluations: list[Evaluation], tmp_path: Path
) -> None:
    shown = visit(build_report(evaluations[:1], tmp_path / "r.html"))
    assert shown.locator("#compare, #solutions").count() == 0
    assert "Comparison" not in shown.locator("nav").inner_text()
    members = shown.locator(".members-list")
    assert members.is_visible()
    assert "gene0, gene1, gene2" in members.inner_text()
    shown.emulate_media(media="print")
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert members.is_visible()
    assert not shown.locator("details.measures table").first.is_visible()


def test_the_words_are_explained_on_the_page(visit: Visit, page: Path) -> None:
    shown = visit(page)
    assert not shown.locator("#glossary dl, #methods dl").first.is_visible()  # folded away: the page stays short
    shown.get_by_role("link", name="what the words mean").first.click()
    shown.locator("#glossary dl").wait_for(state="visible")
    assert "too small to judge" in shown.locator("#glossary").inner_text()


def test_a_question_about_k_gets_its_curve(visit: Visit, run: Run, tmp_path: Path) -> None:
    one = read_source(run)
    mine = [i for i, s in enumerate(one.solutions) if s.dataset == "scenario:S1"]
    part = replace(
        one,
        solutions=[one.solutions[i] for i in mine],
        load=lambda i: one.load(mine[i]),
        records=lambda i: one.records(mine[i]),
        planned_by_dataset={},
    )
    shown = visit(build_report(part, tmp_path / "r.html"))
    curve = shown.locator("#k-curve")
    assert curve.locator("svg .point").count() == 3
    assert curve.locator("svg text", has_text="Evidence").count() == 1
    curve.locator(".point").first.hover()
    assert "supported" in shown.locator("#tip").inner_text()


def test_tiles_are_only_of_what_is_supported(visit: Visit, page: Path, evaluations: list[Evaluation]) -> None:
    shown = visit(page)
    filled = shown.locator(".nve-cell", has=shown.locator("rect + rect")).all()
    named = {tuple(tile.get_attribute("data-tip").split(":")[0].split(", ")) for tile in filled}
    supported = {
        (str(e.solution.info["name"]), record["bicluster"])
        for e in evaluations
        for record in e.records
        if record["verdict"] == "supported" and not math.isnan(record["nve_k"])
    }
    assert named == supported


def test_redundant_biclusters_are_spelled_out(visit: Visit, page: Path) -> None:
    fold = ask(visit(page), 2, "distinct")
    assert "Keep one of B1 and B4" in fold.locator(".advice").inner_text()


def test_the_merger_matrix_is_also_a_table(visit: Visit, page: Path, evaluations: list[Evaluation]) -> None:
    shown = visit(page)
    ask(shown, 1, "distinct").locator("summary", has_text="As a table").click()
    table = "#solution-1 .as-table table"
    shown.wait_for_selector(table)
    errors = evaluations[0].mergers["ve"]
    for c, name in enumerate(evaluations[0].names):
        values = [float(v) for v in column(shown, name, table) if v is not None]
        assert values == pytest.approx(errors[:, c].tolist(), rel=1e-4)


def test_null_runs_are_drawn_and_tabled(visit: Visit, run: Run, tmp_path: Path) -> None:
    source = read_source(run)
    nulls = [
        Null(dataset, "CCA", k, 3, {"nve": dict(zip(ENDS, (1.0, 1.1, 1.2, 0.25, 0.75), strict=True))})
        for dataset, k in sorted({(cell.dataset, cell.k) for cell in run.cells})
    ]
    shown = visit(build_report(replace(source, nulls=nulls), tmp_path / "r.html"))
    assert "surrogate matrices without structure" in shown.locator("#compare").inner_text()
    row = shown.locator(f"{SOLUTIONS} tbody tr", has_text="CCA").first
    assert "p\u2009=\u20090.75" in row.locator("[data-key=nve]").inner_text()
    row.locator("[data-key=nve] .value").hover()
    beside = "surrogates 1 to 1.20, gap 0.250, p\xa0=\xa00.75"
    assert beside in shown.locator("#tip").inner_text()
    assert shown.locator("#compare .point[data-tip*='gap 0.250']").count() > 0
    shown.get_by_text("The surrogate runs in numbers").click()
    rows = shown.locator("#compare .as-table tbody tr")
    assert rows.count() == 6
    for end, value in {"mean": 1.1, "low": 1.0, "high": 1.2, "gap": 0.25, "p_value": 0.75}.items():
        cell = rows.first.locator(f"[data-key=nve-{end}]")
        assert float(cell.get_attribute("data-value")) == pytest.approx(value)


def saved(page: Any, button: Any) -> tuple[str, str]:
    with page.expect_download() as waiting:
        button.click()
    return waiting.value.suggested_filename, waiting.value.path().read_text(encoding="utf-8")


def test_every_table_can_be_saved(visit: Visit, page: Path, evaluations: list[Evaluation]) -> None:
    shown = visit(page)
    tables = shown.locator("main table:visible").count()
    assert tables >= 3
    assert shown.get_by_role("button", name="as CSV").count() == tables
    name, text = saved(shown, shown.locator("#solution-table").get_by_role("button", name="Download Solutions as CSV"))
    assert name == "Solutions.csv"
    heading, first, *_ = text.splitlines()
    row = dict(zip(heading.split(","), first.split(","), strict=True))
    assert row["algorithm"] == "planted"
    assert float(row["nve"]) == pytest.approx(evaluations[0].scores["nve"], rel=1e-9)


def test_text_that_looks_like_a_formula_is_saved_as_text(visit: Visit, page: Path, tmp_path: Path) -> None:
    cells = ["=A1", "-1.5", "g1", "'=A1", 'say "hi"', "a,b", "+x", "@y"]
    written = visit(page).evaluate("(cells) => cells.map(R.csvCell)", cells)
    assert written == ["'=A1", "-1.5", "g1", "''=A1", '"say ""hi"""', '"a,b"', "'+x", "'@y"]
    labels = [cell for cell in cells if cell not in ("-1.5", 'say "hi"', "a,b")]
    write_matrix(Matrix(np.ones((len(labels), 1)), labels), tmp_path / "labels.csv")  # as tables are written here
    saved = [line.partition(",")[0] for line in (tmp_path / "labels.csv").read_text().splitlines()[1:]]
    assert saved == [text for cell, text in zip(cells, written, strict=True) if cell in labels]


def test_every_figure_can_be_saved(visit: Visit, run_page: Path) -> None:
    from xml.etree import ElementTree

    shown = visit(run_page)
    figures = shown.locator("#compare .chart", has=shown.locator("svg:not(.legend svg)")).all()
    for question in ("coherent", "distinct", "covers"):
        ask(shown, 1, question)
    parts = shown.locator("details[open] .part", has=shown.locator("svg, canvas")).all()
    assert len(figures) >= 3
    assert len(parts) >= 4
    for part in figures + parts:
        name, text = saved(shown, part.get_by_role("button", name="as SVG"))
        picture = ElementTree.fromstring(text)
        assert picture.tag.endswith("svg")
        assert float(picture.get("width", "0")) > 100
        assert "var(--" not in text, name
    button = figures[0].get_by_role("button", name="as PNG")
    with shown.expect_download() as waiting:
        button.click()
    assert waiting.value.path().read_bytes()[:4] == b"\x89PNG"


def test_the_heatmap_shows_values_or_standardised_rows(visit: Visit, page: Path, evaluations: list[Evaluation]) -> None:
    shown = visit(page)
    first = shown.locator("#judged-map")
    canvas = first.locator("canvas").first
    drawn = lambda: canvas.evaluate("c => c.toDataURL()")  # noqa: E731
    before = drawn()
    first.get_by_role("button", name="Rows standardised").click()
    assert first.get_by_role("button", name="Rows standardised").get_attribute("aria-pressed") == "true"
    assert drawn() != before
    assert "standard deviations from the mean" in first.locator(".scale").inner_text()
    canvas.focus()
    canvas.press("ArrowDown")
    row, col, value, beside, *_ = first.locator("[aria-live]").inner_text().split(", ")
    matrix = evaluations[0].matrix
    line = matrix.values[matrix.row_labels.index(row.removeprefix("row "))]
    cell = line[matrix.col_labels.index(col.removeprefix("column "))]
    assert float(value.removeprefix("value ")) == pytest.approx(cell, rel=6e-3, abs=2e-3)
    standard = (cell - line.mean()) / line.std()
    assert float(beside.removeprefix("standardised ")) == pytest.approx(standard, abs=0.06)
    first.get_by_role("button", name="As measured").click()
    canvas.blur()
    assert drawn() == before


def test_enriched_sets_are_a_column_and_a_panel(visit: Visit, evaluations: list[Evaluation], tmp_path: Path) -> None:
    members = {"ribosome": [f"gene{i}" for i in range(14)], "all": [f"gene{i}" for i in range(60)]}
    sets = GeneSets(members, dict.fromkeys(members, "made up"))
    path = build_report(evaluations[:1], tmp_path / "r.html", sets=sets)
    shown = visit(path)
    panel = shown.locator("#solution-1 .part", has_text="What the genes share")
    assert "1 of 3 biclusters is enriched" in panel.inner_text()
    assert panel.locator("[data-key=title]").all_inner_texts()[-1] == "ribosome"
    assert shown.locator("#verdict .record [data-label='rows share']").all_inner_texts() == ["ribosome", "–", "–"]
    ask(shown, 1, "coherent")
    table = "#solution-1 .solution-body .part:first-child table"
    shown.locator(f"{table} tbody [data-key='enriched_sets']").first.wait_for(state="attached")
    assert [float(v or 0) for v in column(shown, "enriched_sets", table)] == [1, 0, 0]
    with (tmp_path / "r.enrichment.csv").open() as stream:
        assert [(row["set"], row["title"]) for row in csv.DictReader(stream)] == [("ribosome", "made up")]
    assert not any("bivaluate enrich" in text for text in shown.locator(".step").all_inner_texts())


@pytest.mark.parametrize("width", [390, 1280])
def test_the_verdicts_fit_beside_everything_that_is_known(
    visit: Visit, evaluations: list[Evaluation], tmp_path: Path, width: int
) -> None:
    verdict = replace(evaluations[1].verdict, nouns=("genes", "tumours"))
    for side in (0, 1):
        verdict = with_shares(verdict, ["HALLMARK_INTERFERON_ALPHA_RESPONSE.UP"] * len(verdict.biclusters), side)
    drawn = replace(read_source(evaluations[1]).load(0), verdict=verdict)
    shown = visit(build_report(replace(read_source(evaluations[1]), load=lambda k: drawn), tmp_path / "r.html"), width)
    table = shown.locator("#verdict .record")
    assert table.locator("thead th").all_inner_texts()[1:3] == ["verdict", "evidence"]
    assert table.locator("tbody tr").first.locator("td").first.inner_text().endswith("supported")
    assert {"genes share", "tumours share"} <= {*table.locator("thead th").all_inner_texts()}
    assert shown.evaluate(
        "[...document.querySelectorAll('#verdict > p, #verdict td')].every((e) => e.scrollWidth <= e.clientWidth)"
    )
    fits = "(box) => box.scrollWidth <= box.clientWidth && box.getBoundingClientRect().right <= innerWidth"
    assert shown.locator("#verdict .scroll").evaluate(fits)


def test_the_heatmap_opens_where_blocks_can_be_seen(visit: Visit, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    X[:15, :10] += 3
    for levels, view in ((0.0, "As measured"), (6.0, "Rows standardised")):
        matrix = X + rng.normal(0, levels, size=(60, 1))
        shown = visit(build_report(evaluate(matrix, [(range(15), range(10))]), tmp_path / "r.html"))
        pressed = shown.locator("#judged-map .switch button[aria-pressed=true]")
        assert pressed.all_inner_texts() == [view]
        assert ("rows standardised" in shown.locator("#judged-map .caption").first.inner_text()) == (levels > 0)


def test_the_curve_of_equal_balance_is_of_one_nve_cov(visit: Visit, run_page: Path) -> None:
    drawn, nve, cover, exponent = visit(run_page).evaluate(
        """() => {
          const g = d3.create("svg:g"), best = R.data.groups.find((group) => R.value(group, "nve") > 0);
          const x = d3.scaleLinear([0, 1], [0, 1000]), y = d3.scaleLinear([0, 100], [0, 1e5]);
          R.equalBalance(g, best, x, y, { width: 1000, height: 1e5 });
          return [g.select("path").attr("d"), R.value(best, "nve"), R.value(best, "coverage"), R.data.exponent];
        }"""
    )
    points = np.array([[float(number) / 1000 for number in point.split(",")] for point in drawn[1:].split("L")])
    assert len(points) == 100
    np.testing.assert_allclose(points[:, 1] / points[:, 0] ** exponent, nve / cover**exponent, rtol=1e-4)


def test_biclusters_without_a_defined_score_are_marked_among_the_sizes(visit: Visit, page: Path) -> None:
    shown = visit(page)
    ask(shown, 2, "covers")
    marked = shown.locator("#solution-2 .point[data-tip*='too thin for a defined score']")
    assert marked.get_attribute("data-tip").startswith("B5: 1 × 3\n")
