"""Every threshold of a judgement, once. Change one here and every sentence, mark and proposal follows."""

from __future__ import annotations

from typing import Any

from bivaluate.chance.evidence import ALIKE as ALIKE  # share of rows or columns from which one block may explain two
from bivaluate.chance.evidence import DUPLICATE as DUPLICATE  # cell Jaccard index from which two are duplicates

#: Two scores this near (as a share of the better one) count as equal.
CLOSE = 0.05
#: A solution that covers less than this share of the cells is said to cover little.
NEGLIGIBLE_COVERAGE = 0.05
#: From here on NVE calls biclusters indistinct.
INDISTINCT = 0.9
#: Cell Jaccard index from which a bicluster of one solution counts as found in another.
MATCHED = 0.5
#: The share of its cells from which a redundant bicluster is said to lie in others.
MOSTLY_SHARED = 0.5
#: A solution takes part in a choice when its value stands (is defined and not degenerate) in this share of its seeds.
ENOUGH_STAND = 0.5
#: Confidence of the intervals over seeds.
CONFIDENCE = 0.95
#: A winner of at least this share of the seeds does not depend on the seed.
STEADY = 0.7
#: A p-value up to this stands out from the null.
SIGNIFICANT = 0.05
#: A choice with a p-value above this, made again in every surrogate, is no better than its surrogates.
NO_BETTER = 0.2
#: A gain on held-out cells within this many standard errors of 0 means that nothing is there.
STANDARD_ERRORS = 2.0
#: Evidence in nats below which it is called so; beyond the last it is very strong.
STRENGTHS = ((3.0, "weak"), (10.0, "clear"), (50.0, "strong"))
#: Patterns without a profile across columns, which is all that VE and NVE compare.
WITHOUT_PROFILE = ("shifted mean", "row levels")
#: A sweep of fewer algorithms may have missed patterns that others find.
FEW_ALGORITHMS = 4
#: A bicluster of which less than this share lies in a solution is missing there.
MISSING_SHARE = 0.1
#: Where more than this share of equally active rows does as well, rows that move together say little.
UNSPECIFIC_SHARE = 0.5
#: Samples with fewer biclusters may lose programs that recur.
FEW_PER_SAMPLE = 7
#: VE cannot judge a bicluster of so few columns: any two of its rows agree or oppose each other.
FEW_COLUMNS = 2


def is_thin(rows: Any, cols: Any) -> Any:
    """Return whether biclusters, one or many, have too few rows or columns for VE to judge them."""
    return (rows < 2) | (cols <= FEW_COLUMNS)


def is_negligible(share: Any) -> Any:
    """Return whether this share of the cells is next to nothing."""
    return share < NEGLIGIBLE_COVERAGE


def is_indistinct(nve: float) -> bool:
    """Return whether NVE calls these biclusters indistinct; never where it is undefined."""
    return nve >= INDISTINCT


def is_duplicate(shared: Any) -> Any:
    """Return whether so large a share of the cells of a bicluster lies in another that one of the two is enough."""
    return shared >= DUPLICATE


def strength(evidence: float) -> str:
    """Return how strong evidence is, in a word; nothing where it is not positive or undefined."""
    if not evidence > 0:
        return ""
    return next((word for limit, word in STRENGTHS if evidence < limit), "very strong")


def predicts(gain: Any, error: Any) -> Any:
    """Return whether gains on held-out cells, one or many, are beyond two standard errors of 0."""
    return gain - STANDARD_ERRORS * error > 0
