"""What the paper says about three algorithms on the scenarios at the planted number of biclusters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bivaluate.datasets.published import MATCHED, MATCHED_SOURCE, WINNERS, WINNERS_SOURCE
from bivaluate.plots.style import MEASURE_NAMES, algorithm_name
from bivaluate.replicate.claim import Claim, Measure, View
from bivaluate.replicate.claims_planted import CAVEATS
from bivaluate.replicate.winners import scenario_winners, win_counts

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.replicate.evidence import Evidence


def matched_claims() -> list[Claim]:
    """Return the claims about matched K: 1 to 3, and the thin biclusters found in S6."""
    return [*_winner_counts(), *_s2(), *_s9b(), *_thin_found()]


def _cells(e: Evidence, view: View) -> pd.DataFrame:
    table = e.matched
    return table[(table["profile"] == view.profile) & (table["algorithm_seed"] == view.algorithm_seed)]


def _wins(measure: str, algorithm: str) -> Measure:
    return lambda e, view: win_counts(_cells(e, view), measure)[algorithm]


def _most_often(measure: str, algorithm: str) -> Measure:
    def holds(e: Evidence, view: View) -> pd.Series[Any]:
        counts = win_counts(_cells(e, view), measure)
        return counts[algorithm] > counts.drop(columns=algorithm).max(axis=1)

    return holds


def _best_on(scenario: str, measure: str, algorithm: str) -> Measure:
    return lambda e, view: scenario_winners(_cells(e, view), measure)[scenario] == algorithm


def _score_of(scenario: str, algorithm: str, measure: str) -> Measure:
    def score(e: Evidence, view: View) -> pd.Series[Any]:
        table = _cells(e, view)
        rows = table[(table["scenario"] == scenario) & (table["algorithm"] == algorithm)]
        return rows.set_index("seed")[measure]

    return score


def _winner_counts() -> list[Claim]:
    claims = []
    for n, (measure, winner) in enumerate(WINNERS.items()):
        who, what = algorithm_name(winner.algorithm), MEASURE_NAMES[measure]
        claims += [
            Claim(
                f"1.{2 * n + 1}",
                f"{who} is the most frequent winner under {what}.",
                WINNERS_SOURCE,
                "matched",
                _most_often(measure, winner.algorithm),
                reading="it wins strictly more of the ten scenarios than either other algorithm",
            ),
            Claim(
                f"1.{2 * n + 2}",
                f"{who} wins {winner.wins} of the ten scenarios under {what}.",
                WINNERS_SOURCE,
                "matched",
                _wins(measure, winner.algorithm),
                float(winner.wins),
                upper=10.0,
            ),
        ]

    def spectral_wins(e: Evidence, view: View) -> pd.Series[Any]:
        return win_counts(_cells(e, view), "asr")["spectral"] > 0

    claims.append(
        Claim(
            "1.9",
            "Under ASR, CCA or Spectral is often preferred, depending on the scenario.",
            MATCHED_SOURCE,
            "matched",
            spectral_wins,
            reading="Spectral wins at least one scenario under ASR",
        )
    )
    return claims


def _printed(id_: str, scenario: str, algorithm: str, measure: str, resolution: float) -> Claim:
    value = MATCHED[scenario, algorithm, measure]
    shown = f"{100 * value:.3g} %" if measure == "coverage" else f"{value:.3f}"
    sentence = f"On {scenario}, {algorithm_name(algorithm)} has {MEASURE_NAMES[measure]} {shown}."
    score = _score_of(scenario, algorithm, measure)
    upper = 1.0 if measure == "coverage" else math.inf
    return Claim(id_, sentence, MATCHED_SOURCE, "matched", score, value, resolution, upper)


def _best(id_: str, scenario: str, algorithm: str, measure: str) -> Claim:
    sentence = f"On {scenario}, {algorithm_name(algorithm)} is best under {MEASURE_NAMES[measure]}."
    return Claim(id_, sentence, MATCHED_SOURCE, "matched", _best_on(scenario, measure, algorithm))


def _s2() -> list[Claim]:
    return [
        _best("2.1", "S2", "las", "avg_ve"),
        _printed("2.2", "S2", "las", "avg_ve", 1e-3),
        _best("2.3", "S2", "las", "nve"),
        _printed("2.4", "S2", "las", "nve", 1e-3),
        _printed("2.5", "S2", "las", "coverage", 1e-3),
        _printed("2.6", "S2", "spectral", "coverage", 1e-3),
        _best("2.7", "S2", "spectral", "nve_cov"),
        _printed("2.8", "S2", "spectral", "nve_cov", 1e-3),
    ]


def _s9b() -> list[Claim]:
    return [
        _best("3.1", "S9b", "las", "asr"),
        _best("3.2", "S9b", "las", "avg_ve"),
        _best("3.3", "S9b", "las", "nve"),
        _printed("3.4", "S9b", "las", "coverage", 1e-4),
        _best("3.5", "S9b", "spectral", "nve_cov"),
    ]


def _thin_found() -> list[Claim]:
    def smaller(e: Evidence, view: View) -> pd.Series[Any]:
        table = e.biclusters[(e.biclusters["scenario"] == "S6") & (e.biclusters["n_rows"] > 1)]
        thin = table[table["n_cols"] == 2].groupby("seed")["ve"].mean()
        wide = table[table["n_cols"] > 2].groupby("seed")["ve"].mean()
        return (thin < wide.reindex(thin.index)).astype(bool)

    return [
        Claim(
            "11.3",
            "In S6, once a found bicluster has only two columns, its VE becomes artificially small.",
            CAVEATS,
            "matched",
            smaller,
            reading="two-column biclusters found by any algorithm have a lower mean VE than wider ones; seeds with some",
        )
    ]
