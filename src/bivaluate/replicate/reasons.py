"""What stands behind the verdicts: findings and reasons, every number in them taken from the evidence or the paper."""

from __future__ import annotations

from typing import Any

import pandas as pd

from bivaluate._text import listing, percent
from bivaluate.algorithms.registry import algorithm_label
from bivaluate.datasets.published import K_PICKS, MATCHED, PLANTED, YEAST_COVERAGE, YEAST_PICKS, YEAST_SHOWN
from bivaluate.datasets.scenarios import SCENARIOS, SHAPE, VARIANTS
from bivaluate.registry import METRICS
from bivaluate.replicate.claim_evidence import Evidence
from bivaluate.replicate.claim_rules import PAPER_VIEW
from bivaluate.replicate.claims import ALL_SETS, COLLAPSED, TEXT, matched_cells
from bivaluate.replicate.profile import ALGORITHMS, PAPER_SEED, RANKING, get_profile
from bivaluate.replicate.winners import best_k_by_seed, best_pick, favourites, picked

Rows = list[dict[Any, Any]]
#: How many forms the search that found the second reading tried, and how often shuffled targets do as well.
READINGS, CHANCE = 96, ".01"


def truth_rows(evidence: Evidence) -> Rows:
    """Return how near to the planted truth each measure's winner is, beside the constant answers."""
    case = ["scenario", "seed"]
    scored = matched_cells(evidence, PAPER_VIEW).merge(evidence.truth, on=[*case, "algorithm"])
    nearest = scored.groupby(case)["ce"].transform("max")
    scored, nearest = scored[nearest > 0], nearest[nearest > 0]
    rows: Rows = []

    def row(name: str, near: pd.Series[float], best: pd.Series[float], right: pd.Series[bool]) -> None:
        means = [float(column.mean()) for column in (right, near, best)]
        columns = ("answer", "cases", "nearest to the truth", "mean CE", "best possible")
        rows.append(dict(zip(columns, (name, len(near), *means), strict=True)))

    chosen = {f"winner under {METRICS[measure].symbol}": picked(scored, measure, case) for measure in RANKING}
    chosen |= {f"always {algorithm_label(key)}": scored[scored["algorithm"] == key] for key in ALGORITHMS}
    for name, table in chosen.items():
        row(name, table["ce"], nearest[table.index], table["ce"] == nearest[table.index])
    other = evidence.truth[evidence.truth["algorithm"] == "find"].set_index(case)["ce"]
    if len(other):
        best = scored.groupby(case)["ce"].max()
        own = other.reindex(best.index).dropna()
        row("find, not told K (not of the paper)", own, best[own.index], own > best[own.index])
    return rows


def truth_finding(rows: Rows) -> str:
    """Return the headline finding: whether the winner is nearer to the truth."""
    found = {row["answer"]: row for row in rows}
    cov, ve = found[f"winner under {METRICS['nve_cov'].symbol}"], found[f"winner under {METRICS['avg_ve'].symbol}"]
    constant = max((row for row in rows if row["answer"].startswith("always")), key=lambda row: float(row["mean CE"]))
    said = {"cov": cov, "ve": ve, "constant": constant}
    shares = {f"{name}_right": percent(row["nearest to the truth"]) for name, row in said.items()}
    return str(TEXT["legend"]["finding"].format(**said, **shares))


def explanations(evidence: Evidence) -> list[str]:
    """Return what the evidence says about the reasons, as far as its data were run."""
    reasons = [_bimodal, _background, _asr, _thin, _overlap, _clones]
    yeast = set(evidence.yeast["dataset"])
    reasons += [_elutriation] if "04_elutriation" in yeast else []
    reasons += [_filtered] if COLLAPSED in yeast else []
    reasons += [_chosen_k, _favourites, _zeros] if len(yeast) == ALL_SETS else []
    filled = {reason.__name__[1:]: reason(evidence) for reason in reasons}
    filled |= {"caution": {"readings": READINGS, "p": CHANCE}, "cca": {}} if len(yeast) == ALL_SETS else {}
    return [words.format(**filled[name]) for name, words in TEXT["reasons"].items() if name in filled]


def _bimodal(evidence: Evidence) -> dict[str, Any]:
    table = matched_cells(evidence, PAPER_VIEW)
    spectral = table[table["algorithm"] == "spectral"]
    wide = spectral["coverage"] > 0.5
    middle = {is_wide: spectral[wide == is_wide][["coverage", "nve_cov"]].median() for is_wide in (True, False)}
    narrow = 100 * middle[False]["coverage"], middle[False]["nve_cov"]
    return {"wide": int(wide.sum()), "runs": len(spectral), "wide_nve": middle[True]["nve_cov"], "narrow": narrow}


def _background(_: Evidence) -> dict[str, Any]:
    covered = MATCHED["S2", "spectral", "coverage"]
    outside = SHAPE[0] - sum(block.rows for block in SCENARIOS["S2"].blocks)
    return {"covered": 100 * covered, "rows": round(covered * SHAPE[0]), "of": SHAPE[0], "outside": outside}


def _asr(evidence: Evidence) -> dict[str, Any]:
    asr = matched_cells(evidence, PAPER_VIEW).groupby("algorithm")["asr"]
    return {"median": asr.median(), "high": asr.max(), "low": asr.min()}


def _thin(evidence: Evidence) -> dict[str, Any]:
    s6 = evidence.planted[evidence.planted["scenario"] == "S6"].mean(numeric_only=True)
    return {"checks": evidence.checks.groupby("check")["value"].mean(), "s6": s6}


def _overlap(evidence: Evidence) -> dict[str, Any]:
    means = evidence.planted.groupby("scenario")[["coverage", "mean_area", "nve", "numerator", "denominator"]].mean()
    return {"s1": 100 * means.loc["S1"], "s5": 100 * means.loc["S5"], "s3": means.loc["S3"] / means.loc["S1"]}


def _clones(evidence: Evidence) -> dict[str, Any]:
    means = evidence.planted.groupby("scenario").mean(numeric_only=True)
    paper = pd.Series(PLANTED["S7"])
    off = {name: 100 * (means.loc[name][paper.index] / paper - 1) for name in ("S7", "S7c")}
    spreads = [block.row_effect for block in VARIANTS["S7c"].blocks]
    return {"off": off["S7"], "worst": off["S7c"].abs().max(), "high": max(spreads), "low": min(spreads)}


def _at_seed(evidence: Evidence, profile: str) -> pd.DataFrame:
    return evidence.yeast[(evidence.yeast["profile"] == profile) & (evidence.yeast["seed"] == PAPER_SEED)]


def _winner(evidence: Evidence, profile: str, dataset: str) -> str:
    """Return the winner under NVE_cov with the paper's seed, in words."""
    table = _at_seed(evidence, profile)
    best = picked(table[table["dataset"] == dataset], "nve_cov", ["seed"]).iloc[0]
    return f"{algorithm_label(str(best['algorithm']))} with K = {best['k']} ({best['nve_cov']:.2f})"


def _elutriation(evidence: Evidence) -> dict[str, Any]:
    name = "04_elutriation"
    table = _at_seed(evidence, "printed")
    covered = table[table["dataset"] == name].set_index(["algorithm", "k"])["coverage"]
    found: dict[str, Any] = {profile: _winner(evidence, profile, name) for profile in ("printed", "columns")}
    for key, k in (("las", 8), ("spectral", 3)):
        found |= {key: 100 * covered[key, k], f"{key}_paper": 100 * YEAST_COVERAGE[name, key, k]}
    return found


def _filtered(evidence: Evidence) -> dict[str, Any]:
    return {profile: _winner(evidence, profile, COLLAPSED) for profile in ("printed", "filtered")}


def met(table: pd.DataFrame) -> dict[str, Any]:
    """Count the cells of the table of chosen K, and the choices of claims 9.1 to 9.6, that come out; near ties too."""
    found: dict[str, Any] = dict.fromkeys(("cca", "spectral"), 0)
    for pair, picks in K_PICKS.items():
        found[pair[1]] += sum(best_k_by_seed(table, m)[PAPER_SEED].get(pair) == k for m, k in picks.items())
    best = [(best_pick(table, dataset, m), pick) for (dataset, m), pick in YEAST_PICKS.items()]
    found["algorithms"] = sum(len(b) > 0 and b["algorithm"].iloc[0] == pick.algorithm for b, pick in best)
    found["choices"] = sum(len(b) > 0 and tuple(b.iloc[0]) == (pick.algorithm, pick.k) for b, pick in best)
    return found | {"favoured": favourites(table, "nve_cov").iloc[0]}


def _chosen_k(evidence: Evidence) -> dict[str, Any]:
    printed = _at_seed(evidence, "printed")
    most = get_profile("columns").largest_k["spectral"]
    short = printed[(printed["algorithm"] != "spectral") | (printed["k"] <= most)]
    return {"printed": met(printed), "columns": met(_at_seed(evidence, "columns")), "short": met(short)}


def second_reading(evidence: Evidence) -> str:
    """Return in one sentence what the second reading changes, and what that is worth; nothing where it was not run."""
    if evidence.yeast["dataset"].nunique() < ALL_SETS:
        return ""
    printed, columns = (met(_at_seed(evidence, profile)) for profile in ("printed", "columns"))
    return str(TEXT["legend"]["second"].format(printed=printed, columns=columns, readings=READINGS, p=CHANCE))


def _favourites(evidence: Evidence) -> dict[str, Any]:
    table = evidence.yeast[evidence.yeast["seed"] != PAPER_SEED]
    return {name: favourites(table[table["profile"] == name], "nve_cov").mean() for name in ("printed", "default")}


def _zeros(evidence: Evidence) -> dict[str, Any]:
    table = evidence.yeast[(evidence.yeast["profile"] == "printed") & (evidence.yeast["seed"] != PAPER_SEED)]
    zero = table[table["nve_cov"] == 0]
    pairs = sorted({(algorithm_label(a), d) for a, d in zip(zero["algorithm"], zero["dataset"], strict=True)})
    named = listing([f"{a} on {d}" for a, d in pairs])
    return {"zero": len(zero), "scored": int(table["nve_cov"].notna().sum()), "pairs": named}


def inconsistencies() -> list[str]:
    """Return where the paper disagrees with itself, or leaves out what a check needs: one sentence per point."""
    numbers: dict[str, Any] = {name: row["nve" if name == "S7" else "avg_ve"] for name, row in PLANTED.items()}
    numbers |= {"shown": len(YEAST_SHOWN), "used": len({dataset for dataset, _ in K_PICKS})}
    return [sentence.format(**numbers) for sentence in TEXT["inconsistencies"].values()]
