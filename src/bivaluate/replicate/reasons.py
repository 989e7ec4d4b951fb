"""What stands behind the verdicts: findings and reasons, every number in them taken from the evidence or the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bivaluate._text import listing, percent
from bivaluate.algorithms.registry import algorithm_label
from bivaluate.datasets.published import K_PICKS, MATCHED, PLANTED, YEAST_COVERAGE, YEAST_PICKS, YEAST_SHOWN
from bivaluate.datasets.scenarios import SCENARIOS, SHAPE
from bivaluate.measures.registry import METRICS
from bivaluate.replicate.claim_rules import PAPER_VIEW
from bivaluate.replicate.claims import matched_cells
from bivaluate.replicate.claims_yeast import ALL_SETS, COLLAPSED
from bivaluate.replicate.profile import ALGORITHMS, PAPER_SEED, RANKING
from bivaluate.replicate.winners import best_k, best_pick, favourites, picked

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.replicate.claim_evidence import Evidence

Rows = list[dict[Any, Any]]


def truth_rows(evidence: Evidence) -> Rows:
    """Return how near to the planted truth each measure's winner is, beside the constant answers.

    A case is a scenario and a seed on which some algorithm touches the truth; CE is the clustering-error similarity.
    """
    case = ["scenario", "seed"]
    scored = matched_cells(evidence, PAPER_VIEW).merge(evidence.truth, on=[*case, "algorithm"])
    nearest = scored.groupby(case)["ce"].transform("max")
    scored, nearest = scored[nearest > 0], nearest[nearest > 0]
    rows: Rows = []

    def row(name: str, chosen: pd.DataFrame) -> None:
        best = nearest[chosen.index]
        rows.append(
            {
                "answer": name,
                "cases": len(chosen),
                "nearest to the truth": float((chosen["ce"] == best).mean()),
                "mean CE": float(chosen["ce"].mean()),
                "best possible": float(best.mean()),
            }
        )

    for measure in RANKING:
        row(f"winner under {METRICS[measure].symbol}", picked(scored, measure, case))
    for key in ALGORITHMS:
        row(f"always {algorithm_label(key)}", scored[scored["algorithm"] == key])
    other = evidence.truth[evidence.truth["algorithm"] == "find"].set_index(case)["ce"]
    if len(other):
        best = scored.groupby(case)["ce"].max()
        own = other.reindex(best.index).dropna()
        best = best[own.index]
        rows.append(
            {
                "answer": "find, not told K (not of the paper)",
                "cases": len(own),
                "nearest to the truth": float((own > best).mean()),
                "mean CE": float(own.mean()),
                "best possible": float(best.mean()),
            }
        )
    return rows


def truth_finding(rows: Rows) -> str:
    """Return the headline finding: whether the winner is nearer to the truth."""
    found = {row["answer"]: row for row in rows}
    cov, ve = found[f"winner under {METRICS['nve_cov'].symbol}"], found[f"winner under {METRICS['avg_ve'].symbol}"]
    constant = max((row for row in rows if row["answer"].startswith("always")), key=lambda row: float(row["mean CE"]))
    return (
        f"On the scenarios the solution with the best NVE_cov is the one nearest to "
        f"the planted biclusters in {percent(cov['nearest to the truth'])} of {cov['cases']} cases (mean CE similarity "
        f"{cov['mean CE']:.3f}, best possible {cov['best possible']:.3f}); the one with the best AvgVE is in "
        f"{percent(ve['nearest to the truth'])} ({ve['mean CE']:.3f}). No measure is needed for that: the constant answer "
        f"“{constant['answer']}” is right in {percent(constant['nearest to the truth'])} ({constant['mean CE']:.3f}). "
        "The scenarios can therefore show that a measure misleads, not that one finds the truth; and even the best "
        "solutions are far from it."
    )


def explanations(evidence: Evidence) -> list[str]:
    """Return what the evidence says about the reasons, as far as its data were run."""
    sentences = [_bimodal(evidence), _background(), _asr(evidence), _thin(evidence), _overlap(evidence)]
    yeast = set(evidence.yeast["dataset"])
    if "04_elutriation" in yeast:
        sentences.append(_elutriation(evidence))
    if COLLAPSED in yeast:
        sentences.append(_filtered(evidence))
    if len(yeast) == ALL_SETS:
        sentences += [_chosen_k(evidence), _favourites(evidence), _zeros(evidence)]
    return sentences


def _bimodal(evidence: Evidence) -> str:
    table = matched_cells(evidence, PAPER_VIEW)
    spectral = table[table["algorithm"] == "spectral"]
    wide = spectral["coverage"] > 0.5
    return (
        "Spectral is two methods in one (claims 2 and 3). Its first K checkerboard cells all belong to row cluster 0; "
        f"where that cluster is the background it covers more than half of the matrix ({int(wide.sum())} of "
        f"{len(spectral)} scenario runs, median NVE_cov {spectral.loc[wide, 'nve_cov'].median():.2f}), elsewhere a "
        f"median of {100 * spectral.loc[~wide, 'coverage'].median():.0f} % (median NVE_cov "
        f"{spectral.loc[~wide, 'nve_cov'].median():.2f}). Which of the two it is depends on the luck of k-means."
    )


def _background() -> str:
    covered = MATCHED["S2", "spectral", "coverage"]
    outside = SHAPE[0] - sum(block.rows for block in SCENARIOS["S2"].blocks)
    return (
        f"The paper's winner under NVE_cov on S2 (claim 2.6) is the background: the {100 * covered:.1f} % that Spectral "
        f"covers there are {round(covered * SHAPE[0])} of {SHAPE[0]} rows with every column, and {outside} rows of our S2 "
        "lie outside all planted biclusters."
    )


def _asr(evidence: Evidence) -> str:
    asr = matched_cells(evidence, PAPER_VIEW).groupby("algorithm")["asr"]
    return (
        "Spectral cannot win under ASR here (claim 1.9): CCA stops at a residue of its own choosing (median ASR "
        f"{asr.median()['cca']:.2f}, highest {asr.max()['cca']:.2f}), while Spectral takes in background of unit variance "
        f"(median {asr.median()['spectral']:.2f}, lowest {asr.min()['spectral']:.2f})."
    )


def _thin(evidence: Evidence) -> str:
    s6 = evidence.planted[evidence.planted["scenario"] == "S6"].mean(numeric_only=True)
    checks = evidence.checks.groupby("check")["value"].mean()
    return (
        "What a minimum of three columns mends in S6 (claim 11.2): without the two stripes the planted solution has AvgVE "
        f"{checks['s6_filtered_avg_ve']:.3f} instead of {s6['avg_ve']:.3f} and NVE {checks['s6_filtered_nve']:.3f} instead of "
        f"{s6['nve']:.3f}."
    )


def _overlap(evidence: Evidence) -> str:
    means = evidence.planted.groupby("scenario")[["coverage", "mean_area", "nve", "numerator", "denominator"]].mean()
    s1, s3, s5 = means.loc["S1"], means.loc["S3"] / means.loc["S1"], means.loc["S5"]
    return (
        f"Overlap (claim 16.1): the union of S5's blocks covers {100 * s5['coverage']:.2f} % of the matrix, less than S1's "
        f"{100 * s1['coverage']:.2f} %, although its mean block is larger ({100 * s5['mean_area']:.2f} % against "
        f"{100 * s1['mean_area']:.2f} %). And NVE follows coherence (claim 14.4): S3 has blocks like those of S1, and merging "
        f"them costs more (a denominator {s3['denominator']:.2f} times as high); yet its NVE is {s3['nve']:.2f} times as high, "
        f"because its numerator is {s3['numerator']:.2f} times as high."
    )


def _filtered(evidence: Evidence) -> str:
    table = evidence.yeast[evidence.yeast["seed"] == PAPER_SEED]
    chosen = []
    for name in ("paper", "filtered"):
        pick = best_pick(table[table["profile"] == name], COLLAPSED, "nve_cov")
        chosen.append(f"{algorithm_label(str(pick['algorithm'].iloc[0]))} with K = {pick['k'].iloc[0]}")
    return (
        f"On {COLLAPSED} (claims 11.4 and 11.5) NVE_cov chooses {chosen[0]} under the paper's conventions and {chosen[1]} "
        "once biclusters of fewer than 2 rows or 3 columns are dropped (seed 42)."
    )


def _elutriation(evidence: Evidence) -> str:
    table = evidence.yeast
    rows = table[
        (table["dataset"] == "04_elutriation") & (table["profile"] == "paper") & (table["seed"] == PAPER_SEED)
    ].to_dict("records")
    cells = {(row["algorithm"], int(row["k"])): row for row in rows}
    las, spectral = cells["las", 8], cells["spectral", 3]
    cca, best = _lowest(rows, "cca"), _lowest(rows, "spectral")
    return (
        "On 04_elutriation (claims 9.4 to 9.8) the coverage the paper prints is met with seed 42: LAS with K = 8 covers "
        f"{100 * las['coverage']:.1f} % (paper {100 * YEAST_COVERAGE['04_elutriation', 'las', 8]:.1f} %), Spectral with K = 3 "
        f"{100 * spectral['coverage']:.1f} % (paper {100 * YEAST_COVERAGE['04_elutriation', 'spectral', 3]:.1f} %). So matrix, "
        "algorithms and choice of cells agree. But Spectral with K = 3 has NVE_cov "
        f"{spectral['nve_cov']:.2f}, while Spectral with K = {best['k']} has {best['nve_cov']:.2f} and CCA with K = {cca['k']}, "
        f"covering {100 * cca['coverage']:.0f} %, has {cca['nve_cov']:.2f}. The paper's choice needs a CCA that covers far less "
        "than the public implementation at its defaults, and other scores of Spectral at larger K."
    )


def _lowest(rows: list[dict[Any, Any]], algorithm: str) -> dict[Any, Any]:
    own = [row for row in rows if row["algorithm"] == algorithm and row["nve_cov"] == row["nve_cov"]]
    return min(own, key=lambda row: float(row["nve_cov"]))


def _chosen_k(evidence: Evidence) -> str:
    """Say how much of the table of chosen K one change to what was swept would bring back."""
    yeast = evidence.yeast[(evidence.yeast["profile"] == "paper") & (evidence.yeast["seed"] == PAPER_SEED)]
    short = yeast[(yeast["algorithm"] != "spectral") | (yeast["k"] <= 5)]

    def met(table: pd.DataFrame, algorithm: str) -> tuple[int, int]:
        wanted = [(pair, m, k) for pair, picks in K_PICKS.items() if pair[1] == algorithm for m, k in picks.items()]
        chosen = {m: best_k(table, m)[PAPER_SEED] for _, m, _ in wanted}
        return sum(chosen[m].get(pair) == k for pair, m, k in wanted), len(wanted)

    def choices(table: pd.DataFrame) -> int:
        best = [(best_pick(table, dataset, m), pick) for (dataset, m), pick in YEAST_PICKS.items()]
        return sum(len(b) > 0 and tuple(b.iloc[0]) == (pick.algorithm, pick.k) for b, pick in best)

    cca, all_cca = met(yeast, "cca")
    whole, of = met(yeast, "spectral")
    cut, _ = met(short, "spectral")
    without = short[short["algorithm"] != "cca"]
    return (
        f"The table of chosen K (claim 8) fails at CCA: with seed 42, {cca} of its {all_cca} cells come out, where blind "
        f"guessing among five K meets {all_cca // 5}. For Spectral it is {whole} of {of}, but {cut} of {of} if Spectral stops at "
        f"K = 5; with that, and CCA left out, {choices(without)} of the {len(YEAST_PICKS)} choices of claims 9.1 to 9.6 come "
        f"out, instead of {choices(yeast)}. Matrices, LAS, Spectral and seed may well be the paper's; what differs is its "
        "CCA, which cannot be the public one at its defaults, and the K at which Spectral was run."
    )


def _favourites(evidence: Evidence) -> str:
    table = evidence.yeast[evidence.yeast["seed"] != PAPER_SEED]
    paper, default = (favourites(table[table["profile"] == name], "nve_cov").mean() for name in ("paper", "default"))
    return (
        "“NVE_cov most often favours Spectral on yeast” (claim 10.1) rests on a convention. When a cell of one row or one "
        f"column counts 0, Spectral is best on {paper['spectral']:.1f} of 17 data sets (CCA {paper['cca']:.1f}, LAS "
        f"{paper['las']:.1f}); when it is undefined, CCA is best on {default['cca']:.1f} (Spectral {default['spectral']:.1f}, "
        f"LAS {default['las']:.1f})."
    )


def _zeros(evidence: Evidence) -> str:
    table = evidence.yeast[(evidence.yeast["profile"] == "paper") & (evidence.yeast["seed"] != PAPER_SEED)]
    zero = table[table["nve_cov"] == 0]
    pairs = sorted({(algorithm_label(a), d) for a, d in zip(zero["algorithm"], zero["dataset"], strict=True)})
    return (
        f"{COLLAPSED} is not alone (claim 9.10): under that convention NVE_cov collapses to exactly 0 in {len(zero)} of "
        f"{int(table['nve_cov'].notna().sum())} scored cells ({listing([f'{a} on {d}' for a, d in pairs])})."
    )


def inconsistencies() -> list[str]:
    """Return where the paper disagrees with itself, or leaves out what a check needs: one sentence per point.

    >>> inconsistencies()[0]
    'The data section names two yeast data sets (alpha_factor and heat_shock_1); the K-sweep figure shows 8, the table of chosen K uses 5.'
    """  # noqa: W505
    tables = len({dataset for dataset, _ in K_PICKS})
    s1, s2, s7, s9b = (PLANTED[name] for name in ("S1", "S2", "S7", "S9b"))
    return [
        "The data section names two yeast data sets (alpha_factor and heat_shock_1); the K-sweep figure shows "
        f"{len(YEAST_SHOWN)}, the table of chosen K uses {tables}.",
        "MSR is said to penalise “shifting or scaling patterns”. Of shifting patterns that is false: rows that differ by "
        "constants alone have residues of zero, so MSR = 0. It penalises scaling, as claim 13.1 of the same paper shows.",
        "NVE_cov is said to choose another K than ASR “in many” combinations of data set and algorithm; neither the "
        "number nor the number of combinations is given.",
        "Two of the eight matrices in the figure carry other names than the files they come from "
        "(08_25mm_DTT for 08_25mM_DTT, 14_N2_depletion for 14_nitrogen_depletion, which the table uses).",
        f"S2 is described as “VE ≈ 0”; its planted AvgVE is {s2['avg_ve']}, above that of the additive baseline "
        f"S1 ({s1['avg_ve']}).",
        f"S9b is described as “near-perfect”; its planted AvgVE is {s9b['avg_ve']}, above that of S1 ({s1['avg_ve']}).",
        f"S7 is described as “NVE → 1”; the table prints {s7['nve']}, which equal clones do not reach by chance.",
        "NVE takes a minimum over the other biclusters, so it is undefined for a single one; yet the single bicluster of "
        "LAS on 13_heat_shock_2 is reported as zero under all four measures. How one bicluster is scored is not said.",
        "The text says that “CCA or Spectral” is often preferred under ASR; the table names CCA with 5 of 10 and does not "
        "say who wins the other five.",
        "How K biclusters are taken from the K × K cells of Spectral's checkerboard, the random seeds, epsilon, and the "
        "generators of the ten scenarios are not given.",
    ]
