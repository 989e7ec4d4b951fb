"""What the page shows, as plain data: built from a source, drawn by the template and its scripts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from bivaluate._text import listing, number, percent, plural
from bivaluate._types import DataFrame
from bivaluate.chance.evidence import SUPPORTED
from bivaluate.judge.choice import EVIDENCE, RAW, about_k, all_supported, pick, reached
from bivaluate.judge.verdict import Verdict, capital
from bivaluate.registry import METRICS, OF_FITS, RECORDS, main_keys
from bivaluate.report.groups import Gathered, Group, gather
from bivaluate.report.methods import BETTER
from bivaluate.report.pictures import Budget, best_terms, bicluster_records, draw_solution, members_of, plain
from bivaluate.report.sentences import Findings, speak, speak_all
from bivaluate.report.source import ENDS, Content, Drawn, Null

MOST_DETAILS, MOST_DATASETS, MOST_MAPPED = 24, 40, 200
#: What the measures of a solution answer; what is named nowhere is about coherence.
QUESTIONS = {
    "coherent": ("Are they coherent?", ()),
    "distinct": (
        "Are they distinct?",
        ("nve", "nsr", "anve", "nve_overlap", "nve_numerator", "nve_denominator", "overlap", "jaccard", "redundancy",
         "mbr_max", "diversity", "overlap_coefficient", "multiplicity"),
    ),
    "covers": (
        "What do they cover?",
        ("nve_cov", "coverage", "row_coverage", "col_coverage", "supported_coverage", "cc", "n_biclusters", "n_undefined",
         "rows_mean", "rows_min", "rows_max", "cols_mean", "cols_min", "cols_max"),
    ),
}  # fmt: skip
SIZES = {"n_biclusters": "found", "n_undefined": "undefined"}


@dataclass(frozen=True)
class Page:
    """The page: texts for the template, `data` for its scripts, `tables` by the names of the files beside it."""

    title: str
    subtitle: str
    verdict: Verdict
    shown: int | None
    by_dataset: Sequence[Mapping[str, Any]]
    warnings: Sequence[Mapping[str, Any]]
    details: Sequence[Mapping[str, Any]]
    detail_note: str
    measures: Sequence[str]
    data: Mapping[str, Any]
    tables: Mapping[str, DataFrame]


def make_page(source: Content, title: str | None = None, by: str | None = None) -> Page:
    """Gather everything the page shows; `by` names the measure that chooses the winner of the headline."""
    judged = gather(source.solutions, by)
    groups, criterion = judged.groups, judged.criterion
    datasets = list(dict.fromkeys([g.dataset for g in groups] + list(source.planned_by_dataset)))
    algorithms = list(dict.fromkeys(g.algorithm for g in groups))
    chosen = _choose_details(groups, criterion, source.kind == "run")
    drawn = {group.taken: source.load(group.taken) for group in chosen}
    chosen = [group for group in chosen if drawn[group.taken] is not None]
    cases = {name: _case(name, judged, source, drawn) for name in datasets}
    details = _details(chosen, drawn, source, criterion)
    only = next(iter(cases.values())) if len(cases) == 1 else Findings(())
    records = [detail["verdict"] for detail in details]
    shown = next((i for i, record in enumerate(records) if record is only.verdict), None)
    anchors = {id(group): detail["anchor"] for group, detail in zip(chosen, details, strict=True)}
    keys = _measures(source)
    return Page(
        title=title or _title(datasets),
        subtitle=_subtitle(source, groups, datasets, list(drawn.values())),
        verdict=speak_all(cases) if len(cases) > 1 else speak(only),
        shown=shown,
        by_dataset=[
            {"dataset": name, "verdict": speak(case), "anchor": anchors.get(id(case.winner), "")}
            for name, case in cases.items()
            if len(cases) > 1
        ],
        warnings=_warnings(source),
        details=details,
        detail_note=_detail_note(source, groups, chosen),
        measures=keys,
        tables=_tables(source, judged, chosen, drawn),
        data={
            "kind": source.kind,
            "criterion": criterion,
            "exponent": source.exponent,
            "curve": _curve(only),
            "shown": shown,
            "most_mapped": MOST_MAPPED,
            "datasets": datasets,
            "algorithms": algorithms,
            "measures": [_measure(key) for key in keys],
            "main": main_keys(keys),
            "groups": [_group(group, keys, anchors, source) for group in groups],
            "solutions": _solutions(source, keys, judged) if source.kind == "run" else [],
            "nulls": [_null(null, keys) for null in source.nulls],
            "details": [detail.pop("data") for detail in details],
        },
    )


def _tables(
    source: Content, judged: Gathered, chosen: Sequence[Group], drawn: Mapping[int, Drawn | None]
) -> dict[str, DataFrame]:
    """Return what the page shows as tables: winners, solutions, nulls; biclusters and gene sets of what is drawn."""
    import pandas as pd

    rows: dict[str, list[dict[str, Any]]] = {"biclusters": [], "enrichment": [], "surrogates": []}
    for group in chosen:
        shown, seed = drawn[group.taken], source.solutions[group.taken].seed
        assert shown is not None
        place = {"dataset": group.dataset, "solution": group.algorithm, "k": group.k, "seed": seed}
        rows["biclusters"] += [place | dict(record) for record in bicluster_records(shown)]
        if shown.enrichment is not None:
            rows["enrichment"] += [place | term for term in best_terms(shown.enrichment)]
    for null in source.nulls:
        place = {"dataset": null.dataset, "algorithm": null.algorithm, "k": null.k, "runs": null.runs}
        rows["surrogates"] += [place | {"measure": key} | dict(band) for key, band in null.bands.items()]
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
    for group in sorted(best_k.values(), key=lambda group: (criterion not in group.first, group.rank)):
        queues[group.dataset].append(group)
    turns = [group for turn in zip_longest(*queues.values()) for group in turn if group is not None]
    taken = turns[: max(MOST_DETAILS, min(len(queues), MOST_DATASETS))]
    return sorted(taken, key=lambda group: list(queues).index(group.dataset))


def _case(dataset: str, judged: Gathered, source: Content, drawn: Mapping[int, Drawn | None]) -> Findings:
    groups = [group for group in judged.groups if group.dataset == dataset]
    asked = (EVIDENCE, judged.criterion) if source.nulls else ()
    surrogates = max((null.runs for null in source.nulls if null.dataset == dataset), default=0)
    case = Findings(
        groups,
        judged.criterion,
        missing=source.missing_by_dataset.get(dataset, 0),
        planned=source.planned_by_dataset.get(dataset, 0),
        fitted=source.kind == "run",
        held_out=source.held_out,
        finds_k={group.algorithm for group in groups if source.solutions[group.taken].finds_k},
        surrogates=surrogates,
        p_value=source.choice_p(judged.criterion).get(dataset, math.nan) if source.nulls else math.nan,
        p_values={key: reached(source.choice_p(key).get(dataset, math.nan), surrogates) for key in asked},
    )
    supported = any(group.value("n_supported") > 0 for group in groups)
    near = None if supported else pick([group.value(RAW) for group in groups], high=True)
    of = case.winner or (groups[near] if near is not None else groups[0] if len(groups) == 1 else None)
    if of is None:
        return case
    shown = drawn.get(of.taken) or source.load(of.taken)
    known = shown.verdict if shown is not None else None
    return replace(case, verdict=known, near=of.name if near is not None else "")


def _curve(case: Findings) -> dict[str, Any] | None:
    """Return the criterion against K for the algorithm chosen, and what is to be said of it."""
    if case.winner is None or len({at.k for at in case.curve}) < 2:
        return None
    winner, measure = case.winner, case.criterion
    spread = {g.k: plain(g.spread.get(measure)) for g in case.groups if g.family == winner.family}
    points = [[at.k, *map(plain, (at.value, at.supported, at.found)), spread[at.k]] for at in case.curve]
    whole = all_supported(case.curve, winner.k) if measure == EVIDENCE else None
    curve = {"measure": RECORDS[measure].symbol, "algorithm": winner.family, "points": points, "best": winner.k}
    said = about_k(case.curve, winner.k, measure)
    return curve | {"good": case.as_good, "said": said, "whole": whole.k if whole else None}


def _details(
    chosen: Sequence[Group], drawn: Mapping[int, Drawn | None], source: Content, criterion: str
) -> list[dict[str, Any]]:
    budget = Budget.shared(len(chosen))
    opened = next((i for i, group in enumerate(chosen) if criterion in group.first), 0)
    details: list[dict[str, Any]] = []
    for i, group in enumerate(chosen):
        shown = drawn[group.taken]
        assert shown is not None
        scored = source.solutions[group.taken]
        facts = {"anchor": f"solution-{i + 1}", "dataset": group.dataset, "name": group.called, "seed": scored.seed}
        data = facts | draw_solution(shown, budget)
        data["scores"] = {key: plain(value) for key, value in scored.values.items()}
        more = {"opened": i == opened, "n_biclusters": len(shown.solution), "verdict": shown.verdict, "data": data}
        more |= {"questions": _by_question(scored.values, scored.reasons), "left_out": data["left_out"]}
        details.append(facts | more | {"members": members_of(shown)})
    return details


def _by_question(values: Mapping[str, float], reasons: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the measures of a solution under the questions they answer, the paper's first."""
    elsewhere = {key for _, keys in QUESTIONS.values() for key in keys}
    hidden = {"n_supported", "total_evidence", "raw_evidence"}
    found = []
    for name, (question, keys) in QUESTIONS.items():
        mine = [key for key in values if key in RECORDS and (key in keys or not (keys or key in elsewhere | hidden))]
        mine.sort(key=lambda key: RECORDS[key].main_rank or math.inf)
        found.append({"name": name, "question": question, "measures": [_valued(key, values, reasons) for key in mine]})
    return found


def _valued(key: str, values: Mapping[str, float], reasons: Mapping[str, str]) -> dict[str, Any]:
    record, value = RECORDS[key], values[key]
    text = percent(value) if record.percent else number(value)
    if not math.isfinite(value):
        text = f"undefined: {reasons.get(key) or 'the formula has no value here'}"
    return {"symbol": _symbol(key), "value": text, "summary": record.summary, "better": BETTER[record.direction]}


def _symbol(key: str) -> str:
    """Return what tables call a measure."""
    known = RECORDS[key].symbol if key in RECORDS else key
    return SIZES.get(key, known if known != key else key.replace("_", " "))


def _measures(source: Content) -> list[str]:
    """Return the measures present, the main ones first, then in the order of the registry, without standard errors."""
    present = dict.fromkeys(key for scored in source.solutions for key in scored.values)
    order = dict.fromkeys([*main_keys(present), *SIZES, *METRICS, *present])
    return [key for key in order if key in present and key.removesuffix("_error") not in {*OF_FITS} - {key}]


def _measure(key: str) -> dict[str, Any]:
    said: dict[str, Any] = {"name": key, "direction": "none", "summary": "", "range": [None, None], "percent": False}
    if metric := RECORDS.get(key):
        said = {name: getattr(metric, name) for name in said}
        said["range"] = [plain(float(end)) for end in metric.range]
    return {"key": key, "symbol": _symbol(key)} | said


def bicluster_measures() -> list[dict[str, Any]]:
    """Return what the page says about measures of one bicluster; a sweep knows how stable each is, too."""
    of_one = [key for key, metric in METRICS.items() if metric.level == "bicluster"]
    return [_measure(key) for key in [*of_one, "stability"]]


def _group(group: Group, keys: Sequence[str], anchors: Mapping[int, str], source: Content) -> dict[str, Any]:
    records = source.records(group.taken)
    marked = group.value("n_supported") != 0  # what is not supported is never called the best
    names = ("dataset", "algorithm", "k", "name", "called", "seeds", "rank", "reason", "reasons")
    return {name: getattr(group, name) for name in names} | {
        "first": [key for key in keys if marked and key in group.first],
        "own": [key for key in keys if marked and key in group.own],
        "status": group.statuses,
        "mean": [plain(group.mean.get(key)) for key in keys],
        "spread": [plain(group.spread.get(key)) for key in keys],
        "counted": [group.counted.get(key, 0) for key in keys],
        "members": list(group.members),
        "anchor": anchors.get(id(group), ""),
        "nve_k": [_mapped(record) for record in records[:MOST_MAPPED]],
    }


def _mapped(record: Mapping[str, Any]) -> list[Any]:
    name, status = (str(record.get(key, "")) for key in ("bicluster", "status"))
    return [name, plain(record.get("nve_k")), status, record.get("verdict") in (None, SUPPORTED)]


def _solutions(source: Content, keys: Sequence[str], judged: Gathered) -> list[list[Any]]:
    """Return seed, status, reason, measures and where it is its seed's best, of every solution."""
    return [
        [s.seed, s.status, s.reason, [plain(s.values.get(key)) for key in keys], best]
        for s, best in zip(source.solutions, judged.seed_bests, strict=True)
    ]


def _null(null: Null, keys: Sequence[str]) -> dict[str, Any]:
    """Return the bands of one null, each end a list in the order of the measures."""
    bands = {end: [plain(null.bands.get(key, {}).get(end)) for key in keys] for end in ENDS}
    return {"dataset": null.dataset, "algorithm": null.algorithm, "k": null.k, "runs": null.runs} | bands


def _title(datasets: Sequence[str]) -> str:
    if len(datasets) == 1:
        return f"Biclusters of {datasets[0]}"
    return "Biclusters" if not datasets else f"Biclusters of {len(datasets)} data sets"


def _subtitle(source: Content, groups: Sequence[Group], datasets: Sequence[str], drawn: Sequence[Drawn | None]) -> str:
    """Say in one line what was scored."""
    parts = [plural(len(datasets), "data set")] if len(datasets) > 1 else []
    first = next((one.matrix for one in drawn if one is not None), None)
    if len(datasets) == 1 and first is not None:
        parts.append(" × ".join(f"{n:,} {noun}" for n, noun in zip(first.shape, first.nouns, strict=True)))
    parts.append(groups[0].name if len(groups) == 1 else plural(len(source.solutions), "solution"))
    if source.kind == "run" and groups:
        ks, algorithms = sorted({group.k for group in groups}), list(dict.fromkeys(g.algorithm for g in groups))
        parts.append(listing(algorithms) if len(algorithms) <= 5 else plural(len(algorithms), "algorithm"))
        parts.append(f"K = {', '.join(map(str, ks))}" if len(ks) <= 8 else f"{len(ks)} values of K")
        parts.append(plural(len({s.seed for s in source.solutions}), "seed"))
    return " · ".join(parts)


def _detail_note(source: Content, groups: Sequence[Group], chosen: Sequence[Group]) -> str:
    """Say which solutions are drawn and which are not; nothing if all are."""
    left = len(source.solutions) - len(chosen)
    if not left:
        return ""
    if source.kind != "run":
        return f"{plural(len(chosen), 'solution')} are drawn, the best ones; {plural(left, 'other')} are in the table only."
    rest = f"{plural(left, 'other solution')} of {plural(len(groups), 'combination')} of data set, algorithm and K"
    order = "the best of each data set, then the best of its other algorithms, each with its best seed"
    return f"{plural(len(chosen), 'solution')} are drawn: {order}. {rest} are in the table only."


def _warnings(source: Content) -> list[dict[str, Any]]:
    """Return what is not finished, failed or took too long, and why: a title and texts each."""
    import pandas as pd

    from bivaluate.sweep.load import failed_fits, failure_sentences

    said: list[dict[str, Any]] = []
    again = "Run the same command again to continue."
    if source.missing:
        more = [f"and {len(source.missing) - 8:,} more"] if len(source.missing) > 8 else []
        text = f"{'; '.join([*source.missing[:8], *more])}. {again}"
        said.append({"title": f"Not finished: {len(source.missing):,}", "texts": [text]})
    if source.missing_copies:
        text = f"Fits on surrogates: null bands and p-values rest on those that are finished. {again}"
        said.append({"title": f"Not finished beside the data: {source.missing_copies:,}", "texts": [text]})
    bad = {status: sum(one.status == status for one in source.solutions) for status in ("failed", "timed out")}
    if title := ", ".join(f"{status}: {count:,}" for status, count in bad.items() if count):
        rows = [(one.label or one.algorithm, one.status, one.reason) for one in source.solutions]
        failed = failed_fits(pd.DataFrame(rows, columns=["algorithm", "status", "reason"]))
        said.append({"title": capital(title), "texts": failure_sentences(failed)})
    return said
