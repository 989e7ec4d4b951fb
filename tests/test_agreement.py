"""One question, one answer: whoever names the best solution or judges a bicluster says the same."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bivaluate import Biclustering, Matrix, evaluate, propose_pruning
from bivaluate.algorithms import LargeAverageSubmatrices
from bivaluate.algorithms.registry import algorithm_label
from bivaluate.datasets import load_labelled
from bivaluate.datasets.example import load_example
from bivaluate.datasets.named import load_named
from bivaluate.io import read_solution
from bivaluate.judge.choice import winners
from bivaluate.judge.redundancy import redundant_groups
from bivaluate.judge.verdict import described
from bivaluate.registry import METRICS
from bivaluate.replicate.winners import best_pick
from bivaluate.report import build_report
from bivaluate.sweep import Plan, Run, Sweep
from bivaluate.sweep.select import select, solution_of
from tests.report.conftest import browser, visit  # noqa: F401 -- fixtures
from tests.sweep.standins import BLOCKS, SEPARATE

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
        assert ranks[f"{algorithm_label(row['algorithm'])} K={row['k']}"] == 0
        second, k = row["runner_up"].split(" K=")
        assert ranks[f"{algorithm_label(second)} K={k}"] == 1


@pytest.fixture(scope="module")
def praised(run: Run, selected: Choice) -> Choice:
    """What is marked as best: the choices that hold something supported."""
    supported = run.results.groupby(["dataset", "algorithm", "k"])["n_supported"].mean()
    return {key: choice for key, choice in selected.items() if supported.get((key[1], *choice)) != 0}


def test_what_the_scripts_mark_comes_with_the_page(praised: Choice, page: Path) -> None:
    data = embedded(page)
    marked = {
        (key, group["dataset"]): (group["algorithm"], group["k"]) for group in data["groups"] for key in group["first"]
    }
    assert marked == labelled(praised)


def test_the_dots_in_the_browser_are_the_winners(praised: Choice, page: Path, visit: Visit) -> None:  # noqa: F811
    shown = visit(page)
    if shown.get_by_label("measures").count():
        shown.get_by_label("measures").check()
    dots = shown.evaluate(
        "[...document.querySelectorAll('#solution-table td.best')].map((cell) => [cell.dataset.key, "
        "...['algorithm', 'k'].map((key) => cell.parentNode.querySelector(`[data-key='${key}']`).textContent)])"
    )
    marked = {(key, "scenario:S9b"): (algorithm, int(k)) for key, algorithm, k in dots}
    assert len(marked) == len(dots)
    assert marked == labelled(praised)


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


CASES: dict[str, Callable[[], Any]] = {f"chain {seed}": (lambda seed=seed: chain(seed)) for seed in range(10)} | {
    function.__name__: function for function in (clones, duplicates, cliques, nested, nothing, raised)
}


@pytest.mark.parametrize("name", CASES)
def test_verdicts_rings_and_pruning_name_the_same_groups(name: str, tmp_path: Path) -> None:
    X, solution = CASES[name]()
    result = evaluate(X, solution)
    groups = redundant_groups(result.records)
    expected = sorted(tuple(f"B{k + 1}" for k in group.members) for group in groups)
    named = {row["bicluster"] for row in result.verdict.biclusters if row["verdict"] == "redundant"}
    assert named <= {member for group in expected for member in group}
    assert bool(named) == bool(expected)

    page = build_report(result, tmp_path / "page.html")
    (detail,) = embedded(page)["details"]
    assert sorted(map(tuple, detail["mergers"]["pairs"])) == sorted(pair for group in groups for pair in group.pairs)

    advice = propose_pruning(X, solution, keep_weak=True)
    assert sorted(advice.groups) == expected
    touched = {part for proposal in advice.proposals for some in proposal.biclusters for part in some.split("+")}
    assert named <= touched
    assert bool(touched) == bool(expected)


def test_the_groups_themselves() -> None:
    named = {}
    for name in ("duplicates", "nested", "nothing", "raised"):
        rows = evaluate(*CASES[name]()).verdict.biclusters
        named[name] = {row["bicluster"]: row["redundant_with"] for row in rows if row["verdict"] == "redundant"}
    assert named == {"duplicates": {"B3": "B1"}, "nested": {"B1": "B3"}, "nothing": {}, "raised": {}}


# One record, printed everywhere.


def planted(*blocks: tuple[range, range], by: float = 3.0, labels: bool = True) -> Any:
    X = np.random.default_rng(7).normal(size=(60, 24))
    for rows, cols in blocks:
        X[np.ix_(rows, cols)] += by
    names = (tuple(f"g{i}" for i in range(60)), tuple(f"s{j}" for j in range(24))) if labels else ()
    return Matrix(X, *names)


FIRST, SECOND, THIRD = (range(15), range(6)), (range(20, 40), range(10, 20)), (range(45, 60), range(18, 24))


def cells() -> Any:
    """Counts, many of them zero: genes by cells, two programs."""
    rng = np.random.default_rng(1)
    counts = rng.poisson(0.4, size=(80, 60)).astype(float)
    counts[:20, :15] += rng.poisson(3, size=(20, 15))
    counts[30:50, 25:45] += rng.poisson(3, size=(20, 20))
    X = Matrix(counts).called("genes", "cells")
    return X, [(range(20), range(15)), (range(30, 50), range(25, 45)), (range(60, 75), range(5, 20))]


def words() -> Any:
    """Documents by words, ones and zeros, two topics."""
    rng = np.random.default_rng(2)
    X = (rng.random((90, 70)) < 0.1).astype(float)
    X[:30, :12] = rng.random((30, 12)) < 0.7
    X[40:70, 30:45] = rng.random((30, 15)) < 0.7
    return Matrix(X).called("documents", "words"), [(range(30), range(12)), (range(40, 70), range(30, 45))]


def demo() -> Any:
    """What `make demo` judges."""
    X, _ = load_named("yeast:01_alpha_factor")
    return X, LargeAverageSubmatrices(6, random_state=0).fit(X.values).solution_


def file_of(tool: str) -> Any:
    """Return what a tool wrote for scanpy's 700 blood cells; tests/archive/pbmc has the files."""
    X = load_labelled("pbmc68k").matrix
    path = next((Path(__file__).parent / "archive" / "pbmc").glob(f"{tool}.*"))
    return X, read_solution(path, X)


def topics() -> Any:
    """Eight topics of the news of Reuters, by NMF."""
    from sklearn.decomposition import NMF

    X = load_labelled("reuters_r8").matrix
    model = NMF(8, init="nndsvda", random_state=0, max_iter=60)
    return X, Biclustering.from_factors(model.fit_transform(X.to_scipy()), model.components_)


def pbmc() -> Any:
    """Cell types of scanpy's example: their mean level marks them."""
    data = load_labelled("pbmc68k")
    X, pairs = data.matrix.values, []
    for cells in list(data.col_classes.values())[:4]:
        cols = np.flatnonzero(cells)
        level = X[:, cols].mean(1) - np.delete(X, cols, axis=1).mean(1)
        pairs.append((np.argsort(-level)[:25], cols))
    return data.matrix, pairs


SURFACES: dict[str, Callable[[], Any]] = {
    "example": load_example,
    "both supported": lambda: (planted(FIRST, SECOND), [FIRST, SECOND]),
    "one of two": lambda: (planted(FIRST), [FIRST, SECOND]),
    "nothing there": lambda: (planted(), [FIRST, SECOND, THIRD]),
    "lone and supported": lambda: (planted(FIRST), [FIRST]),
    "lone and not": lambda: (planted(), [FIRST]),
    "too small": lambda: (planted(FIRST), [FIRST, (range(3), range(2))]),
    "only too small": lambda: (planted(FIRST), [(range(2), range(2))]),
    "a copy": lambda: (planted(FIRST, SECOND), [FIRST, SECOND, (range(1, 15), range(6))]),
    "a single row": lambda: (planted(FIRST), [FIRST, ([3], range(8))]),
    "no biclusters": lambda: (planted(FIRST), []),
    "no labels": lambda: (planted(FIRST, labels=False), [FIRST]),
    "lowered": lambda: (planted(FIRST, by=-3.0), [FIRST, SECOND]),
    "many": lambda: (planted(FIRST, SECOND), [(range(k, k + 9), range(k % 12, k % 12 + 6)) for k in range(25)]),
    "markup": lambda: (Matrix(planted(FIRST).values, tuple(f"<b>&{i}" for i in range(60))), [FIRST, SECOND]),
    "cells": cells,
    "words": words,
    "a constant matrix": lambda: (Matrix(np.ones((30, 10))), [(range(6), range(4))]),
    **{name: (lambda name=name: CASES[name]()) for name in ("clones", "cliques", "nested", "raised")},
}
FETCHED: dict[str, Callable[[], Any]] = {
    "demo": demo,
    "pbmc": pbmc,
    "topics": topics,
    **{f"{tool} on pbmc": (lambda tool=tool: file_of(tool)) for tool in ("find", "las", "qubic", "plaid", "unpast")},
}


def shown_on(page: Path) -> dict[str, Any]:
    """Return what the top of a page says, as texts."""
    text = page.read_text(encoding="utf-8").replace("\u00a0", " ")
    top = text[text.index('<section id="verdict"') : text.index("</section>")]

    def words(pattern: str, within: str = top) -> list[str]:
        found = re.findall(pattern, within, re.DOTALL)
        return [html.unescape(re.sub(r"<[^>]+>", "", part)).strip() for part in found]

    rows = re.findall(r'<tr class="\w+">(.*?)</tr>', top, re.DOTALL)
    return {
        "headline": words(r"<h1[^>]*>(.*?)</h1>")[0],
        "reason": "".join(words(r'<p class="reason">(.*?)</p>')),
        "rows": [[html.unescape(re.sub(r"<small>.*?</small>|<[^>]+>", "", cell)).strip()
                  for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)] for row in rows],
        "steps": words(r'<li class="step">(.*?)</li>'),
        "notes": words(r'<li class="note">(.*?)</li>', text),  # those on measures stand beside them
    }  # fmt: skip


@pytest.mark.parametrize("name", [*SURFACES, *(pytest.param(name, marks=pytest.mark.network) for name in FETCHED)])
@pytest.mark.filterwarnings("ignore::bivaluate._errors.BivaluateWarning")
@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
def test_terminal_page_notebook_json_and_anndata_print_one_record(
    name: str, tmp_path: Path, terminal: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    from anndata import AnnData

    from bivaluate._anndata import add_results
    from bivaluate.cli import tables

    X, pairs = (SURFACES | FETCHED)[name]()
    result = evaluate(X, pairs if isinstance(pairs, Biclustering) else Biclustering(list(pairs), X.shape))
    verdict = result.verdict
    rows = [[row["bicluster"], *described(row)] for row in verdict.biclusters]
    assert len(verdict.headline.split()) <= 15

    document = json.loads(json.dumps(result.to_dict()["verdict"]))
    assert (document["headline"], document["reason"]) == (verdict.headline, verdict.reason)
    assert [row["verdict"] for row in document["biclusters"]] == [row["verdict"] for row in verdict.biclusters]
    assert document["next_steps"] == list(verdict.next_steps)

    page = shown_on(build_report(result, tmp_path / "page.html"))
    assert page["headline"] == verdict.headline
    assert page["reason"] == verdict.reason
    assert [row[: len(rows[0])] for row in page["rows"]] == rows if rows else page["rows"] == []
    assert page["steps"] == [step.replace("`", "") for step in verdict.next_steps]
    assert len(page["notes"]) == len(verdict.notes)

    notebook = html.unescape(re.sub(r"</t[dh]>", "\t", result._repr_html_()))
    plain = re.sub(r"<[^>]+>", "", notebook) if name != "markup" else notebook
    assert verdict.headline in plain
    assert verdict.reason in plain
    assert all(text in plain for row in rows for text in row)

    terminal(200)
    capsys.readouterr()
    tables.print_verdict(verdict)
    told = capsys.readouterr().out
    assert verdict.headline in told
    assert verdict.reason in told
    for row in rows[: tables.MOST_ROWS]:
        assert any(all(text in line for text in row) for line in told.splitlines())

    adata = AnnData(result.matrix.to_scipy().T.tocsr() if result.matrix.sparse else result.matrix.values.T)
    add_results(adata, result, "found", obs_rows=False)
    kept = adata.uns["found"]["verdict"]
    assert (kept["headline"], kept["reason"]) == (verdict.headline, verdict.reason)
    assert list(kept["next_steps"]) == list(verdict.next_steps)
    if rows:
        assert kept["biclusters"]["verdict"].tolist() == [row["verdict"] for row in verdict.biclusters]
    adata.write_h5ad(tmp_path / "kept.h5ad")


def test_the_cases_meet_every_verdict() -> None:
    seen = set()
    for name in ("example", "too small", "no biclusters"):
        X, pairs = SURFACES[name]()
        seen |= {row["verdict"] for row in evaluate(X, pairs if len(pairs) else []).verdict.biclusters}
    assert seen == {"supported", "redundant", "not_supported", "too_small"}


def test_select_says_how_many_are_supported_as_score_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bivaluate.cli.select import select as shown

    X = np.random.default_rng(0).normal(size=(60, 20))
    X[:15, :8] += 5
    np.save(tmp_path / "data.npy", X)
    run = Sweep(Plan([str(tmp_path / "data.npy")], ["spectral_co"], [3]), tmp_path / "run").run()
    selection = select(run)
    taken = solution_of(run, selection, "data")
    assert taken is not None
    result = evaluate(X, Biclustering.from_json(taken.path))
    supported, found = result.scores["n_supported"], result.scores["n_biclusters"]
    assert 0 < supported < found
    assert (taken.n_supported, taken.n_biclusters) == (supported, found)
    assert selection.to_dict()["best"][0]["n_supported"] == supported
    assert f"{supported} of the {found} biclusters" in result.verdict.headline
    shown(tmp_path / "run")
    told = " ".join(capsys.readouterr().out.split())
    assert f"{supported} supported" in told
    page = shown_on(build_report(run, tmp_path / "page.html"))
    assert page["headline"] == result.verdict.headline
    assert page["reason"] == result.verdict.reason
    assert any(f"bivaluate prune {tmp_path / 'data.npy'} {taken.path}" in step for step in page["steps"])


def test_the_real_algorithms_meet_every_kind_of_cell(run: Run, request: pytest.FixtureRequest) -> None:
    if request.node.callspec.params["run"] == "real algorithms":
        assert {"ok", "failed", "degenerate"} == set(run.results["status"])
