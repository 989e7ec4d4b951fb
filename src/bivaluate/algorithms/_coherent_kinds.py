"""In a word, what a fitted block is: raised, additive, row-affine, …"""

from __future__ import annotations

import numpy as np

from bivaluate.algorithms._coherent_field import Fit

# A pattern, or levels that differ from row to row, count from this share of the noise variance on.
NOTICEABLE = 0.25
# Slopes that differ by more than this share of their mean are no longer one slope.
ONE_SLOPE = 0.35
# Rows against the pattern count from this share on.
BOTH_SIGNS = 0.1


def kind_of(block: Fit) -> str:
    """Return the kind of a fitted block.

    "raised" and "lowered": one level; "constant rows": every row its own level; "additive": one pattern, shifted from row
    to row; "row-affine": the pattern is also stretched; "row-affine, both signs": some rows follow it upside down.
    """
    from bivaluate.algorithms._kernels_coherent import LEVEL, LEVEL_VARIANCE, NOISE, PATTERN, PATTERN_VARIANCE

    theta, c = block.theta, len(block.cols)
    noise = theta[NOISE]
    # The leading direction of c - 1 columns of plain noise over r rows has about this variance.
    by_chance = noise * (1.0 + np.sqrt((c - 1) / len(block.rows))) ** 2
    pattern = (theta[PATTERN] ** 2 + theta[PATTERN_VARIANCE] - by_chance) / c
    if pattern < NOTICEABLE * noise:
        levels = (theta[LEVEL_VARIANCE] - noise) / c
        if levels >= NOTICEABLE * noise and levels > theta[LEVEL] ** 2 / 4:
            return "constant rows"
        return "raised" if theta[LEVEL] > 0 else "lowered"
    against = float((block.slope < 0).mean())
    if min(against, 1 - against) >= BOTH_SIGNS:
        return "row-affine, both signs"
    stretch = np.sqrt(max(theta[PATTERN_VARIANCE] - noise, 0.0)) / max(theta[PATTERN], 1e-12)
    return "row-affine" if stretch > ONE_SLOPE else "additive"
