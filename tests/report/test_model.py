"""What the page shows, before it is drawn."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bivaluate import ParameterError
from bivaluate.evaluation import Evaluation, evaluate
from bivaluate.judge.verdict import judged
from bivaluate.matrix import Matrix
from bivaluate.registry import METRICS
from bivaluate.report import build_report
from bivaluate.report.groups import choose_criterion, gather
from bivaluate.report.methods import describe_methods, formulas, methods_text
from bivaluate.report.page import make_page
from bivaluate.report.pictures import Budget, draw_solution
from bivaluate.report.render import embed, render
from bivaluate.report.source import ENDS, Content, Drawn, Null, Scored, from_evaluations, read_source
from bivaluate.solution import Biclustering
from bivaluate.sweep import Plan, Run, Sweep
from tests.report.stand_ins import planted


def scored(dataset: str, algorithm: str, k: int, seed: int, nve_cov: float, **more: Any) -> Scored:
    values = {"nve_cov": nve_cov, "nve": nve_cov / 2, "coverage": 0.25, "n_biclusters": float(k)}
    return Scored(dataset, algorithm, k, seed, values=values, **more)


def with_evidence(solution: Scored, evidence: float, supported: float) -> Scored:
    return replace(solution, values={**solution.values, "total_evidence": evidence, "n_supported": supported})


def many() -> Content:
    """A run of 2,550 solutions: 17 data sets, 3 algorithms, 5 values of K, 10 seeds."""
    rng = np.random.default_rng(0)
    matrix, truth = planted()
    solutions = [
        scored(f"d{d}", name, k, seed, float(rng.uniform(0.5, 2.0) + k / 50))
        for d in range(17)
        for name in ("CCA", "LAS", "Spectral")
        for k in (3, 5, 8, 10, 15)
        for seed in range(10)
    ]
    records = [{"bicluster": f"B{k + 1}", "nve_k": 0.5, "status": "ok"} for k in range(3)]
    drawn = Drawn(matrix, truth, records, {"ve": np.full((3, 3), 0.9) - 0.6 * np.eye(3)}, judged([]))
    return Content("run", solutions, lambda index: drawn, lambda index: records)


def test_groups_average_over_defined_seeds_and_say_why_others_are_not() -> None:
    solutions = [
        scored("a", "LAS", 3, 0, 1.0),
        scored("a", "LAS", 3, 1, 3.0),
        scored("a", "LAS", 3, 2, math.nan, status="degenerate", reason="one column"),
        scored("a", "CCA", 3, 0, 2.0),
    ]
    las, cca = gather(solutions).groups
    assert (las.mean["nve_cov"], las.counted["nve_cov"], las.seeds) == (2.0, 2, 3)
    assert las.spread["nve_cov"] == pytest.approx(math.sqrt(2))
    assert las.reasons["nve_cov"] == "one column"
    assert las.statuses == {"ok": 2, "degenerate": 1}
    assert solutions[las.taken].values["nve_cov"] == 1.0
    assert math.isnan(cca.spread["nve_cov"])
    assert (las.wins, cca.wins) == (2, 0)


def test_the_criterion_falls_back_to_what_was_computed() -> None:
    assert choose_criterion([Scored("a", "b", values={"avg_ve": 0.3})]) == "avg_ve"
    assert choose_criterion([]) == "total_evidence"


def test_the_criterion_may_be_named_if_it_can_rank_solutions_and_was_computed() -> None:
    solutions = [scored("a", "LAS", 3, 0, 1.0)]
    assert choose_criterion(solutions, "nve") == "nve"
    with pytest.raises(ParameterError, match="'asr' was not computed: score or sweep again with it among the metrics"):
        choose_criterion(solutions, "asr")
    with pytest.raises(ParameterError, match="it scores single biclusters"):
        choose_criterion(solutions, "ve")


def test_solutions_that_cannot_be_judged_are_shown_but_take_no_part() -> None:
    lone = [scored("a", "LAS", 1, s, 0.1, status="degenerate", reason="1 bicluster found") for s in (0, 1)]
    page = make_page(Content("run", [*lone, scored("a", "LAS", 2, 0, 1.0)], lambda i: None, lambda i: []))
    one, two = page.data["groups"]
    at = page.measures.index("nve_cov")
    assert (one["mean"][at], one["counted"][at], one["first"], one["own"], one["rank"]) == (0.1, 0, [], [], 1)
    assert (two["rank"], two["first"]) == (0, ["nve_cov", "nve", "coverage"])
    assert page.verdict.headline == "LAS, K = 2 has the lowest NVE_cov 1."


def test_where_all_candidates_tie_the_headline_says_so() -> None:
    same = [scored("a", name, 3, 0, 1.0) for name in ("LAS", "CCA")]
    page = make_page(Content("run", same, lambda i: None, lambda i: []))
    assert page.verdict.headline == "All 2 candidates tie (NVE_cov 1): none is better than another."
    assert len(page.tables["winners"]) == 0


def test_a_large_run_is_gathered_over_seeds_and_the_rest_is_accounted_for() -> None:
    page = make_page(many())
    assert len(page.data["groups"]) == 255
    assert len(page.data["solutions"]) == 2550
    assert len(page.details) == 24
    assert {detail["dataset"] for detail in page.details} == {f"d{i}" for i in range(17)}
    assert page.detail_note.startswith("24 solutions are drawn: the best of each data set, then")
    assert "2,526 other solutions of 255 combinations" in page.detail_note
    assert len(render(page).encode()) < 8_000_000


def test_the_best_of_each_data_set_is_drawn() -> None:
    source = many()
    page = make_page(source)
    best = {}
    for group in page.data["groups"]:
        score = group["mean"][0]
        if group["dataset"] not in best or score < best[group["dataset"]][0]:
            best[group["dataset"]] = (score, group["anchor"])
    assert all(anchor for _, anchor in best.values())


def test_failed_and_unfinished_solutions_are_warned_of() -> None:
    source = Content(
        "run",
        [scored("a", "Spectral", k, 0, math.nan, status="failed", reason="K exceeds a side") for k in (8, 9)],
        lambda index: None,
        lambda index: [],
        missing=[f"cell {i}" for i in range(10)],
        missing_by_dataset={"a": 10},
        planned_by_dataset={"a": 12, "b": 1},
    )
    page = make_page(source)
    assert page.warnings[0]["title"] == "Not finished: 10"
    assert page.warnings[0]["texts"] == [
        "cell 0; cell 1; cell 2; cell 3; cell 4; cell 5; cell 6; cell 7; and 2 more. Run the same command again to continue."
    ]
    assert page.warnings[1]["title"] == "Failed: 2"
    assert page.warnings[1]["texts"] == ["Spectral: 2 failed of 2 fits. For example: K exceeds a side"]
    assert page.details == []
    assert page.data["datasets"] == ["a", "b"]
    assert "Nothing has been scored yet." in render(page)


def test_a_run_that_has_just_begun() -> None:
    page = make_page(
        Content(
            "run",
            [],
            lambda i: None,
            lambda i: [],
            planned_by_dataset={"a": 4},
            missing=["x"],
            missing_by_dataset={"a": 4},
        )
    )
    assert (page.verdict.headline, *page.verdict.notes, *page.verdict.next_steps) == (
        "Nothing has been scored yet.",
        "4 of 4 planned fits are not finished: the verdict may change.",
        "Start the same command again to finish the run.",
    )
    assert render(page)


def test_null_runs_become_bands() -> None:
    base = many()
    nulls = [Null("d0", "LAS", 3, 9, {"nve_cov": dict(zip(ENDS, (1.0, 3.0, 6.0, 0.5, 0.1), strict=True))})]
    page = make_page(Content("run", base.solutions, base.load, base.records, nulls=nulls))
    (band,) = page.data["nulls"]
    at = page.measures.index("nve_cov")
    assert [band[end][at] for end in ("low", "mean", "high", "gap", "p_value")] == [1.0, 3.0, 6.0, 0.5, 0.1]
    assert band["runs"] == 9
    assert band["mean"][page.measures.index("nve")] is None


def test_evaluations_with_the_same_name_are_told_apart(evaluations: list[Evaluation]) -> None:
    source = from_evaluations([evaluations[0], evaluations[0]])
    assert [s.algorithm for s in source.solutions] == ["planted (1)", "planted (2)"]
    assert make_page(source).title == "Biclusters of demo"


def test_a_run_keeps_every_result(run: Run) -> None:
    source = read_source(run)
    assert len(source.solutions) == len(run.results) == 24
    assert (source.solutions[0].algorithm, source.solutions[0].label) == ("cca", "CCA")
    assert source.solutions[0].values["nve"] == run.results["nve"][0]
    drawn = source.load(0)
    assert drawn is not None
    assert drawn.matrix.shape == (300, 40)
    assert len(drawn.records) == len(drawn.solution)
    assert read_source(run.path).provenance == source.provenance
    assert source.rerun == f"bivaluate sweep --plan {run.path.name}/plan.toml --out NEW_FOLDER"
    assert "command" not in source.provenance


def test_a_null_of_a_run_is_that_of_its_table(tmp_path: Path) -> None:
    plan = Plan(["scenario:S9b"], ["cca"], [2, 3], seeds=2, null="permute", null_runs=2)
    run = Sweep(plan, tmp_path / "run").run()
    source = read_source(run)
    assert [(null.algorithm, null.k, null.runs) for null in source.nulls] == [("CCA", 2, 2), ("CCA", 3, 2)]
    mine = run.null[(run.null["measure"] == "nve") & (run.null["k"] == 3)]
    shown = source.nulls[1].bands["nve"]
    assert shown["mean"] == pytest.approx(mine["null_mean"].mean())
    assert shown["gap"] == pytest.approx(mine["gap"].mean())
    assert shown["p_value"] == mine["p_value"].median()
    assert "numpy" in source.provenance["packages"]


def test_display_data_keep_to_the_budget(evaluations: list[Evaluation]) -> None:
    source = from_evaluations(evaluations)
    drawn = source.load(0)
    assert drawn is not None
    data = draw_solution(drawn, Budget(cells=200, points=60, mergers=2))
    assert data["heatmap"]["rows"] * data["heatmap"]["cols"] <= 200 + 24
    assert data["mergers"]["errors"] == []
    assert data["left_out"] == ["the merger matrix of 3 biclusters (the table names the nearest of each)"]
    assert all(len(profile["lines"]) <= 5 for profile in data["profiles"])
    json.dumps(data, allow_nan=False)


def test_embedded_json_cannot_end_its_element_and_reads_back() -> None:
    data = {"label": "</script><!--<script>\u2028&amp;", "value": 0.1}
    text = embed(data)
    assert "<" not in text
    assert ">" not in text
    assert json.loads(text) == data


def test_methods_name_formulas_and_citations() -> None:
    text = methods_text(describe_methods(["nve_cov", "nve", "coverage"]), "1.2.3", "bivaluate sweep …")
    assert text.startswith("Biclustering solutions were scored with bivaluate 1.2.3.")
    assert r"\mathrm{NVE}=\frac{\sum_k" in text
    assert "arXiv:2608.29045" in text
    assert "Command: bivaluate sweep …" in text


@pytest.mark.parametrize("key", [key for key, metric in METRICS.items() if metric.formula])
def test_formulas_are_well_formed(key: str) -> None:
    from xml.etree import ElementTree

    method = next(method for method in describe_methods([key]) if method.key == key)
    assert ElementTree.fromstring(formulas()[method.formula]).tag.endswith("math")
    assert method.formula.count("{") == method.formula.count("}")


def test_vendored_files_are_what_their_table_says() -> None:
    static = files("bivaluate.report") / "static"
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (static / "VENDORED.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| d3")
    ]
    assert [row[0] for row in rows] == ["d3.min.js", "d3.LICENSE.txt"]
    for name, _, version, *_, checksum in rows:
        content = (static / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == checksum
        assert name.endswith(".txt") or f"v{version}".encode() in content[:100]


def test_the_page_is_self_contained(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert 'src="http' not in text
    assert 'href="http' not in text
    assert page.stat().st_size < 8_000_000


def test_rings_mark_who_is_redundant_with_whom(evaluations: list[Evaluation]) -> None:
    drawn = from_evaluations(evaluations[1:2]).load(0)
    assert drawn is not None
    assert [row["verdict"] for row in drawn.verdict.biclusters][:4] == [*["supported"] * 3, "redundant"]
    data = draw_solution(drawn, Budget())
    assert [tuple(pair) for pair in data["mergers"]["pairs"]] == [(0, 3)]


def test_only_what_is_supported_is_called_the_best() -> None:
    known = (("LAS", 0.9, 2.0), ("CCA", 0.1, 0.0))
    rows = [with_evidence(scored("a", name, 3, 0, value), 9 * n, n) for name, value, n in known]
    las, cca = make_page(Content("run", rows, lambda i: None, lambda i: [])).data["groups"]
    assert las["first"] == ["total_evidence"]
    assert cca["first"] == cca["own"] == []
    matrix, truth = planted()
    records = [
        {"bicluster": f"B{k}", "ve": ve, "verdict": verdict}
        for k, (ve, verdict) in enumerate(((0.4, "supported"), (0.1, "not_supported"), (0.3, "supported")), 1)
    ]
    drawn = Drawn(matrix, truth, records, {}, judged([]))
    assert draw_solution(drawn, Budget())["records"]["best"] == {"ve": 2}


def test_measures_stand_under_the_question_they_answer(evaluations: list[Evaluation]) -> None:
    (detail,) = make_page(from_evaluations(evaluations[:1])).details
    found = {part["name"]: [row["symbol"] for row in part["measures"]] for part in detail["questions"]}
    assert found["coherent"][:2] == ["AvgVE", "ASR"]
    assert found["distinct"][:2] == ["NVE", "NSR"]
    assert found["covers"][:2] == ["NVE_cov", "CR"]
    shown = sum(map(len, found.values()))
    hidden = {"n_supported", "total_evidence", "raw_evidence"}
    assert shown == len(evaluations[0].scores.keys() - hidden)


def test_the_curve_over_k_has_its_range() -> None:
    values = {3: 10.0, 5: 97.0, 7: 100.0}
    rows = [with_evidence(scored("a", "LAS", k, 0, 1.0), value, 2.0) for k, value in values.items()]
    curve = make_page(Content("run", rows, lambda i: None, lambda i: [])).data["curve"]
    assert (curve["best"], curve["good"], curve["algorithm"]) == (5, [5, 7], "LAS")
    assert [point[:3] for point in curve["points"]] == [[3, 10.0, 2.0], [5, 97.0, 2.0], [7, 100.0, 2.0]]
    assert make_page(Content("run", rows[:1], lambda i: None, lambda i: [])).data["curve"] is None


def test_rows_and_columns_are_called_what_they_are(evaluations: list[Evaluation]) -> None:
    matrix = evaluations[0].matrix.called("genes", "times")
    page = make_page(from_evaluations([evaluate(matrix, evaluations[0].solution)]))
    assert page.subtitle.startswith("60 genes × 24 times")
    text = render(page)
    assert "genes × times" in text
    assert "<b>Times:</b> t0, t1" in text
    block = evaluations[0].solution[0]
    outside = np.setdiff1d(np.arange(matrix.shape[1]), block.cols)
    differs = [matrix.values[i, block.cols].mean() - matrix.values[i, outside].mean() for i in block.rows]
    assert np.mean(differs) < 0  # a block that is lower: the lowest come first
    strongest = [str(matrix.row_labels[block.rows[k]]) for k in np.argsort(differs)[:4]]
    others = np.setdiff1d(np.arange(matrix.shape[0]), block.rows)
    below = [matrix.values[block.rows, j].mean() - matrix.values[others, j].mean() for j in block.cols]
    times = [str(matrix.col_labels[block.cols[k]]) for k in np.argsort(below)[:4]]
    assert page.verdict.biclusters[0]["members"] == " × ".join(", ".join([*some, "…"]) for some in (strongest, times))
    assert "genes" in page.verdict.reason


def test_the_tables_beside_the_page_hold_what_it_shows(evaluations: list[Evaluation], tmp_path: Path) -> None:
    risky = Matrix(evaluations[0].matrix.values, name="=HYPERLINK(1)")
    one = evaluate(risky, Biclustering([(range(15), range(6)), (range(15, 30), range(6, 12))], risky.shape))
    build_report([one], tmp_path / "r.html")
    for name, rows in (("winners", 1), ("solutions", 1), ("biclusters", 2)):
        with (tmp_path / f"r.{name}.csv").open() as stream:
            read = list(csv.DictReader(stream))
        assert len(read) >= rows
        assert {row["dataset"] for row in read} == {"'=HYPERLINK(1)"}, name
    assert float(read[0]["ve"]) == pytest.approx(one.records[0]["ve"])


def test_of_very_many_biclusters_the_most_evident_are_shown(evaluations: list[Evaluation]) -> None:
    matrix, truth = evaluations[0].matrix, evaluations[0].solution
    pairs = [([k % 50, k % 50 + 1], [0, 1, 2]) for k in range(500)]
    solution = Biclustering([*pairs, *((b.rows, b.cols) for b in truth)], matrix.shape)
    records = [{"bicluster": f"B{k + 1}", "evidence": float(k)} for k in range(503)]
    data = draw_solution(Drawn(matrix, solution, records, {}, judged([])), Budget())
    assert data["names"] == [f"B{k}" for k in range(104, 504)]
    assert len(data["heatmap"]["blocks"]) == len(data["records"]["rows"]) == 400
    assert [profile["name"] for profile in data["profiles"]] == [f"B{k}" for k in range(464, 504)]
    assert data["left_out"][0].startswith("103 biclusters other than the 400 with the most evidence")


def test_a_run_with_stability_and_held_out_cells_says_so(tmp_path: Path) -> None:
    values = {"total_evidence": 50.0, "n_supported": 2.0, "n_biclusters": 2.0, "nve": 0.5, "coverage": 0.2}
    fits = {"predictive": 0.3, "predictive_error": 0.01, "stability": 0.4}
    solutions = [
        Scored("a", "LAS", 2, seed, values=values | fits | {"total_evidence": 50.0 + seed}) for seed in (0, 1)
    ] + [Scored("a", "CCA", 3, seed, values=values | {"total_evidence": 9.0}) for seed in (0, 1)]
    page = make_page(Content("run", solutions, lambda i: None, lambda i: []))
    assert [m["symbol"] for m in page.data["measures"] if m["key"] in fits] == ["gain", "stability"]
    assert {"predictive", "stability"} <= set(page.data["main"])
    assert page.verdict.headline == "LAS, K = 2: both biclusters are supported."
    assert page.verdict.notes[1].startswith("It predicts held-out values")
    assert page.verdict.notes[2].startswith("Its biclusters are reproducible under subsampling")
    assert "stability under subsampling" in render(page)


def test_the_curve_of_equal_balance_has_the_exponent_that_scores_have(tmp_path: Path) -> None:
    matrix, solution = planted()
    evaluations = [evaluate(matrix, solution, exponent=exponent) for exponent in (0.5, 0.8)]
    assert [make_page(from_evaluations([e])).data["exponent"] for e in evaluations] == [0.5, 0.8]
    run = Sweep(Plan("scenario:S9b", "cca", 2, score={"exponent": 0.7}), tmp_path / "run").run()
    assert make_page(read_source(run)).data["exponent"] == 0.7
