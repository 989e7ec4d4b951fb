"""All claims of the paper in the order of their numbers, and those about three algorithms at the planted K."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bivaluate.algorithms.registry import algorithm_label
from bivaluate.datasets.published import MATCHED, MATCHED_SOURCE, WINNERS, WINNERS_SOURCE
from bivaluate.measures.registry import METRICS
from bivaluate.replicate.claim_rules import FITTED, INDEPENDENT, Claim, Measure, Outcome, View, judge
from bivaluate.replicate.claims_planted import CAVEATS, planted_claims
from bivaluate.replicate.claims_yeast import yeast_claims
from bivaluate.replicate.profile import FOUR
from bivaluate.replicate.winners import scenario_winners, win_counts

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.replicate.claim_evidence import Evidence


DESIGN = "section “Synthetic Benchmark Datasets”"
GROUPS = {
    1: "Winner counts per measure",
    2: "S2: LAS against Spectral",
    3: "S9b: LAS dominates until coverage counts",
    4: "The planted diagnostic table, cell by cell",
    5: "NVE decomposition of S1, S5 and S7",
    6: "Coverage penalty in S4, S9a and S9b",
    7: "NVE_cov chooses another K",
    8: "The six rows of the table of chosen K",
    9: "02_cdc_15, 04_elutriation and 13_heat_shock_2",
    10: "Which algorithm NVE_cov favours on yeast",
    11: "Thin columns and the minimum-size filter",
    12: "NSR: clones, scaling bias, S9 reversal",
    13: "MSR of a scaling pattern",
    14: "Coherence models: S2 and S3",
    15: "The noise ladder S8",
    16: "Union coverage and overlap",
}


def all_claims() -> list[Claim]:
    """Return every claim in the order of its number.

    Returns
    -------
    list of Claim
        The claims.

    See Also
    --------
    judge_all : Judges them.

    Examples
    --------
    >>> all_claims()[0].sentence
    'CCA is the most frequent winner under ASR.'
    """
    return sorted([*matched_claims(), *planted_claims(), *yeast_claims()], key=lambda claim: order(claim.id))


def judge_all(evidence: Evidence) -> list[Outcome]:
    """Judge every claim on the evidence.

    Parameters
    ----------
    evidence : Evidence
        The tables of a replication.

    Returns
    -------
    list of Outcome
        One per claim.

    See Also
    --------
    all_claims : What is judged.

    Examples
    --------
    >>> judge_all(Evidence.read("docs/replication"))[0].verdict  # doctest: +SKIP
    'reproduced'
    """
    return [judge(claim, evidence) for claim in all_claims()]


def order(id_: str) -> tuple[int, int]:
    """Return group and part of a claim's number.

    >>> order("9.10")
    (9, 10)
    """
    group, part = id_.split(".")
    return int(group), int(part)


def matched_claims() -> list[Claim]:
    """Return the claims about matched K: 1 to 3, and the thin biclusters found in S6."""
    return [*_winner_counts(), *_in_words(), *_s2(), *_s9b()]


def matched_cells(e: Evidence, view: View) -> pd.DataFrame:
    """Return the scores at matched K under a view."""
    table = e.matched
    return table[(table["profile"] == view.profile) & (table["algorithm_seed"] == view.algorithm_seed)]


def _winner_counts() -> Iterable[Claim]:
    for n, (measure, winner) in enumerate(WINNERS.items()):
        key, who, what = winner.algorithm, algorithm_label(winner.algorithm), METRICS[measure].symbol

        def wins(e: Evidence, view: View, measure: str = measure, key: str = key) -> pd.Series[Any]:
            return win_counts(matched_cells(e, view), measure)[key]

        def ahead(e: Evidence, view: View, measure: str = measure, key: str = key) -> pd.Series[Any]:
            counts = win_counts(matched_cells(e, view), measure)
            return counts[key] > counts.drop(columns=key).max(axis=1)

        yield Claim(
            f"1.{2 * n + 1}",
            f"{who} is the most frequent winner under {what}.",
            WINNERS_SOURCE,
            "matched",
            ahead,
            reading="it wins strictly more of the ten scenarios than either other algorithm",
        )
        sentence = f"{who} wins {winner.wins} of the ten scenarios under {what}."
        yield Claim(f"1.{2 * n + 2}", sentence, WINNERS_SOURCE, "matched", wins, float(winner.wins), upper=10.0)


def _in_words() -> Iterable[Claim]:
    def spectral_wins(e: Evidence, view: View) -> pd.Series[Any]:
        return win_counts(matched_cells(e, view), "asr")["spectral"].gt(0)

    def agree(e: Evidence, view: View) -> pd.Series[Any]:
        import pandas as pd

        winners = [scenario_winners(matched_cells(e, view), measure).get("S1") for measure in FOUR]
        seeds = pd.DataFrame({n: chosen for n, chosen in enumerate(winners) if chosen is not None})
        return pd.Series({seed: max(Counter(row.dropna()).values()) >= 3 for seed, row in seeds.iterrows()}, dtype=bool)

    def small_and_clean(e: Evidence, view: View) -> pd.Series[Any]:
        means = matched_cells(e, view).groupby(["seed", "algorithm"])[["avg_ve", "coverage"]].mean()
        error, covered = means["avg_ve"].unstack(), means["coverage"].unstack()
        return error["las"].eq(error.min(axis=1)) & covered["las"].lt(covered["spectral"])

    def thinner(e: Evidence, _: View) -> pd.Series[Any]:
        table = e.biclusters[(e.biclusters["scenario"] == "S6") & (e.biclusters["n_rows"] > 1)]
        thin = table[table["n_cols"] == 2].groupby("seed")["ve"].mean()
        wide = table[table["n_cols"] > 2].groupby("seed")["ve"].mean()
        return (thin < wide.reindex(thin.index)).astype(bool)

    words: list[tuple[str, str, str, str, Measure]] = [
        ("1.9", MATCHED_SOURCE, "Under ASR, CCA or Spectral is often preferred, depending on the scenario.",
         "Spectral wins at least one scenario under ASR", spectral_wins),
        ("1.10", DESIGN, "S1 is an additive baseline where MSR, VE, NVE and NVE_cov should largely agree.",
         "at least three of the four solution-level measures have the same winner on S1", agree),
        ("1.11", MATCHED_SOURCE, "LAS returns small, locally clean biclusters.",
         "over the ten scenarios it has the lowest mean AvgVE, and covers less than Spectral", small_and_clean),
        ("11.3", CAVEATS, "In S6, once a found bicluster has only two columns, its VE becomes artificially small.",
         "two-column biclusters found by any algorithm have a lower mean VE than wider ones; seeds with some", thinner),
    ]  # fmt: skip
    for id_, source, sentence, reading, holds in words:
        yield Claim(id_, sentence, source, "matched", holds, reading=reading)


def _printed(id_: str, scenario: str, algorithm: str, measure: str, resolution: float, basis: str) -> Claim:
    def score(e: Evidence, view: View) -> pd.Series[Any]:
        table = matched_cells(e, view)
        rows = table[(table["scenario"] == scenario) & (table["algorithm"] == algorithm)]
        return rows.set_index("seed")[measure]

    value, covers = MATCHED[scenario, algorithm, measure], measure == "coverage"
    shown = f"covers {100 * value:.3g} %" if covers else f"has {METRICS[measure].symbol} {value:.3f}"
    sentence = f"On {scenario}, {algorithm_label(algorithm)} {shown}."
    upper = 1.0 if covers else math.inf
    return Claim(id_, sentence, MATCHED_SOURCE, "matched", score, value, resolution, upper, basis=basis)


def _best(id_: str, scenario: str, algorithm: str, measure: str, basis: str) -> Claim:
    def best_on(e: Evidence, view: View) -> pd.Series[Any]:
        return scenario_winners(matched_cells(e, view), measure)[scenario] == algorithm

    sentence = f"On {scenario}, {algorithm_label(algorithm)} is best under {METRICS[measure].symbol}."
    return Claim(id_, sentence, MATCHED_SOURCE, "matched", best_on, basis=basis)


def _s2() -> list[Claim]:
    return [
        _best("2.1", "S2", "las", "avg_ve", FITTED),
        _printed("2.2", "S2", "las", "avg_ve", 1e-3, FITTED),
        _best("2.3", "S2", "las", "nve", FITTED),
        _printed("2.4", "S2", "las", "nve", 1e-3, FITTED),
        _printed("2.5", "S2", "las", "coverage", 1e-3, FITTED),
        _printed("2.6", "S2", "spectral", "coverage", 1e-3, FITTED),
        _best("2.7", "S2", "spectral", "nve_cov", FITTED),
        _printed("2.8", "S2", "spectral", "nve_cov", 1e-3, FITTED),
    ]


def _s9b() -> list[Claim]:
    return [
        _best("3.1", "S9b", "las", "asr", INDEPENDENT),
        _best("3.2", "S9b", "las", "avg_ve", INDEPENDENT),
        _best("3.3", "S9b", "las", "nve", INDEPENDENT),
        _printed("3.4", "S9b", "las", "coverage", 1e-4, INDEPENDENT),
        _best("3.5", "S9b", "spectral", "nve_cov", INDEPENDENT),
    ]
