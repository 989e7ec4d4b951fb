"""A choice of algorithm and K in words: where measures disagree, where seeds do, and what to distrust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bivaluate._text import listing, percent, plural
from bivaluate.judge.choice import enough_seeds
from bivaluate.judge.limits import NEGLIGIBLE_COVERAGE, is_thin
from bivaluate.measures.registry import RECORDS, symbol

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.sweep.load import Run


def disagreements(best: pd.DataFrame) -> list[str]:
    """Return one sentence per data set whose measures do not agree."""
    sentences = []
    for dataset, group in best.groupby("dataset", sort=False):
        choices: dict[tuple[str, int], list[Mapping[Any, Any]]] = {}
        for row in group.to_dict("records"):
            choices.setdefault((row["algorithm"], int(row["k"])), []).append(row)
        if len(choices) < 2:
            continue
        parts = []
        for (algorithm, k), rows in choices.items():
            names = listing([symbol(row["measure"]) for row in rows])
            verb = "choose" if len(rows) > 1 else "chooses"
            covers = percent(rows[0]["coverage"])
            parts.append(f"{names} {verb} {algorithm} with K = {k} ({covers} covered)")
        sentences.append(f"{dataset}: {'; '.join(parts)}.")
    return sentences


def instability(candidates: pd.DataFrame, by: str) -> list[str]:
    """Return one sentence per data set where the choice of `by` depends on the seed."""
    sentences = []
    mine = candidates[(candidates["measure"] == by) & (candidates["wins"] > 0)]
    for dataset, group in mine.groupby("dataset", sort=False):
        if len(group) < 2:
            continue
        ordered = group.sort_values("wins", ascending=False, kind="stable").to_dict("records")
        parts = [f"{row['algorithm']} K = {row['k']} wins {row['wins']}" for row in ordered[:4]]
        more = f", {len(ordered) - 4} others the rest" if len(ordered) > 4 else ""
        contests = int(group["contests"].iloc[0])
        sentences.append(
            f"{dataset}: the choice of {symbol(by)} changes with the seed: {', '.join(parts)}{more} of {contests}."
        )
    return sentences


def warnings(run: Run, candidates: pd.DataFrame, best: pd.DataFrame, by: str, gap: bool) -> list[str]:
    """Return what to distrust about the winners of `by`."""
    some = f"{len(run.missing):,} of {plural(len(run.cells), 'cell')}"
    copies = f"{plural(run.missing_copies, 'cell')} on surrogates and perturbed copies"
    sentences = [
        f"{what} {'is' if count == 1 else 'are'} not finished; start the sweep again to continue."
        for count, what in ((len(run.missing), some), (run.missing_copies, copies))
        if count
    ]
    chosen = {row["dataset"]: row for row in best[best["measure"] == by].to_dict("records")}
    for dataset in run.datasets:
        if dataset not in chosen:
            mine = candidates[(candidates["measure"] == by) & (candidates["dataset"] == dataset)]
            able = mine[enough_seeds(mine["n"], mine["seeds"])]
            why = f"no candidate has a defined {symbol(by)} for at least half of its seeds"
            if len(able):
                nothing = not gap and (able["mean"] <= RECORDS[by].nothing).all()
                why = "nothing stands out from noise" if nothing else f"all candidates tie in {symbol(by)}"
            sentences.append(f"{dataset}: {why}; nothing can be chosen.")
            continue
        sentences += [f"{dataset}: {text}" for text in _about_winner(run, chosen[dataset], by, gap)]
    sentences += _about_edges(candidates[candidates["measure"] == by], list(chosen.values()))
    return sentences


def without_null(null: pd.DataFrame, by: str) -> list[str]:
    """Say where most surrogates have no value, so that there is no gap to choose by."""
    scarce = null[(null["measure"] == by) & (2 * null["null_n"] < null["null_runs"])]
    pairs = scarce[["dataset", "algorithm"]].drop_duplicates().itertuples(index=False)
    return [
        f"{dataset}: {algorithm} finds nothing to score in most surrogates for some K; that speaks for what it "
        "finds in the data, but leaves no gap to choose by."
        for dataset, algorithm in pairs
    ]


def _about_winner(run: Run, row: Mapping[Any, Any], by: str, gap: bool) -> list[str]:
    name = f"the winner {row['algorithm']} K = {row['k']}"
    found = []
    if row["coverage"] < NEGLIGIBLE_COVERAGE:
        found.append(f"{name} covers only {percent(row['coverage'])} of the matrix; that is negligible.")
    left_out = row["degenerate"] + row["failed"]
    if left_out:
        found.append(
            f"{name} is degenerate or failed for {left_out} of {row['seeds']} seeds; its mean is over the others."
        )
    blocks = run.biclusters
    mine = blocks[
        (blocks["dataset"] == row["dataset"]) & (blocks["algorithm"] == row["algorithm"]) & (blocks["k"] == row["k"])
    ]
    thin = is_thin(mine["n_rows"], mine["n_cols"]).mean()
    if thin > 0:
        found.append(
            f"{name} is partly degenerate: {percent(thin)} of its biclusters have one row or at most two "
            "columns, which VE cannot judge."
        )
    if not gap and RECORDS[by].direction == "low" and row["mean"] == 0:
        found.append(f"{name} has {symbol(by)} 0: this is degenerate, not good.")
    return found


def _about_edges(candidates: pd.DataFrame, chosen: Sequence[Mapping[Any, Any]]) -> list[str]:
    """Say for how many data sets the chosen K is the smallest or largest tried."""
    edges: dict[str, list[str]] = {"smallest": [], "largest": []}
    for row in chosen:
        tried = candidates[candidates["dataset"] == row["dataset"]]["k"]
        if tried.nunique() > 1 and row["k"] in (tried.min(), tried.max()):
            edges["smallest" if row["k"] == tried.min() else "largest"].append(row["dataset"])
    return [
        f"the chosen K is the {edge} one tried for {listing(datasets, 5)}: a wider sweep may choose another."
        for edge, datasets in edges.items()
        if datasets
    ]
