"""The numbers the NVE paper prints, once, each with the place it stands in.

Measures, algorithms and data sets carry the keys used everywhere else in bivaluate.
"""

from __future__ import annotations

from dataclasses import dataclass

PAPER = (
    "Tiwari P., Navin Kumar I., Bezdek J. C., Rathore P., "
    "NVE: A Separability and Coverage-Aware Internal Validation Metric for Biclustering, arXiv 2608.29045"
)

PLANTED_SOURCE = "table “Targeted NSR diagnostic on planted synthetic biclusters”"
PLANTED: dict[str, dict[str, float]] = {
    "S1": {"asr": 0.0861, "avg_ve": 0.1548, "nsr": 0.0372, "nve": 0.2587, "nve_cov": 0.7292, "coverage": 0.1258},
    "S2": {"asr": 1.4897, "avg_ve": 0.1561, "nsr": 0.2443, "nve": 0.2231, "nve_cov": 0.6291, "coverage": 0.1258},
    "S7": {"asr": 0.0958, "avg_ve": 0.2339, "nsr": 1.0366, "nve": 1.0973, "nve_cov": 3.2126, "coverage": 0.1167},
    "S9a": {"asr": 0.2041, "avg_ve": 0.3497, "nsr": 0.1349, "nve": 0.4709, "nve_cov": 1.6312, "coverage": 0.0833},
    "S9b": {"asr": 0.0517, "avg_ve": 0.2331, "nsr": 0.0192, "nve": 0.2716, "nve_cov": 2.7163, "coverage": 0.0100},
}  # fmt: skip


@dataclass(frozen=True)
class Winner:
    """The algorithm that most often has the best score under a measure, and on how many of ten scenarios."""

    algorithm: str
    wins: int


WINNERS_SOURCE = "table “Most frequent winning algorithm under each metric on the synthetic datasets”"
WINNERS: dict[str, Winner] = {
    "asr": Winner("cca", 5),
    "avg_ve": Winner("las", 8),
    "nve": Winner("las", 8),
    "nve_cov": Winner("spectral", 8),
}

MATCHED_SOURCE = "section “Synthetic benchmark results at matched K”"
MATCHED: dict[tuple[str, str, str], float] = {
    ("S2", "las", "avg_ve"): 0.313,
    ("S2", "las", "nve"): 0.428,
    ("S2", "las", "coverage"): 0.083,
    ("S2", "spectral", "coverage"): 0.693,
    ("S2", "spectral", "nve_cov"): 1.141,
    ("S9b", "las", "coverage"): 0.0027,
}

YEAST_KS = (3, 5, 8, 10, 15)
K_PICKS_SOURCE = "table “Chosen values of K in the yeast K-sweep experiments”"
K_PICKS: dict[tuple[str, str], dict[str, int]] = {
    ("01_alpha_factor", "cca"): {"asr": 15, "avg_ve": 5, "nve": 5, "nve_cov": 8},
    ("02_cdc_15", "cca"): {"asr": 15, "avg_ve": 3, "nve": 3, "nve_cov": 15},
    ("02_cdc_15", "spectral"): {"asr": 5, "avg_ve": 5, "nve": 5, "nve_cov": 3},
    ("03_cdc_28", "cca"): {"asr": 10, "avg_ve": 8, "nve": 5, "nve_cov": 15},
    ("04_elutriation", "cca"): {"asr": 10, "avg_ve": 5, "nve": 10, "nve_cov": 8},
    ("14_nitrogen_depletion", "cca"): {"asr": 3, "avg_ve": 3, "nve": 3, "nve_cov": 8},
}


@dataclass(frozen=True)
class Pick:
    """The algorithm and number of biclusters a measure chooses on a data set."""

    algorithm: str
    k: int


YEAST_SOURCE = "section “Yeast benchmark results under K-sweep”"
YEAST_PICKS: dict[tuple[str, str], Pick] = {
    ("02_cdc_15", "nve_cov"): Pick("spectral", 3),
    ("02_cdc_15", "asr"): Pick("cca", 15),
    ("02_cdc_15", "avg_ve"): Pick("las", 15),
    ("04_elutriation", "avg_ve"): Pick("las", 8),
    ("04_elutriation", "nve"): Pick("las", 8),
    ("04_elutriation", "nve_cov"): Pick("spectral", 3),
}
YEAST_COVERAGE: dict[tuple[str, str, int], float] = {
    ("04_elutriation", "las", 8): 0.052,
    ("04_elutriation", "spectral", 3): 0.433,
    ("13_heat_shock_2", "las", 3): 0.0021,
}

YEAST_SHOWN_SOURCE = "figure “Yeast benchmark K-sweeps scored by NVE_cov”"
YEAST_SHOWN: dict[str, str] = {
    "01_alpha_factor": "01_alpha_factor",
    "02_cdc_15": "02_cdc_15",
    "03_cdc_28": "03_cdc_28",
    "04_elutriation": "04_elutriation",
    "08_25mM_DTT": "08_25mm_DTT",
    "12_heat_shock_1": "12_heat_shock_1",
    "13_heat_shock_2": "13_heat_shock_2",
    "14_nitrogen_depletion": "14_N2_depletion",
}
