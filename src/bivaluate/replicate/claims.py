"""All claims of the paper, in the order of their numbers, and their judgement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bivaluate.replicate.claims_matched import matched_claims
from bivaluate.replicate.claims_planted import planted_claims
from bivaluate.replicate.claims_yeast import yeast_claims
from bivaluate.replicate.verdict import Claim, Outcome, judge

if TYPE_CHECKING:
    from bivaluate.replicate.evidence import Evidence

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
