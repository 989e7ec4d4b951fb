"""What the page shows, as plain data: built from a source, drawn by the template and its scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from bivaluate._text import listing, plural, shared
from bivaluate.judge.choice import EVIDENCE, RAW, high_is_better, pick
from bivaluate.judge.limits import SAME_PATTERN
from bivaluate.judge.verdict import judged as judged_verdict
from bivaluate.measures.registry import METRICS, OF_FITS, RECORDS, main_metrics
from bivaluate.report.groups import Group, Judged, gather
from bivaluate.report.pictures import (
    Budget,
    best_terms,
    bicluster_names,
    bicluster_records,
    draw_solution,
    plain,
    redundancy,
)
from bivaluate.report.sentences import Case, Sentence, speak, speak_all
from bivaluate.report.source import Drawn, Null, Scored, Source

if TYPE_CHECKING:
    import pandas as pd

MOST_DETAILS, MOST_DATASETS, MOST_MAPPED = 24, 40, 200
FIND = ("find", "coherent")
SIZES = {"n_biclusters": "found", "n_undefined": "undefined"}


@dataclass(frozen=True)
class Page:
    """The page: texts for the template, `data` for its scripts, `tables` by the names of the files beside it."""

    title: str
    subtitle: str
    verdict: Sequence[Sentence]
    by_dataset: Sequence[Mapping[str, Any]]
    warnings: Sequence[Mapping[str, Any]]
    details: Sequence[Mapping[str, Any]]
    detail_note: str
    measures: Sequence[str]
    data: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]


def make_page(source: Source, title: str | None = None, by: str | None = None) -> Page:
    """Gather everything the page shows; `by` names the measure that chooses the winner of the headline."""
    judged = gather(source.solutions, by)
    groups, criterion = judged.groups, judged.criterion
    datasets = list(dict.fromkeys([g.dataset for g in groups] + list(source.planned_by_dataset)))
    algorithms = list(dict.fromkeys(g.algorithm for g in groups))
    chosen = _choose_details(groups, criterion, source.kind == "run")
    drawn = {group.typical: source.load(group.typical) for group in chosen}
    chosen = [group for group in chosen if drawn[group.typical] is not None]
    cases = {name: _case(name, judged, source, drawn, by is not None) for name in datasets}
    details = _details(chosen, drawn, source, criterion)
    anchors = {id(group): detail["anchor"] for group, detail in zip(chosen, details, strict=True)}
    keys = _measures(source)
    main = [key for key in [*(metric.key for metric in main_metrics()), *OF_FITS] if key in keys]
    return Page(
        title=title or _title(datasets),
        subtitle=_subtitle(source, groups, datasets, algorithms),
        verdict=speak_all(cases) if len(cases) > 1 else speak(next(iter(cases.values()), Case(()))),
        by_dataset=[
            {
                "dataset": name,
                "sentences": [s for s in speak(case) if s.kind != "step"],
                "anchor": anchors.get(id(case.winner), ""),
            }
            for name, case in cases.items()
            if len(cases) > 1
        ],
        warnings=_warnings(source, groups, details),
        details=details,
        detail_note=_detail_note(source, groups, chosen),
        measures=keys,
        tables=_tables(source, judged, chosen, drawn),
        data={
            "kind": source.kind,
            "criterion": criterion,
            "exponent": source.exponent,
            "same_pattern": SAME_PATTERN,
            "most_mapped": MOST_MAPPED,
            "datasets": datasets,
            "algorithms": algorithms,
            "measures": [_measure(key) for key in keys],
            "main": main,
            "groups": [_group(group, keys, anchors, source) for group in groups],
            "solutions": _solutions(source, keys, judged) if source.kind == "run" else [],
            "nulls": [_null(null, keys) for null in source.nulls],
            "details": [detail.pop("data") for detail in details],
        },
    )


def _tables(
    source: Source, judged: Judged, chosen: Sequence[Group], drawn: Mapping[int, Drawn | None]
) -> dict[str, pd.DataFrame]:
    """Return what the page shows as tables: winners, solutions, nulls; biclusters and gene sets of what is drawn."""
    import pandas as pd

    rows: dict[str, list[dict[str, Any]]] = {"biclusters": [], "enrichment": [], "surrogates": []}
    for group in chosen:
        shown, seed = drawn[group.typical], source.solutions[group.typical].seed
        assert shown is not None
        place = {"dataset": group.dataset, "solution": group.algorithm, "k": group.k, "seed": seed}
        rows["biclusters"] += [place | dict(record) for record in bicluster_records(shown)]
        if shown.enrichment is not None:
            rows["enrichment"] += [place | term for term in best_terms(shown.enrichment)]
    for null in source.nulls:
        place = {"dataset": null.dataset, "algorithm": null.algorithm, "k": null.k, "runs": null.runs}
        rows["surrogates"] += [place | {"measure": key} | asdict(band) for key, band in null.bands.items()]
    frames = {name: pd.DataFrame(found) for name, found in rows.items() if found}
    return {"winners": judged.winners, "solutions": judged.table, **frames}


def _choose_details(groups: Sequence[Group], criterion: str, is_run: bool) -> list[Group]:
    """Return the groups drawn in full: of a run the best of each data set, then of its other algorithms."""
    scored = [group for group in groups if set(group.statuses) & {"ok", "degenerate"}]
    if not is_run:
        best = sorted(scored, key=lambda group: group.rank)[:MOST_DETAILS]
        return [group for group in groups if group in best]
    best_k: dict[tuple[str, str], Group] = {}
    for group in scored:
        place = (group.dataset, group.algorithm)
        if place not in best_k or criterion in group.own:
            best_k[place] = group
    queues: dict[str, list[Group]] = {group.dataset: [] for group in scored}
    for group in sorted(best_k.values(), key=lambda group: group.rank):
        queues[group.dataset].append(group)
    turns = [group for turn in zip_longest(*queues.values()) for group in turn if group is not None]
    taken = turns[: max(MOST_DETAILS, min(len(queues), MOST_DATASETS))]
    return sorted(taken, key=lambda group: list(queues).index(group.dataset))


def _case(dataset: str, judged: Judged, source: Source, drawn: Mapping[int, Drawn | None], asked: bool) -> Case:
    groups = [group for group in judged.groups if group.dataset == dataset]
    case = Case(
        groups,
        judged.criterion,
        searched=any(_found_by_find(source.solutions[group.typical], drawn.get(group.typical)) for group in groups),
        missing=source.missing_by_dataset.get(dataset, 0),
        planned=source.planned_by_dataset.get(dataset, 0),
        calibrated=any(null.dataset == dataset for null in source.nulls),
        asked=asked,
        fitted=source.kind == "run",
        held_out=source.held_out,
        omits=source.omits,
        finds_k={group.algorithm for group in groups if source.solutions[group.typical].finds_k},
        p_values={
            key: source.choice_p(key).get(dataset, math.nan) for key in (EVIDENCE, judged.criterion) if source.nulls
        },
    )
    raw = [group.value(RAW) for group in groups]
    near = pick(raw, high=True) if not case.supported else None
    of = case.winner or (groups[near] if near is not None else next(iter(groups), None))
    if of is not None:
        named = source.places(_to_take(of, source, judged.criterion))
        case = replace(case, matrix=named.matrix, solution=named.solution, near=of.name if near is not None else "")
    winner = case.winner or (case.groups[0] if len(case.groups) == 1 else None)
    if winner is None:
        return case
    shown = drawn.get(winner.typical)
    place = (dataset, winner.algorithm, winner.k)
    beside = next((n for n in source.nulls if (n.dataset, n.algorithm, n.k) == place), None)
    null = beside.bands.get(case.criterion) if beside else None
    repeats = redundancy(shown) if shown else []
    return replace(
        case,
        repeats=repeats,
        headline=judged_verdict(shown.records).headline if shown is not None and shown.records else "",
        to_name=shown is not None and shown.matrix.row_labels is not None and not source.enriched,
        names=bicluster_names(shown) if shown else (),
        typical=source.solutions[winner.typical].values,
        p_value=case.p_values[case.criterion] if null else math.nan,
        surrogates=beside.runs if beside else 0,
    )


def _to_take(group: Group, source: Source, criterion: str) -> int:
    """Return the solution of a group that commands name: the best by the criterion."""
    members = [source.solutions[index].values for index in group.members]
    first = pick([scores.get(criterion, math.nan) for scores in members], high_is_better(criterion))
    return group.members[first or 0]


def _found_by_find(scored: Scored, drawn: Drawn | None) -> bool:
    """Return whether `bivaluate find` made a solution: the sweep ran it, or the solution says so."""
    made_by = {scored.algorithm if scored.status in ("ok", "degenerate") else None}
    return bool({*FIND} & (made_by | ({drawn.solution.info.get("algorithm")} if drawn is not None else set())))


def _details(
    chosen: Sequence[Group], drawn: Mapping[int, Drawn | None], source: Source, criterion: str
) -> list[dict[str, Any]]:
    budget = Budget.shared(len(chosen))
    opened = next((i for i, group in enumerate(chosen) if criterion in group.first), 0)
    details: list[dict[str, Any]] = []
    for i, group in enumerate(chosen):
        shown = drawn[group.typical]
        assert shown is not None
        scored = source.solutions[group.typical]
        facts = {"anchor": f"solution-{i + 1}", "dataset": group.dataset, "name": group.called, "seed": scored.seed}
        data = facts | draw_solution(shown, budget)
        data["scores"] = {key: plain(value) for key, value in scored.values.items()}
        details.append(
            facts
            | {
                "opened": i == opened,
                "n_biclusters": len(shown.solution),
                "biclusters": bicluster_names(shown),
                "scores": {key: scored.values.get(key, math.nan) for key in ("nve", "coverage")},
                "findings": data["findings"],
                "left_out": data["left_out"],
                "data": data,
            }
        )
    return details


def _measures(source: Source) -> list[str]:
    """Return the measures present, the main ones first, then in the order of the registry, without standard errors."""
    present = dict.fromkeys(key for scored in source.solutions for key in scored.values)
    order = dict.fromkeys([*(metric.key for metric in main_metrics()), *OF_FITS, *SIZES, *METRICS, *present])
    return [key for key in order if key in present and key.removesuffix("_error") not in {*OF_FITS} - {key}]


def _measure(key: str) -> dict[str, Any]:
    metric = RECORDS.get(key)
    symbol = metric.symbol if metric and metric.symbol != key else key.replace("_", " ")
    return {
        "key": key,
        "symbol": SIZES.get(key, symbol),
        "name": metric.name if metric else key,
        "direction": metric.direction if metric else "none",
        "summary": metric.summary if metric else "",
        "range": [plain(float(end)) for end in metric.range] if metric else [None, None],
        "percent": metric is not None and metric.percent,
    }


def bicluster_measures() -> list[dict[str, Any]]:
    """Return what the page says about measures of one bicluster; a sweep knows how stable each is, too."""
    of_one = [key for key, metric in METRICS.items() if metric.level == "bicluster"]
    return [_measure(key) for key in [*of_one, "stability"]]


def _group(group: Group, keys: Sequence[str], anchors: Mapping[int, str], source: Source) -> dict[str, Any]:
    records = source.records(group.typical)
    names = ("dataset", "algorithm", "k", "name", "called", "seeds", "rank", "reason", "reasons")
    return {name: getattr(group, name) for name in names} | {
        "first": [key for key in keys if key in group.first],
        "own": [key for key in keys if key in group.own],
        "status": group.statuses,
        "mean": [plain(group.mean.get(key)) for key in keys],
        "spread": [plain(group.spread.get(key)) for key in keys],
        "counted": [group.counted.get(key, 0) for key in keys],
        "members": list(group.members),
        "anchor": anchors.get(id(group), ""),
        "nve_k": [
            [str(r.get("bicluster", "")), plain(r.get("nve_k")), str(r.get("status", ""))]
            for r in records[:MOST_MAPPED]
        ],
    }


def _solutions(source: Source, keys: Sequence[str], judged: Judged) -> list[list[Any]]:
    """Return seed, status, reason, measures and where it is its seed's best, of every solution."""
    return [
        [s.seed, s.status, s.reason, [plain(s.values.get(key)) for key in keys], best]
        for s, best in zip(source.solutions, judged.seed_bests, strict=True)
    ]


def _null(null: Null, keys: Sequence[str]) -> dict[str, Any]:
    """Return the bands of one null, each end a list in the order of the measures."""
    ends = ("low", "mean", "high", "gap", "p_value")
    bands = {e: [plain(getattr(null.bands[key], e)) if key in null.bands else None for key in keys] for e in ends}
    return {"dataset": null.dataset, "algorithm": null.algorithm, "k": null.k, "runs": null.runs} | bands


def _title(datasets: Sequence[str]) -> str:
    if len(datasets) == 1:
        return f"Biclusters of {datasets[0]}"
    return "Biclusters" if not datasets else f"Biclusters of {len(datasets)} data sets"


def _subtitle(source: Source, groups: Sequence[Group], datasets: Sequence[str], algorithms: Sequence[str]) -> str:
    """Say in one line what was scored."""
    parts = [plural(len(datasets), "data set")] if len(datasets) > 1 else []
    parts.append(plural(len(source.solutions), "solution"))
    if source.kind == "run" and groups:
        ks = sorted({group.k for group in groups})
        parts += [
            listing(algorithms) if len(algorithms) <= 5 else plural(len(algorithms), "algorithm"),
            f"K = {', '.join(map(str, ks))}" if len(ks) <= 8 else f"{len(ks)} values of K",
            plural(len({s.seed for s in source.solutions}), "seed"),
        ]
    return " · ".join(parts)


def _detail_note(source: Source, groups: Sequence[Group], chosen: Sequence[Group]) -> str:
    """Say which solutions are drawn and which are not; nothing if all are."""
    left = len(source.solutions) - len(chosen)
    if not left:
        return ""
    if source.kind != "run":
        return f"{plural(len(chosen), 'solution')} are drawn, the best ones; {plural(left, 'other')} are in the table only."
    return (
        f"{plural(len(chosen), 'solution')} are drawn: the best of each data set, then the best of its other algorithms, "
        f"each with the seed whose score is the median. {plural(left, 'other solution')} of "
        f"{plural(len(groups), 'combination')} of data set, algorithm and K are in the table only."
    )


def _warnings(source: Source, groups: Sequence[Group], details: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return every warning in words: unfinished and failed solutions, then per data set what was found.

    Each entry has a title and parts; a part says where it applies and what there is to say.
    """
    said: list[dict[str, Any]] = []
    again = "Run the same command again to continue."
    if source.missing:
        more = [f"and {len(source.missing) - 8:,} more"] if len(source.missing) > 8 else []
        text = f"{'; '.join([*source.missing[:8], *more])}. {again}"
        said.append(_entry(f"Not finished: {len(source.missing):,}", [_part("", "", [text])]))
    if source.missing_copies:
        text = f"Cells on surrogates and perturbed copies: null bands and p-values rest on those that are finished. {again}"
        said.append(_entry(f"Not finished beside the data: {source.missing_copies:,}", [_part("", "", [text])]))
    for status in ("failed", "timed out"):
        reasons: dict[str, list[str]] = {}
        for group in groups:
            if group.statuses.get(status):
                reasons.setdefault(group.reason or status, []).append(f"{group.dataset}, {group.name}")
        texts = [f"{listing(where, 4 if len(where) > 5 else 5)}: {reason}" for reason, where in reasons.items()]
        if texts:
            total = sum(group.statuses.get(status, 0) for group in groups)
            said.append(_entry(f"{status.capitalize()}: {total:,}", [_part("", "", texts)]))
    for dataset in dict.fromkeys(detail["dataset"] for detail in details):
        mine = [detail for detail in details if detail["dataset"] == dataset]
        common = shared([detail["findings"] for detail in mine], [detail["biclusters"] for detail in mine])
        parts = [_part("All solutions", "details", common)] if common else []
        for detail in mine:
            own = [text for text in detail["findings"] if text not in common]
            if own:
                parts.append(_part(detail["name"], detail["anchor"], own))
        if parts:
            said.append(_entry(dataset, parts))
    return said


def _part(where: str, anchor: str, texts: Sequence[str]) -> dict[str, Any]:
    return {"where": where, "anchor": anchor, "texts": texts}


def _entry(title: str, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"title": title, "parts": parts, "count": sum(len(part["texts"]) for part in parts)}
