"""All claims of the paper in the order of their numbers, those at the planted K and those about the printed tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from bivaluate.algorithms.registry import algorithm_label
from bivaluate.datasets.published import K_PICKS, MATCHED, PLANTED, WINNERS, WINNERS_SOURCE
from bivaluate.registry import METRICS
from bivaluate.replicate import claim_rules as rules
from bivaluate.replicate.claim_rules import Claim, JudgedClaim, Measure, View
from bivaluate.replicate.claims_planted import planted_claims
from bivaluate.replicate.claims_yeast import yeast_claims
from bivaluate.replicate.profile import FOUR
from bivaluate.replicate.texts import SOURCES, order, worded
from bivaluate.replicate.winners import picked, scenario_winners, win_counts

if TYPE_CHECKING:
    from bivaluate.replicate.claim_evidence import Evidence


def all_claims() -> list[Claim]:
    """Return every claim in the order of its number.

    Returns
    -------
    list of Claim
        The claims.

    See Also
    --------
    judge_all

    Examples
    --------
    >>> all_claims()[0].sentence
    'CCA is the most frequent winner under ASR.'
    """
    matched = [*_winner_counts(), *worded("matched", lambda id_, _: _CHECKS[id_]), *_cells()]
    return sorted([*matched, *planted_claims(), *yeast_claims(), *printed_claims()], key=lambda claim: order(claim.id))


def judge_all(evidence: Evidence) -> list[JudgedClaim]:
    """Judge every claim on the evidence.

    Parameters
    ----------
    evidence : Evidence
        The tables of a replication.

    Returns
    -------
    list of JudgedClaim
        One per claim.

    See Also
    --------
    all_claims

    Examples
    --------
    >>> judge_all(Evidence.read("docs/replication"))[0].verdict  # doctest: +SKIP
    'reproduced'
    """
    return [rules.judge_claim(claim, evidence) for claim in all_claims()]


def matched_cells(e: Evidence, view: View) -> pd.DataFrame:
    """Return the scores at matched K under a view."""
    table = e.matched
    return table[(table["profile"] == view.profile) & (table["algorithm_seed"] == view.algorithm_seed)]


def printed_claims() -> Iterator[Claim]:
    """Yield the claims about the printed tables themselves, which need no run."""
    off = [abs(row["nve"] / math.sqrt(row["coverage"]) / row["nve_cov"] - 1) for row in PLANTED.values()]
    # half a unit of the last of four digits in each of the three numbers
    slack = [5e-5 * (1 / r["nve"] + 0.5 / r["coverage"] + 1 / r["nve_cov"]) for r in PLANTED.values()]
    holds = {
        "17.1": [gap <= most for gap, most in zip(off, slack, strict=True)],
        "17.2": [len(set(row.values())) > 1 for row in K_PICKS.values()],
    }
    return worded("paper", lambda id_, _: lambda e, view: pd.Series(holds[id_]))


def _winner_counts() -> Iterator[Claim]:
    for n, (measure, winner) in enumerate(WINNERS.items()):
        key, who, what = winner.algorithm, algorithm_label(winner.algorithm), METRICS[measure].symbol

        def wins(e: Evidence, view: View, measure: str = measure, key: str = key) -> pd.Series[Any]:
            return win_counts(matched_cells(e, view), measure)[key]

        def ahead(e: Evidence, view: View, measure: str = measure, key: str = key) -> pd.Series[Any]:
            counts = win_counts(matched_cells(e, view), measure)
            return counts[key] > counts.drop(columns=key).max(axis=1)

        most = f"{who} is the most frequent winner under {what}.", WINNERS_SOURCE, "matched", ahead
        reading = "it wins strictly more of the ten scenarios than either other algorithm"
        yield Claim(f"1.{2 * n + 1}", *most, reading=reading, basis=rules.DESIGNED)
        number = f"{who} wins {winner.wins} of the ten scenarios under {what}.", WINNERS_SOURCE, "matched", wins
        yield Claim(f"1.{2 * n + 2}", *number, float(winner.wins), upper=10.0, basis=rules.DESIGNED)


def _spectral_wins(e: Evidence, view: View) -> pd.Series[Any]:
    return win_counts(matched_cells(e, view), "asr")["spectral"].gt(0)


def _agree(e: Evidence, view: View) -> pd.Series[Any]:
    winners = [scenario_winners(matched_cells(e, view), measure).get("S1") for measure in FOUR]
    seeds = pd.DataFrame({n: chosen for n, chosen in enumerate(winners) if chosen is not None})
    return pd.Series({seed: max(Counter(row.dropna()).values()) >= 3 for seed, row in seeds.iterrows()}, dtype=bool)


def _small_and_clean(e: Evidence, view: View) -> pd.Series[Any]:
    means = matched_cells(e, view).groupby(["seed", "algorithm"])[["avg_ve", "coverage"]].mean()
    error, covered = means["avg_ve"].unstack(), means["coverage"].unstack()
    return error["las"].eq(error.min(axis=1)) & covered["las"].lt(covered["spectral"])


def _las_most(e: Evidence, view: View) -> pd.Series[Any]:
    ve, nve = (win_counts(matched_cells(e, view), measure)["las"] for measure in ("avg_ve", "nve"))
    return (ve > 5) & (nve > 5)


def _less_separate(scenario: str, most: float) -> Measure:
    """Return whether the cleanest solution found on a scenario has a higher NVE than that on S1."""

    def check(e: Evidence, view: View) -> pd.Series[Any]:
        best = picked(matched_cells(e, view), "avg_ve", ["seed", "scenario"]).set_index("seed")
        s1, other = (best[best["scenario"] == name] for name in ("S1", scenario))
        both = s1.join(other, rsuffix="_other", how="inner").dropna(subset=["nve", "nve_other"])
        return (both["nve_other"] > both["nve"]) & (both["avg_ve_other"] <= most * both["avg_ve"])

    return check


def _thinner(e: Evidence, _: View) -> pd.Series[Any]:
    table = e.biclusters[(e.biclusters["scenario"] == "S6") & (e.biclusters["n_rows"] > 1)]
    thin = table[table["n_cols"] == 2].groupby("seed")["ve"].mean()
    wide = table[table["n_cols"] > 2].groupby("seed")["ve"].mean()
    return (thin < wide.reindex(thin.index)).astype(bool)


def _noisier(e: Evidence, _: View) -> pd.Series[Any]:
    table = e.biclusters[(e.biclusters["scenario"] == "S8") & (e.biclusters["planted"] > 0)].dropna(subset=["ve"])
    seeds = {}
    for seed, rows in table.groupby("seed"):
        ranks = rows[["planted", "ve", "msr"]].rank()
        seeds[seed] = bool((ranks.corr()["planted"].drop("planted") > 0).all())
    return pd.Series(seeds, dtype=bool)


_CHECKS: dict[str, Callable[[Evidence, View], pd.Series[Any]]] = {
    "1.9": _spectral_wins,
    "1.10": _agree,
    "1.11": _small_and_clean,
    "1.12": _las_most,
    "5.9": _less_separate("S5", 1.2),
    "5.10": _less_separate("S7", math.inf),
    "11.3": _thinner,
    "15.4": _noisier,
}


def _cells() -> Iterator[Claim]:
    """Yield what is printed of S2 and S9b: who is best, a measure, or with a resolution a number."""
    values = MATCHED | {
        ("S2", "spectral", "nve"): MATCHED["S2", "spectral", "nve_cov"]
        * math.sqrt(MATCHED["S2", "spectral", "coverage"])
    }
    for id_, scenario, algorithm, measure, resolution in _PRINTED:

        def score(
            e: Evidence, view: View, cell: tuple[str, str, str] = (scenario, algorithm, measure)
        ) -> pd.Series[Any]:
            table = matched_cells(e, view)
            rows = table[(table["scenario"] == cell[0]) & (table["algorithm"] == cell[1])]
            return rows.set_index("seed")[cell[2]]

        def best(
            e: Evidence, view: View, cell: tuple[str, str, str] = (scenario, algorithm, measure)
        ) -> pd.Series[Any]:
            return scenario_winners(matched_cells(e, view), cell[2])[cell[0]] == cell[1]

        on = f"On {scenario}, {algorithm_label(algorithm)}"
        where, basis = (SOURCES["matched"], "matched"), rules.FITTED if scenario == "S2" else rules.INDEPENDENT
        if not resolution:
            yield Claim(id_, f"{on} is best under {METRICS[measure].symbol}.", *where, best, basis=basis)
            continue
        value, covers = values[scenario, algorithm, measure], measure == "coverage"
        shown = f"covers {100 * value:.3g} %" if covers else f"has {METRICS[measure].symbol} {value:.3f}"
        reading = (
            "" if (scenario, algorithm, measure) in MATCHED else "NVE_cov times the root of the coverage, both printed"
        )
        upper = 1.0 if covers else math.inf
        yield Claim(id_, f"{on} {shown}.", *where, score, value, resolution, upper, reading, basis)


# id, scenario, algorithm, measure, one unit of the last digit of a number (0: the algorithm is best)
_PRINTED = (
    ("2.1", "S2", "las", "avg_ve", 0), ("2.2", "S2", "las", "avg_ve", 1e-3), ("2.3", "S2", "las", "nve", 0),
    ("2.4", "S2", "las", "nve", 1e-3), ("2.5", "S2", "las", "coverage", 1e-3), ("2.6", "S2", "spectral", "coverage", 1e-3),
    ("2.7", "S2", "spectral", "nve_cov", 0), ("2.8", "S2", "spectral", "nve_cov", 1e-3), ("2.9", "S2", "spectral", "nve", 1e-3),
    ("3.1", "S9b", "las", "asr", 0), ("3.2", "S9b", "las", "avg_ve", 0), ("3.3", "S9b", "las", "nve", 0),
    ("3.4", "S9b", "las", "coverage", 1e-4), ("3.5", "S9b", "spectral", "nve_cov", 0),
)  # fmt: skip
