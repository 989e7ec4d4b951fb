"""Every threshold of a judgement, once. Change one here and every sentence, mark and proposal follows."""

from __future__ import annotations

from bivaluate.chance.search import EVIDENCE_CUT as EVIDENCE_CUT  # aVE that no longer counts as evidence

CLOSE = 0.05
"""Two scores this near (as a share of the better one) count as equal."""
NEGLIGIBLE_COVERAGE = 0.05
"""A solution that covers less than this share of the cells is said to cover little."""
DISTINCT, INDISTINCT = 0.5, 0.9
"""Below the first NVE biclusters are clearly distinct; from the second on they are hardly distinct."""
NOISY = 0.8
"""Rows this far (VE) from their common pattern do not follow it."""
COHERENT = 0.8
"""A bicluster is coherent when its VE is below this share of the mean VE of noise of its shape."""
SAME_PATTERN = 1.1
"""Merging two coherent biclusters costs nothing when the merger's VE is at most this many times their mean VE."""
DUPLICATE = 0.9
"""Two biclusters with at least this cell Jaccard index are duplicates."""
STEADY = 0.7
"""A winner of at least this share of the seeds does not depend on the seed."""
SIGNIFICANT = 0.05
"""A p-value up to this stands out from the null."""
