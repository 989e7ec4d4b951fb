"""What is left of a block when missing cells are omitted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def observed_part(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drop rows with fewer than two observed cells, then columns with none.

    >>> observed_part(np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, 3.0], [4.0, np.nan, 5.0]]))
    array([[1., 2.],
           [4., 5.]])
    """
    seen = ~np.isnan(A)
    if seen.all():
        return A
    rows = seen.sum(axis=1) >= 2
    return A[np.ix_(rows, seen[rows].any(axis=0))]
