"""Panels on other data: what is confirmed, what recurs, and what the samples of biclusters share."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bivaluate._text import number, percent, plural
from bivaluate._types import DataFrame
from bivaluate.chance.evidence import SUPPORTED
from bivaluate.elsewhere.confirm import CANNOT, CONFIRMED, NOT_CONFIRMED, Confirmation, confirm
from bivaluate.elsewhere.fits import best_of_run
from bivaluate.elsewhere.recur import Recurrence, recur
from bivaluate.elsewhere.traits import EFFECTS, words
from bivaluate.judge.verdict import Verdict, with_shares
from bivaluate.matrix import Matrix
from bivaluate.report.render import Figure, Section
from bivaluate.report.source import Content, Drawn, from_evaluations
from bivaluate.solution import Biclustering

MOST_CELLS, MOST_SHOWN = 2000, 12  # biclusters x traits in the picture; associations that are not folded away

LEGEND = "Inside and outside: share of the class, median, or observed over expected events (survival)."
Test = Callable[[Biclustering, Matrix], DataFrame | None]


def report_on(
    path: Path,
    pairs: Mapping[str, tuple[Biclustering, Matrix]],
    sections: Sequence[Section],
    places: Sequence[tuple[str, str]] = (),
    test: Test = lambda solution, X: None,
    headline: str = "",
) -> None:
    """Write the page on some solutions, each with its matrix, with these panels; `places` name the files of each.

    Without a headline it begins with how many biclusters of the first solution share an annotation.
    """
    from bivaluate.evaluation import evaluate
    from bivaluate.report import build_report

    named = [(X, solution.with_info(name=name)) for name, (solution, X) in pairs.items()]
    judged = [evaluate(X, solution, missing="omit" if X.has_missing else "raise") for X, solution in named]
    for evaluation, place in zip(judged, places, strict=False):
        evaluation.place = place
    if headline and len(judged) == 1 and (own := judged[0].verdict).biclusters:
        where = f"Where the biclusters given ({own.biclusters[0]['bicluster']}, …) were found"
        judged[0].verdict = replace(own, headline=f"{where}: {own.headline}")
    panels = [replace(section, text=section.text.removeprefix(headline).strip()) for section in sections]
    if not headline and (table := test(judged[0].solution, judged[0].matrix)) is not None:
        headline = trait_headline(table, judged[0].verdict)
    build_report(annotated(from_evaluations(judged), test), path, sections=panels, headline=headline)


def run_sections(run: Any, by: str | None, test: Test, other: Matrix | None, recurs: bool, **how: Any) -> list[Section]:
    """Return the panels of the best solution of every data set of a run: what other data, samples and traits say."""
    best = best_of_run(run, by=by)
    found: list[Section] = []
    for name, (solution, X) in best.items():
        of = name if len(best) > 1 else ""
        if other is not None:
            found.append(confirm_section(confirm(solution, X, other, **how), of))
        found += trait_sections(test(solution, X), of)
    return [*found, recur_section(recur(best))] if recurs else found


def confirm_section(found: Confirmation, of: str = "") -> Section:
    """Return the panel of a confirmation."""
    shown = {"bicluster": "bicluster", "found_as": "found as", "verdict": "verdict", "n_rows": "rows"}
    shown |= {"shared_rows": "shared rows", "z": "z", "p": "p", "q": "q"}
    shown |= {"direction": "pattern there", "nearest": "like", "reason": "reason"}
    shown = {key: name for key, name in shown.items() if any(record.get(key) for record in found.records)}
    rows = [tuple(_cell(record[key] or None) for key in shown) for record in found.records]
    marks = ((CONFIRMED, "good"), (NOT_CONFIRMED, "bad"), (CANNOT, "muted"))
    title = "In other data" + (f": {of}" if of else "")
    return Section(title, " ".join([found.summary, *found.notes]), tuple(shown.values()), rows, marks=marks)


def recur_section(found: Recurrence) -> Section:
    """Return the panel of groups that recur over samples."""
    columns = ("group", "samples", "members", "rows", "closeness", "nearest group", "rows by recurrence")
    keys = ("group", "n_samples", "n_members", "n_rows", "closeness", "nearest")
    named = [", ".join(label for label, _ in own[:12]) for own in found.rows]
    rows = [(*(r[key] or None for key in keys), own) for r, own in zip(found.records, named, strict=True)]
    return Section("Over samples", " ".join([found.summary, *found.notes]), columns, rows)


def annotated(source: Content, test: Test) -> Content:
    """Return the same source; the table of biclusters says in a word what the samples of each share."""

    def noted(drawn: Drawn) -> Drawn:
        table = test(drawn.solution, drawn.matrix)
        if table is None:
            return drawn
        known = words(table)
        records = [{**row, "samples": known.get(str(row["bicluster"]), "")} for row in drawn.records]
        return replace(drawn, records=records, verdict=with_traits(drawn.verdict, table))

    return source.drawn_as(noted)


def with_traits(verdict: Verdict, table: DataFrame | None) -> Verdict:
    """Return a verdict that says what the samples of each bicluster share; as it is without a table."""
    if table is None or not verdict.biclusters:
        return verdict
    known = words(table)
    shares = [known.get(str(row["bicluster"]), "") for row in verdict.biclusters]
    return with_shares(verdict, shares, table.attrs["side"])


def trait_headline(table: DataFrame, verdict: Verdict) -> str:
    """Return how many supported biclusters, or of all if none is, share something, in at most 15 words."""
    rows = [row for row in verdict.biclusters if row["verdict"] == SUPPORTED] or verdict.biclusters
    some = len({row["bicluster"] for row in rows} & {*table.loc[table["word"] != "", "bicluster"]})
    who = plural(len(rows), f"{'supported ' * (len(rows) < len(verdict.biclusters))}bicluster")
    return f"The {table.attrs['samples']} of {some or 'none'} of {who} share an annotation."


def trait_sections(table: DataFrame | None, of: str = "") -> list[Section]:
    """Return the panel of traits: the associations, and biclusters x traits as a picture; nothing without a table."""
    from bivaluate.plots import plot_traits

    if table is None or not len(table):
        return []
    place = {name: k for k, name in enumerate(dict.fromkeys(table["bicluster"]))}
    telling = table[table["word"] != ""].sort_values(["bicluster", "q"], key=lambda v: v.replace(place), kind="stable")
    names = ("bicluster", "word", "trait", "inside", "outside", "effect", "p", "q", "verdict")
    rows = [tuple(_cell(row[name]) for name in names) for row in map(_in_units, telling.to_dict("records"))]
    samples = table.attrs["samples"]
    caption = f"Biclusters and the annotations of their {samples}: the stronger the colour, the smaller q."
    figures = [Figure(plot_traits(table), caption)] if len(table) <= MOST_CELLS else []
    notes = [*table.attrs.get("notes", []), *[LEGEND] * bool(rows)]
    title = f"What their {samples} share" + (f": {of}" if of else "")
    folds = ((f"All {len(rows)} associations", len(rows)),) if len(rows) > MOST_SHOWN else ()
    headings = ("bicluster", f"its {samples}", *names[2:]) if rows else ()
    return [Section(title, " ".join(notes), headings, rows, figures, folds=folds)]


def _in_units(row: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return what is told of a trait, with shares in percent and the effect by its name."""
    shares = {name: percent(row[name]) for name in ("inside", "outside") if row["effect_is"] == EFFECTS["categorical"]}
    return {**row, **shares, "effect": f"{row['effect_is']} {number(row['effect'])}"}


def _cell(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
