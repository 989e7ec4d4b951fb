"""What the page shows, as plain data: built from a source, drawn by the template and its scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bivaluate.measures.registry import METRICS
from bivaluate.plots.merger import redundant_groups
from bivaluate.report.case import NOISY, Case, Sentence, best
from bivaluate.report.detail import Budget, bicluster_names, comparable, draw_solution, plain
from bivaluate.report.groups import Group, choose_criterion, make_groups
from bivaluate.report.notices import describe_details, make_subtitle, make_title, make_warnings
from bivaluate.report.overview import judge_all
from bivaluate.report.source import Drawn, Null, Source
from bivaluate.report.verdict import judge

MAIN = ("nve_cov", "nve", "avg_ve", "asr", "nsr", "coverage")
MOST_DETAILS = 24
SIZES = ("n_biclusters", "n_undefined")


@dataclass(frozen=True)
class Page:
    """The page: texts for the template, `data` for its scripts."""

    title: str
    subtitle: str
    verdict: Sequence[Sentence]
    by_dataset: Sequence[Mapping[str, Any]]
    warnings: Sequence[Mapping[str, Any]]
    details: Sequence[Mapping[str, Any]]
    detail_note: str
    measures: Sequence[str]
    data: Mapping[str, Any]


def make_page(source: Source, title: str | None = None) -> Page:
    """Gather everything the page shows."""
    criterion = choose_criterion(source.solutions)
    groups = make_groups(source.solutions, criterion)
    datasets = list(dict.fromkeys([g.dataset for g in groups] + list(source.planned_by_dataset)))
    algorithms = list(dict.fromkeys(g.algorithm for g in groups))
    chosen = _choose_details(groups, criterion, source.kind == "run")
    drawn = {group.typical: source.load(group.typical) for group in chosen}
    chosen = [group for group in chosen if drawn[group.typical] is not None]
    cases = {name: _case(name, [g for g in groups if g.dataset == name], criterion, source, drawn) for name in datasets}
    details = _details(chosen, drawn, source)
    keys = _measures(source)
    return Page(
        title=title or make_title(datasets),
        subtitle=make_subtitle(source, groups, datasets, algorithms),
        verdict=_verdict(cases),
        by_dataset=_by_dataset(cases, chosen),
        warnings=make_warnings(source, groups, details),
        details=details,
        detail_note=describe_details(source, groups, chosen),
        measures=keys,
        data={
            "kind": source.kind,
            "criterion": criterion,
            "noisy": NOISY,
            "datasets": datasets,
            "algorithms": algorithms,
            "measures": [_measure(key) for key in keys],
            "main": [key for key in MAIN if key in keys] + [k for k in ("avg_ave", "cc") if k in keys],
            "groups": [_group(group, keys, chosen, source) for group in groups],
            "solutions": _solutions(source, keys),
            "nulls": _nulls(source, keys),
            "details": [detail.pop("data") for detail in details],
        },
    )


def _choose_details(groups: Sequence[Group], criterion: str, is_run: bool) -> list[Group]:
    """Return the groups drawn in full: of a run the best of each data set, then of its other algorithms."""
    if not is_run:
        return list(groups[:MOST_DETAILS])
    ranked: dict[str, list[Group]] = {}
    for group in groups:
        if set(group.statuses) & {"ok", "degenerate"}:
            ranked.setdefault(group.dataset, []).append(group)
    rounds: list[list[Group]] = []
    for candidates in ranked.values():
        for turn, group in enumerate(_best_of_each_algorithm(candidates, criterion)):
            if turn == len(rounds):
                rounds.append([])
            rounds[turn].append(group)
    taken = [group for turn in rounds for group in turn][: max(MOST_DETAILS, min(len(ranked), 40))]
    order = {name: i for i, name in enumerate(ranked)}
    return sorted(taken, key=lambda group: order[group.dataset])


def _best_of_each_algorithm(groups: Sequence[Group], criterion: str) -> list[Group]:
    firsts = []
    for name in dict.fromkeys(group.algorithm for group in groups):
        mine = [group for group in groups if group.algorithm == name]
        firsts.append(best(mine, criterion) or mine[0])
    return sorted(firsts, key=lambda g: (not math.isfinite(g.value(criterion)), g.value(criterion)))


def _case(
    dataset: str, groups: Sequence[Group], criterion: str, source: Source, drawn: Mapping[int, Drawn | None]
) -> Case:
    winner = best(groups, criterion)
    shown = drawn.get(winner.typical) if winner else None
    beside = next((n for n in source.nulls if winner and _place(n) == _place(winner)), None)
    null = beside.bands.get(criterion) if beside else None
    errors = np.asarray(shown.mergers.get("ve", []) if shown else [], dtype=np.float64)
    return Case(
        groups,
        criterion,
        repeats=redundant_groups(comparable(errors, shown.solution)) if shown and len(errors) > 1 else (),
        errors=np.diag(errors).tolist() if errors.ndim == 2 else (),
        names=bicluster_names(shown) if shown else (),
        typical=source.solutions[winner.typical].values if winner else {},
        missing=source.missing_by_dataset.get(dataset, 0),
        planned=source.planned_by_dataset.get(dataset, 0),
        calibrated=any(n.dataset == dataset for n in source.nulls),
        p_value=null.p_value if null else math.nan,
        surrogates=beside.runs if beside else 0,
    )


def _place(of: Group | Null) -> tuple[str, str, int | None]:
    return of.dataset, of.algorithm, of.k


def _verdict(cases: Mapping[str, Case]) -> list[Sentence]:
    if len(cases) == 1:
        return judge(next(iter(cases.values())))
    return judge_all(cases) if cases else judge(Case(()))


def _by_dataset(cases: Mapping[str, Case], chosen: Sequence[Group]) -> list[dict[str, Any]]:
    if len(cases) < 2:
        return []
    anchors = {id(group): anchor(i) for i, group in enumerate(chosen)}
    return [
        {"dataset": name, "sentences": judge(case), "anchor": anchors.get(id(case.winner), "") if case.winner else ""}
        for name, case in cases.items()
    ]


def anchor(position: int) -> str:
    """Return the id of a drawn solution on the page."""
    return f"solution-{position + 1}"


def _details(chosen: Sequence[Group], drawn: Mapping[int, Drawn | None], source: Source) -> list[dict[str, Any]]:
    budget = Budget.shared(len(chosen))
    details: list[dict[str, Any]] = []
    for group in chosen:
        shown = drawn[group.typical]
        if shown is None:
            continue
        scored = source.solutions[group.typical]
        place = anchor(len(details))
        facts = {
            "anchor": place,
            "dataset": group.dataset,
            "name": group.name,
            "seed": scored.seed,
            "of_seeds": group.seeds,
        }
        data = facts | draw_solution(shown, budget)
        data["scores"] = {key: plain(value) for key, value in scored.values.items()}
        details.append(
            facts
            | {
                "shape": shown.matrix.shape,
                "n_biclusters": len(shown.solution),
                "scores": {key: scored.values.get(key, math.nan) for key in MAIN},
                "findings": data["findings"],
                "left_out": data["left_out"],
                "note": data["heatmap"]["note"],
                "data": data,
            }
        )
    return details


def _measures(source: Source) -> list[str]:
    """Return the measures present, the main ones first, then in the order of the registry."""
    present = dict.fromkeys(key for scored in source.solutions for key in scored.values)
    first = [key for key in MAIN if key in present]
    known = [key for key in METRICS if key in present and key not in first and key not in SIZES]
    other = [key for key in present if key not in METRICS]
    return first + [key for key in SIZES if key in present] + known + other


def _measure(key: str) -> dict[str, Any]:
    metric = METRICS.get(key)
    if metric is None:
        return {
            "key": key,
            "symbol": key.replace("_", " "),
            "name": key,
            "direction": "none",
            "summary": "",
            "range": [None, None],
        }
    symbol = metric.symbol.replace("_", " ") if metric.symbol == key else metric.symbol
    return {
        "key": key,
        "symbol": {"n_biclusters": "found", "n_undefined": "undefined"}.get(key, symbol),
        "name": metric.name,
        "direction": metric.direction,
        "summary": metric.summary,
        "range": [plain(float(end)) for end in metric.range],
        "percent": metric.range == (0.0, 1.0) and key.endswith("coverage"),
    }


def bicluster_measures() -> list[dict[str, Any]]:
    """Return what the page says about measures of one bicluster."""
    return [_measure(key) for key, metric in METRICS.items() if metric.level == "bicluster"]


def _group(group: Group, keys: Sequence[str], chosen: Sequence[Group], source: Source) -> dict[str, Any]:
    position = next((i for i, other in enumerate(chosen) if other is group), None)
    records = source.records(group.typical)
    return {
        "dataset": group.dataset,
        "algorithm": group.algorithm,
        "k": group.k,
        "name": group.name,
        "seeds": group.seeds,
        "wins": group.wins,
        "status": group.statuses,
        "reason": group.reason,
        "mean": [plain(group.mean.get(key)) for key in keys],
        "spread": [plain(group.spread.get(key)) for key in keys],
        "counted": [group.counted.get(key, 0) for key in keys],
        "reasons": {key: why for key, why in group.reasons.items() if key in keys},
        "members": list(group.members),
        "anchor": anchor(position) if position is not None else "",
        "seed": source.solutions[group.typical].seed,
        "nve_k": [[str(r.get("bicluster", "")), plain(r.get("nve_k")), str(r.get("status", ""))] for r in records],
    }


def _solutions(source: Source, keys: Sequence[str]) -> list[list[Any]]:
    """Return seed, status, reason and measures of every solution; groups hold their positions."""
    if source.kind != "run":
        return []
    return [[s.seed, s.status, s.reason, [plain(s.values.get(key)) for key in keys]] for s in source.solutions]


def _nulls(source: Source, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return the null bands by data set, algorithm and K, each end a list in the order of the measures."""
    return [
        {"dataset": null.dataset, "algorithm": null.algorithm, "k": null.k, "runs": null.runs}
        | {
            end: [plain(getattr(null.bands[key], end)) if key in null.bands else None for key in keys]
            for end in ("low", "mean", "high", "gap", "p_value")
        }
        for null in source.nulls
    ]
