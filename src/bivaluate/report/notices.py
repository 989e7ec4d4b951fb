"""The page's own words about its content: title, what is drawn, what went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bivaluate._text import listing, plural
from bivaluate.report.groups import Group
from bivaluate.report.source import Source


def make_title(datasets: Sequence[str]) -> str:
    """Name the page after its data."""
    if len(datasets) == 1:
        return f"Biclusters of {datasets[0]}"
    return "Biclusters" if not datasets else f"Biclusters of {len(datasets)} data sets"


def make_subtitle(source: Source, groups: Sequence[Group], datasets: Sequence[str], algorithms: Sequence[str]) -> str:
    """Say in one line what was scored."""
    parts = [plural(len(source.solutions), "solution")]
    if source.kind == "run":
        ks = sorted({g.k for g in groups if g.k is not None})
        seeds = len({s.seed for s in source.solutions})
        if algorithms:
            parts.append(listing(algorithms) if len(algorithms) <= 5 else plural(len(algorithms), "algorithm"))
        if ks:
            parts.append(f"K = {', '.join(map(str, ks))}" if len(ks) <= 8 else f"{len(ks)} values of K")
        parts.append(plural(seeds, "seed"))
    if len(datasets) > 1:
        parts.insert(0, plural(len(datasets), "data set"))
    return " · ".join(parts)


def describe_details(source: Source, groups: Sequence[Group], chosen: Sequence[Group]) -> str:
    """Say which solutions are drawn and which are not; nothing if all are."""
    if len(chosen) == len(source.solutions):
        return ""
    left = len(source.solutions) - len(chosen)
    if source.kind != "run":
        return f"The first {len(chosen)} solutions are drawn; {plural(left, 'other')} are in the table only."
    return (
        f"Drawn are {plural(len(chosen), 'solution')}: of each data set the best, then the best of its other algorithms, "
        f"each with the seed whose score is the median. {plural(left, 'other solution')} of {plural(len(groups), 'combination')} "
        "of data set, algorithm and K are in the table only."
    )


def make_warnings(
    source: Source, groups: Sequence[Group], details: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return every warning in words: unfinished and failed solutions, then per data set what was found.

    Each entry has a title and parts; a part says where it applies and what there is to say.
    """
    said: list[dict[str, Any]] = []
    if source.missing:
        shown = [*source.missing[:8]]
        if len(source.missing) > 8:
            shown.append(f"and {len(source.missing) - 8:,} more")
        text = f"{'; '.join(shown)}. Run the same command again to continue."
        said.append(_entry(f"Not finished: {len(source.missing):,}", [_part("", "", [text])]))
    if source.missing_copies:
        text = (
            "Cells on surrogates and perturbed copies: null bands and p-values rest on those that are finished. "
            "Run the same command again to continue."
        )
        said.append(_entry(f"Not finished beside the data: {source.missing_copies:,}", [_part("", "", [text])]))
    for status in ("failed", "timed out"):
        reasons: dict[str, list[str]] = {}
        for group in groups:
            if group.statuses.get(status):
                reasons.setdefault(group.reason or status, []).append(f"{group.dataset}, {group.name}")
        texts = [
            f"{listing(where if len(where) < 6 else [*where[:4], f'{len(where) - 4} more'])}: {reason}"
            for reason, where in reasons.items()
        ]
        if texts:
            total = sum(group.statuses.get(status, 0) for group in groups)
            said.append(_entry(f"{status.capitalize()}: {total:,}", [_part("", "", texts)]))
    for dataset in dict.fromkeys(detail["dataset"] for detail in details):
        mine = [detail for detail in details if detail["dataset"] == dataset]
        shared = [text for text in mine[0]["findings"] if all(text in detail["findings"] for detail in mine)]
        parts = [_part("All solutions drawn", "details", shared)] if shared and len(mine) > 1 else []
        for detail in mine:
            own = [text for text in detail["findings"] if len(mine) == 1 or text not in shared]
            if own:
                parts.append(_part(detail["name"], detail["anchor"], own))
        if parts:
            said.append(_entry(dataset, parts))
    return said


def _part(where: str, anchor: str, texts: Sequence[str]) -> dict[str, Any]:
    return {"where": where, "anchor": anchor, "texts": texts}


def _entry(title: str, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"title": title, "parts": parts, "count": sum(len(part["texts"]) for part in parts)}
