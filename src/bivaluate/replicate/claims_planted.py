"""What the paper says about the planted solutions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from bivaluate.datasets.published import PLANTED
from bivaluate.datasets.scenarios import VARIANTS
from bivaluate.registry import METRICS
from bivaluate.replicate.claim_rules import FITTED, IMPLIED, Claim, Measure
from bivaluate.replicate.texts import SOURCES, worded

if TYPE_CHECKING:
    from bivaluate.replicate.claim_evidence import Evidence

#: Two scores within this share of each other count as alike.
ALIKE = 0.2


def planted_claims() -> list[Claim]:
    """Return the claims about planted solutions: 4 to 6, and 11 to 16."""
    covered = "The union coverage of S9b is only about 1 %.", SOURCES["penalty"], "planted", _cell("S9b", "coverage")
    return [
        *_table_cells(),
        *worded("planted", lambda id_, _: lambda e, _: _CHECKS[id_](Planted(e))),
        Claim("6.2", *covered, 0.01, 0.01, basis=IMPLIED),
    ]


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

    def rises(self, measure: str, *scenarios: str) -> pd.Series[Any]:
        """Return whether a score rises from each of these scenarios to the next."""
        scores = pd.concat([self(scenario, measure) for scenario in scenarios], axis=1)
        return scores.diff(axis=1).iloc[:, 1:].gt(0).all(axis=1)

    def climbs(self, key: str) -> pd.Series[Any]:
        """Return whether a measure rises at every rung of the noise ladder."""
        return self.check(f"s8_{key}_rungs") == 4

    def worst(self, measure: str) -> pd.Series[Any]:
        """Return which scenario of the paper's table has the highest score."""
        return pd.concat([self(s, measure) for s in PLANTED], axis=1, keys=list(PLANTED)).idxmax(axis=1)

    def same_order(self) -> pd.Series[Any]:
        """Return whether the numerators of NVE on S1, S5 and S7 are of the same order."""
        parts = pd.concat([self(s, "numerator") for s in ("S1", "S5", "S7")], axis=1)
        return parts.max(axis=1) <= 2 * parts.min(axis=1)


def _cell(scenario: str, measure: str) -> Measure:
    """Return the check of a printed cell; along columns, of the scenario calibrated for it."""
    return lambda e, view: Planted(e)(f"{scenario}c" if view.profile == "columns" else scenario, measure)


def _table_cells() -> Iterator[Claim]:
    cells = [(scenario, measure, value) for scenario, row in PLANTED.items() for measure, value in row.items()]
    for n, (scenario, measure, value) in enumerate(cells, start=1):
        sentence = f"The planted solution of {scenario} has {METRICS[measure].symbol} {value:.4f}."
        said = f"4.{n}", sentence, SOURCES["planted"], "planted", _cell(scenario, measure), value, 1e-4
        yield Claim(*said, basis=FITTED, columns=f"{scenario}c" in VARIANTS)


_CHECKS: dict[str, Callable[[Planted], pd.Series[Any]]] = {
    "5.1": Planted.same_order,
    "5.2": lambda p: p.rises("denominator", "S7", "S5", "S1"),
    "5.3": lambda p: p.rises("nve", "S1", "S5", "S7"),
    "5.4": lambda p: (p("S7", "nve") - 1).abs() <= 0.1,
    "5.5": lambda p: p.alike("S5", "S1", "asr"),
    "5.6": lambda p: p.alike("S5", "S1", "avg_ve"),
    "5.7": lambda p: p.rises("asr", "S7", "S9a") & p.rises("avg_ve", "S7", "S9a") & p.rises("nve", "S9a", "S7"),
    "5.8": lambda p: p("S1", "nve") < 0.5,
    "6.1": lambda p: p.rises("nve", "S9b", "S4") & p.rises("nve", "S9b", "S9a"),
    "6.3": lambda p: p.rises("nve_cov", "S4", "S9b") & p.rises("nve_cov", "S9a", "S9b"),
    "6.4": lambda p: p.check("s4_clean_nve") < p("S4", "nve"),
    "6.5": lambda p: p.check("s4_clean_nve_cov") > p("S4", "nve_cov"),
    "11.1": lambda p: (p.check("s6_stripe_ve") < 1e-12) & (p.check("s6_block_ve") > 0.05),
    "11.2": lambda p: (p.check("s6_filtered_avg_ve") > p("S6", "avg_ve")) & (p.check("s6_filtered_nve") > p("S6", "nve")),
    "11.6": lambda p: p.check("noise_ratio") < 1,
    "12.1": lambda p: (p.worst("nsr") == "S7") & (p.worst("nve") == "S7"),
    "12.2": lambda p: p("S2", "nsr") / p("S1", "nsr") > 2 * p("S2", "nve") / p("S1", "nve"),
    "12.3": lambda p: p.rises("nsr", "S9b", "S9a"),
    "12.4": lambda p: p.rises("nve_cov", "S9a", "S9b"),
    "13.1": lambda p: p.check("scaling_identity_gap") < 1e-10,
    "14.1": lambda p: p.rises("asr", "S1", "S3") & p.rises("avg_ve", "S1", "S3"),
    "14.2": lambda p: p("S3", "nve") < 1,
    "14.3": lambda p: (p("S2", "asr") > 5 * p("S1", "asr")) & (p("S2", "avg_ve") < 1.2 * p("S1", "avg_ve")),
    "14.4": lambda p: p.alike("S3", "S1", "nve"),
    "15.1": lambda p: p.climbs("msr"),
    "15.2": lambda p: p.climbs("ve"),
    "15.3": lambda p: p.climbs("nve_k"),
    "16.1": lambda p: p.rises("coverage", "S5", "S1") & p.rises("mean_area", "S1", "S5"),
}  # fmt: skip
