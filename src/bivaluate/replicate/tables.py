"""The paper's tables with our numbers beside the paper's own."""

import itertools
from collections.abc import Iterator
from typing import Any

import pandas as pd

from bivaluate.algorithms.registry import algorithm_label
from bivaluate.datasets.published import K_PICKS, PLANTED, WINNERS
from bivaluate.datasets.scenarios import SCENARIOS, SHAPE, VARIANTS
from bivaluate.registry import METRICS
from bivaluate.replicate.claim_evidence import Evidence
from bivaluate.replicate.claim_rules import ENOUGH, JudgedClaim, View, margin_words, measure_number
from bivaluate.replicate.claims import Planted, is_ahead, matched_cells
from bivaluate.replicate.profile import ALGORITHMS, CONVENTIONS, FOUR, PAPER_SEED, PROFILES
from bivaluate.replicate.reasons import truth_rows
from bivaluate.replicate.winners import best_k_by_seed, best_pick, differing_share, favourites, margins, win_counts

Rows = Iterator[tuple[Any, ...]]
LABELS = [algorithm_label(key) for key in ALGORITHMS]
AT_SEED = f"seed {PAPER_SEED}"
READINGS = ("printed", "columns")
CLAIM = (
    "claim", "sentence", "reading", "source", "kind", "basis", "paper", "measured", "low", "high", "seeds",
    "undefined seeds", "margin", f"with {AT_SEED}", "verdict", "verdict with our defaults",
    "verdict with other algorithm seeds", "depends on convention", "depends on seed", "few seeds",
    "measured along columns", "margin along columns", f"with {AT_SEED} along columns", "verdict along columns",
)  # fmt: skip


def all_tables(evidence: Evidence, outcomes: list[JudgedClaim]) -> dict[str, pd.DataFrame]:
    """Return every table by the name of its file."""
    at_seed = ",".join(f"{label} with {AT_SEED}" for label in LABELS)
    labels = ",".join(LABELS)
    k_picks = f"dataset,algorithm,measure,reading,paper,{AT_SEED},margin,other seeds,share as in paper"
    tables: dict[str, tuple[Rows, str]] = {
        "scenarios": (scenario_rows(), "id,name,K,signal,stress test,planted sizes,matrix"),
        "planted": (planted_rows(evidence), "scenario,measure,paper,mean,sd,low,high,deviation,seeds"),
        "winners": (winner_rows(evidence), f"measure,profile,algorithm seed,paper,{labels},paper's winner ahead,seeds"),
        "k_picks": (k_pick_rows(evidence), k_picks),
        "different_k": (different_k_rows(evidence), f"against,profile,pairs,mean share,low,high,{AT_SEED},seeds"),
        "favourites": (favourite_rows(evidence), f"measure,profile,data sets,{labels},{at_seed},seeds"),
        "yeast_choices": (choice_rows(evidence), f"dataset,measure,reading,{AT_SEED},other seeds"),
    }
    made = {name: pd.DataFrame(rows, columns=columns.split(",")) for name, (rows, columns) in tables.items()}
    frames = {f"table_{name}": frame for name, frame in made.items()}
    return {**frames, "table_truth": pd.DataFrame(truth_rows(evidence)), "claims": pd.DataFrame(claim_rows(outcomes))}


def scenario_rows() -> Rows:
    """The scenario summary."""
    for s in SCENARIOS.values():
        sizes = ", ".join(f"{b.rows}x{b.cols}" for b in s.blocks)
        yield s.id, s.name, s.n_biclusters, s.signal, s.stress, sizes, f"{SHAPE[0]}x{SHAPE[1]}"


def planted_rows(evidence: Evidence) -> Rows:
    """The planted diagnostic: mean, interval and deviation beside the paper's value."""
    for scenario, paper in [*PLANTED.items(), *((name, PLANTED[name[:-1]]) for name in VARIANTS)]:
        for measure, value in paper.items():
            found = measure_number(Planted(evidence)(scenario, measure).tolist())
            deviation = f"{100 * (found.mean / value - 1):+.1f} %"
            numbers = value, found.mean, found.sd, found.low, found.high
            yield scenario, METRICS[measure].symbol, *numbers, deviation, found.n_seeds


def winner_rows(evidence: Evidence) -> Rows:
    """Winner counts under every convention and both choices of the algorithms' seed."""
    for measure, winner in WINNERS.items():
        for seed in dict.fromkeys(evidence.matched["algorithm_seed"]):
            for profile in CONVENTIONS:
                cells = matched_cells(evidence, View(profile, seed))
                counts = win_counts(cells, measure)
                ahead = is_ahead(cells, measure, winner.algorithm)
                paper = f"{algorithm_label(winner.algorithm)} {winner.wins}"
                yield METRICS[measure].symbol, profile, seed, paper, *counts.mean(), float(ahead.mean()), len(counts)


def k_pick_rows(evidence: Evidence) -> Rows:
    """The paper's table of chosen K: its pick, ours with seed 42 and the margin, and the picks of the other seeds."""
    for pair, picks in K_PICKS.items():
        for measure, k in picks.items():
            for profile in READINGS:
                table = evidence.yeast[evidence.yeast["profile"] == profile]
                rows = table[(table["dataset"] == pair[0]) & (table["algorithm"] == pair[1])]
                if not len(rows):
                    continue
                own = best_k_by_seed(rows, measure).iloc[0]
                margin = margin_words(margins(rows, measure, rows["k"] == k).get(PAPER_SEED, float("nan")))
                others = own[own.index != PAPER_SEED]
                counts = others.dropna().astype(int).value_counts().sort_index()
                words = ", ".join(f"{chosen}: {n}" for chosen, n in counts.items())
                what = pair[0], algorithm_label(pair[1]), METRICS[measure].symbol, profile, k
                yield *what, _whole(own.get(PAPER_SEED)), margin, words, float((others == k).mean())


def different_k_rows(evidence: Evidence) -> Rows:
    """In what share of data set–algorithm pairs NVE_cov and another measure choose a different K."""
    for profile in ("printed", "default", "columns") if len(evidence.yeast) else ():
        yeast = evidence.yeast[evidence.yeast["profile"] == profile]
        pairs = int(best_k_by_seed(yeast, "nve_cov").notna().any(axis=1).sum())
        for measure in FOUR[:3]:
            share = differing_share(yeast, measure)
            found = measure_number(share[share.index != PAPER_SEED].tolist(), 1.0)
            at_seed = float(share.get(PAPER_SEED, float("nan")))
            yield METRICS[measure].symbol, profile, pairs, found.mean, found.low, found.high, at_seed, found.n_seeds


def favourite_rows(evidence: Evidence) -> Rows:
    """On how many yeast data sets each algorithm is best, over all K, under each measure."""
    for profile in PROFILES if len(evidence.yeast) else ():
        yeast = evidence.yeast[evidence.yeast["profile"] == profile]
        for measure in FOUR:
            counts = favourites(yeast, measure)
            others = counts[counts.index != PAPER_SEED]
            at_seed = [_whole(counts[key].get(PAPER_SEED)) for key in ALGORITHMS]
            n_sets = yeast["dataset"].nunique()
            yield METRICS[measure].symbol, profile, n_sets, *others.mean(), *at_seed, len(others)


def choice_rows(evidence: Evidence) -> Rows:
    """The algorithm and K each measure chooses on each yeast data set, with seed 42 and over the other seeds."""
    for dataset, measure, profile in itertools.product(dict.fromkeys(evidence.yeast["dataset"]), FOUR, READINGS):
        best = best_pick(evidence.yeast[evidence.yeast["profile"] == profile], dataset, measure)
        words = best["algorithm"].map(algorithm_label) + " " + best["k"].astype(str)
        others = words[words.index != PAPER_SEED].value_counts()
        counts = ", ".join(f"{word}: {n}" for word, n in sorted(others.items(), key=lambda item: (-item[1], item[0])))
        yield dataset, METRICS[measure].symbol, profile, words.get(PAPER_SEED, ""), counts


def claim_rows(outcomes: list[JudgedClaim]) -> list[dict[Any, Any]]:
    """One row per claim."""
    rows = []
    for o in outcomes:
        claim, found = o.claim, o.measured
        paper = "" if claim.paper is None else f"{claim.paper:g}"
        can_be_judged = claim.on in ("matched", "yeast") and not (claim.vague or claim.unprinted)
        few_seeds = can_be_judged and found.n_seeds < ENOUGH
        flags = ["yes" if on else "no" for on in (o.on_convention, o.on_seed, few_seeds)]
        said = claim.id, claim.sentence, claim.reading, claim.source, claim.kind, claim.basis, paper
        numbers = found.mean, found.low, found.high, found.n_seeds, found.n_undefined, found.margin
        verdicts = o.printed.at_paper_seed, o.verdict, o.default_verdict, o.own_seed_verdict
        both: tuple[Any, ...] = float("nan"), float("nan"), "", ""
        if look := o.columns:
            both = look.measured.mean, look.measured.margin, look.at_paper_seed, look.verdict
        rows.append(dict(zip(CLAIM, (*said, *numbers, *verdicts, *flags, *both), strict=True)))
    return rows


def _whole(value: Any) -> str:
    return "" if value is None or value != value else str(int(value))
