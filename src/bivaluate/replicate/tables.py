"""The paper's tables with our numbers beside the paper's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bivaluate.algorithms.registry import algorithm_label
from bivaluate.datasets.published import K_PICKS, PLANTED, WINNERS
from bivaluate.datasets.scenarios import SCENARIOS, SHAPE
from bivaluate.measures.registry import METRICS
from bivaluate.replicate.claims_matched import matched_cells
from bivaluate.replicate.profile import PAPER_SEED, PROFILES
from bivaluate.replicate.reasons import Rows, truth_rows
from bivaluate.replicate.verdict import Outcome, View, measure_number
from bivaluate.replicate.winners import ALGORITHMS, FOUR, best_k, best_pick, differing_share, favourites, win_counts

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.replicate.evidence import Evidence


def all_tables(evidence: Evidence, outcomes: list[Outcome]) -> dict[str, pd.DataFrame]:
    """Return every table by the name of its file."""
    import pandas as pd

    rows = {
        "table_scenarios": scenario_rows(),
        "table_planted": planted_rows(evidence),
        "table_truth": truth_rows(evidence),
        "table_winners": winner_rows(evidence),
        "table_k_picks": k_pick_rows(evidence),
        "table_different_k": different_k_rows(evidence),
        "table_favourites": favourite_rows(evidence),
        "table_yeast_choices": choice_rows(evidence),
        "claims": claim_rows(outcomes),
    }
    return {name: pd.DataFrame(table) for name, table in rows.items()}


def scenario_rows() -> Rows:
    """The scenario summary."""
    return [
        {
            "id": s.id,
            "name": s.name,
            "K": s.n_biclusters,
            "signal": s.signal,
            "stress test": s.stress,
            "planted sizes": ", ".join(f"{b.rows}x{b.cols}" for b in s.blocks),
            "matrix": f"{SHAPE[0]}x{SHAPE[1]}",
        }
        for s in SCENARIOS.values()
    ]


def planted_rows(evidence: Evidence) -> Rows:
    """The planted diagnostic: mean, interval and deviation beside the paper's value."""
    rows: Rows = []
    for scenario, paper in PLANTED.items():
        table = evidence.planted[evidence.planted["scenario"] == scenario]
        for measure, value in paper.items():
            found = measure_number(table[measure].tolist())
            rows.append(
                {
                    "scenario": scenario,
                    "measure": METRICS[measure].symbol,
                    "paper": value,
                    "mean": found.mean,
                    "sd": found.sd,
                    "low": found.low,
                    "high": found.high,
                    "deviation": f"{100 * (found.mean / value - 1):+.1f} %",
                    "seeds": found.n_seeds,
                }
            )
    return rows


def winner_rows(evidence: Evidence) -> Rows:
    """Winner counts under every profile and both choices of the algorithms' seed."""
    rows: Rows = []
    for measure, winner in WINNERS.items():
        for algorithm_seed in dict.fromkeys(evidence.matched["algorithm_seed"]):
            for profile in PROFILES:
                counts = win_counts(matched_cells(evidence, View(profile, algorithm_seed)), measure)
                ahead = counts[winner.algorithm] > counts.drop(columns=winner.algorithm).max(axis=1)
                rows.append(
                    {
                        "measure": METRICS[measure].symbol,
                        "profile": profile,
                        "algorithm seed": algorithm_seed,
                        "paper": f"{algorithm_label(winner.algorithm)} {winner.wins}",
                        **{algorithm_label(key): counts[key].mean() for key in ALGORITHMS},
                        "paper's winner ahead": float(ahead.mean()),
                        "seeds": len(counts),
                    }
                )
    return rows


def k_pick_rows(evidence: Evidence) -> Rows:
    """The paper's table of chosen K: its pick, ours with seed 42, and the picks of the other seeds."""
    rows: Rows = []
    yeast = evidence.yeast[evidence.yeast["profile"] == "paper"]
    for measure in FOUR:
        chosen = best_k(yeast, measure) if len(yeast) else None
        for (dataset, algorithm), picks in K_PICKS.items():
            if chosen is None or (dataset, algorithm) not in chosen.index:
                continue
            own = chosen.T[(dataset, algorithm)]
            others = own[own.index != PAPER_SEED]
            counts = others.dropna().astype(int).value_counts()
            rows.append(
                {
                    "dataset": dataset,
                    "algorithm": algorithm_label(algorithm),
                    "measure": METRICS[measure].symbol,
                    "paper": picks[measure],
                    "seed 42": _whole(own.get(PAPER_SEED)),
                    "other seeds": ", ".join(f"{k}: {counts[k]}" for k in sorted(counts.index)),
                    "share as in paper": float((others == picks[measure]).mean()),
                }
            )
    place = {key: n for n, key in enumerate((d, algorithm_label(a)) for d, a in K_PICKS)}
    return sorted(rows, key=lambda row: place[row["dataset"], row["algorithm"]])


def different_k_rows(evidence: Evidence) -> Rows:
    """In what share of data set–algorithm pairs NVE_cov and another measure choose a different K."""
    rows: Rows = []
    if not len(evidence.yeast):
        return rows
    for profile in ("paper", "default"):
        yeast = evidence.yeast[evidence.yeast["profile"] == profile]
        pairs = int(best_k(yeast, "nve_cov").notna().any(axis=1).sum())
        for measure in FOUR[:3]:
            share = differing_share(yeast, measure)
            found = measure_number(share[share.index != PAPER_SEED].tolist(), 1.0)
            rows.append(
                {
                    "against": METRICS[measure].symbol,
                    "profile": profile,
                    "pairs": pairs,
                    "mean share": found.mean,
                    "low": found.low,
                    "high": found.high,
                    "seed 42": float(share.get(PAPER_SEED, float("nan"))),
                    "seeds": found.n_seeds,
                }
            )
    return rows


def favourite_rows(evidence: Evidence) -> Rows:
    """On how many yeast data sets each algorithm is best, over all K, under each measure."""
    rows: Rows = []
    for profile in PROFILES:
        yeast = evidence.yeast[evidence.yeast["profile"] == profile]
        if not len(yeast):
            continue
        for measure in FOUR:
            counts = favourites(yeast, measure)
            others = counts[counts.index != PAPER_SEED]
            rows.append(
                {
                    "measure": METRICS[measure].symbol,
                    "profile": profile,
                    "data sets": yeast["dataset"].nunique(),
                    **{algorithm_label(key): others[key].mean() for key in ALGORITHMS},
                    **{f"{algorithm_label(key)}, seed 42": _whole(counts[key].get(PAPER_SEED)) for key in ALGORITHMS},
                    "seeds": len(others),
                }
            )
    return rows


def choice_rows(evidence: Evidence) -> Rows:
    """The algorithm and K each measure chooses on each yeast data set, with seed 42 and over the other seeds."""
    rows: Rows = []
    yeast = evidence.yeast[evidence.yeast["profile"] == "paper"]
    for dataset in dict.fromkeys(yeast["dataset"]):
        for measure in FOUR:
            best = best_pick(yeast, dataset, measure)
            words = best["algorithm"].map(algorithm_label) + " " + best["k"].astype(str)
            others = words[words.index != PAPER_SEED].value_counts()
            rows.append(
                {
                    "dataset": dataset,
                    "measure": METRICS[measure].symbol,
                    "seed 42": words.get(PAPER_SEED, ""),
                    "other seeds": ", ".join(f"{word}: {n}" for word, n in sorted(others.items(), key=_by_count)),
                }
            )
    return rows


def claim_rows(outcomes: list[Outcome]) -> Rows:
    """One row per claim."""
    return [
        {
            "claim": o.claim.id,
            "sentence": o.claim.sentence,
            "reading": o.claim.reading,
            "source": o.claim.source,
            "kind": "number" if o.claim.is_number else "direction",
            "basis": o.claim.basis,
            "paper": "" if o.claim.paper is None else f"{o.claim.paper:g}",
            "measured": o.measured.mean,
            "low": o.measured.low,
            "high": o.measured.high,
            "seeds": o.measured.n_seeds,
            "undefined seeds": o.measured.n_undefined,
            "verdict": o.verdict,
            "verdict with our defaults": o.default_verdict,
            "verdict with other algorithm seeds": o.own_seed_verdict,
            "with seed 42": o.at_paper_seed,
            "depends on convention": "yes" if o.on_convention else "no",
            "depends on seed": "yes" if o.on_seed else "no",
        }
        for o in outcomes
    ]


def _whole(value: Any) -> str:
    return "" if value is None or value != value else str(int(value))


def _by_count(item: tuple[Any, Any]) -> tuple[int, str]:
    return -int(item[1]), str(item[0])
