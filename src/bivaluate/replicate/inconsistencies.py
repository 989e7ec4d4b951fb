"""Where the paper's text, tables and figures disagree with each other, or leave out what a check needs."""

from __future__ import annotations

from bivaluate.datasets.published import K_PICKS, PLANTED, YEAST_SHOWN


def inconsistencies() -> list[str]:
    """Return one sentence per point, with numbers taken from the published tables.

    >>> inconsistencies()[0]
    'The data section names two yeast data sets (alpha_factor and heat_shock_1); the K-sweep figure shows 8, the table of chosen K uses 5.'
    """
    tables = len({dataset for dataset, _ in K_PICKS})
    s1, s2, s7, s9b = (PLANTED[name] for name in ("S1", "S2", "S7", "S9b"))
    return [
        "The data section names two yeast data sets (alpha_factor and heat_shock_1); the K-sweep figure shows "
        f"{len(YEAST_SHOWN)}, the table of chosen K uses {tables}.",
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
