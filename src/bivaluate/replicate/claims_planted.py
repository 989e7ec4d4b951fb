"""What the paper says about the planted solutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bivaluate.datasets.published import PLANTED, PLANTED_SOURCE
from bivaluate.plots.style import MEASURE_NAMES
from bivaluate.replicate.claim import Claim, Measure, View

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.replicate.evidence import Evidence

DECOMPOSITION = "section “Separation and redundancy”, figure “NVE decomposition”"
PENALTY = "section “Coverage-related cases”, figure “Coverage penalty”"
SCENARIOS = "table “Summary of synthetic benchmark scenarios”"
NSR = "section “Relation to NSR”"
CAVEATS = "section “Failure modes and caveats”"
COVERAGE = "section “Coverage-adjusted Normalised Virtual Error”"


def planted_claims() -> list[Claim]:
    """Return the claims about planted solutions: 4 to 6, 11 (S6) to 16."""
    return [
        *_table_cells(),
        *_decomposition(),
        *_coverage_penalty(),
        *_thin_columns(),
        *_relation_to_nsr(),
        *_stress(),
        *_union_coverage(),
    ]


def _scores(evidence: Evidence, scenario: str, measure: str) -> pd.Series[Any]:
    table = evidence.planted
    return table[table["scenario"] == scenario].set_index("seed")[measure]


def _check(evidence: Evidence, name: str) -> pd.Series[Any]:
    table = evidence.checks
    return table[table["check"] == name].set_index("seed")["value"]


def _table_cells() -> list[Claim]:
    claims = []
    letters = iter(f"4.{n}" for n in range(1, 100))
    for scenario, row in PLANTED.items():
        for measure, value in row.items():

            def cell(e: Evidence, _: View, scenario: str = scenario, measure: str = measure) -> pd.Series[Any]:
                return _scores(e, scenario, measure)

            sentence = f"The planted solution of {scenario} has {MEASURE_NAMES[measure]} {value:.4f}."
            claims.append(Claim(next(letters), sentence, PLANTED_SOURCE, "planted", cell, value, 1e-4))
    return claims


def _direction(id_: str, sentence: str, source: str, holds: Measure, reading: str = "") -> Claim:
    return Claim(id_, sentence, source, "planted", holds, reading=reading)


def _decomposition() -> list[Claim]:
    def same_order(e: Evidence, _: View) -> pd.Series[Any]:
        import pandas as pd

        parts = pd.concat([_scores(e, s, "numerator") for s in ("S1", "S5", "S7")], axis=1)
        return parts.max(axis=1) <= 2 * parts.min(axis=1)

    def denominators(e: Evidence, _: View) -> pd.Series[Any]:
        s1, s5, s7 = (_scores(e, s, "denominator") for s in ("S1", "S5", "S7"))
        return (s1 > s5) & (s5 > s7)

    def ratios(e: Evidence, _: View) -> pd.Series[Any]:
        s1, s5, s7 = (_scores(e, s, "nve") for s in ("S1", "S5", "S7"))
        return (s1 < s5) & (s5 < s7)

    def toward_one(e: Evidence, _: View) -> pd.Series[Any]:
        return (_scores(e, "S7", "nve") - 1).abs() <= 0.1

    def blind(e: Evidence, _: View) -> pd.Series[Any]:
        low, high = _scores(e, "S1", "asr"), _scores(e, "S5", "asr")
        return (high / low - 1).abs() <= 0.2

    return [
        _direction(
            "5.1",
            "Across S1, S5 and S7 the numerator of NVE remains of the same order.",
            DECOMPOSITION,
            same_order,
            "the largest of the three is at most twice the smallest",
        ),
        _direction("5.2", "The denominator of NVE falls sharply from S1 over S5 to S7.", DECOMPOSITION, denominators),
        _direction("5.3", "NVE is low in S1, higher in S5 and highest in S7.", DECOMPOSITION, ratios),
        _direction("5.4", "In S7, NVE moves toward one.", DECOMPOSITION, toward_one, "within 0.1 of one"),
        _direction(
            "5.5",
            "In S5, MSR is blind to the redundancy that NVE sees.",
            SCENARIOS,
            blind,
            "ASR of S5 is within 20 % of that of S1",
        ),
    ]


def _coverage_penalty() -> list[Claim]:
    def lowest(e: Evidence, _: View) -> pd.Series[Any]:
        s4, s9a, s9b = (_scores(e, s, "nve") for s in ("S4", "S9a", "S9b"))
        return (s9b < s4) & (s9b < s9a)

    def penalised(e: Evidence, _: View) -> pd.Series[Any]:
        s4, s9a, s9b = (_scores(e, s, "nve_cov") for s in ("S4", "S9a", "S9b"))
        return (s9b > s4) & (s9b > s9a)

    def clean_better(e: Evidence, _: View) -> pd.Series[Any]:
        return _check(e, "s4_clean_nve") < _scores(e, "S4", "nve")

    def clean_worse(e: Evidence, _: View) -> pd.Series[Any]:
        return _check(e, "s4_clean_nve_cov") > _scores(e, "S4", "nve_cov")

    return [
        _direction("6.1", "S9b attains the best NVE of S4, S9a and S9b.", PENALTY, lowest),
        Claim(
            "6.2",
            "The union coverage of S9b is only about 1 %.",
            PENALTY,
            "planted",
            lambda e, _: _scores(e, "S9b", "coverage"),
            0.01,
            0.01,
        ),
        _direction("6.3", "NVE_cov penalises S9b: S9a and S4 improve relative to it.", PENALTY, penalised),
        _direction(
            "6.4",
            "S4: small clean biclusters obtain low error …",
            SCENARIOS,
            clean_better,
            "keeping only the two clean blocks lowers NVE",
        ),
        _direction(
            "6.5",
            "… but NVE_cov favours the broader solution.",
            SCENARIOS,
            clean_worse,
            "keeping only the two clean blocks raises NVE_cov",
        ),
    ]


def _thin_columns() -> list[Claim]:
    def collapse(e: Evidence, _: View) -> pd.Series[Any]:
        return (_check(e, "s6_stripe_ve") < 1e-12) & (_check(e, "s6_block_ve") > 0.05)

    def mended(e: Evidence, _: View) -> pd.Series[Any]:
        return (_check(e, "s6_filtered_avg_ve") > _scores(e, "S6", "avg_ve")) & (
            _check(e, "s6_filtered_nve") > _scores(e, "S6", "nve")
        )

    return [
        _direction(
            "11.1",
            "In S6 the virtual error of a two-column bicluster collapses.",
            CAVEATS,
            collapse,
            "both planted stripes have VE 0 to rounding, both planted blocks above 0.05",
        ),
        _direction(
            "11.2",
            "The collapse propagates into AvgVE and NVE of S6; a minimum-size filter is needed.",
            CAVEATS,
            mended,
            "dropping biclusters of fewer than 3 columns raises AvgVE and NVE of the planted solution",
        ),
    ]


def _relation_to_nsr() -> list[Claim]:
    five = tuple(PLANTED)

    def clones(e: Evidence, _: View) -> pd.Series[Any]:
        import pandas as pd

        worst = [pd.concat([_scores(e, s, m) for s in five], axis=1, keys=five).idxmax(axis=1) for m in ("nsr", "nve")]
        return (worst[0] == "S7") & (worst[1] == "S7")

    def scaling(e: Evidence, _: View) -> pd.Series[Any]:
        nsr = _scores(e, "S2", "nsr") / _scores(e, "S1", "nsr")
        nve = _scores(e, "S2", "nve") / _scores(e, "S1", "nve")
        return nsr > 2 * nve

    def prefers(e: Evidence, _: View) -> pd.Series[Any]:
        return _scores(e, "S9b", "nsr") < _scores(e, "S9a", "nsr")

    def reverses(e: Evidence, _: View) -> pd.Series[Any]:
        return _scores(e, "S9b", "nve_cov") > _scores(e, "S9a", "nve_cov")

    def identity(e: Evidence, _: View) -> pd.Series[Any]:
        return _check(e, "scaling_identity_gap") < 1e-10

    return [
        _direction(
            "12.1",
            "NSR and NVE both identify the identical-clone case as poorly separated.",
            NSR,
            clones,
            "S7 has the highest NSR and the highest NVE of the five scenarios in the table",
        ),
        _direction(
            "12.2",
            "NSR is much more strongly affected by the scaling scenario.",
            NSR,
            scaling,
            "from S1 to S2 the ratio of NSR is more than twice the ratio of NVE",
        ),
        _direction("12.3", "NSR prefers the cherry-picked S9b over the broader S9a …", NSR, prefers),
        _direction("12.4", "… whereas NVE_cov reverses this ranking.", NSR, reverses),
        _direction(
            "13.1",
            "A noiseless scaling bicluster s_i p_j has MSR = Var(s) Var(p).",
            NSR,
            identity,
            "equal to a relative 1e-10",
        ),
    ]


def _stress() -> list[Claim]:
    def degrade(e: Evidence, _: View) -> pd.Series[Any]:
        return (_scores(e, "S3", "asr") > _scores(e, "S1", "asr")) & (
            _scores(e, "S3", "avg_ve") > _scores(e, "S1", "avg_ve")
        )

    def separable(e: Evidence, _: View) -> pd.Series[Any]:
        return _scores(e, "S3", "nve") < 1

    def disagree(e: Evidence, _: View) -> pd.Series[Any]:
        return (_scores(e, "S2", "asr") > 5 * _scores(e, "S1", "asr")) & (
            _scores(e, "S2", "avg_ve") < 1.2 * _scores(e, "S1", "avg_ve")
        )

    def climbs(key: str) -> Measure:
        return lambda e, _: _check(e, f"s8_{key}_rungs") == 4

    return [
        _direction("14.1", "In S3 both MSR and VE degrade.", SCENARIOS, degrade, "both are above those of S1"),
        _direction("14.2", "In S3 NVE separability persists.", SCENARIOS, separable, "NVE is below 1"),
        _direction(
            "14.3",
            "In S2 MSR is high while VE still regards the scaling pattern as coherent.",
            SCENARIOS,
            disagree,
            "against S1, ASR is more than five times, AvgVE less than 1.2 times as high",
        ),
        _direction(
            "15.1", "On the noise ladder S8, MSR rises with the noise.", SCENARIOS, climbs("msr"), "at every rung"
        ),
        _direction(
            "15.2", "On the noise ladder S8, VE rises with the noise.", SCENARIOS, climbs("ve"), "at every rung"
        ),
        _direction(
            "15.3", "On the noise ladder S8, NVE_k rises with the noise.", SCENARIOS, climbs("nve_k"), "at every rung"
        ),
    ]


def _union_coverage() -> list[Claim]:
    def no_credit(e: Evidence, _: View) -> pd.Series[Any]:
        return (_scores(e, "S5", "coverage") < _scores(e, "S1", "coverage")) & (
            _scores(e, "S5", "mean_area") > _scores(e, "S1", "mean_area")
        )

    return [
        _direction(
            "16.1",
            "Union coverage gives overlapping biclusters no credit for repeatedly covered entries; the mean area does.",
            COVERAGE,
            no_credit,
            "by union coverage S5 explains less than S1, by mean bicluster area more",
        )
    ]
