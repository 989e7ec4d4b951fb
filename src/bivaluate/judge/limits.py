"""Every threshold of a judgement, once. Change one here and every sentence, mark and proposal follows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance.search import EVIDENCE_CUT as EVIDENCE_CUT  # aVE that no longer counts as evidence

if TYPE_CHECKING:
    from bivaluate.chance.evidence import Evidence

#: Two scores this near (as a share of the better one) count as equal.
CLOSE = 0.05
#: A solution that covers less than this share of the cells is said to cover little.
NEGLIGIBLE_COVERAGE = 0.05
#: Below the first NVE biclusters are clearly distinct; from the second on they are hardly distinct.
DISTINCT, INDISTINCT = 0.5, 0.9
#: Rows this far (VE) from their common pattern do not follow it.
NOISY = 0.8
#: A bicluster is coherent when its VE is below this share of the mean VE of noise of its shape.
COHERENT = 0.8
#: Merging two coherent biclusters costs nothing when the merger's VE is at most this many times their mean VE.
SAME_PATTERN = 1.1
#: Two biclusters with at least this cell Jaccard index are duplicates.
DUPLICATE = 0.9
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
#: A solution that covers less than this share of what another covers is much smaller.
MUCH_SMALLER = 1 / 3
#: What holds for at least this share of the data sets is said of all of them together.
MOST_DATA_SETS = 0.5
#: A gain on held-out cells within this many standard errors of 0 means that nothing is there.
STANDARD_ERRORS = 2.0
#: Evidence is much more than another when it is beyond so many times that, by so many nats.
MUCH_MORE, CLEARLY = 1.2, 20.0
#: VE cannot judge a bicluster of so few columns: any two of its rows agree or oppose each other.
FEW_COLUMNS = 2


def is_thin(rows: Any, cols: Any) -> Any:
    """Return whether biclusters, one or many, have too few rows or columns for VE to judge them.

    >>> is_thin(1, 9), is_thin(2, 3), is_thin(50, 2)
    (True, False, True)
    """
    return (rows < 2) | (cols <= FEW_COLUMNS)


def is_negligible(share: Any, beside: float = math.inf) -> Any:
    """Return whether this share of the cells is next to nothing and, with `beside`, much less than another share.

    >>> is_negligible(0.04), is_negligible(0.06), is_negligible(0.04, beside=0.06)
    (True, False, False)
    """
    return share < min(NEGLIGIBLE_COVERAGE, MUCH_SMALLER * beside)


def is_slight(share: float, n_paying: float = math.nan) -> bool:
    """Return whether a solution covers next to nothing, and no bicluster of it is known to pay.

    >>> is_slight(0.04), is_slight(0.04, n_paying=3), is_slight(0.06, n_paying=0)
    (True, False, False)
    """
    return bool(is_negligible(share)) and not n_paying > 0


def is_indistinct(nve: float) -> bool:
    """Return whether biclusters with this NVE are hardly distinct; never where it is undefined.

    >>> is_indistinct(0.9), is_indistinct(0.89), is_indistinct(math.nan)
    (True, False, False)
    """
    return nve >= INDISTINCT


def is_vague(error: float) -> bool:
    """Return whether the rows of a bicluster with this VE do not follow their pattern; never where it is undefined.

    >>> is_vague(0.8), is_vague(0.79), is_vague(math.nan)
    (True, False, False)
    """
    return error >= NOISY


def is_duplicate(jaccard: Any) -> Any:
    """Return whether biclusters, one pair or many, share so many cells that they are duplicates.

    >>> is_duplicate(0.9), is_duplicate(0.89)
    (True, False)
    """
    return jaccard >= DUPLICATE


def pays(evidence: Any) -> Any:
    """Return whether biclusters, one or many, pay: they save something; not where evidence is undefined.

    >>> pays(0.1), pays(0.0), pays(math.nan)
    (True, False, False)
    """
    return evidence > 0


def is_much_more(evidence: float, other: float) -> bool:
    """Return whether this much evidence is much more than another.

    >>> is_much_more(120.0, 90.0), is_much_more(150.0, 90.0), is_much_more(15.0, -40.0)
    (False, True, False)
    """
    return evidence > MUCH_MORE * max(other, 0.0) + CLEARLY


def predicts(gain: Any, error: Any) -> Any:
    """Return whether gains on held-out cells, one or many, are beyond two standard errors of 0.

    >>> predicts(0.10, 0.02), predicts(0.10, 0.06)
    (True, False)
    """
    return gain - STANDARD_ERRORS * error > 0


def is_noise(evidence: Evidence, adjusted: Any, cut: float = EVIDENCE_CUT) -> NDArray[np.bool_]:
    """Return which biclusters are no better than noise: findings, pruning and the verdict have no other rule.

    They save nothing under any kind of pattern, neither as if each were the only one nor beside the others, and a
    search through noise finds rows as coherent. A bicluster whose evidence is undefined is too small to be told from
    noise by it.

    Parameters
    ----------
    evidence : Evidence
        As :func:`bivaluate.evidence_table` returns it.
    adjusted : array-like of float
        The chance-corrected virtual errors aVE, columns centred; NaN where undefined.
    cut : float
        aVE below which rows are more coherent than a search through noise finds them.

    Returns
    -------
    ndarray of bool
        One value per bicluster.

    Examples
    --------
    >>> from bivaluate import Biclustering, evidence_table
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> X[:15, :6] += 3
    >>> S = Biclustering([(range(15), range(6)), (range(30, 45), range(6))], X.shape)
    >>> is_noise(evidence_table(X, S), [1.2, 1.2]), is_noise(evidence_table(X, S), [1.2, 0.5])
    (array([False,  True]), array([False, False]))
    """
    saves = pays(evidence.alone) | evidence.pays
    return np.asarray(~saves & ~(np.asarray(adjusted, dtype=np.float64) < cut))
