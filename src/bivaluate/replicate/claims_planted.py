"""What the paper says about the planted solutions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from bivaluate.datasets.published import PLANTED, PLANTED_SOURCE
from bivaluate.measures.registry import METRICS
from bivaluate.replicate.claim_rules import FITTED, IMPLIED, INDEPENDENT, Claim, Measure

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.replicate.claim_evidence import Evidence

DECOMPOSITION = "section “Separation and redundancy”, figure “NVE decomposition”"
COHERENCE = "section “Coherence-oriented cases”"
PENALTY = "section “Coverage-related cases”, figure “Coverage penalty”"
SCENARIOS = "table “Summary of synthetic benchmark scenarios”"
NSR = "section “Relation to NSR”"
CAVEATS = "section “Failure modes and caveats”"
COVERAGE = "section “Coverage-adjusted Normalised Virtual Error”"

#: Two scores within this share of each other count as alike.
ALIKE = 0.2


def planted_claims() -> list[Claim]:
    """Return the claims about planted solutions: 4 to 6, 11 (S6) to 16."""
    return [*_table_cells(), *_directions(), _about_one_per_cent()]


class Planted:
    """The scores of the planted solutions, asked for as ``p("S1", "nve")``: one value per seed."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def __call__(self, scenario: str, measure: str) -> pd.Series[Any]:
        table = self.evidence.planted
        return table[table["scenario"] == scenario].set_index("seed")[measure]

    def check(self, name: str) -> pd.Series[Any]:
        """Return a single quantity per seed."""
        table = self.evidence.checks
        return table[table["check"] == name].set_index("seed")["value"]

    def alike(self, one: str, other: str, measure: str) -> pd.Series[Any]:
        """Return whether two scenarios have a score alike."""
        return (self(one, measure) / self(other, measure) - 1).abs() <= ALIKE

    def climbs(self, key: str) -> pd.Series[Any]:
        """Return whether a measure rises at every rung of the noise ladder."""
        return self.check(f"s8_{key}_rungs") == 4

    def worst(self, measure: str) -> pd.Series[Any]:
        """Return which scenario of the paper's table has the highest score."""
        import pandas as pd

        return pd.concat([self(s, measure) for s in PLANTED], axis=1, keys=list(PLANTED)).idxmax(axis=1)

    def same_order(self) -> pd.Series[Any]:
        """Return whether the numerators of NVE on S1, S5 and S7 are of the same order."""
        import pandas as pd

        parts = pd.concat([self(s, "numerator") for s in ("S1", "S5", "S7")], axis=1)
        return parts.max(axis=1) <= 2 * parts.min(axis=1)


def _cell(scenario: str, measure: str) -> Measure:
    return lambda e, _: Planted(e)(scenario, measure)


def _table_cells() -> Iterable[Claim]:
    cells = [(scenario, measure, value) for scenario, row in PLANTED.items() for measure, value in row.items()]
    for n, (scenario, measure, value) in enumerate(cells, start=1):
        sentence = f"The planted solution of {scenario} has {METRICS[measure].symbol} {value:.4f}."
        cell = _cell(scenario, measure)
        yield Claim(f"4.{n}", sentence, PLANTED_SOURCE, "planted", cell, value, 1e-4, basis=FITTED)


def _about_one_per_cent() -> Claim:
    sentence = "The union coverage of S9b is only about 1 %."
    return Claim("6.2", sentence, PENALTY, "planted", _cell("S9b", "coverage"), 0.01, 0.01, basis=IMPLIED)


def _directions() -> Iterable[Claim]:
    for id_, source, basis, sentence, reading, holds in _DIRECTIONS:
        yield Claim(id_, sentence, source, "planted", _asked(holds), reading=reading, basis=basis)


def _asked(holds: Holds) -> Measure:
    return lambda e, _: holds(Planted(e))


Holds = Callable[[Planted], "pd.Series[Any]"]

# id, source, what it rests on, sentence, how it is read, and the check
_DIRECTIONS: list[tuple[str, str, str, str, str, Holds]] = [
    ("5.1", DECOMPOSITION, INDEPENDENT, "Across S1, S5 and S7 the numerator of NVE remains of the same order.",
     "the largest of the three is at most twice the smallest", Planted.same_order),
    ("5.2", DECOMPOSITION, INDEPENDENT, "The denominator of NVE falls sharply from S1 over S5 to S7.", "",
     lambda p: (p("S1", "denominator") > p("S5", "denominator")) & (p("S5", "denominator") > p("S7", "denominator"))),
    ("5.3", DECOMPOSITION, INDEPENDENT, "NVE is low in S1, higher in S5 and highest in S7.", "",
     lambda p: (p("S1", "nve") < p("S5", "nve")) & (p("S5", "nve") < p("S7", "nve"))),
    ("5.4", DECOMPOSITION, IMPLIED, "In S7, NVE moves toward one.", "within 0.1 of one",
     lambda p: (p("S7", "nve") - 1).abs() <= 0.1),
    ("5.5", SCENARIOS, INDEPENDENT, "In S5, MSR is blind to the redundancy that NVE sees.",
     "ASR of S5 is within 20 % of that of S1", lambda p: p.alike("S5", "S1", "asr")),
    ("5.6", SCENARIOS, INDEPENDENT, "In S5, VE is blind to the redundancy that NVE sees.",
     "AvgVE of S5 is within 20 % of that of S1", lambda p: p.alike("S5", "S1", "avg_ve")),
    ("5.7", SCENARIOS, IMPLIED, "S7 has an NVE near one despite low MSR and VE.",
     "ASR and AvgVE of S7 are below those of S9a, its NVE is above",
     lambda p: (p("S7", "asr") < p("S9a", "asr")) & (p("S7", "avg_ve") < p("S9a", "avg_ve"))
     & (p("S7", "nve") > p("S9a", "nve"))),
    ("6.1", PENALTY, INDEPENDENT, "S9b attains the best NVE of S4, S9a and S9b.", "",
     lambda p: (p("S9b", "nve") < p("S4", "nve")) & (p("S9b", "nve") < p("S9a", "nve"))),
    ("6.3", PENALTY, INDEPENDENT, "NVE_cov penalises S9b: S9a and S4 improve relative to it.", "",
     lambda p: (p("S9b", "nve_cov") > p("S4", "nve_cov")) & (p("S9b", "nve_cov") > p("S9a", "nve_cov"))),
    ("6.4", SCENARIOS, INDEPENDENT, "S4: small clean biclusters obtain low error …",
     "keeping only the two clean blocks lowers NVE", lambda p: p.check("s4_clean_nve") < p("S4", "nve")),
    ("6.5", SCENARIOS, INDEPENDENT, "… but NVE_cov favours the broader solution.",
     "keeping only the two clean blocks raises NVE_cov", lambda p: p.check("s4_clean_nve_cov") > p("S4", "nve_cov")),
    ("11.1", CAVEATS, INDEPENDENT, "In S6 the virtual error of a two-column bicluster collapses.",
     "both planted stripes have VE 0 to rounding, both planted blocks above 0.05",
     lambda p: (p.check("s6_stripe_ve") < 1e-12) & (p.check("s6_block_ve") > 0.05)),
    ("11.2", CAVEATS, INDEPENDENT,
     "The collapse propagates into AvgVE and NVE of S6; a minimum-size filter is needed.",
     "dropping biclusters of fewer than 3 columns raises AvgVE and NVE of the planted solution",
     lambda p: (p.check("s6_filtered_avg_ve") > p("S6", "avg_ve")) & (p.check("s6_filtered_nve") > p("S6", "nve"))),
    ("12.1", NSR, IMPLIED, "NSR and NVE both identify the identical-clone case as poorly separated.",
     "S7 has the highest NSR and the highest NVE of the five scenarios in the table",
     lambda p: (p.worst("nsr") == "S7") & (p.worst("nve") == "S7")),
    ("12.2", NSR, IMPLIED, "NSR is much more strongly affected by the scaling scenario.",
     "from S1 to S2 the ratio of NSR is more than twice the ratio of NVE",
     lambda p: p("S2", "nsr") / p("S1", "nsr") > 2 * p("S2", "nve") / p("S1", "nve")),
    ("12.3", NSR, IMPLIED, "NSR prefers the cherry-picked S9b over the broader S9a …", "",
     lambda p: p("S9b", "nsr") < p("S9a", "nsr")),
    ("12.4", NSR, IMPLIED, "… whereas NVE_cov reverses this ranking.", "",
     lambda p: p("S9b", "nve_cov") > p("S9a", "nve_cov")),
    ("13.1", NSR, INDEPENDENT, "A noiseless scaling bicluster s_i p_j has MSR = Var(s) Var(p).",
     "equal to a relative 1e-10", lambda p: p.check("scaling_identity_gap") < 1e-10),
    ("14.1", SCENARIOS, INDEPENDENT, "In S3 both MSR and VE degrade.", "both are above those of S1",
     lambda p: (p("S3", "asr") > p("S1", "asr")) & (p("S3", "avg_ve") > p("S1", "avg_ve"))),
    ("14.2", SCENARIOS, INDEPENDENT, "In S3 NVE separability persists.", "NVE is below 1",
     lambda p: p("S3", "nve") < 1),
    ("14.3", SCENARIOS, IMPLIED, "In S2 MSR is high while VE still regards the scaling pattern as coherent.",
     "against S1, ASR is more than five times, AvgVE less than 1.2 times as high",
     lambda p: (p("S2", "asr") > 5 * p("S1", "asr")) & (p("S2", "avg_ve") < 1.2 * p("S1", "avg_ve"))),
    ("14.4", COHERENCE, INDEPENDENT,
     "In S1 to S3 NVE remains mainly a measure of separability rather than of internal coherence.",
     "S1 and S3 differ in their patterns, not in how many blocks of which size lie where: their NVE is within 20 %",
     lambda p: p.alike("S3", "S1", "nve")),
    ("15.1", SCENARIOS, INDEPENDENT, "On the noise ladder S8, MSR rises with the noise.", "at every rung",
     lambda p: p.climbs("msr")),
    ("15.2", SCENARIOS, INDEPENDENT, "On the noise ladder S8, VE rises with the noise.", "at every rung",
     lambda p: p.climbs("ve")),
    ("15.3", SCENARIOS, INDEPENDENT, "On the noise ladder S8, NVE_k rises with the noise.", "at every rung",
     lambda p: p.climbs("nve_k")),
    ("16.1", COVERAGE, INDEPENDENT,
     "Union coverage gives overlapping biclusters no credit for repeatedly covered entries; the mean area does.",
     "by union coverage S5 explains less than S1, by mean bicluster area more",
     lambda p: (p("S5", "coverage") < p("S1", "coverage")) & (p("S5", "mean_area") > p("S1", "mean_area"))),
]  # fmt: skip
