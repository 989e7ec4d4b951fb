"""One question, one answer: whoever names the best solution or the redundant biclusters names the same ones."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bivaluate import Biclustering, evaluate, propose_pruning
from bivaluate._errors import SearchWarning
from bivaluate.algorithms.registry import algorithm_label
from bivaluate.judge.choice import winners
from bivaluate.judge.redundancy import redundant_groups
from bivaluate.measures.registry import METRICS
from bivaluate.replicate.winners import best_pick
from bivaluate.report import build_report
from bivaluate.sweep import Plan, Run, Sweep
from bivaluate.sweep.select import select, solution_of, solution_to_tidy
from tests.report.conftest import browser, visit  # noqa: F401 -- fixtures
from tests.sweep.standins import BLOCKS, OUTWEIGHED, SEPARATE, Outweighed

Visit = Callable[..., Any]
Choice = dict[tuple[str, str], tuple[str, int]]  # (measure, data set) -> (algorithm, K)

FAILING = {"fail_from": 3}
PLANS: dict[str, dict[str, Any]] = {
    "one block against the matrix": {"k": [1, 2, 3], "score": {"single": "matrix"}},
    "many seeds": {"k": [1, 2, 3], "seeds": 4, "score": {"single": "matrix"}},
    "all tie": {"algorithms": [BLOCKS, SEPARATE], "k": [2]},
    "first among equals": {"algorithms": [BLOCKS, SEPARATE], "k": [2, 3], "seeds": 2},
    "failed cells": {"algorithms": [BLOCKS, SEPARATE], "parameters": {SEPARATE: FAILING}, "k": [2, 3], "seeds": 2},
    "real algorithms": {
        "algorithms": ["cca", "las", "spectral"],
        "k": [3, 41],
        "seeds": 2,
    },  # some fail, some degenerate
    "all failed or degenerate": {"parameters": {BLOCKS: FAILING}, "k": [1, 3]},
    "paper's conventions": {"k": [1, 2, 4], "seeds": 3, "score": {"single": "matrix", "degenerate": "formula"}},
}


@pytest.fixture(scope="module", params=PLANS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    asked = {"datasets": ["scenario:S9b"], "algorithms": [BLOCKS], "seeds": 1} | PLANS[request.param]
    return Sweep(Plan(**asked), tmp_path_factory.mktemp("agree") / "run").run()


@pytest.fixture(scope="module")
def page(run: Run) -> Path:
    return build_report(run, run.path.with_name("page.html"))


def embedded(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script id="report-data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


def chosen(table: pd.DataFrame) -> Choice:
    return {(row["measure"], row["dataset"]): (row["algorithm"], int(row["k"])) for row in table.to_dict("records")}


def labelled(choices: Choice) -> Choice:
    """Return the choices as pages write them, with the labels of the algorithms."""
    return {key: (algorithm_label(algorithm), k) for key, (algorithm, k) in choices.items()}


@pytest.fixture(scope="module")
def selected(run: Run) -> Choice:
    """What `select` chooses by the measures it compares and by two others, and the rule itself by all the rest."""
    measures = [key for key in run.results if key in METRICS and METRICS[key].ranks_solutions]
    found = chosen(winners(run.results, measures))
    for measure in ("coverage", "nve_cov"):
        best = select(run, by=measure).best
        found = {key: value for key, value in found.items() if key[0] not in set(best["measure"]) | {measure}} | chosen(
            best
        )
    return found


def test_the_winners_beside_the_page_are_those_of_select(selected: Choice, page: Path) -> None:
    shown = {m["key"] for m in embedded(page)["measures"] if m["direction"] != "none"}
    assert {"nve_cov", "nve", "avg_ve", "asr", "nsr", "coverage"} <= shown
    assert {measure for measure, _ in selected} <= shown
    table = pd.read_csv(page.with_suffix(".winners.csv"))
    assert chosen(table) == selected
    ranks = {f"{group['algorithm']} K={group['k']}": group["rank"] for group in embedded(page)["groups"]}
    for row in table[table["measure"] == embedded(page)["criterion"]].to_dict("records"):
        assert ranks[f"{row['algorithm']} K={row['k']}"] == 0
        assert ranks[row["runner_up"]] == 1


def test_what_the_scripts_mark_comes_with_the_page(selected: Choice, page: Path) -> None:
    data = embedded(page)
    marked = {
        (key, group["dataset"]): (group["algorithm"], group["k"]) for group in data["groups"] for key in group["first"]
    }
    assert marked == labelled(selected)


def test_the_dots_in_the_browser_are_the_winners(selected: Choice, page: Path, visit: Visit) -> None:  # noqa: F811
    shown = visit(page)
    if shown.get_by_label("measures").count():
        shown.get_by_label("measures").check()
    dots = shown.evaluate(
        "[...document.querySelectorAll('#solution-table td.best')].map((cell) => [cell.dataset.key, "
        "...['algorithm', 'k'].map((key) => cell.parentNode.querySelector(`[data-key='${key}']`).textContent)])"
    )
    marked = {(key, "scenario:S9b"): (algorithm, int(k)) for key, algorithm, k in dots}
    assert len(marked) == len(dots)
    assert marked == labelled(selected)


@pytest.mark.parametrize("by", [None, "asr", "coverage", "cc"])
def test_the_headline_names_the_choice_of_select(
    run: Run, selected: Choice, page: Path, by: str | None, tmp_path: Path
) -> None:
    made = page if by is None else build_report(run, tmp_path / "page.html", by=by)
    headline = re.search(r"<h1[^>]*>(.*?)</h1>", made.read_text(encoding="utf-8"), re.DOTALL)
    assert headline is not None
    words = headline[1].replace("\u00a0", " ")
    named = [f"{algorithm_label(row['algorithm'])}, K = {row['k']}" for row in run.results.to_dict("records")]
    choice = selected.get((by or "total_evidence", "scenario:S9b"))
    if choice is not None:
        algorithm, k = choice
        assert words.startswith(f"{algorithm_label(algorithm)}, K = {k}:")
    else:
        assert not any(words.startswith(f"{name}:") for name in named)


def test_replication_names_the_same_winner_in_every_seed(run: Run) -> None:
    judged = run.results[run.results["status"] == "ok"]
    for seed, rows in judged.groupby("seed"):
        for measure in ("nve_cov", "nve", "avg_ve", "asr", "nsr"):
            expected = chosen(winners(rows, [measure])).get((measure, "scenario:S9b"))
            picked = best_pick(rows, "scenario:S9b", measure)
            found = None
            if seed in picked.index and not pd.isna(picked["k"][seed]):
                found = (str(picked["algorithm"][seed]), int(picked["k"][seed]))
            assert found == expected, (seed, measure)


def test_means_shown_are_those_judged_by(run: Run, page: Path) -> None:
    data = embedded(page)
    at = [m["key"] for m in data["measures"]].index("nve")
    ok = run.results[run.results["status"] == "ok"].groupby(["algorithm", "k"])["nve"].mean()
    for group in data["groups"]:
        mean = ok.get((group["algorithm"], group["k"]), math.nan)
        if not math.isnan(mean):
            assert group["mean"][at] == pytest.approx(mean, rel=1e-9)


# Who is redundant with whom.


def blocks(seed: int, rows: list[range], cols: list[range], noise: float = 0.2, same: bool = True) -> Any:
    """Return a matrix with a pattern on each pair of rows and columns (all `same` or one each), and the pairs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 30))
    pattern = 3 * rng.normal(size=30)
    for r, c in zip(rows, cols, strict=True):
        values = pattern[c] if same else 3 * rng.normal(size=len(c))
        X[np.ix_(r, c)] = values + noise * rng.normal(size=(len(r), len(c)))
    return X, Biclustering(list(zip(rows, cols, strict=True)), X.shape)


def chain(seed: int) -> Any:
    """Five blocks of which neighbours overlap and share a drifting pattern: who is with whom is not transitive."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 30))
    pattern = 3 * rng.normal(size=12)
    pairs = []
    for k in range(5):
        rows = range(10 * k, 10 * k + 14)
        X[np.ix_(rows, range(12))] = pattern + 0.5 * rng.normal(size=(14, 12))
        pattern = pattern + 0.9 * rng.normal(size=12)
        pairs.append((rows, range(12)))
    return X, Biclustering(pairs, X.shape)


def clones() -> Any:
    X, S = blocks(1, [range(12), range(12, 24), range(30, 42)], [range(10), range(10), range(15, 25)])
    return X, S


def duplicates() -> Any:
    X, S = blocks(2, [range(20), range(30, 45)], [range(10), range(12, 24)], same=False)
    return X, Biclustering([(S[0].rows, S[0].cols), (S[1].rows, S[1].cols), (S[0].rows[1:], S[0].cols)], X.shape)


def cliques() -> Any:
    rows = [range(10 * k, 10 * k + 10) for k in range(6)]
    X, S = blocks(3, rows[:3], [range(10)] * 3)
    Y, T = blocks(4, rows[3:], [range(14, 26)] * 3)
    X[30:60, 14:26] = Y[30:60, 14:26]
    mixed = [S[0], T[0], S[1], T[1], T[2], S[2]]
    return X, Biclustering([(b.rows, b.cols) for b in mixed], X.shape)


def nested() -> Any:
    X, S = blocks(6, [range(20), range(40, 52)], [range(12), range(14, 26)], same=False)
    return X, Biclustering([(range(4, 16), range(2, 9)), (S[1].rows, S[1].cols), (S[0].rows, S[0].cols)], X.shape)


def nothing() -> Any:
    return blocks(5, [range(12), range(20, 32), range(40, 52)], [range(8), range(10, 18), range(20, 28)], same=False)


def raised() -> Any:
    """Blocks above one profile that all rows share: any two of them look alike to VE, and save less as one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 40)) + 2 * rng.normal(size=40)
    pairs = [(range(30 * k, 30 * k + 30), range(12 * k, 12 * k + 12)) for k in range(3)]
    for rows, cols in pairs:
        X[np.ix_(rows, cols)] += 1.5
    return X, Biclustering(pairs, X.shape)


CASES: dict[str, Callable[[], Any]] = {f"chain {seed}": (lambda seed=seed: chain(seed)) for seed in range(20)} | {
    function.__name__: function for function in (clones, duplicates, cliques, nested, nothing, raised)
}


def groups_in(sentences: list[str]) -> list[tuple[str, ...]]:
    """Return the biclusters named together in sentences about redundancy."""
    words = re.compile(r"((?:B\d+(?:, | and )?){2,}) (?:are nearly the same|are the same|share)")
    inside = re.compile(r"((?:B\d+(?:, | and )?)+ lies? within B\d+)")
    named = [found for text in sentences for found in words.findall(text) + inside.findall(text)]
    return sorted(tuple(sorted(re.findall(r"B\d+", found))) for found in named)


@pytest.mark.parametrize("name", CASES)
def test_findings_verdict_rings_and_pruning_name_the_same_groups(name: str, tmp_path: Path) -> None:
    X, solution = CASES[name]()
    result = evaluate(X, solution)
    groups = redundant_groups(result.mergers["ve"], solution, result.matrix)
    expected = sorted(tuple(f"B{k + 1}" for k in group.members) for group in groups)
    assert bool(expected) == (name not in ("nothing", "raised")) or name.startswith("chain")
    assert groups_in(result.findings) == expected

    page = build_report(result, tmp_path / "page.html")
    text = page.read_text(encoding="utf-8").replace("\u00a0", " ")
    verdict = re.findall(r"<li class=\"finding\">(.*?)</li>", text)
    if len(expected) == 1 and len(expected[0]) == len(solution):
        assert f"All {len(solution)} biclusters are the same pattern." in verdict
    else:
        assert groups_in(verdict) == expected

    (detail,) = embedded(page)["details"]
    assert sorted(map(tuple, detail["mergers"]["pairs"])) == sorted(pair for group in groups for pair in group.pairs)

    advice = propose_pruning(X, solution, keep_weak=True)
    assert sorted(advice.groups) == expected
    touched = {part for proposal in advice.proposals for named in proposal.biclusters for part in named.split("+")}
    for proposal in advice.proposals[:1]:  # asked again after every change, so only the first must lie within one
        assert any(set(proposal.biclusters) <= set(group) for group in expected)
    left = " ".join(text for text in advice.cautions if text.startswith("Redundant, but not merged"))
    for group in expected:  # no group that findings and the report name is passed over: changed, or said why not
        assert set(group) & touched or set(group) <= set(re.findall(r"B\d+", left))
    if not expected:
        assert touched == set()


def test_the_groups_themselves() -> None:
    named = {
        name: groups_in(evaluate(*CASES[name]()).findings)
        for name in ("clones", "duplicates", "cliques", "nested", "nothing", "raised")
    }
    assert named == {
        "clones": [("B1", "B2")],
        "duplicates": [("B1", "B3")],
        "cliques": [("B1", "B3", "B6"), ("B2", "B4", "B5")],
        "nested": [("B1", "B3")],
        "nothing": [],
        "raised": [],
    }


@pytest.mark.parametrize("turned", [False, True])
def test_blocks_that_pay_and_are_better_apart_are_good_everywhere(turned: bool, tmp_path: Path) -> None:
    X, solution = raised()
    if turned:
        X, solution = X.T, Biclustering([(b.cols, b.rows) for b in solution], X.T.shape)
    result = evaluate(X, solution)
    assert result.scores["nve"] >= 0.9 or turned
    assert result.verdict.startswith("Good. All 3 biclusters stand out from noise")
    assert "hardly distinct" not in result.verdict
    page = build_report(result, tmp_path / "page.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert f": {result.verdict}</h1>" in page
    assert "No two biclusters are redundant." in page
    assert "Merge B" not in page
    advice = propose_pruning(X, solution)
    assert (advice.groups, advice.proposals, advice.cautions) == ((), (), ())


def test_select_says_how_many_pay_as_score_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bivaluate.cli.select import select as shown

    X = np.random.default_rng(0).normal(size=(60, 20))
    X[:15, :8] += 5
    np.save(tmp_path / "data.npy", X)
    run = Sweep(Plan([str(tmp_path / "data.npy")], ["spectral_co"], [3]), tmp_path / "run").run()
    selection = select(run)
    taken = solution_of(run, selection, "data")
    assert taken is not None
    result = evaluate(X, Biclustering.from_json(taken.path))
    pays, found = result.scores["n_paying"], result.scores["n_biclusters"]
    assert 0 < pays < found
    assert (taken.n_paying, taken.n_biclusters) == (pays, found)
    assert selection.to_dict()["best"][0]["n_paying"] == pays
    assert f"{found} found; {pays} of them stand" in selection.verdict[0]
    assert f"{pays} of {found} biclusters stand" in result.verdict
    shown(tmp_path / "run")
    told = " ".join(capsys.readouterr().out.split())
    assert f"({found} biclusters, of which {pays} pay" in told
    assert f"`bivaluate prune {tmp_path / 'data.npy'} {taken.path} -o pruned.json`".replace(" ", "") in told.replace(
        " ", ""
    )
    page = build_report(run, tmp_path / "page.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert f"{pays} of {found} biclusters stand" in page
    assert f"bivaluate prune {tmp_path / 'data.npy'} {taken.path} -o pruned.json" in page


def test_what_pays_is_not_denied_where_the_rest_costs_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One block pays, two others cost more: `select`, `select_k`, the report and `prune` say so, and nobody "nothing"."""
    from bivaluate import select_k
    from bivaluate.cli.select import select as shown

    X = np.random.default_rng(0).normal(size=(60, 20))
    X[:15, :8] += 1.5
    np.save(tmp_path / "data.npy", X)
    run = Sweep(Plan([str(tmp_path / "data.npy")], [OUTWEIGHED], [3, 2], seeds=2), tmp_path / "run").run()
    assert run.results["n_paying"].tolist() == [1] * 4
    assert (run.results["total_evidence"] < 0).all()
    name = f"{OUTWEIGHED} with K = 2"
    part = "1 of 2 biclusters stands out from noise, but the others cost more than this one saves."
    whole = "o solution as a whole stands out from noise"
    for by in (None, "nve_cov"):
        selection = select(run, by)
        assert selection.verdict == [f"data: n{whole}. {name}: {part}"]
        assert solution_of(run, selection, "data") is None
        assert "no bicluster pays" not in json.dumps(selection.to_dict())
        assert "nothing stands out" not in json.dumps(selection.to_dict())
    assert select(run).undecided == {"data": f"n{whole}"}
    taken = solution_to_tidy(run, select(run), "data")
    assert taken is not None
    assert (taken.n_paying, taken.n_biclusters) == (1, 2)
    for as_json in (False, True):
        shown(tmp_path / "run", as_json=as_json)
        told = capsys.readouterr().out
        assert f"`bivaluate prune {tmp_path / 'data.npy'} {taken.path} -o pruned.json`" in told
        assert "take " not in told
    assert len(propose_pruning(X, Biclustering.from_json(taken.path)).solution) == 1

    page = build_report(run, tmp_path / "page.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert f"N{whole}. {algorithm_label(OUTWEIGHED)}, K = 2: {part}</h1>" in page
    by_other = build_report(run, tmp_path / "other.html", by="nve_cov").read_text(encoding="utf-8")
    for text in (page, by_other.replace("\u00a0", " ")):
        assert "no bicluster pays" not in text
        assert "Do not interpret" not in text
        assert f"bivaluate prune {tmp_path / 'data.npy'} {taken.path} -o pruned.json" in text

    with pytest.warns(SearchWarning, match=f"N{whole}. n_biclusters = 2: {part} propose_pruning drops them."):
        found = select_k(Outweighed(), X, k=[2, 3])
    assert (found.best_params_, found.n_paying_, found.nothing_) == ({"n_biclusters": 2}, 1, True)
    assert "nothing stands out as a whole: n_biclusters=2 of [2, 3], 1 of 2 pay" in repr(found)


def test_the_real_algorithms_meet_every_kind_of_cell(run: Run, request: pytest.FixtureRequest) -> None:
    if request.node.callspec.params["run"] == "real algorithms":
        assert {"ok", "failed", "degenerate"} == set(run.results["status"])
